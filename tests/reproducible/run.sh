#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh ANSWERS [COMMAND...]: everything that ANSWERS (answers.c) prints has the same bits as on
# every other machine, whatever the BLAS, the C library and the number of threads are made to do.
# COMMAND runs it: an emulator. `run.sh ANSWERS --update` writes the golden hash anew, which is right
# where training or a method was changed on purpose.
set -uo pipefail
golden=$(cd "$(dirname "${BASH_SOURCE[0]}")/../golden" && pwd)/reproducible.sha256
answers=$1
shift
export OMP_WAIT_POLICY=passive
if [[ ${1-} == --update ]]; then
    "$answers" | sha256sum | cut -d' ' -f1 > "$golden"
    exit
fi

failures=0
same() { # same SENTENCE COMMAND...
    local hash
    hash=$("${@:2}" | sha256sum | cut -d' ' -f1)
    if [[ $hash == "$(< "$golden")" ]]; then
        echo "ok      $1"
    else
        echo "FAILED  $1"
        failures=$((failures + 1))
    fi
}
same "the bits of models and answers are those of every machine" "$@" "$answers" 1
if (($# == 0)); then # an emulator takes too long for more
    same "on three threads, too" "$answers" 3
    has() { grep -qw "$1" /proc/cpuinfo 2> /dev/null; }
    if has pni; then same "with a BLAS for old processors" env OPENBLAS_CORETYPE=Prescott "$answers" 1; fi
    if has avx2; then same "with a BLAS for AVX2" env OPENBLAS_CORETYPE=Haswell "$answers" 1; fi
    if has avx512vl; then same "with a BLAS for AVX-512" env OPENBLAS_CORETYPE=SkylakeX "$answers" 1; fi
    same "with a C library that leaves new instructions alone" \
        env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-AVX512F,-AVX512VL "$answers" 1
fi
((failures == 0)) || echo "$failures failed; where a change of bits is meant: $0 ANSWERS --update"
exit $((failures > 0))
