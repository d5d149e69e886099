#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Counterfactuals for programs: the same at any number of threads, replayed, traced.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

without_times() { sed 's/"seconds":[^,}]*//'; }
same() { cmp -s <(without_times < "$1") <(without_times < "$2"); }

run data generate ba-shapes --seed 5 -q -o shapes.safetensors
run train karate --epochs 200 --seed 1 -q -o karate.model.safetensors
run train shapes.safetensors --model graphconv --hidden 16 --epochs 50 --seed 1 -q -o shapes.model.safetensors

for data in karate shapes; do
    [[ $data == karate ]] && graph=karate || graph=$data.safetensors
    for threads in 1 2 4; do
        run explain "$graph" $data.model.safetensors --preset paper --test-set --limit 24 --epochs 60 --seed 3 \
            --json --threads $threads -o $data.$threads.jsonl
        check "explain $data --json works with $threads threads, and says nothing" \
            all status_is 0 , out_empty , err_empty
    done
    check "$data: 2 threads give the lines of 1" same $data.1.jsonl $data.2.jsonl
    check "$data: 4 threads give the lines of 1" same $data.1.jsonl $data.4.jsonl
    run explain "$graph" $data.model.safetensors --replay $data.2.jsonl
    lines=$(wc -l < $data.2.jsonl)
    check "$data: all of them hold when replayed" \
        all status_is 0 , err_empty , out_lines 1 , out_has "^$lines of $lines hold\$"
done
check "each line is an object with what a program needs" \
    test "$(grep -Ec '^\{"node":[0-9]+,"status":"(found|not_found|skipped)".*"before":.*"edits":\[.*"seconds":.*"options":.*"data_sha256":"[0-9a-f]{64}".*"model_sha256":"[0-9a-f]{64}".*\}$' \
        karate.1.jsonl)" -eq "$(wc -l < karate.1.jsonl)"
run explain karate karate.model.safetensors --preset paper --node 8 --json
cp "$scratch/log/out" one.jsonl
run explain karate karate.model.safetensors --preset paper --node 8 --node 9 --json
check "one target gives the line that it has among many" \
    same one.jsonl <(head -n 1 "$scratch/log/out")

if [[ -c /dev/full ]]; then
    run explain karate karate.model.safetensors --preset paper --all --json -o /dev/full
    check "a full device fails, long before the last target" \
        fails_with 1 '/dev/full: cannot write: '
    run explain karate karate.model.safetensors --preset paper --node 8 --trace /dev/full
    check "so does one for the trace" all status_is 1 , err_has '/dev/full: cannot write: No space left'
    "$COMBINEX" explain karate karate.model.safetensors --preset paper --all --json > /dev/full 2> "$scratch/log/err"
    status=$? ran="combinex explain --all > /dev/full"
    check "and a full standard output" all status_is 1 , err_has 'standard output: '
fi

# ---- replaying what is not true

run explain karate karate.model.safetensors --preset paper --node 8 --node 9 --target any --policy features --json \
    -o good.jsonl
broken() { # broken SENTENCE PATTERN SED: line 2 of good.jsonl after SED
    sed "2$3" good.jsonl > bad.jsonl
    check "(the line is another one)" not cmp -s good.jsonl bad.jsonl
    run explain karate karate.model.safetensors --replay bad.jsonl
    check "$1 is found out" all status_is 1 , err_empty , out_lines 2 , out_has "^line 2: .*$2" , \
        out_has '^1 of 2 hold$'
}
broken "a value that is not in the data" 'feature [0-9]+ of node [0-9]+ is [01] in the data, not 7' \
    's/"from":[01]\.0/"from":7.0/'
broken "an edit that does something else" '(class|probability of .*) after the edits is ' \
    's/"to":[01]\.0/"to":0.5/'
broken "a missing edit" '(class|probability of .*) after the edits is ' 's/"edits":\[{[^}]*},*/"edits":[/'
broken "a wrong class before" 'the class now is community [0-3], not community ' \
    's/"before":{"class":\([01]\)/"before":{"class":3/'
broken "a wrong probability" 'probability of community 0 after the edits is [0-9.]+, not 0\.12' \
    's/\("after":.*"probabilities":\[\)[^,]*/\10.125/'
broken "a node that is not there" 'no such row' 's/"node":9/"node":99/'
broken "an edit of a node that is not there" 'no feature [0-9]+ of node 77 here' \
    's/"op":"set_feature","node":[0-9]*/"op":"set_feature","node":77/'
broken "an answer to another question" 'about a graph' 's/"node":9/"graph":9/'
broken "a found that changes nothing" 'the class stays the same' \
    's/"before":{"class":\([0-3]\)\(.*\)"after":{"class":[0-3]/"before":{"class":\1\2"after":{"class":\1/'
broken "other data" 'made with other data' 's/"data_sha256":"[0-9a-f]*/"data_sha256":"'"$(printf '0%.0s' {1..64})"'/'
broken "another model" 'made with another model' 's/"model_sha256":"[0-9a-f]*/"model_sha256":"'"$(printf '0%.0s' {1..64})"'/'
broken "half a line" 'not a JSON object' 's/.\{40\}$//'
run explain karate karate.model.safetensors --replay bad.jsonl --json
check "--replay --json is for programs" all status_is 1 , out_lines 2 , \
    out_has '^\{"line": 2, "why": ".*"\}$' , out_has '^\{"lines": 2, "hold": 1\}$'
: > empty.jsonl
run explain karate karate.model.safetensors --replay empty.jsonl
check "an empty file proves nothing" fails_with 1 'empty.jsonl: there are no results'
run explain karate karate.model.safetensors --replay absent.jsonl
check "a missing file is named" fails_with 1 'absent.jsonl: No such file'
run explain karate karate.model.safetensors --replay good.jsonl --all
check "a replay has targets already" fails_with 2 'choose one'

# ---- traces

run explain karate karate.model.safetensors --preset paper --node 8 --policy edges --edges undirected --target any \
    --trace trace.json -q
check "--trace writes one object with an epoch after the other" all status_is 0 , \
    test "$(wc -l < trace.json)" -eq 1 , test "$(grep -o '"loss"' trace.json | wc -l)" -eq 500
check "it starts with the target and the factual graph" grep -Eq \
    '^\{"node": 8, "graph": null, "policy": "edges", "epochs": 500, "nodes": 34, "edges": 156, "prediction": ' \
    trace.json
check "an epoch has all parts of the loss" grep -Eq \
    '\{"loss": [^,]+, "ce": [^,]+, "edge_loss": [^,]+, "feature_loss": 0, "alpha": 0, "eta": [01], "hit": (true|false), "changed_features": 0, "removed_edges": [0-9]+\}' \
    trace.json
check "an undirected edge is gone in both directions" all grep -q '"found": true' trace.json , \
    grep -Eq '"removed_edges": \[(\[[0-9]+, [0-9]+\], )*\[8, 32\]' trace.json , \
    grep -Eq '"removed_edges": \[(\[[0-9]+, [0-9]+\], )*\[32, 8\]' trace.json
run explain karate karate.model.safetensors --preset paper --node 8 --node 9 --trace other.json
check "a trace is of one target" all fails_with 2 '--trace is for one target, and there are 2' , \
    test ! -e other.json
run explain karate karate.model.safetensors --preset paper --node 8 --target 9 --trace trace2.json
check "an error leaves no trace" all status_is 1 , test ! -e trace2.json
finish
