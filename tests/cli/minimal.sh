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
    = "$(grep -cE '"certificate":"(irreducible|optimal)"' all.jsonl)"
check "and what any answer costs at least" \
    test "$(grep -c '"status":"found"' all.jsonl)" = "$(grep -cE '"lower_bound":[1-9]' all.jsonl)"
check "an answer of one change is the cheapest there is" \
    test "$(grep -cE '"cost":1(\.0)?[,}]' all.jsonl)" = "$(grep -c '"certificate":"optimal"' all.jsonl)"
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

# Values that could be smaller are found out, and so are steps that promise too little.
mkdir table
echo source,target > table/edges.csv
echo id,income,rate,label > table/features.csv
for i in $(seq 0 39); do
    echo "c$i,c$(((i + 1) % 40))" >> table/edges.csv
    echo "c$i,$((1000 + 137 * i)),0.$((10 + 7 * i % 80)),$([ "$i" -lt 20 ] && echo no || echo yes)" >> table/features.csv
done
run data convert table table.safetensors --symmetric
run train table.safetensors --epochs 1 -o any.safetensors
check "where features have values between, sage is chosen, and that is said" all status_is 0 , out_has 'chosen +sage, because features have values other than 0 and 1'
run train karate --epochs 1 -o any.safetensors
check "and gcn where they are 0 or 1" all status_is 0 , out_has 'chosen +gcn, because all features are 0 or 1'
run train table.safetensors --heads 2 -o any.safetensors
check "what one kind has is for whoever names it" fails_with 2 '--heads is for --model gat'
run train table.safetensors --model graphconv --epochs 100 --seed 1 --quiet -o table.model.safetensors
run explain table.safetensors table.model.safetensors --all --target any --features-to-vary income,rate --keep-edges --json -o table.jsonl
check "values have steps by which they do not go back" all status_is 0 , grep -q '"step": *[0-9.]' table.jsonl
run explain table.safetensors table.model.safetensors --node 3 --features-to-vary income --keep-edges --prove 1
check "why there is no proof is said" all status_is 0 , out_has 'no proof: income can take more values than can be tried'
run explain table.safetensors table.model.safetensors --node 3 --target any --features-to-vary income --keep-edges
check "which is said" all status_is 0 , out_has '(goes no|no value goes) further than it must'
run explain table.safetensors table.model.safetensors --replay table.jsonl
check "and replay checks them" status_is 0
run explain table.safetensors table.model.safetensors --all --features-to-vary income,rate --keep-edges --if-changed income:rate --plausible 2 --json -o usual.jsonl
check "no answer is more unusual than allowed" all status_is 0 , grep -q '"plausibility": *[01]' usual.jsonl
check "none of them" test -z "$(grep -oE '"plausibility": *([3-9]|[1-9][0-9])' usual.jsonl)"
run explain table.safetensors table.model.safetensors --replay usual.jsonl
check "and that each change is needed is judged by the rules, too" status_is 0
run explain table.safetensors table.model.safetensors --node 3 --features-to-vary income,rate --keep-edges --details
check "how usual the row is is said" all status_is 0 , out_has 'plausibility [0-9.]+ '
run explain table.safetensors table.model.safetensors --node 3 --explainer random-features --keep-edges --plausible 0.01
check "an answer of another method is refused by it" all status_is 0 , out_has 'what was found breaks a rule, the rule plausible'
if [ -n "$python" ]; then
    "$python" - <<'P'
import json
lines = [json.loads(line) for line in open("table.jsonl")]
ones = [r for r in lines if r["status"] == "found" and r["edits"][0].get("step")]
for name, step in (("short", 0.00001), ("long", 500)):
    ones[0]["edits"][0]["step"] = step
    json.dump(ones[0], open(name + ".jsonl", "w"))
P
    run explain table.safetensors table.model.safetensors --replay short.jsonl
    check "a value that can go back by its step is reported" all status_is 1 , out_has 'can be smaller'
    run explain table.safetensors table.model.safetensors --replay long.jsonl
    check "and a step that promises too little" all status_is 1 , out_has 'a hundredth of its range is'
fi

run explain karate model.safetensors --all --prove 0.3 --target any
check "small answers are proved optimal" all status_is 0 , out_has 'proved to be the cheapest of all removals of edges'
run explain karate model.safetensors --node 5 --features-to-vary none --keep-edges
check "nothing may change: proved none" all status_is 0 , out_has ', and nothing makes it another class: proved of all'
run explain karate model.safetensors --node 5 --total-cfs 3 --json
check "more than one answer" test "$(wc -l < "$scratch/log/out")" -ge 2
run explain karate model.safetensors --all --summary common.json
check "what flips have in common is summed up" \
    all status_is 0 , out_has '(every flip changes|[0-9]+ of [0-9]+ flips change) ' , grep -q '"features"' common.json
run explain karate model.safetensors --node 5 --keep-edges --explainer ego
check "a method of edges alone says that none may go" all status_is 0 , out_has 'keep-edges no edge goes'
run explain karate model.safetensors --node 5 --permitted-range 3:1
check "a rule that cannot be read is named" fails_with 1 'permitted-range'
finish
