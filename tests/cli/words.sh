#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Sentences that a clerk can read: the data's names and units, numbers as people write them.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# Who earns much, or lives in Milan, gets a loan; friends have no say.
mkdir bank
{
    echo 'id,income,city,home,label'
    for i in $(seq 0 59); do
        income=$((12000 + i * 613))
        city=$([ $((i % 3)) -eq 0 ] && echo Milan || echo Rome)
        label=$([ $income -gt 30000 ] && echo granted || echo refused)
        [ "$city" = Milan ] && label=granted
        echo "C-$i,$income.25,$city,$((i % 2)),$label"
    done
} > bank/features.csv
{
    echo source,target
    for i in $(seq 0 2 58); do echo "C-$i,C-$((i + 1))"; done
} > bank/edges.csv
run data convert bank bank.safetensors --symmetric --quiet
run train bank.safetensors --train-share 1 --epochs 400 --seed 1 --quiet -o model.safetensors
check "a bank trains a model" status_is 0

run explain bank.safetensors model.safetensors --node C-1 --features-to-vary income --own-features --keep-edges
check "a number is rounded as a person would" all status_is 0 , \
    out_has '^C-1: refused, would be granted$' , out_has '^  if     income: (about )?[0-9]{1,3},[0-9]{3} instead of 12,600$'
run explain bank.safetensors model.safetensors --node C-1 --features-to-vary income --own-features --keep-edges --details
check "--details has it exactly" out_has '\(12613\.25 → [0-9.]+, log-odds '
run explain bank.safetensors model.safetensors --node C-1 --features-to-vary city --own-features --keep-edges
check "a group of features is one line, and one change" all status_is 0 , \
    out_has '^  if     city: Rome → Milan$' , out_has '^  1 change · '
run explain bank.safetensors model.safetensors --all --limit 3 --features-to-vary city --own-features --keep-edges
check "and one change in the summary" all status_is 0 , out_has 'found \(.*median 1 change · '
run explain bank.safetensors model.safetensors --node C-1 --total-cfs 2 --features-to-vary income,city --own-features --keep-edges
check "several answers have headings of their own" all status_is 0 , \
    out_has '^C-1, answer 1 of 2: refused, would be granted$' , out_has '^C-1, answer 2 of 2: '
run explain bank.safetensors model.safetensors --node C-1 --json
check "any other class is sought unless one is asked for" out_has '"target":null|"target": ?"any"|"target":-1'
finish
