#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Files and folders that are out to do harm (tests/hostile/corpus.py): each is refused with
# a message, nothing in them is run, and nothing is written where they would have it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

command -v python3 > /dev/null || skip "no python3"
python3 "$here/../hostile/corpus.py" evil || exit 1
# A sanitizer reserves far more memory than it uses.
[[ ${CBX_SANITIZED:-} ]] || ulimit -v 2000000

while IFS=$'\t' read -r name says; do
    format=auto
    [[ $name != *pickle* ]] || format=motif-pickle
    ran="combinex data info $name"
    timeout 60 "$COMBINEX" data info "evil/$name" --format $format > "$scratch/log/out" 2> "$scratch/log/err"
    status=$?
    check "$name is refused" all fails_with 1 "$says" , [ ! -e evil/touched ]
done < evil/list

# ---- names
printf 'a,b\n' > inside.csv
python3 - << 'END'
import zipfile
with zipfile.ZipFile("up.zip", "w") as z:
    z.writestr("../../edges.csv", "a,b\nb,c\n")
    z.writestr("/edges.csv", "a,b\n")
with zipfile.ZipFile("steer.zip", "w") as z:
    z.writestr("edges.csv", "source,target,weight\na,b,\x1b]0;owned\x07\x1b[2J\n")
END
find .. -type f | sort > before
run data info up.zip
run data convert up.zip -o "$PWD/inside.safetensors"
rm -f inside.safetensors
find .. -type f | grep -v /log/ | sort > after
check "an archive's names lead to nothing outside it" \
    diff <(grep -v -e /log/ -e before -e after before) <(grep -v -e before -e after after)
run data info steer.zip
check "what a message quotes of a file cannot steer a terminal" \
    all fails_with 1 "steer.zip.*the weight '.x1b]0;owned.x07.x1b.2J'" , not grep -q $'\x1b' "$scratch/log/err"

# ---- the terminal: names with an escape, one of Latin-1's, and an order turned about
mkdir names
python3 - << 'END'
evil = "\x1b[2J\u009b31m\u202e"
with open("names/nodes.csv", "w") as nodes, open("names/edges.csv", "w") as edges:
    nodes.write(f"id,label,height{evil},width\n")
    edges.write("source,target\n")
    for i in range(6):
        nodes.write(f"é{i}{evil},class{evil}{i % 2},{i},{i % 3}\n")
        edges.write(f"é{i}{evil},é{(i + 1) % 6}{evil}\n")
END
steers() {
    python3 -c 'import sys; sys.exit(not set(open(sys.argv[1], encoding="utf-8").read()) & set("\x1b\u009b\u202e"))' "$1"
}
check "that names steer is noticed" steers names/nodes.csv
run train names --epochs 20 -q -o names.model
for command in "data info names" "predict names names.model --all" "explain names names.model --all --target any"; do
    # shellcheck disable=SC2086 # words
    run $command
    check "combinex $command shows names, and does not do what they say" \
        all status_is 0 , out_has 'class.x1b.2J.u009b31m.u202e' , not steers "$scratch/log/out"
done
check "letters of other languages are as they were" out_has 'é1.x1b'
for name in ../x ../../etc/passwd /etc/passwd cora/../../x '' . ..; do
    run data fetch "$name"
    check "'$name' is no name of a data set to download" fails_with 1 "no data set '$name' is known"
done
run bench --data ./inside.csv/../inside.csv --models gcn --folds 1 --samples 1 --out b --dry-run
check "nothing was made for those names" [ ! -e "$scratch/cache" ]
finish
