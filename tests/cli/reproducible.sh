#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154 # lib.bash sets and reads some of these
# --reproducible: the bytes of models, predictions and answers do not depend on the kind of processor
# that the BLAS was made for, nor on threads. tests/reproducible has other machines.
# shellcheck source=SCRIPTDIR/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=SCRIPTDIR/../reproducible/cores.bash
source "$here/../reproducible/cores.bash"
mapfile -t methods < <(node_explainers)
check "there are methods to try" test "${#methods[@]}" -gt 8

# every FOLDER THREADS: trains, predicts, explains and compares there
every() {
    mkdir "$1"
    run train shapes.safetensors --hidden 20 --epochs 15 --seed 3 --reproducible -q --threads "$2" -o "$1/model"
    check "$1: trained" status_is 0
    run predict shapes.safetensors "$1/model" --reproducible --json --threads "$2" -o "$1/predictions"
    check "$1: predicted" status_is 0
    for method in "${methods[@]}"; do
        run explain shapes.safetensors "$1/model" --explainer "$method" --node 3 --node 310 --node 500 \
            --target any --epochs 30 --unr-rollouts 20 --trained '' --reproducible --json --threads "$2"
        check "$1: explained by $method" status_is 0
        sed -E 's/"(trained_)?seconds":[^,]*,//g' "$scratch/log/out" > "$1/$method"
    done
    run bench --data karate --models gcn --explainers combinex-def,minimal --folds 1 --samples 4 --train-epochs 10 \
        --epochs 20 --reproducible --jobs "$2" -q --out bench
    check "$1: a benchmark" status_is 0
    gzip -dc bench/rows.csv.gz | cut -d, -f-21 > "$1/rows" # then times and memory
    mv bench/models "$1" && rm -r bench
}

run data generate ba-shapes --seed 5 -q -o shapes.safetensors
every usual 1
threads=1
for core in $([ -n "${CBX_SANITIZED-}" ] || blas_cores); do # a sanitizer sees the same code each time
    threads=$((threads * 2 % 7)) # 2, 4, 1
    export OPENBLAS_CORETYPE=$core OPENBLAS_NUM_THREADS=$threads
    every "$core" $threads
    check "a BLAS for $core and $threads threads change no byte" diff -r usual "$core"
done
unset OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS

check "answers say that they are reproducible" grep -q '"reproducible":true' usual/minimal
run explain shapes.safetensors usual/model --node 3 --target any --json
check "others do not" all status_is 0 , not out_has reproducible
run explain shapes.safetensors usual/model --replay usual/minimal --reproducible
check "they hold when they are checked in the same order" status_is 0
check "the model file notes how it was trained" grep -aq '"reproducible":"true"' usual/model
finish
