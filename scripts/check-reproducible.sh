#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What --reproducible promises, on processors that this machine is not: tests/reproducible under
# other compilers and, where qemu's user emulation is installed, on an old x86-64 without AVX, one
# with AVX2 and a 64-bit ARM. `make check` has the rest of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build-reproducible
jobs=$(getconf _NPROCESSORS_ONLN)

with() { # with NAME CMAKE-FLAGS...: builds it, and runs it here
    echo "== reproducible: $1"
    cmake -S . -B "$build/$1" -DCBX_PYTHON=OFF "${@:2}" > /dev/null
    MAKEFLAGS='' cmake --build "$build/$1" --parallel "$jobs" --target reproducible_answers > /dev/null
    tests/reproducible/run.sh "$build/$1/tests/reproducible_answers"
}
emulated() { # emulated NAME COMMAND...
    echo "== reproducible: $1"
    tests/reproducible/run.sh "${@:2}"
}

with gcc -DCMAKE_C_COMPILER=gcc
if command -v clang > /dev/null; then with clang -DCMAKE_C_COMPILER=clang; fi
if [ "$(uname -m)" = x86_64 ]; then
    # every instruction that this processor has, everywhere
    with march-native -DCMAKE_C_COMPILER=gcc '-DCMAKE_C_FLAGS=-march=native -DCBX_NO_CLONES'
    if command -v qemu-x86_64 > /dev/null; then
        emulated "an x86-64 without AVX" "$build/gcc/tests/reproducible_answers" qemu-x86_64 -cpu Nehalem
        emulated "an x86-64 with AVX2" "$build/gcc/tests/reproducible_answers" qemu-x86_64 -cpu Haswell,-rtm,-hle
    fi
fi
if command -v qemu-aarch64 > /dev/null && command -v aarch64-linux-gnu-gcc > /dev/null; then
    echo "== reproducible: 64-bit ARM"
    cmake -S . -B "$build/arm64" --toolchain cmake/aarch64-linux-gnu.cmake -DCBX_TESTS=OFF -DCBX_CURL=OFF > /dev/null
    MAKEFLAGS='' cmake --build "$build/arm64" --parallel "$jobs" --target combinex_static > /dev/null
    # no library for ARM is installed, and of a BLAS nothing but its name is needed
    echo 'void cblas_sgemm(void); void cblas_sgemm(void) { __builtin_trap(); }' > "$build/arm64/blas.c"
    aarch64-linux-gnu-gcc -O2 -std=c17 -static -D_POSIX_C_SOURCE=200809L -Iinclude \
        tests/reproducible/answers.c "$build/arm64/blas.c" "$build/arm64/libcombinex.a" \
        -o "$build/arm64/answers" -fopenmp -lm 2> /dev/null
    tests/reproducible/run.sh "$build/arm64/answers" qemu-aarch64
else
    echo "== reproducible: no cross compiler or emulator for 64-bit ARM: skipped"
fi
