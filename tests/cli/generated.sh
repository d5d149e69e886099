#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# The man page and the completion are made from the tables of options; the
# copies in the repository are up to date.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
root=$here/../..

run help --man
check "help --man works" all status_is 0 , err_empty , out_has '^\.TH COMBINEX 1'
check "docs/man/combinex.1 is up to date (combinex help --man > docs/man/combinex.1)" \
    diff "$root/docs/man/combinex.1" "$scratch/log/out"
if command -v groff > /dev/null; then
    check "the man page formats without a warning" \
        test -z "$(groff -man -Tutf8 -ww -z "$scratch/log/out" 2>&1)"
fi
run help --completion bash
check "help --completion bash works" all status_is 0 , err_empty , out_has 'complete -F _combinex'
check "completions/combinex.bash is up to date (combinex help --completion bash > completions/combinex.bash)" \
    diff "$root/completions/combinex.bash" "$scratch/log/out"
check "the completion is sound bash" bash -n "$scratch/log/out"
run help --completion fish
check "a shell without completion gets the choices" fails_with 2 'not one of none, bash'
finish
