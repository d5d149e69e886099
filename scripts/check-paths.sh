#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The golden files on every instruction set that this processor has: plain x86-64,
# AVX2 and AVX-512, in the library's own loops and in the BLAS. What a release build
# chooses at run time is compiled for one set only here. With --reproducible the bits are the same
# in all of them. What gcc's vectoriser made is looked at too (check-masks.py). Then the minimal
# explainer: its edits must be the same on every set, and the same bytes at 1, 2 and 4 threads.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(uname -m)" != x86_64 ]; then
    echo "== instruction sets: not an x86-64 machine: skipped"
    exit 0
fi
has() { grep -qw "$1" /proc/cpuinfo; }
tests=(method_test_golden_traces method_test_shortcuts model_test_goldens model_test_class_bound
    kernel_test_perturb reproducible_answers)
for source in tests/proof/test_*.c; do tests+=("proof_$(basename "$source" .c)"); done
pattern='golden|shortcuts|class_bound|perturb|reproducible|proof/'
dump=-fdump-tree-vect
if cc -dM -E - < /dev/null | grep -q __clang__; then
    dump=
    echo "== masked loads: the compiler is not gcc: skipped"
fi

try() { # name, compiler flags, OpenBLAS core
    echo "== instruction set: $1"
    local build=build-path-$1
    cmake -S . -B "$build" -DCMAKE_C_FLAGS="-DCBX_NO_CLONES $2 $dump" > /dev/null
    MAKEFLAGS='' cmake --build "$build" --parallel "$(getconf _NPROCESSORS_ONLN)" \
        --target combinex_cli "${tests[@]/%_test_*/_tests}" > /dev/null
    [ -z "$dump" ] || scripts/check-masks.py "$build" "$2"
    OPENBLAS_CORETYPE=$3 ctest --test-dir "$build" --output-on-failure -R "$pattern" \
        --parallel "$(getconf _NPROCESSORS_ONLN)" | tail -n 4
    OPENBLAS_CORETYPE=$3 answer "$build"
}

# The models are those of the first path: what differs is the search.
answer() { # build folder
    local kind threads one models=build-path-plain running
    for kind in gcn cheb graphconv; do
        [ "$1" != "$models" ] ||
            "$1/combinex" train karate --model $kind --epochs 60 --seed 3 -q -o "$models/$kind.model"
        running=()
        for threads in 1 2 4; do
            "$1/combinex" explain karate "$models/$kind.model" --all --target any --threads $threads --json |
                sed -E 's/"seconds":[^,]*,//' > "$1/$kind.$threads.jsonl" &
            running+=($!)
        done
        for one in "${running[@]}"; do wait "$one"; done
        for threads in 2 4; do cmp "$1/$kind.1.jsonl" "$1/$kind.$threads.jsonl"; done
        [ "$1" = "$models" ] || printf '%s: ' $kind
        [ "$1" = "$models" ] || scripts/compare-answers.py "$models/$kind.1.jsonl" "$1/$kind.1.jsonl"
    done
}

try plain -march=x86-64 Prescott
if has avx2 && has fma; then try avx2 '-march=haswell' Haswell; fi
if has avx512f && has avx512vl; then try avx512 '-march=skylake-avx512' SkylakeX; fi
