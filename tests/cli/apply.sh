#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# The edits of a counterfactual, made: the model then says what was promised.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run train karate --epochs 200 --seed 1 -q -o model.safetensors
run explain karate model.safetensors --preset paper --node 8 --target any --policy edges --edges undirected --json
cat "$scratch/log/out" > results.jsonl
run explain karate model.safetensors --preset paper --node 9 --epochs 1 --json
cat "$scratch/log/out" >> results.jsonl
run explain karate model.safetensors --preset paper --node 5 --target any --policy features --json
cat "$scratch/log/out" >> results.jsonl

# The class that line $1 promises, and the one that the model predicts for node $2 of edited.safetensors.
promised() { sed -n "$1p" results.jsonl | grep -o '"after":{"class":[0-9]*' | grep -o '[0-9]*$'; }
predicted() {
    "$COMBINEX" predict edited.safetensors model.safetensors --node "$1" --json |
        grep -o '"class": [0-9]*' | cut -d ' ' -f 2
}

run apply karate results.jsonl -o edited.safetensors
check "apply makes the edits of the first line" all status_is 0 , err_empty , \
    out_has '^karate with [0-9]+ edits? \([1-9][0-9]* edges? removed, 0 feature values changed\) written to edited.safetensors$'
removed=$(head -n 1 results.jsonl | grep -o '"edges_removed":[0-9]*' | cut -d : -f 2)
run data info edited.safetensors --json
check "both directions of each edge are gone, and the rest is there" all \
    out_has "\"edges\": $((156 - 2 * removed))," , out_has '"nodes": 34,'
check "the model sees the class that was promised" test "$(predicted 8)" = "$(promised 1)"
run apply karate results.jsonl --line 3 --json -o edited.safetensors
check "--line takes another one; --json is for programs" all status_is 0 , out_lines 1 , \
    out_has '^\{"data": "karate", "node": 5, "edits": [0-9]+, "edges_removed": 0, "features_changed": [0-9]+, "file": "edited.safetensors"\}$'
check "the model sees that class as well" test "$(predicted 5)" = "$(promised 3)"
run apply karate results.jsonl --line 3 --quiet -o quiet.safetensors
check "--quiet says nothing" all status_is 0 , out_empty , err_empty , \
    cmp -s quiet.safetensors edited.safetensors
cp edited.safetensors kept.safetensors

run apply karate results.jsonl --line 2 -o edited.safetensors
check "a line without a counterfactual has nothing to apply" \
    fails_with 1 'line 2 \(node 9\): its status is not_found'
run apply karate results.jsonl --line 4 -o edited.safetensors
check "a line that is not there is named" fails_with 1 'there is no line 4: it has 3'
run apply edited.safetensors results.jsonl -o other.safetensors
check "edits for other data are refused" all fails_with 1 'found on other data; --force' , \
    test ! -e other.safetensors
run apply edited.safetensors results.jsonl --force -o other.safetensors
check "unless forced" all status_is 0 , test -s other.safetensors
run data generate erdos-renyi --nodes 8 --degree 2 --features 34 -q -o small.safetensors
run apply small.safetensors results.jsonl --force -o edited.safetensors
check "edits that make no sense are refused even so" \
    fails_with 1 'results.jsonl, line 1: edit 0: there is no edge'
sed 's/"op":"remove_edge"/"op":"grow_node"/' results.jsonl > bad.jsonl
run apply karate bad.jsonl -o edited.safetensors
check "an edit that nobody knows is refused" fails_with 1 "bad.jsonl, line 1: .*'grow_node'"
run apply karate absent.jsonl -o edited.safetensors
check "missing results are named" fails_with 1 'absent.jsonl: No such file'
run apply karate results.jsonl -o absent/edited.safetensors
check "so is a missing folder" fails_with 1 'absent/edited.safetensors: cannot write there'
check "the file written before is as it was" cmp -s edited.safetensors kept.safetensors
run apply karate results.jsonl
check "the output is required" fails_with 2 'apply needs --output FILE'
finish
