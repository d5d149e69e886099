#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# combinex robust: what is proved of single rows, as text and as JSON, and against published models.
. "$CBX_SOURCE/tests/cli/lib.bash"

run train karate --epochs 200 --seed 1 --quiet -o model.safetensors
check "a model is trained" status_is 0
run robust karate model.safetensors --node 5 --budget 1
check "a row is told in a sentence" all status_is 0 , out_has 'node 5, .*: (not )?robust, '
run robust karate model.safetensors --node 5 --budget 1 --json
check "and as JSON" all status_is 0 , out_has '"radius": ?[0-9]+.*"robust": ?(true|false).*"lower_bound": ?[0-9]+'
run robust karate model.safetensors --edits add
check "edges from anywhere are refused for nodes" fails_with 1 '--edits: add is for graph tasks'

external=$CBX_SHARED/external/scip
if [ -f "$external/MUTAG.model.safetensors" ] && command -v python3 > /dev/null; then
    run robust "$external/MUTAG.safetensors" "$external/MUTAG.model.safetensors" --edits both \
        --share 10 --local-strength 2 --json --time-limit 0 -o mutag.jsonl
    check "all graphs of MUTAG are decided within the paper's budgets" status_is 0
    check "and robust are those that enumeration says" python3 - "$external" <<'P'
import json, sys
truth = json.load(open(sys.argv[1] + "/truth.json"))["MUTAG"]
robust = 0
for row, graph in zip(map(json.loads, open("mutag.jsonl")), truth):
    shares = graph["paper_global_budget"]
    for budget in shares.values() if isinstance(shares, dict) else shares:
        robust += row["radius"] >= budget
sys.exit(robust != 77)
P
else
    echo "skipped: MUTAG, which needs python3 and $external"
fi
finish
