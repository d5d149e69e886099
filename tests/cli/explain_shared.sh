#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Explaining nodes and graphs of the shared data with the models that lie there.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

[[ -d ${CBX_SHARED:-}/data && -d $CBX_SHARED/golden ]] ||
    skip "CBX_SHARED names no folder with data sets and models"
export COMBINEX_DATA=$CBX_SHARED/data

explained() { # explained DATA MODEL FLAG ROW ROW
    local data=$1 model=$CBX_SHARED/golden/$1-$2.model.safetensors flag=$3
    run explain "$data" "$model" --preset paper "$flag" "$4" "$flag" "$5" --policy constant --epochs 100 --json \
        -o results.jsonl
    check "explaining $data with $2 works" \
        all status_is 0 , err_empty , test "$(wc -l < results.jsonl)" -eq 2
    run explain "$data" "$model" --replay results.jsonl
    check "and holds when replayed" all status_is 0 , out_has '^2 of 2 hold$'
    grep -n -m 1 '"status":"found"' results.jsonl | cut -d : -f 1 > line
    [[ -s line ]] || return
    run apply "$data" results.jsonl --line "$(cat line)" -q -o edited.safetensors
    check "and can be applied" all status_is 0 , test -s edited.safetensors
}
explained AIDS-graphs gcn --graph 7 900
explained ENZYMES-graphs graphconv --graph 3 4
explained citeseer gcn --node 1268 500
explained cornell graphconv --node 5 93

model=$CBX_SHARED/golden/AIDS-graphs-gcn.model.safetensors
run explain AIDS-graphs "$model" --preset paper --graph 7 --policy constant --epochs 200
check "graphs are explained in words too" \
    all status_is 0 , out_has '^graph 7: class 1, would be class 0$' , \
    out_has 'feature [0-9]+ of node [0-9]{1,2}: (about )?[-0-9.]+ instead of [-0-9.]+'
run explain AIDS-graphs "$model" --preset paper --graph 2000
check "a graph that does not exist fails" fails_with 1 '--graph: .*2000.*0 to 1999'
run explain AIDS-graphs "$model" --preset paper --test-set
check "a model from elsewhere does not know its test set" \
    fails_with 1 'does not say which graphs it was tested on'
run explain karate "$model" --preset paper --node 0
check "a model for graphs says nothing about nodes" fails_with 1 'graph classification.*node'
run train cora --epochs 20 --hidden 16 -q -o cora.model.safetensors
run explain cora cora.model.safetensors --preset paper --node 14 --epochs 50 --target any
check "sparse features are explained in words" \
    all status_is 0 , out_has '^node 14: class [0-6], would be class [0-6]$'
finish
