#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Training and predicting on the karate club, with the three kinds of models.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

number='-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?'
prediction="^\{\"node\": [0-9]+, \"class\": [0-3], \"log_probs\": \[$number, $number, $number, $number\], \"label\": [0-3]\}\$"

# Whether the log-probabilities of each line make probabilities that add up to 1.
sums_to_one() {
    sed 's/.*\[\(.*\)\].*/\1/' "$scratch/log/out" | awk -F', ' '
        { s = 0; for (i = 1; i <= NF; i++) s += exp($i); if (s < 0.999 || s > 1.001) exit 1 }'
}

for kind in gcn cheb graphconv; do
    run train karate --model "$kind" --epochs 60 --learning-rate 0.01 --seed 1 --json \
        -o "$kind.safetensors"
    check "train --model $kind works" all status_is 0 , err_empty , test -s "$kind.safetensors"
    check "train --json is one object on one line" all out_lines 1 , out_has '^\{.*\}$'
    check "it has what a program needs" all out_has "\"model\": \"$kind\"" , \
        out_has '"data": "karate"' , out_has '"epochs": 60' , \
        out_has '"train_accuracy": [01]' , out_has '"test_accuracy": [01]' , \
        out_has '"num_train": [0-9]+' , out_has '"parameters": [0-9]+' , \
        out_has "\"file\": \"$kind.safetensors\""
    check "$kind learns the training part" out_has '"train_accuracy": (1|0\.[89])'
    check "the model file has notes on its data, split and test accuracy" \
        grep -aEq 'karate.*split.*random|random.*split.*karate|test_accuracy' "$kind.safetensors"

    run predict karate "$kind.safetensors" --json
    check "predict --json gives one object for each node" all status_is 0 , err_empty , out_lines 34
    check "each has node, class, log_probs and label" \
        not grep -Evq "$prediction" "$scratch/log/out"
    check "its probabilities add up to one" sums_to_one
    cp "$scratch/log/out" "$kind.jsonl"
    run predict karate "$kind.safetensors" --json --threads 1 -o file.jsonl
    check "predict -o writes the same to a file" all status_is 0 , out_empty , \
        cmp -s "$kind.jsonl" file.jsonl
done

run train karate --epochs 5 --seed 1 -o text.safetensors
check "without --json a person can read the summary" \
    all status_is 0 , out_has '^karate: gcn, 3 layers' , out_has 'accuracy +train' , \
    out_has 'written to +text.safetensors'
check "no progress bar where stderr is no terminal" err_empty
run train karate --epochs 5 --seed 1 --quiet -o quiet.safetensors
check "--quiet says nothing" all status_is 0 , out_empty , err_empty
check "and writes the same model" cmp -s text.safetensors quiet.safetensors

run predict karate gcn.safetensors
check "a long table is cut, and says so" \
    all status_is 0 , out_lines 23 , out_has 'first 20 of 34 nodes' , out_has '^accuracy [01]\.[0-9]+'
check "rows say whether they are right" out_has '^ +0 .* (right|wrong)$'
run predict karate gcn.safetensors --all --quiet
check "--all shows every row, --quiet only them" out_lines 35
run predict karate gcn.safetensors -o table.txt
check "a table in a file has every row" all status_is 0 , test "$(wc -l < table.txt)" -eq 35 , \
    out_has '34 nodes written to table.txt'
run predict karate gcn.safetensors --node 33 --node=0 --json
check "--node picks nodes, in the order asked" \
    all out_lines 2 , out_has '^\{"node": 33,' , out_has '^\{"node": 0,'
run predict karate gcn.safetensors --node 34
check "a node that does not exist fails" fails_with 1 '--node: .*node 34 does not exist: there are 0 to 33'
run predict karate gcn.safetensors --graph 0
check "--graph has no meaning for nodes" fails_with 1 'use --node'
run predict karate gcn.safetensors --json -o -
check "-o - is standard output" all status_is 0 , out_lines 34 , test ! -e -

# Two columns that tell the classes apart, one around 5,000 and one in thousandths, and one that is 0 or 1.
mkdir sizes
{ echo source,target; seq 0 58 | awk '{ print $1 "," $1 + 1 }'; } > sizes/edges.csv
{ echo id,label,large,small,binary; seq 0 59 | awk '{ c = int($1 / 30); print $1 "," c "," 5000 + 20 * c + ($1 % 7) "," 0.001 * ($1 % 5) "," $1 % 2 }'; } > sizes/features.csv
run train sizes --epochs 60 --learning-rate 0.01 --model cheb --standardise off -o raw.safetensors
check "features are taken as they are where asked" all status_is 0 , not out_has standardised
run train sizes --epochs 60 --learning-rate 0.01 --model cheb -o standard.safetensors
check "train standardises, and tells what" all status_is 0 , \
    out_has 'standardised +2 of 3 features, by the mean and deviation of training nodes' , out_has 'train (1\.000|0\.9)'
run train sizes --epochs 60 --learning-rate 0.01 --model cheb --json -o standard.safetensors
check "to programs, too" out_has '"standardised": 2'
run predict sizes standard.safetensors --all --json
check "the model takes the data as it is" test \
    "$(sed -n 's/.*"class": \([01]\).*"label": \([01]\).*/\1\2/p' "$scratch/log/out" | grep -c '^\(00\|11\)$')" -ge 54
run explain sizes standard.safetensors --node 40 --json
check "and its answers are in the data's units" all status_is 0 , out_has '"from": ?50[0-9][0-9]'
run train karate --aggregation max --model graphconv --standardise on -o x.safetensors
check "features of 0 and 1 are not standardised at all" all status_is 0 , not out_has standardised

finish
