#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Minimal answers and rules from the command line: certificates, replay, summaries.
. "$CBX_SOURCE/tests/cli/lib.bash"

run train karate --epochs 200 --seed 1 --quiet -o model.safetensors
check "a model is trained" status_is 0

run explain karate model.safetensors --node 5
check "the default is a minimal answer" all status_is 0 , out_has 'each is needed|it is needed'
run explain karate model.safetensors --all --json -o all.jsonl
check "every answer carries its certificate" \
    all status_is 0 , test "$(grep -c '"status":"found"' all.jsonl)" \
    = "$(grep -c '"certificate":"irreducible"' all.jsonl)"
run explain karate model.safetensors --replay all.jsonl
check "and replay checks them again" status_is 0

# An edit too many is found out: the same edits and one that does nothing for it.
python=$(command -v python3)
if [ -z "$python" ]; then
    echo "skipped: an edit too many is found out, which needs python3 to add it"
else
    "$python" - <<'P'
import json
lines = [json.loads(line) for line in open("all.jsonl")]
one = next(r for r in lines if r["status"] == "found")
used = {(e.get("node"), e.get("feature")) for e in one["edits"]}
for feature in range(34):
    if (33, feature) not in used:
        x = 1.0 if feature == 33 else 0.0
        one["edits"].append({"op": "set_feature", "node": 33, "feature": feature, "from": x,
                             "to": x, "influence": 0.0})
        break
json.dump(one, open("more.jsonl", "w"))
P
    run explain karate model.safetensors --replay more.jsonl
    check "a certificate that does not hold is reported" all status_is 1 , out_has 'can be left out'
fi

run explain karate model.safetensors --all --prove 0.3 --target any
check "small answers are proved optimal" all status_is 0 , out_has 'proved: nothing cheaper does, of all removals of edges'
run explain karate model.safetensors --node 5 --features-to-vary none --keep-edges
check "nothing may change: proved none" all status_is 0 , out_has 'proved: nothing leads there, of all'
run explain karate model.safetensors --node 5 --total-cfs 3 --json
check "more than one answer" test "$(wc -l < "$scratch/log/out")" -ge 2
run explain karate model.safetensors --all --summary common.json
check "what flips have in common is summed up" \
    all status_is 0 , out_has 'part in [0-9]+ % of the flips' , grep -q '"features"' common.json
run explain karate model.safetensors --node 5 --max-edits 2 --explainer ego
check "a method without rules says so" fails_with 1 "'ego' knows no rules"
run explain karate model.safetensors --node 5 --permitted-range 3:1
check "a rule that cannot be read is named" fails_with 1 'permitted-range'
finish
