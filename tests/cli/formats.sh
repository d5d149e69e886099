#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Data sets of other formats wherever one is named: by folder, file, archive, name.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

mkdir club
cat > club/edges.csv << 'END'
source,target
ann,bob
bob,cid
cid,dan
dan,ann
END
cat > club/features.csv << 'END'
id,age,town,label
ann,31,Rome,a
bob,28,Oslo,b
cid,45,Oslo,a
dan,39,Rome,b
END

run data info club
check "a folder of tables is a data set" \
    all status_is 0 , out_has 'club \(csv\)' , out_has 'nodes +4 ' , out_has 'edges +4, directed'
check "texts are shown as a group" out_has 'one of +town: features 1 to 2, 2 in all'
check "kinds have ranges" out_has 'discrete: 0 to 45'
check "degrees are drawn" out_has ' 1  #+ 4$'
check "and homophily told" out_has 'homophily +0.0%'
run data info club/edges.csv --symmetric --json
check "so is one of its files, and --symmetric adds reverses" \
    all status_is 0 , out_has '"format": "csv"' , out_has '"edges": 8' , out_has '"undirected": true' , \
    out_has '"groups": \[\{"name": "town", "features": \[1, 2\]\}\]' , \
    out_has '"degrees": \[\{"from": 0, "count": 0\}, \{"from": 1, "count": 0\}, \{"from": 2, "count": 4\}\]'
run data info club --format tu
check "--format overrides what the files look like" fails_with 1 'club: no file called NAME_A.txt'
run data info club --format tutu
check "a format that does not exist is told" fails_with 2 "tutu"

mkdir -p "$scratch/share/combinex"
cp -r club "$scratch/share/combinex/friends"
run data info friends
check "a folder in a data folder has a name" all status_is 0 , out_has 'nodes +4 '
run data list
check "and is listed" out_has '^  friends '
mkdir -p many
cp -r club many/
run data info many
check "a folder of data sets is none itself" fails_with 1 'many'
mkdir karate
run data info karate
check "a folder that only has the name of a data set is not one" all status_is 0 , out_has 'nodes +34 '

echo '{"immutable": ["age"], "bounds": {"age": [0, 99]}}' > side.json
run data info club --sidecar side.json
check "a sidecar is read where it is named" \
    all status_is 0 , out_has 'discrete: 0 to 99' , out_has '1 cannot be changed'
echo '{"immutable": ["agee"]}' > side.json
run data info club --sidecar side.json
check "and what it has wrong is told" fails_with 1 "side.json: 'immutable' names the feature 'agee'"

for format in safetensors graphml gexf dot npz; do
    run data convert club "out.$format"
    check "data convert writes $format" all status_is 0 , [ -s "out.$format" ] , out_has "as $format$"
done
run data convert club tables --to csv --json
check "and tables, as a folder" all status_is 0 , [ -s tables/edges.csv ] , out_has '"format": "csv"'
run data info tables --json
check "which read back, with groups that are found and have no name" \
    all status_is 0 , out_has '"edges": 4' , out_has '"groups": \[\{"features": \[1, 2\]\}\]'
run data convert club no/where.dot
check "a folder that is not there is told before reading" fails_with 1 'no/where.dot'

limited() { # limited KILOBYTES ARGUMENTS...: as on a disk that is full
    ran="combinex ${*:2} (no file over $1 kB)"
    (
        trap '' XFSZ
        ulimit -f "$1"
        exec "$COMBINEX" "${@:2}"
    ) > "$scratch/log/out" 2> "$scratch/log/err"
    status=$?
}
cp -r tables kept
run data generate erdos-renyi --nodes 60 --degree 2 --features 60 -q -o wide.safetensors
limited 2 data convert wide.safetensors tables --to csv
check "where the second table finds no room the first stays old, too" all fails_with 1 \
    'tables/features.csv: cannot write: File too large' , diff -r tables kept , test -z "$(find . -name '*.tmp')"
run data convert karate tables/ --to csv -q
check "an old folder of tables is replaced" all status_is 0 , test "$(wc -l < tables/features.csv)" -eq 35 , \
    test "$(find tables -mindepth 1 | wc -l)" -eq 2 , test -z "$(find . -name '*.tmp')"
echo '{}' > tables/combinex.json
run data convert club tables --to csv
check "one that holds something else is not" all fails_with 1 "it also holds 'combinex.json'" , \
    test "$(wc -l < tables/features.csv)" -eq 35
