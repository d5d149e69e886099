#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Every method on nodes and on graphs, with the options of its own.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

mapfile -t methods < <(explainers combinex minimal)
check "there are methods to try" test "${#methods[@]}" -gt 6

policies=(linear exponential sinusoidal dynamic constant features)

explained() { # explained DATA MODEL FLAGS...: by every method; what they find must hold
    local data=$1 model=$2 method policy
    shift 2
    for policy in "${policies[@]}"; do
        run explain "$data" "$model" --preset paper --policy "$policy" --target any "$@" --json -o results.jsonl
        check "COMBINEX explains $data with the policy $policy" all status_is 0 , err_empty , test -s results.jsonl
    done
    for method in "${methods[@]}"; do
        if [[ $method = unr && $data = *graphs* ]]; then
            run explain "$data" "$model" --explainer unr "$@"
            check "unr refuses graphs" fails_with 1 'unr explains nodes only, and this data set has a class for each graph'
            continue
        fi
        if [[ $method =~ ^(clear|d4)$ && $data != *graphs* ]]; then
            run explain "$data" "$model" --explainer "$method" "$@"
            check "$method refuses nodes" fails_with 1 "$method explains graphs only.*class for each node"
            continue
        fi
        run explain "$data" "$model" --explainer "$method" --target any "$@" --json -o results.jsonl
        check "$method explains $data" all status_is 0 , err_empty , test -s results.jsonl
        run explain "$data" "$model" --replay results.jsonl
        check "and its answers hold" all status_is 0 , out_has '^([0-9]+) of \1 hold$'
    done
}

run train karate --epochs 100 --seed 1 -q -o karate.model.safetensors
explained karate karate.model.safetensors --all --epochs 60 --unr-rollouts 60 --seed 3

run explain karate karate.model.safetensors --node 8 --explainer cf-gnn --preset cf-gnn-trees --json
check "a preset has the authors' settings" all status_is 0 , out_has '"optimiser":"sgd"' , \
    out_has '"momentum":0' , out_has '"cf-gnn-distance":"hard"' , out_has '"edges":"undirected"'
run explain karate karate.model.safetensors --all --explainer moexp --target any --total-cfs 3 --json -o results.jsonl
check "moexp's front is several answers for some" test "$(wc -l < results.jsonl)" -gt 34
run explain karate karate.model.safetensors --replay results.jsonl
check "which hold" all status_is 0 , out_has '^([0-9]+) of \1 hold$'
one_file() { test "$(find . -maxdepth 1 -name "$1" | wc -l)" = 1; }
check "what was trained is kept beside the model" one_file 'rcexplainer-*.safetensors'
mkdir sealed
cp karate.model.safetensors sealed/m.safetensors
chmod a-w sealed
run explain karate sealed/m.safetensors --node 8 --explainer rcexplainer
check "but not in a folder that is marked as read-only" all status_is 0 , test "$(ls sealed)" = m.safetensors
chmod u+w sealed
run explain karate karate.model.safetensors --node 8 --explainer rcexplainer --trained nowhere
check "a folder that is not there is named" fails_with 1 "--trained: the folder 'nowhere' cannot be written to: No such file"
touch afile
run explain karate karate.model.safetensors --node 8 --explainer rcexplainer --trained afile --seed 4
check "so is one that is none" fails_with 1 "--trained: the folder 'afile' cannot be written to: Not a directory"
run explain karate karate.model.safetensors --node 8 --explainer rcexplainer --trained '' --seed 9 --json
check "and without one nothing is" all status_is 0 , out_has '"trained_parameters":[1-9]' , one_file 'rcexplainer-*.safetensors'
run explain karate karate.model.safetensors --node 8 --explainer cf-gn
check "a method that does not exist is named" fails_with 2 "'cf-gn' is not one of combinex.*cf-gnn"
run explain karate karate.model.safetensors --node 8 --explainer unr --unr-restart 1
check "and an option that is out of range" fails_with 2 '--unr-restart: 1 is out of range: 0 to 0.99'

if [[ -d ${CBX_SHARED:-}/data && -d $CBX_SHARED/golden ]]; then
    export COMBINEX_DATA=$CBX_SHARED/data
    run train cora --epochs 20 --hidden 16 -q -o cora.model.safetensors
    explained cora cora.model.safetensors --node 14 --node 1 --epochs 30 --unr-rollouts 30
    explained AIDS-graphs "$CBX_SHARED/golden/AIDS-graphs-gcn.model.safetensors" \
        --graph 7 --graph 900 --epochs 30 --trained . --clear-epochs 4 --d4-epochs 1 --d4-width 8
fi
for method in rcexplainer clear d4; do
    run explain karate model.safetensors --node 8 --$method-learning-rate 1e9
    check "--$method-learning-rate is --$method-lr" fails_with 2 "--$method-lr: 1e9|--$method-lr: 1e\+09"
done
run explain karate model.safetensors --node 8 --blur
check "what merely ends alike is another option" fails_with 2 'unknown option --blur'
finish
