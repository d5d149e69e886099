#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# What is read is never written, and nothing is written twice: whatever files are called, they are
# told apart by what they are.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run data generate karate -q -o data.safetensors
run train karate --hidden 8 --epochs 60 -q -o model
run explain karate model --all --target any --json -q -o answers.jsonl
mkdir tables
printf 'source,target\na,b\nb,c\nc,a\nc,d\n' > tables/edges.csv
printf 'id,age,label\na,1,x\nb,2,y\nc,3,x\nd,4,y\n' > tables/features.csv
echo '{"kinds": {"age": "continuous"}}' > side.json
ln data.safetensors hard
ln -s data.safetensors soft
ln -s . here
kept=$(cat data.safetensors model answers.jsonl tables/* side.json | sha256sum)

untouched() { [[ $(cat data.safetensors model answers.jsonl tables/* side.json | sha256sum) == "$kept" ]]; }
refused() { # refused SENTENCE PATTERN ARGUMENTS...
    local sentence=$1 pattern=$2
    shift 2
    run "$@"
    check "$sentence" all fails_with 1 "$pattern" , untouched , test -z "$(find . -name '*.tmp')"
}

for name in data.safetensors ./data.safetensors hard soft here/data.safetensors "$PWD/data.safetensors"; do
    refused "train does not write to its data, called $name" \
        "--output .*${name##*/}: is the same file as the data, data.safetensors, which would be lost" \
        train data.safetensors --epochs 2 -o "$name"
done
refused "not by another name of the data either" 'same file as the data, soft' \
    train soft --epochs 2 -o data.safetensors
export COMBINEX_DATA=$PWD
refused "nor where a name stands for the file" 'same file as the data' train data --epochs 2 -o data.safetensors
unset COMBINEX_DATA
refused "train does not write to the sidecar" 'same file as the data, side.json' \
    train tables --sidecar side.json --epochs 2 -o side.json
refused "nor to one of the tables that it read" 'same file as the data, tables/edges.csv' \
    train tables --epochs 2 -o tables/edges.csv
refused "also where only the other was named" 'same file as the data, tables/features.csv' \
    train tables/edges.csv --epochs 2 -o tables/features.csv
run train tables --epochs 2 -q -o tables/model
check "another file in that folder is no input" all status_is 0 , test -s tables/model
run train tables --epochs 2 -q -o tables/model
check "not the second time either" status_is 0
rm tables/model

refused "predict does not write to the model" 'same file as the model' predict karate model -o ./model
refused "predict does not write to the data" 'same file as the data' predict data.safetensors model -o soft
refused "explain does not write to what it replays" 'same file as --replay' \
    explain karate model --replay answers.jsonl -o answers.jsonl
for option in output trace html svg png summary; do
    refused "explain --$option is not the model" "--$option model: is the same file as the model" \
        explain karate model --node 8 --preset paper --epochs 3 --$option model
done
refused "two outputs are two files" '--html ./page: is the same file as --output page' \
    explain karate model --node 8 -o page --html ./page
refused "also where neither is there yet and the folder has two names" '--svg here/page: is the same file as --html' \
    explain karate model --node 8 --html page --svg here/page
check "and neither is there afterwards" test ! -e page
run explain karate model --node 8 -q -o /dev/null --summary /dev/null
check "a device may be written twice" status_is 0
refused "apply does not write to RESULTS" 'same file as RESULTS' apply karate answers.jsonl -o answers.jsonl
refused "apply does not write to the data" 'same file as the data' \
    apply data.safetensors answers.jsonl -o data.safetensors
ln -s answers.jsonl answers.html
refused "report does not write to RESULTS" 'same file as RESULTS' report answers.jsonl -o answers.html
refused "data convert does not write to what it reads" 'OUT data.safetensors: is the same file' \
    data convert data.safetensors data.safetensors
refused "nor into the folder that it reads" 'same file as the data, tables/' data convert tables tables --to csv
refused "nor to one file of it" 'same file as the data, tables/edges.csv' \
    data convert tables tables/edges.csv --to graphml
run bench --data karate --models gcn --folds 2 --samples 1 --out b --html model/../b/rows.csv
check "the page of a benchmark is outside its folder" test "$status" -ne 0
mkdir b
run bench --data karate --models gcn --folds 2 --samples 1 --out b --html here/b/rows.csv
check "whatever the folder is called" fails_with 2 'in the folder of --out'
refused "the page of a benchmark is not its data" 'same file as the data' \
    bench --data ./data.safetensors --models gcn --folds 2 --samples 1 --out b --html hard

onto() { # onto FILE ARGUMENTS...: standard output is added to that file
    "$COMBINEX" "${@:2}" >> "$1" 2> "$scratch/log/err"
    status=$? ran="combinex ${*:2} >> $1"
    : > "$scratch/log/out"
}
onto answers.jsonl explain karate model --replay answers.jsonl
check "standard output is not added to what is read" \
    all fails_with 1 'standard output.*same file as --replay' , untouched
onto data.safetensors data info data.safetensors
check "not even by data info" all fails_with 1 'standard output.*same file as the data' , untouched
finish
