#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Counterfactuals for people: what is shown, which targets are taken, and errors.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

number='[0-9]+(\.[0-9]+)?'
probability='([0-9]+|<1|>99) %'
sure='\((almost certain|fairly sure|rather likely|a close call)\)'
time="$number (ms|s)"
verified='^  [0-9]+ changes? · verified on the whole graph'

run train karate --epochs 200 --seed 1 -q -o model.safetensors

run explain karate model.safetensors --preset paper --node 8 --target any --policy edges --edges undirected
check "a counterfactual is found" all status_is 0 , err_empty
check "it says what is and what would be" \
    out_has '^member 8: community [0-3], would be community [0-3]$'
check "with probabilities now and then, and how sure that is" all \
    out_has "^  now    community [0-3] $probability $sure, community [0-3] $probability\$" , \
    out_has "^  then   community [0-3] $probability $sure, community [0-3] $probability\$"
check "and the edges to remove, by name, the explained node first" \
    all out_has '^  if     remove edge member 8–' , not out_has '–member 8$'
check "and how many there are" out_has "$verified"
check "what few want to know is left out" not out_has "log-odds|margin|of 78 edges|$time"
run explain karate model.safetensors --preset paper --node 8 --target any --policy edges --details
check "an edge with a direction has an arrow, and counts by itself" all \
    out_has 'remove edge .+→.+$' , out_has "of 156 edges · .* · $time"
check "--details has the rest" all out_has 'log-odds [+-]' , out_has 'node 8 · .* · margin .* · certificate none'
run explain karate model.safetensors --preset paper --node 8 --policy features --details
check "features have names and values, the explained node's own without its name" \
    all status_is 0 , out_has '^  (if|  )     is member [0-9]+: (yes instead of no|no instead of yes) +\((0 → 1|1 → 0),' , \
    out_has 'is member [0-9]+ of .+: (yes instead of no|no instead of yes) ' , out_has "$verified"
check "all values of the factual graph count" out_has '[0-9]+ of 1,156 feature values'
run explain karate model.safetensors --preset paper --node 0 --policy exponential
check "of many edits the first ten are shown, and the number of the rest" all \
    out_has '^  +… and [0-9,]+ more$' , test "$(grep -Ec ' instead of (yes|no)$' "$scratch/log/out")" -eq 10

run data generate barabasi-albert --nodes 60 --classes 3 --features 5 --seed 2 -q -o plain.safetensors
run train plain.safetensors --epochs 30 --seed 1 -q -o plain.model.safetensors
run explain plain.safetensors plain.model.safetensors --preset paper --node 7 --target any
check "data without names has numbers" all status_is 0 , \
    out_has '^node 7: class [0-2], would be class [0-2]$' , \
    out_has '(feature [0-4] of node [0-9]+: |remove edge [0-9]+→[0-9]+)'

run explain karate model.safetensors --preset paper --node 8 --epochs 1
check "finding nothing is a result in one line" all status_is 0 , err_empty , out_lines 1 , \
    out_has '^member 8: community [0-3], nothing found that makes it community [0-3] in 1 epoch · '
run explain karate model.safetensors --preset paper --all --target 'community 1' --epochs 20
check "one target among many that is there already is skipped, with the reason" \
    all status_is 0 , out_has '^Mr\. Hi: .*, skipped: the prediction is class 1 already$'
check "a summary comes after several targets" \
    out_has "^[0-9]+ of 34 found \\([0-9]+ %\\), [0-9]+ skipped.* · mean $time · total $time\$"
run explain karate model.safetensors --preset paper --all --target any --limit 3 --quiet
check "--limit takes the first, --quiet has no summary" \
    all out_has '^member 2: ' , not out_has '^member 3: ' , not out_has 'total'
run explain karate model.safetensors --preset paper --node 5 --node=1 --target any --epochs 50 -o text.txt
check "targets keep the order asked for; a file is announced" all status_is 0 , \
    out_has '^2 nodes written to text.txt$' , out_has "^2 of 2 found \\(100 %\\) · median $number changes? · " , \
    test "$(grep -o '^member [0-9]*' text.txt | xargs)" = 'member 5 member 1'
run explain karate model.safetensors --preset paper --test-set --quiet --epochs 5
check "--test-set takes the rows that the model was tested on" \
    all status_is 0 , test "$(grep -c '^[A-Zm].*: community' "$scratch/log/out")" -eq 7

run explain karate model.safetensors --node 8 --json --epochs 7 --preset paper --policy constant
check "a preset gives way to the flags, whatever the order" \
    all out_has '"epochs":7,' , out_has '"policy":"constant"' , out_has '"lr":0.1'
run explain karate model.safetensors --preset paper --node 8 --learning-rate 0.5 --json
check "a learning rate has both of its names" out_has '"lr":0.5'
run train karate --epochs 1 --lr 0.5 -o other.safetensors
check "in training, too" status_is 0
run explain karate model.safetensors --preset paper --node 8 --lr 0.5 --json
check "and sets what they leave" all out_has '"epochs":500' , out_has '"lr":0.5' , out_lines 1

# ---- errors

run explain karate model.safetensors
check "no target is wrong usage" fails_with 2 'needs targets: --node N, --graph N, --all or --test-set'
run explain karate model.safetensors --preset paper --all --node 3
check "so are two ways to choose them" fails_with 2 'choose one'
run explain karate model.safetensors --node 3 --preset best
check "and a preset that does not exist" fails_with 2 "'best' is not one of none, paper, minimal, cf-gnn-trees, cf-gnn-ba-shapes"
fails() { # fails SENTENCE PATTERN ARGUMENTS...
    local sentence=$1 pattern=$2
    shift 2
    echo precious > old.jsonl
    run explain "$@" -o old.jsonl
    check "$sentence, and nothing is written" all fails_with 1 "$pattern" , grep -q precious old.jsonl
}
fails "a node that does not exist fails" '--node: .*34.*0 to 33' karate model.safetensors --node 34
fails "a graph among nodes fails" 'use --node, not --graph' karate model.safetensors --graph 0
fails "a class that does not exist fails" 'class 4 does not exist: classes are 0 to 3' \
    karate model.safetensors --node 8 --target 4
fails "a class name that does not exist fails" "'blue' is not next, any, or a class" \
    karate model.safetensors --all --target blue
fails "a target that is the prediction fails" 'node 0: the prediction is class 1 already' \
    karate model.safetensors --node 0 --target 'community 1'
fails "a model of another size fails" '(34.*5|5.*34)' plain.safetensors model.safetensors --node 1
fails "a model that is not there fails" 'absent.safetensors.*No such file' \
    karate absent.safetensors --node 1
run explain karate model.safetensors --preset paper --node 8 -o absent/x.jsonl
check "a folder that does not exist is named" fails_with 1 'absent/x.jsonl: cannot write there'
check "no temporary file stays" test -z "$(find . -name '*tmp*')"
finish
