#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Memory that is limited: every answer is there or an error says why not, and nothing waits for
# memory for ever.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
[[ ${CBX_SANITIZED:-} ]] && skip "the sanitizers' own memory leaves no room for a limit"
unset OPENBLAS_NUM_THREADS
run train karate --epochs 5 --seed 1 -q -o model.safetensors

# with KIB ARGUMENTS...: runs within so much address space; 124: it was still running after minutes.
with() {
    local kib=$1
    shift
    ran="ulimit -v $kib; combinex $*"
    (ulimit -v "$kib" && exec timeout 120 "$COMBINEX" "$@") > "$scratch/log/out" 2> "$scratch/log/err"
    status=$?
}

least=50000
# The loader finds no room for the libraries (127), or one of them has none as it starts, before
# main, and dies of it (139).
while with $least --version && [[ $status -eq 127 || $status -eq 139 ]] && ((least < 2000000)); do
    least=$((least + 10000))
done
for more in 0 20000 60000 100000 140000 200000; do
    with $((least + more)) --version
    check "--version answers with $more KiB more than the libraries take" all status_is 0 , out_has '^combinex [0-9]'
done

# fails_for_memory_or_not: done, or out of memory.
fails_for_memory_or_not() { status_is 0 || { status_is 1 && err_has '[Oo]ut of memory|[Cc]annot allocate memory'; }; }
done_with='' failed_with=''
for more in 0 10000 40000 80000 120000 160000 200000 300000 600000; do
    with $((least + more)) explain karate model.safetensors --node 3 --threads 1
    check "explaining with $more KiB more is done or out of memory" fails_for_memory_or_not
    status_is 0 && done_with=$more
    status_is 1 && failed_with=$more
    with $((least + more)) train karate --epochs 2 --threads 1 -q -o other.safetensors
    check "training with $more KiB more is done or out of memory" fails_for_memory_or_not
done
check "some had too little, and some enough" test -n "$done_with" -a -n "$failed_with"
with $((least + 600000)) explain karate model.safetensors --all --threads 2 --json -q
cp "$scratch/log/out" limited.jsonl
run explain karate model.safetensors --all --threads 1 --json -q
check "a limit changes no answer" cmp -s <(sed 's/"seconds":[^,]*//' limited.jsonl) \
    <(sed 's/"seconds":[^,]*//' "$scratch/log/out")
finish
