#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Same seed, same model file, at any number of threads.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run data generate ba-shapes --seed 5 -q -o shapes.safetensors
for kind in gcn cheb graphconv; do
    for data in karate shapes.safetensors; do
        for threads in 1 2 3; do
            run train "$data" --model "$kind" --hidden 16 --epochs 20 --seed 11 -q \
                --threads "$threads" -o "$threads.safetensors"
            check "$kind trains on $data with $threads threads" status_is 0
        done
        check "$kind on $data: 2 threads give the file of 1" cmp -s 1.safetensors 2.safetensors
        check "$kind on $data: 3 threads give the file of 1" cmp -s 1.safetensors 3.safetensors
        run predict "$data" 1.safetensors --json --threads 1 -o 1.jsonl
        run predict "$data" 1.safetensors --json --threads 2 -o 2.jsonl
        check "$kind on $data: predictions do not depend on threads" cmp -s 1.jsonl 2.jsonl
        run train "$data" --model "$kind" --hidden 16 --epochs 20 --seed 12 -q -o other.safetensors
        check "$kind on $data: another seed gives another file" \
            not cmp -s 1.safetensors other.safetensors
    done
done
finish
