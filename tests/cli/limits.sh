#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# What is said where the time limit ended a search. Limits here are so short that every clock has
# passed them at its first reading.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run train karate --epochs 20 --seed 1 -q -o model.safetensors
ended='the time limit of 1e-09 s ended the search'

short=(--explainer cf-gnn --epochs 1000000000 --time-limit 1e-9)
run explain karate model.safetensors --node 3 "${short[@]}"
check "what was not found for want of time says so" all status_is 0 , \
    out_has "nothing found that makes it .*: $ended · "
run explain karate model.safetensors --node 3 "${short[@]}" --json
check "and so does JSON" all status_is 0 , out_has "\"status\":\"not_found\",\"reason\":\"$ended\""
run explain karate model.safetensors --all "${short[@]}" --json -o ended.jsonl
check "every target has its own limit" test "$(grep -c "$ended" ended.jsonl)" -eq 34
run explain karate model.safetensors --node 3 --time-limit 0
check "0 is no limit" all status_is 0 , not out_has 'time limit'

# A graph so large that the limit is over before the model has answered.
run data generate barabasi-albert --nodes 20000 --degree 20 -q -o large.safetensors
run train large.safetensors --epochs 1 --hidden 4 -q -o large.model.safetensors
unknown='skipped: the time limit of 1e-09 s was over before the class was known'
run explain large.safetensors large.model.safetensors --node 0 --time-limit 1e-9
check "a class that was not known in time is not made up" all status_is 0 , \
    out_has "^node 0: class not known, $unknown\$"
run explain large.safetensors large.model.safetensors --node 0 --node 1 --time-limit 1e-9 --json -o late.jsonl
check "in JSON it has no side before" all status_is 0 , \
    test "$(grep -c '"status":"skipped"' late.jsonl)" -eq 2 , not grep -q '"before"' late.jsonl
run explain large.safetensors large.model.safetensors --replay late.jsonl
check "a replay has nothing to object" all status_is 0 , out_has '^2 of 2 hold$'
run report late.jsonl large.safetensors large.model.safetensors -o late.html
check "a page of many targets shows them" all status_is 0 , grep -q 'over before the class was known' late.html
head -n 1 late.jsonl > one.jsonl
run report one.jsonl large.safetensors large.model.safetensors -o one.html
check "a page of that one alone has nothing to show" all \
    fails_with 1 'node 0: its class is not known: nothing can be shown' , test ! -e one.html
finish
