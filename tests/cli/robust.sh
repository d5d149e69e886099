#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# combinex robust: what is proved of single rows, as text and as JSON, and against published models.
. "$CBX_SOURCE/tests/cli/lib.bash"

run train karate --epochs 200 --seed 1 --quiet -o model.safetensors
check "a model is trained" status_is 0
run robust karate model.safetensors --node 5 --budget 1
check "a row is told in a sentence" all status_is 0 , out_has '^member 5: community [0-3], (robust: up to 1 edit cannot|not robust: 1 edit can) change it'
run robust karate model.safetensors --node 5 --budget 1 --json
check "and as JSON" all status_is 0 , out_has '"radius": ?[0-9]+.*"robust": ?(true|false).*"lower_bound": ?[0-9]+'
run robust karate model.safetensors --edits add
check "edges from anywhere are refused for nodes" fails_with 1 '--edits: add is for graph tasks'

external=$CBX_SHARED/external/scip
if [ -f "$external/MUTAG.model.safetensors" ] && command -v python3 > /dev/null; then
    run robust "$external/MUTAG.safetensors" "$external/MUTAG.model.safetensors" --edits both \
        --share 10 --local-strength 2 --json --time-limit 0 -o mutag.jsonl
    check "all graphs of MUTAG are decided within the paper's budgets" status_is 0
    check "and robust are those that enumeration says, at every share" python3 - "$external" << 'P'
import json, sys
truth = json.load(open(sys.argv[1] + "/truth.json"))["MUTAG"]
published = json.load(open(sys.argv[1] + "/paper_s2_robust.json"))["robust"]
rows = [json.loads(line) for line in open("mutag.jsonl")]
for share, graphs in published.items():
    ours = [row["graph"] for row, graph in zip(rows, truth) if row["radius"] >= graph["paper_global_budget"][share]]
    assert ours == graphs, (share, ours, graphs)
assert sum(map(len, published.values())) == 77
P
else
    echo "skipped: MUTAG, which needs python3 and $external"
fi

external=$CBX_SHARED/external/cfgnn
if [ -n "${CBX_SANITIZED-}" ]; then
    echo "skipped: BA-Shapes, which takes long under sanitizers; MUTAG has the same code"
elif [ -f "$external/truth.json" ] && command -v python3 > /dev/null; then
    run robust "$external/syn1.safetensors" "$external/syn1-gcn3.model.safetensors" --budget 1 --json -o shapes.jsonl
    check "BA-Shapes is decided for one edge" status_is 0
    check "and changes where trying every edge says so, node by node" python3 - "$external" << 'P'
import json, sys
truth = json.load(open(sys.argv[1] + "/truth.json"))["nodes"]
rows = [json.loads(line) for line in open("shapes.jsonl")]
assert len(rows) == len(truth) == 700
assert [row["robust"] for row in rows] == [node["flipping_edges"] == 0 for node in truth]
P
else
    echo "skipped: BA-Shapes, which needs python3 and $external"
fi
finish
