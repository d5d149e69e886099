#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What --reproducible promises, on processors that this machine is not: tests/reproducible by another
# compiler and, where qemu's user emulation is installed, on an old x86-64 without AVX, on one with AVX2
# and on a 64-bit ARM. `make check` and scripts/check-paths.sh have the rest of it. The library's build
# folders are those of make.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=SCRIPTDIR/../tests/reproducible/cores.bash
source tests/reproducible/cores.bash

build() { # build FOLDER TARGET
    MAKEFLAGS='' make --no-print-directory "$1/configured" > /dev/null
    MAKEFLAGS='' cmake --build "$1" --parallel "$(getconf _NPROCESSORS_ONLN)" --target "$2" > /dev/null
}
try() { # try NAME ANSWERS [EMULATOR...]
    echo "== reproducible: $1"
    tests/reproducible/run.sh "${@:2}"
}
# Emulators are slow, and run side by side; each says what it has to say at its end.
emulated=()
emulate() { # as try
    (
        status=0
        told=$(try "$@") || status=$?
        echo "$told"
        exit $status
    ) &
    emulated+=($!)
}
has() {
    command -v "$1" > /dev/null && return
    echo "== reproducible: no $1: skipped"
    return 1
}

build build reproducible_answers
try "this machine" build/tests/reproducible_answers
# not promised, but what the option is for
for core in $(blas_cores); do
    OPENBLAS_CORETYPE=$core build/tests/reproducible_answers 1 fast | sha256sum
done | sort | uniq -c | awk '{ n += $1 } END { print "without it: " NR " different ones with " n " kinds of BLAS" }'
if has clang; then
    build build-clang reproducible_answers
    try "clang" build-clang/tests/reproducible_answers
fi
if [ "$(uname -m)" = x86_64 ] && has qemu-x86_64; then
    emulate "an x86-64 without AVX" build/tests/reproducible_answers qemu-x86_64 -cpu Nehalem
    emulate "an x86-64 with AVX2" build/tests/reproducible_answers qemu-x86_64 \
        -cpu Haswell,-rtm,-hle,-pcid,-x2apic,-tsc-deadline,-invpcid # what qemu has not
fi
if [ "$(uname -m)" = x86_64 ] && has qemu-aarch64 && has aarch64-linux-gnu-gcc; then
    build build-arm64 combinex_kit_static
    # no library for ARM is installed, and of a BLAS nothing but the names is needed
    for name in cblas_sgemm cblas_dgemm; do
        echo "void $name(void); void $name(void) { __builtin_trap(); }"
    done > build-arm64/blas.c
    aarch64-linux-gnu-gcc -O2 -std=c17 -static -D_POSIX_C_SOURCE=200809L -Iinclude tests/reproducible/answers.c \
        build-arm64/blas.c build-arm64/libcombinex-kit.a build-arm64/libcombinex.a -o build-arm64/answers -fopenmp -lm 2> build-arm64/link.log ||
        { cat build-arm64/link.log && exit 1; } # it warns of a dlopen that is not called
    emulate "64-bit ARM" build-arm64/answers qemu-aarch64
fi
for one in "${emulated[@]}"; do wait "$one"; done