cd tables || exit 1
rm combinex.json
run data convert ../club . --to csv
check "nor the current one" fails_with 1 'it is the current one'
cd .. || exit 1
run data convert club wide.safetensors --to csv
check "a file is no folder" all fails_with 1 'wide.safetensors: cannot write: it is not a folder' , test -f wide.safetensors
run data convert club absent/tables --to csv
check "a folder in a folder that is not there is named before anything is read" \
    fails_with 1 'absent/tables: cannot write there: No such file'
rm -r kept wide.safetensors

run data check club
check "data check warns of what may not be meant" \
    all status_is 0 , out_has '^warning: .*--symmetric' , out_has '^0 errors, 1 warning$'
printf 'eve,ann\nbob\n' >> club/edges.csv
run data check club
check "and tells of all errors, with their lines" all status_is 1 , \
    out_has "error: .*edges.csv, line 6: node 'eve'" , out_has 'error: .*edges.csv, line 7: 1 fields' , \
    out_has '^2 errors'
run data check club --json
check "as JSON, one a line" all status_is 1 , out_lines 2 , out_has '^\{"kind": "error", "message": '
run data check karate
check "built-in sets are sound" all status_is 0 , out_has 'built in'
run data check nowhere/at-all
check "what is not there cannot be checked" fails_with 1 'No such file'

run data generate karate -q -o bad.safetensors
python3 - << 'END' 2> /dev/null && checked=1
import json, struct
b = bytearray(open("bad.safetensors", "rb").read())
n = struct.unpack("<Q", b[:8])[0]
h = json.loads(b[8:8 + n])
at = 8 + n + h["edge_index"]["data_offsets"][0]
for k in range(15):
    struct.pack_into("<q", b, at + 8 * k, 1000 + k)
at = 8 + n + h["y"]["data_offsets"][0]
struct.pack_into("<q", b, at, 77)
open("bad.safetensors", "wb").write(b)
END
if [[ ${checked:-} ]]; then
    run data check bad.safetensors
    check "a native file has all its values looked at" all status_is 1 , \
        out_has 'edge 0 \(1000 -> ' , out_has 'edge 9 ' , out_has 'and 5 more edges' , out_has 'label 77'
fi

run data formats
check "data formats lists what is read and written" \
    all status_is 0 , out_has '^  planetoid' , out_has '^  gexf' , out_has '^Written'

rmdir karate
run train karate --epochs 100 --seed 1 -q -o model.safetensors
run explain karate model.safetensors --all --limit 8 --features-to-vary none --edges undirected --target any --json -o r.jsonl
line=$(grep -n -m 1 '"status": *"found"' r.jsonl | cut -d : -f 1)
if check "some row has a counterfactual" [ -n "$line" ] && [[ -n $line ]]; then
    run apply karate r.jsonl --line "$line" -o why.dot
    check "apply marks removed edges for Graphviz" all status_is 0 , grep -q 'style=dashed' why.dot
    run apply karate r.jsonl --line "$line" -o why.xml --to graphml
    check "and in GraphML, whatever the file is called" \
        all status_is 0 , grep -q '<data key="removed">true' why.xml
    run apply karate r.jsonl --line "$line" -o why --to csv
    check "and in tables" all status_is 0 , grep -q ',1$' why/edges.csv
fi

[[ -d ${CBX_SHARED:-}/data/raw ]] || finish
for folder in "$CBX_SHARED"/data/raw/*/; do
    run data info "$folder" --json
    check "data info reads $(basename "$folder")" all status_is 0 , out_has '"nodes": [1-9]'
done
cp -r "$CBX_SHARED/data/raw/AIDS" AIDS
python3 -c 'import shutil; shutil.make_archive("zipped", "zip", ".", "AIDS")' 2> /dev/null &&
    {
        run data info zipped.zip --json
        check "a TU folder may be zipped" all status_is 0 , out_has '"graphs": 2000' , out_has '"format": "tu"'
        echo '{"name": "molecules"}' > zipped.combinex.json
        run data info zipped.zip --json
        check "and have its sidecar beside it" all status_is 0 , out_has '"name": "molecules"'
        run data info zipped.zip --task node --json
        check "and be a task of nodes" all status_is 0 , out_has '"task": "node"' , out_has '"nodes": 31385'
    }
finish
