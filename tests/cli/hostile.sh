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
    all fails_with 1 "steer.zip.*the weight '.*owned" , not grep -q $'\x1b' "$scratch/log/err"
for name in ../x ../../etc/passwd /etc/passwd cora/../../x '' . ..; do
    run data fetch "$name"
    check "'$name' is no name of a data set to download" fails_with 1 "no data set '$name' is known"
done
run bench --data ./inside.csv/../inside.csv --models gcn --folds 1 --samples 1 --out b --dry-run
check "nothing was made for those names" [ ! -e "$scratch/cache" ]
finish
