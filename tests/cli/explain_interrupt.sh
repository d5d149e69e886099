#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Ctrl-C while explaining, and the progress bar.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run train karate --epochs 20 --seed 1 -q -o model.safetensors
set -m # or bash would make jobs in the background ignore Ctrl-C
interrupt() { # interrupt ARGUMENTS...: runs, and presses Ctrl-C
    ran="combinex explain $*, then Ctrl-C"
    "$COMBINEX" explain karate model.safetensors "$@" \
        > "$scratch/log/out" 2> "$scratch/log/err" &
    job=$!
    sleep 1
    kill -INT "$job"
    wait "$job"
    status=$?
}
echo precious > old.jsonl
interrupt --node 0 --preset paper --epochs 1000000000 --json -o old.jsonl
check "Ctrl-C ends one search" fails_with 130 'interrupted, nothing was written'
check "the old file is still there" grep -q precious old.jsonl
interrupt --node 0 --preset paper --epochs 5000000 --trace trace.json
check "without a file, one line says where it stopped" all status_is 130 , out_lines 1 , \
    out_has '^Mr. Hi: .*, cancelled after [0-9,]+ epochs?$' , err_has '^combinex: interrupted$'
check "an unfinished search leaves no trace" test ! -e trace.json

# Each target takes its time, so that there always is a next one.
interrupt --all --preset paper --epochs 1000000000 --time-limit 0.3 --threads 1
check "Ctrl-C ends many searches, and what was printed stays" all status_is 130 , \
    out_has '^Mr. Hi: ' , err_has 'interrupted after [0-9]+ of 34 targets'
interrupt --all --preset paper --epochs 1000000000 --time-limit 0.3 --threads 2 -o old.jsonl
check "with a file what is done is kept beside it" all fails_with 130 'interrupted; what is done is kept in old.jsonl.part' , \
    grep -q precious old.jsonl , grep -q '^{"node":0,' old.jsonl.part
check "no temporary file stays" test -z "$(find . -name '*tmp*')"
set +m

if ! script -qec true /dev/null > /dev/null 2>&1; then
    echo "skipped: the progress bar, which needs the program script to make a terminal"
    finish
fi
on_terminal() {
    ran="combinex $* on a terminal"
    script -qec "'$COMBINEX' $*" /dev/null < /dev/null > "$scratch/log/out" 2> "$scratch/log/err"
    status=$?
}
on_terminal explain karate model.safetensors --preset paper --all --limit 5 --epochs 1000000000 --time-limit 0.3 \
    --threads 1
check "a terminal gets a progress bar over the targets" \
    all status_is 0 , out_has 'explaining [#.]+ +(20|40|60|80)%  [0-9:-]+ left  [0-9]+ found'
check "which makes way for each result" out_has $'\r\033\\[Kmember 3: '
on_terminal explain karate model.safetensors --preset paper --node 3 --epochs 1000000000 --time-limit 1
check "one target has a bar too, over its epochs" out_has 'explaining [#.]+ +0%'
finish
