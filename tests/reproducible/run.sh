#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh ANSWERS [COMMAND...]: everything that ANSWERS (answers.c) prints has the same bits as on
# every other machine, whatever the BLAS, the C library and the number of threads are made to do.
# COMMAND runs it: an emulator. `run.sh ANSWERS --update` writes the golden hash anew, which is right
# where training or a method was changed on purpose.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
golden=$here/../golden/reproducible.sha256
# shellcheck source=SCRIPTDIR/cores.bash
source "$here/cores.bash"
answers=$1
shift
export OMP_WAIT_POLICY=passive
hash_of() { "$@" | sha256sum | cut -d' ' -f1; }
if [[ ${1-} == --update ]]; then
    hash_of "$answers" > "$golden"
    exit
fi

failures=0
same() { # same SENTENCE COMMAND...
    if [[ $(hash_of "${@:2}") == "$(< "$golden")" ]]; then
        echo "ok      $1"
    else
        echo "FAILED  $1"
        failures=$((failures + 1))
    fi
}
same "the bits of models and answers are those of every machine" "$@" "$answers" 1
if (($# == 0)) && [[ -z ${CBX_SANITIZED-} ]]; then # an emulator or a sanitizer takes too long for more
    for core in $(blas_cores); do
        same "with a BLAS for $core" env OPENBLAS_CORETYPE="$core" "$answers" 1
    done
    same "on three threads, the BLAS on as many" env OPENBLAS_NUM_THREADS=3 "$answers" 3
    same "with a C library that leaves new instructions alone" \
        env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-AVX512F,-AVX512VL "$answers" 1
fi
((failures == 0)) || echo "$failures failed; where a change of bits is meant: $0 ANSWERS --update"
exit $((failures > 0))
