#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Data that is cut short or written to while it is mapped: an error with the file's name,
# and never a result. A copy does not mind.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# The sanitizers take SIGBUS for themselves unless they are told not to.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_sigbus=0

"$COMBINEX" data generate erdos-renyi --nodes 2000 --features 20 -q -o kept.safetensors
"$COMBINEX" train kept.safetensors --epochs 1 --hidden 4 -q -o model.safetensors
echo precious > old.jsonl

# meanwhile SPOIL ARGUMENTS...: explains, and spoils data.safetensors when that has begun.
meanwhile() {
    local spoil=$1 tries=0
    shift
    ran="combinex explain $*, then $spoil"
    rm -f data.safetensors ./.combinex-*.tmp old.jsonl*.part
    cp kept.safetensors data.safetensors
    "$COMBINEX" explain data.safetensors model.safetensors --preset paper --epochs 60 --all --limit 24 \
        --threads 2 --json -o old.jsonl "$@" > "$scratch/log/out" 2> "$scratch/log/err" &
    local job=$!
    until compgen -G 'old.jsonl*.part' > /dev/null || ((tries++ > 1000)); do sleep 0.01; done
    $spoil
    wait "$job"
    status=$?
}
cut_short() { truncate -s 4096 data.safetensors; }
write_to() { touch data.safetensors; }
replace() { cp kept.safetensors other && mv other data.safetensors; }

meanwhile cut_short
check "a file that is cut short is an error that names it and says what helps" \
    fails_with 1 '^combinex: data\.safetensors: was cut short.*--copy'
check "nothing is written" all grep -q precious old.jsonl , test -z "$(find . -name '*.tmp')"
meanwhile write_to
check "a file that is written to is an error, too" \
    fails_with 1 '^combinex: data\.safetensors: was written to while it was in use.*--copy'
check "and nothing is written, nor is there anything to resume" \
    all grep -q precious old.jsonl , test -z "$(find . -name '*.tmp' -o -name '*.part')"
meanwhile cut_short --copy
check "a copy goes on" all status_is 0 , test "$(wc -l < old.jsonl)" = 24
mv old.jsonl copied.jsonl
echo precious > old.jsonl
meanwhile replace
timeless() { sed -E 's/"seconds": ?[^,}]*//g; s/"copy": ?[a-z]*,?//' "$1"; }
check "a file that is replaced is no harm, and gives the same" \
    all status_is 0 , cmp <(timeless old.jsonl) <(timeless copied.jsonl)

# Written to in the middle of the training, whose end is told before anything is saved.
cp kept.safetensors data.safetensors
"$COMBINEX" train data.safetensors --epochs 1000000 -o new.safetensors \
    > "$scratch/log/out" 2> "$scratch/log/err" &
job=$! ran="combinex train, then the data is cut short"
sleep 0.5
cut_short
wait "$job"
status=$?
check "training on a file that is cut short ends" \
    all fails_with 1 'data\.safetensors: was cut short' , test ! -e new.safetensors
rm -f data.safetensors
cp kept.safetensors data.safetensors
"$COMBINEX" bench --data ./data.safetensors --models gcn --explainers ego --folds 2 --samples 40 --train-epochs 3 \
    --epochs 20 --jobs 1 --out bench > "$scratch/log/out" 2> "$scratch/log/err" &
job=$! ran="combinex bench, then the data is written to"
until [[ -e bench/plan.txt ]] || ! kill -0 "$job" 2> /dev/null; do sleep 0.01; done
write_to
wait "$job"
status=$?
check "a benchmark on data that is written to says so at the end" \
    all status_is 1 , err_has 'data\.safetensors: was written to while it was in use'
finish
