#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tsan.sh FOLDER [short]: the thread sanitizer over everything that runs on several threads:
# training, prediction, batches of every method, a benchmark. FOLDER is configured with
# -DCBX_TSAN=ON, for clang; what is run is built first: gcc's OpenMP runtime waits in ways that the sanitizer cannot see, so
# that every barrier looks like a race. LLVM's has a tool, Archer, that tells it of them.
#
# First a race is planted, and the lock of cbx_explain_many left out: both must be found, and
# nothing where they are mended, or silence would mean nothing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(cd "${1:?the build folder}" && pwd)
short=${2:-}
combinex=$folder/combinex
# the unit tests that use threads
tests=(search_test_many)
[ -n "$short" ] || tests+=(core_test_threads kernel_test_gemm kernel_test_sparse kernel_test_rows model_test_predict
    bench_test_run proof_test_walk_search proof_test_radius)
MAKEFLAGS=--no-print-directory cmake --build "$folder" --parallel "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" \
    --target combinex_cli planted_race planted_race_unlocked "${tests[@]/%_test_*/_tests}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

omp=$(ldd "$combinex" | awk '/libomp/ && !found++ { print $3 }')
archer=''
[ -z "$omp" ] || archer=$(find "$(dirname "$(realpath "$omp")")" -maxdepth 1 -name libarcher.so -print -quit)
if [ -z "$archer" ]; then
    echo "== thread sanitizer: no OpenMP of LLVM with libarcher.so (libomp-dev): skipped"
    exit 0
fi
export OMP_TOOL_LIBRARIES=$archer OMP_WAIT_POLICY=passive
# OpenBLAS stays on one thread, as the library asks it to, but starts some for later.
export OPENBLAS_NUM_THREADS=1
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=0 exitcode=66 ${TSAN_OPTIONS:-}"

for sound in locked many; do
    "$folder/tests/planted_race" $sound > planted.txt 2>&1 || {
        echo "thread sanitizer: sound code ($sound) is taken for a race: Archer is not at work"
        cat planted.txt
        exit 1
    }
done
for planted in 'planted_race racy' 'planted_race_unlocked many'; do
    # shellcheck disable=SC2086 # words
    if "$folder/tests/"$planted > planted.txt 2>&1 || ! grep -q 'data race' planted.txt; then
        echo "thread sanitizer: a planted race is not found: $planted"
        exit 1
    fi
done

runs=0
try() {
    runs=$((runs + 1))
    "$combinex" "$@" > out.txt 2> err.txt || {
        echo "thread sanitizer: combinex $*"
        cat err.txt
        exit 1
    }
}
try data generate erdos-renyi --nodes 1500 --features 40 --classes 3 --seed 1 -q -o data.safetensors
methods=$({ "$combinex" explain karate model --node 0 --explainer '?' 2>&1 || true; } | sed -n 's/.* is not one of //p' | tr -d ,)
[ -n "$methods" ]
for model in gcn cheb graphconv; do
    try train data.safetensors --model $model --hidden 64 --epochs 3 --threads 4 -q -o wide.safetensors
    try predict data.safetensors wide.safetensors --threads 4 --json
    try train karate --model $model --epochs 20 --threads 2 -q -o model.safetensors
    for method in $methods; do
        [[ ! $method =~ ^(clear|d4)$ ]] || continue # of graphs
        limit=(--limit 12)
        [ -z "$short" ] || limit=(--limit 4)
        try explain karate model.safetensors --all "${limit[@]}" --threads 4 --explainer "$method" \
            --epochs 15 --unr-rollouts 20 --target any --json
    done
    [ -z "$short" ] || break
done
# one target: its branches are bounded by all threads
try explain karate model.safetensors --node 8 --features-to-vary none --prove 3 --threads 4 --json
try robust karate model.safetensors --node 8 --budget 3 --time-limit 5 --threads 4 --json
try bench --data karate --models "gcn,graphconv" --folds 2 --samples 4 --train-epochs 10 --epochs 20 \
    --unr-rollouts 20 --jobs 2 --out bench
export CBX_SOURCE=$here CBX_SHARED=/nonexistent COMBINEX=$combinex
for test in "${tests[@]}"; do
    runs=$((runs + 1))
    few=()
    [[ $test != proof_* ]] || few=(env CBX_SANITIZED=1) # proofs have fewer worlds then
    "${few[@]}" "$folder/tests/$test" > out.txt 2>&1 || { tail -n 60 out.txt; exit 1; }
done
echo "thread sanitizer: $runs runs without a race; the planted ones are found"
