#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Whatever the data has a name for can be called by it: nodes, edges, classes, features, groups.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run train karate --epochs 200 --seed 1 --quiet -o model.safetensors
run explain karate model.safetensors --node 'John A' --json --target any
cp "$scratch/log/out" by-name
run explain karate model.safetensors --node 33 --json --target any
check "a node is explained by its name as by its number" \
    all status_is 0 , grep -q '"node":33' by-name , out_has '"node":33'
run predict karate model.safetensors --node 'member 8'
check "and predicted" all status_is 0 , out_has '^ +8 +member 8'
run explain karate model.safetensors --node 8 --target any --protected-edges 'member 8-John A'
check "an edge is protected by the names of its ends" \
    all status_is 0 , not out_has 'remove edge member 8–John A'
run explain karate model.safetensors --node 8 --target 'community 1'
check "a class is sought by its name" all status_is 0 , out_has 'would be community 1'

run explain karate model.safetensors --node 'Jon A'
check "a node that is nearly one gets that suggested" fails_with 1 "--node: karate: there is no node 'Jon A'; did you mean 'John A'"
run predict karate model.safetensors --node -1
check "a negative node is refused" fails_with 1 '--node: karate: node -1 does not exist: there are 0 to 33'
run explain karate model.safetensors --node 8 --target 'comunity 1'
check "so does a class" fails_with 1 "did you mean 'community 1'"
run explain karate model.safetensors --node 8 --immutable-features 'is membr 8'
check "so does a feature" fails_with 1 "--immutable-features: there is no feature 'is membr 8'; did you mean 'is member 8'"

# Names that are numbers, and a group of features.
mkdir bank
printf 'source,target\n8,9\n9,1\n1,0\n0,8\n1,8\n' > bank/edges.csv
printf 'id,income,city,label\n8,1.5,Rome,no\n9,2.5,Milan,yes\n1,0.5,Rome,no\n0,2.0,Milan,yes\n' > bank/features.csv
run data convert bank bank.safetensors --symmetric --quiet
run train bank.safetensors --model gcn --train-share 1 --epochs 100 --seed 1 --quiet -o bank.model.safetensors
run predict bank.safetensors bank.model.safetensors --node 1 --json
check "a name goes before a number" all status_is 0 , out_has '"node": 2'
run predict bank.safetensors bank.model.safetensors --node @1 --json
check "and @1 is the number" all status_is 0 , out_has '"node": 1'
run explain bank.safetensors bank.model.safetensors --node @1 --html page.html --quiet
check "a page's command asks about the same node" all status_is 0 , grep -q -- '--node @1' page.html
run explain bank.safetensors bank.model.safetensors --node 8 --target any --immutable-features city,income --keep-edges
check "a group of features can be kept as a whole" all status_is 0 , out_has 'nothing (found that )?makes it another class'
run explain bank.safetensors bank.model.safetensors --node 9 --target any --keep-edges --features-to-vary city --feature-cost 3,city:7 --json
check "a group has a cost, once for the change of it" all status_is 0 , out_has '"cost":7.0,'
run explain bank.safetensors bank.model.safetensors --node 8 --target any --feature-cost incme:7
check "a cost of what there is not suggests a name" fails_with 1 "--feature-cost: there is no feature 'incme'; did you mean 'income'"
printf '{"immutable": ["city"]}' > bank/combinex.json
run explain bank bank.model.safetensors --node 8 --target any --features-to-vary city --keep-edges
check "the sidecar takes groups, too" all status_is 0 , out_has 'nothing (found that )?makes it another class'
printf '{"immutable": ["incme"]}' > bank/combinex.json
run data info bank
check "and suggests a name" fails_with 1 "did you mean 'income'"
# A table whose columns are not those that the model knows.
mkdir swapped renamed fewer
cp bank/edges.csv swapped; cp bank/edges.csv renamed; cp bank/edges.csv fewer
printf 'id,city,income,label\n8,Rome,1.5,no\n9,Milan,2.5,yes\n1,Rome,0.5,no\n0,Milan,2.0,yes\n' > swapped/features.csv
printf 'id,salary,city,label\n8,1.5,Rome,no\n9,2.5,Milan,yes\n1,0.5,Rome,no\n0,2.0,Milan,yes\n' > renamed/features.csv
printf 'id,income,city,label\n8,1.5,Rome,no\n9,2.5,Rome,yes\n1,0.5,Rome,no\n0,2.0,Rome,yes\n' > fewer/features.csv
run predict swapped bank.model.safetensors --symmetric
check "columns that are swapped are refused" fails_with 1 "the model was trained on other columns: column 0 was 'income', and is 'city="
run explain renamed bank.model.safetensors --symmetric --node 1
check "so are renamed ones" fails_with 1 "column 0 was 'income', and is 'salary' in the data"
run explain fewer bank.model.safetensors --symmetric --node 1
check "and missing ones" fails_with 1 "the model was trained on other columns: column [0-9]+ was 'city="
finish
