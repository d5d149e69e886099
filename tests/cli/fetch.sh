#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# combinex data fetch, from a server on the loopback address that misbehaves.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

command -v python3 > /dev/null || skip "no python3"
run data fetch MUTAG --from http://127.0.0.1:9/ --timeout 1
grep -q 'without libcurl' "$scratch/log/err" && skip "built without libcurl"
check "where nobody listens, it says what to do" \
    all fails_with 1 'cannot reach 127.0.0.1: is this computer online' , err_has 'can be put at'

mkdir files
python3 "$here/fetch_server.py" files log &
server=$!
trap 'kill $server; rm -rf "$scratch"' EXIT
for _ in {1..100}; do
    [[ -s log ]] && break
    sleep 0.1
done
base=http://127.0.0.1:$(head -n 1 log)
cache=$scratch/cache/combinex

# A small TU set, as if it were MUTAG: two triangles, large enough to be cut in two.
python3 - << 'END'
import random, zipfile
random.seed(1)
with zipfile.ZipFile("files/MUTAG.zip", "w") as z:
    edges = [(1, 2), (2, 3), (3, 1), (4, 5), (5, 6), (6, 4)]
    z.writestr("MUTAG/MUTAG_A.txt", "".join(f"{a}, {b}\n{b}, {a}\n" for a, b in edges))
    z.writestr("MUTAG/MUTAG_graph_indicator.txt", "1\n1\n1\n2\n2\n2\n")
    z.writestr("MUTAG/MUTAG_graph_labels.txt", "1\n-1\n")
    z.writestr("MUTAG/MUTAG_node_labels.txt", "0\n1\n2\n0\n1\n1\n")
    z.writestr("MUTAG/README.txt", "".join(chr(random.randrange(33, 127)) for _ in range(40000)))
END
sum=$(sha256sum files/MUTAG.zip | cut -d ' ' -f 1)
requests() { grep -c "^$1 " log; }
again() { rm -rf "$cache"; }
fetched() { cmp -s files/MUTAG.zip "$cache/MUTAG.zip" && [[ ! -e $cache/MUTAG.zip.part ]]; }

run data fetch MUTAG --from "$base/good"
check "a good file is fetched" all status_is 0 , fetched , out_has "MUTAG is in $cache/MUTAG.zip"
run data info MUTAG
check "from then on its name is enough" \
    all status_is 0 , out_has 'graphs +2$' , out_has 'nodes +6 ' , out_has '\(tu\)'
run data list
check "and the list shows it" out_has '^  MUTAG +40\.'
run data fetch MUTAG --from "$base/good" --json
check "it is not fetched twice" all status_is 0 , [ "$(requests /good/MUTAG.zip)" -eq 1 ] , \
    out_has '"path": "'
run data fetch MUTAG --from "$base/good" --overwrite -q
check "unless that is asked for" all status_is 0 , out_empty , [ "$(requests /good/MUTAG.zip)" -eq 2 ]

again
run data fetch MUTAG --from "$base/good" --sha256 "$sum"
check "the right sum is right" all status_is 0 , fetched
again
run data fetch MUTAG --from "$base/wrong" --sha256 "$sum"
check "a wrong one is told, and nothing stays" all fails_with 1 "SHA-256 is .*should be $sum" , \
    [ ! -e "$cache/MUTAG.zip" ] , [ ! -e "$cache/MUTAG.zip.part" ]

again
run data fetch MUTAG --from "$base/broken" --sha256 "$sum"
check "a connection that breaks is taken up again by itself" all status_is 0 , fetched
check "and only the rest is asked for" grep -Eq '^/broken/MUTAG.zip bytes=[1-9][0-9]*-$' log

again
run data fetch MUTAG --from "$base/always"
check "one that always breaks is given up, and what came is kept" \
    all fails_with 1 'what came is kept' , [ -s "$cache/MUTAG.zip.part" ] , [ ! -e "$cache/MUTAG.zip" ]
had=$(stat -c %s "$cache/MUTAG.zip.part")
run data fetch MUTAG --from "$base/good" --sha256 "$sum"
check "the next try goes on from there" \
    all status_is 0 , fetched , grep -q "^/good/MUTAG.zip bytes=$had-$" log

again
mkdir -p "$cache"
head -c 1000 /dev/zero > "$cache/MUTAG.zip.part"
run data fetch MUTAG --from "$base/good" --sha256 "$sum"
check "a beginning that was another file's is fetched again" all status_is 0 , fetched
again
mkdir -p "$cache"
head -c 100 files/MUTAG.zip > "$cache/MUTAG.zip.part"
run data fetch MUTAG --from "$base/plain" --sha256 "$sum"
check "a server that only sends whole files is understood" all status_is 0 , fetched
again
mkdir -p "$cache"
cp files/MUTAG.zip "$cache/MUTAG.zip.part"
run data fetch MUTAG --from "$base/good" --sha256 "$sum"
check "so is a rest of nothing" all status_is 0 , fetched

