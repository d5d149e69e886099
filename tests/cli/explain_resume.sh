#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Long work is kept: interrupted or killed, 'explain --all' goes on with what it had.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run train karate --epochs 20 --seed 1 -q -o model.safetensors
run train karate --epochs 21 --seed 1 -q -o other.safetensors
explain=(explain karate model.safetensors --all --preset paper --epochs 40 --threads 1)
run "${explain[@]}" --json -o whole.jsonl
check "all are explained, and nothing is left beside them" \
    all status_is 0 , test "$(wc -l < whole.jsonl)" -eq 34 , test -z "$(find . -name '*.part')"
same() { # but for the time they took
    diff <(sed -E 's/"seconds":[^,]*//' "$1") <(sed -E 's/"seconds":[^,]*//' "$2") > "$scratch/log/err"
}

# A run that was killed has written so many lines, and half of the next.
cut_short() { # cut_short LINES FILE
    head -n "$1" whole.jsonl > "$2"
    sed -n "$(($1 + 1))p" whole.jsonl | head -c 300 >> "$2"
}
cut_short 12 again.jsonl.0.part
run "${explain[@]}" --json -o again.jsonl
check "what is there is not lost by chance" \
    all fails_with 1 'again.jsonl.0.part: has answers of a run that was interrupted; .*--resume' , \
    test "$(wc -l < again.jsonl.0.part)" -eq 12
run "${explain[@]}" --json -o again.jsonl --resume
check "--resume goes on to the same answers, without the line that was cut" \
    all status_is 0 , same whole.jsonl again.jsonl , test -z "$(find . -name '*.part')"
check "those that were there are as they were" \
    test "$(head -n 12 again.jsonl)" = "$(head -n 12 whole.jsonl)"
cut_short 5 text.txt.0.part
run "${explain[@]}" -o text.txt --resume
check "text is gone on with alike" all status_is 0 , out_has '^5 of 34 were there already$' , \
    test "$(grep -c ': community' text.txt)" -eq 34
run "${explain[@]}" --json -o whole.jsonl --resume
check "a run that ended has nothing to do" all status_is 0 , test "$(wc -l < whole.jsonl)" -eq 34

# Of something else.
refused() { # refused SENTENCE PATTERN ARGUMENTS...
    local sentence=$1 pattern=$2
    shift 2
    cut_short 3 other.jsonl.0.part
    run explain karate "$@" --all --preset paper --threads 1 --json -o other.jsonl --resume
    check "$sentence" all fails_with 1 "other.jsonl.0.part: line 1: was found with $pattern" , \
        test "$(wc -l < other.jsonl.0.part)" -eq 3
}
refused "another model is told" 'another model' other.safetensors --epochs 40
refused "other options are told, and which" '"epochs":40, and now it is "epochs":41' model.safetensors --epochs 41
rm other.jsonl.0.part
cut_short 3 other.jsonl.0.part
sed -i -E "s/\"data_sha256\":\"[0-9a-f]{64}/\"data_sha256\":\"$(printf '%064d' 0)/" other.jsonl.0.part
run "${explain[@]}" --json -o other.jsonl --resume
check "other data is told" fails_with 1 'was found with other data'
printf 'no JSON\n' > other.jsonl.0.part
run "${explain[@]}" --json -o other.jsonl --resume
check "what is no result is told with its line" fails_with 1 'other.jsonl.0.part: line 1: not a JSON object'
rm other.jsonl.0.part
run explain karate model.safetensors --node 3 --resume
check "--resume needs many targets and a file" fails_with 2 '--resume goes on with .* it needs --output FILE'

# Killed, not asked.
several=(explain karate model.safetensors --all --total-cfs 2 --threads 1 --json)
run "${several[@]}" -o two.jsonl
"$COMBINEX" explain karate model.safetensors --all --preset paper --epochs 1000000000 --time-limit 0.3 --threads 1 \
    --json -o killed.jsonl 2> /dev/null &
job=$!
for _ in $(seq 100); do
    [ "$(grep -c . killed.jsonl.0.part 2> /dev/null)" -ge 2 ] 2> /dev/null && break
    sleep 0.1
done
kill -KILL "$job"
wait "$job" 2> /dev/null
check "a process that is killed leaves what it had done" \
    all test "$(wc -l < killed.jsonl.0.part)" -ge 2 , test ! -e killed.jsonl
{ grep '^{"node":[01],' two.jsonl; grep '^{"node":2,' two.jsonl | head -n 1; } > again2.jsonl.0.part
run "${several[@]}" -o again2.jsonl --resume
check "of several answers to a target all are there" all status_is 0 , same two.jsonl again2.jsonl

need_mpi
ranks 2 "${explain[@]}" --json -o shared.jsonl
if err_has 'built without MPI'; then
    check "without MPI, processes do not write over each other" status_is 1
    echo "skipped: processes that share the work: built without MPI"
    finish
fi
check "two processes share the work and find the same" all status_is 0 , same whole.jsonl shared.jsonl
finish
