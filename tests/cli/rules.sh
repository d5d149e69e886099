#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every method keeps every rule. Whether it does is asked of its answers, by a program that reads the
# tables itself (keeps_rules.py).
source "$(dirname "$0")/lib.bash"

python3 -c '' 2> "$scratch/log/err" || exit 77

mkdir people
python3 - << 'PY'
import random
random.seed(4)
towns, streets = ["Rome", "Milan", "Bari"], ["A", "B"]
rows, links = [], set()
for i in range(24):
    rich = i % 2
    rows.append((f"C-{i}", random.randint(20, 60), 100 * random.randint(5, 15) + 700 * rich + 30, random.randint(0, 9),
                 random.choice(towns[:2] if rich else towns[1:]), random.choice(streets), "yes" if rich else "no"))
    links.add((i, (i + 2) % 24) if random.random() < 0.8 else (i, (i + 5) % 24))
with open("people/features.csv", "w") as file:
    file.write("id,age,amount,years,town,street,label\n")
    file.writelines(",".join(map(str, row)) + "\n" for row in rows)
with open("people/edges.csv", "w") as file:
    file.write("source,target\n")
    file.writelines(f"C-{a},C-{b}\n" for a, b in sorted(links))
PY
run data convert people people.safetensors --symmetric
run train people.safetensors --model graphconv --layers 2 --hidden 16 --train-share 1 --epochs 60 --seed 1 -o model.safetensors
check "there is a model" status_is 0

# All rules, one each; the first link of the table is the one that is protected.
link=$(sed -n '2s/,/:/p' people/edges.csv)
# shellcheck disable=SC2054 # commas belong to the rules
rules=(--only-up=age,amount,years --only-down=amount,years --step=amount:50 --if-changed=town:street --if-changed=amount:years
    --immutable-features=town,amount --features-to-vary=age,street,years --permitted-range=amount:600:1200
    --immutable-nodes=C-1,C-2,C-3 "--protected-edges=$link" --own-features --own-edges --as=self --keep-edges
    --keep=no-isolated --keep=connected --max-edits=2 --stopping-threshold=0.6)

# Prints how many answers all methods found with the rules.
count_found() {
    local method found all=0
    # shellcheck disable=SC2119 # all of them
    for method in $(node_explainers); do
        run explain people.safetensors model.safetensors --all --explainer "$method" --epochs 60 --unr-rollouts 50 --moexp-most 200 --json "$@"
        status_is 0 || return 1
        found=$(python3 "$here/keeps_rules.py" people "$@" < "$scratch/log/out" 2> "$scratch/log/err") || return 1
        all=$((all + found))
    done
    echo "$all"
}

some_are_found() { found=$(count_found "$@") && [[ $found -gt 0 ]]; }
step=1
[[ -z ${CBX_SANITIZED:-} ]] || step=3 # rules are kept by the same code in every method
for ((i = 0; i < ${#rules[@]}; i += step)); do
    rule=${rules[i]}
    check "no answer of any method breaks $rule, and there are some" some_are_found "$rule"
done
check "nor rules together" some_are_found --as=self --only-down=amount --step=amount:50 --max-edits=3

# ---- as people meet them

run explain people.safetensors model.safetensors --node C-0 --as self --keep-edges --step amount:50 --json
cp "$scratch/log/out" answer.jsonl
check "the rules are part of the record" out_has '"step":"amount:50"'
run explain people.safetensors model.safetensors --replay answer.jsonl
check "an answer within the rules holds" all status_is 0 , out_has '1 of 1 hold'
sed 's/"immutable-features":null/"immutable-features":"age,amount,years,town,street"/' answer.jsonl > lie.jsonl
run explain people.safetensors model.safetensors --replay lie.jsonl
check "one that breaks a rule of its record does not" all status_is 1 , out_has 'the rule immutable-features or .* changes'
run explain people.safetensors model.safetensors --node C-0 --step amount:0
check "a step must be one" fails_with 1 "step: '0' at position 8: expected a step above 0, as in amount:50"
run explain people.safetensors model.safetensors --node C-0 --only-up amuont
check "names are suggested" fails_with 1 "only-up: there is no feature 'amuont'; did you mean 'amount'"
run explain people.safetensors model.safetensors --node C-0 --immutable-features twon
check "those of groups are, too" fails_with 1 "did you mean 'town'"
run explain people.safetensors model.safetensors --node C-0 --only-up town
check "a group has no up" fails_with 1 "'town' is a group of features of which one is on"
run explain people.safetensors model.safetensors --node C-0 --step amount:50 --step years:2
check "a list that is given twice is no list" fails_with 2 '--step is given twice; write one list, with commas: --step A,B'
run explain people.safetensors model.safetensors --node C-0 --permitted-range amount:50:20
check "features are called by their names" fails_with 1 '50 to 20 of feature [0-9]+ \(amount\) is empty'
run explain people.safetensors model.safetensors --node C-0 --as selfish
check "who asks is one of two" fails_with 2 'anybody, self'
# columns of which every row has exactly one
mkdir -p kinds
echo "source,target" > kinds/edges.csv
echo "id,carbon,oxygen,tin,label" > kinds/features.csv
for i in $(seq 0 29); do
    echo "a$i,a$(((i + 1) % 30))" >> kinds/edges.csv
    echo "a$i,$((i % 3 == 0)),$((i % 3 == 1)),$((i % 3 == 2)),$([ $((i % 3)) = 2 ] && echo poison || echo fine)" >> kinds/features.csv
done
run data convert kinds kinds.safetensors --symmetric
run train kinds.safetensors --model graphconv --train-share 1 --epochs 100 --seed 1 --quiet -o kinds.model.safetensors
run explain kinds.safetensors kinds.model.safetensors --node a2 --keep-edges --own-features
check "a group that the data shows is one change" all status_is 0 , out_has '^  if     tin → (carbon|oxygen)$' , out_has '1 change '
run explain kinds.safetensors kinds.model.safetensors --node a2 --keep-edges --own-features --explainer combinex --json -o kinds.jsonl
check "for every method" all status_is 0 , grep -q '"group":0' kinds.jsonl
run explain kinds.safetensors kinds.model.safetensors --node a2 --keep-edges --own-features --one-hot none
check "unless that is turned off" all status_is 0 , out_has 'tin: no instead of yes|(carbon|oxygen): yes instead of no' , not out_has 'tin →'
finish