again
run data fetch MUTAG --from "$base/slow" --timeout 1
check "a server that falls silent is given up" fails_with 1 'sent nothing for 1 seconds'
again
run data fetch MUTAG --from "$base/moved" --sha256 "$sum"
check "redirections are followed" all status_is 0 , fetched
again
run data fetch MUTAG --from "$base/loop"
check "but not for ever" fails_with 1 'more than 10 redirections'
run data fetch MUTAG --from "$base/away"
check "and not to plain http" fails_with 1 'leads on to http://192.0.2.1/MUTAG.zip, which is not https'
run data fetch MUTAG --from http://example.org/
check "nor is plain http asked for" fails_with 1 'only https'
run data fetch MUTAG --from ftp://127.0.0.1/
check "nor other ways" fails_with 1 'only https'
run data fetch NCI1 --from "$base/good"
check "what is not there is told" fails_with 1 'answered 404 \(not found\)'

# ---- links in the folder of downloads, through which somebody would have us write
again
mkdir -p "$cache"
echo precious > victim
ln -s "$PWD/victim" "$cache/MUTAG.zip.part"
run data fetch MUTAG --from "$base/good"
check "nothing is written through a link that waits for a download" \
    all fails_with 1 'MUTAG.zip.part: a link' , [ "$(cat victim)" = precious ]
again
mkdir -p "$cache"
ln -s "$PWD/victim" "$cache/MUTAG.zip"
run data fetch MUTAG --from "$base/good" --overwrite
check "a link in place of the file is replaced, not followed" \
    all status_is 0 , [ "$(cat victim)" = precious ] , [ ! -L "$cache/MUTAG.zip" ]
again
mkdir -p "$cache"
mkfifo "$cache/MUTAG.zip.part"
run data fetch MUTAG --from "$base/good"
check "nor is a pipe written to" fails_with 1 'MUTAG.zip.part: not a regular file'
python3 -c 'import zipfile; zipfile.ZipFile("files/datasets.zip", "w").writestr("syn4.pkl", "new")'
again
mkdir -p "$cache" elsewhere
ln -s "$PWD/elsewhere" "$cache/treegrid-pgx"
run data fetch treegrid-pgx --from "$base/good" --sha256 "$(sha256sum files/datasets.zip | cut -d ' ' -f 1)"
check "nor is a set put into a folder that is a link" \
    all fails_with 1 'treegrid-pgx: a link' , [ -z "$(ls elsewhere)" ]
again
mkdir -p "$cache/treegrid-pgx"
ln -s "$PWD/victim" "$cache/treegrid-pgx/syn4.pkl"
run data fetch treegrid-pgx --from "$base/good" --overwrite --sha256 "$(sha256sum files/datasets.zip | cut -d ' ' -f 1)"
check "nor a file unpacked over a link" \
    all fails_with 1 'syn4.pkl: a link' , [ "$(cat victim)" = precious ]
again

run data fetch MUTAGG
check "an unknown name gets the nearest one suggested" fails_with 1 "did you mean 'MUTAG'"
run data fetch karate
check "built-in sets need no download" all status_is 0 , out_has 'built in'
run data info cora
check "a set that could be downloaded says how" fails_with 1 'combinex data fetch cora'
run data fetch cora --sha256 "$sum" --from "$base/good"
check "one sum is not for many files" fails_with 1 'has 8 files'

if [[ -d ${CBX_SHARED:-}/data/raw/cora ]]; then
    cp "$CBX_SHARED"/data/raw/cora/* "$CBX_SHARED"/data/raw/synthetic/* files/
    mv files/pgexplainer_datasets.zip files/datasets.zip
    run data fetch cora --from "$base/good"
    check "a set of many files is fetched, and their sums are right" status_is 0
    run data info cora
    check "and opens" all status_is 0 , out_has 'edges +10,556'
    run data fetch cora --from "$base/wrong" --overwrite
    check "other files are refused by their published sums" fails_with 1 'not the file that was expected'
    run data fetch treegrid-pgx --from "$base/good"
    check "one file of an archive is unpacked" all status_is 0 , [ -s "$cache/treegrid-pgx/syn4.pkl" ]
    run data info treegrid-pgx
    check "and opens" all status_is 0 , out_has 'nodes +1,231 '
fi
finish
