#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Ctrl-C while training, and the progress bar.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

set -m # or bash would make jobs in the background ignore Ctrl-C
echo precious > model.safetensors
"$COMBINEX" train karate --epochs 1000000 -o model.safetensors \
    > "$scratch/log/out" 2> "$scratch/log/err" &
job=$! ran="combinex train, then Ctrl-C"
sleep 0.5
kill -INT "$job"
wait "$job"
status=$?
check "Ctrl-C ends the training with a message" fails_with 130 'interrupted, nothing was written'
check "the old file is still there" grep -q precious model.safetensors
check "nothing else is" test "$(ls -A)" = model.safetensors
set +m

if ! script -qec true /dev/null > /dev/null 2>&1; then
    echo "skipped: the progress bar, which needs the program script to make a terminal"
    finish
fi
# A second's work or more, or there is no bar.
epochs=12000
[[ -z ${CBX_SANITIZED:-} ]] || epochs=3000
on_terminal() {
    ran="combinex $* on a terminal"
    script -qec "'$COMBINEX' $*" /dev/null < /dev/null > "$scratch/log/out" 2> "$scratch/log/err"
    status=$?
}
on_terminal train karate --epochs "$epochs" --threads 1 -o model.safetensors
check "a terminal gets a progress bar with the time left" \
    all status_is 0 , out_has 'training [#.]+ +[0-9]+%  [0-9:-]+ left'
check "which is cleared at the end" out_has $'\r\033\\[Kkarate: gcn'
on_terminal train karate --epochs "$epochs" --threads 1 --quiet -o model.safetensors
check "--quiet has no progress bar" all status_is 0 , out_empty
finish
