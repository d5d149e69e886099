#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2034,SC2154 # lib.bash sets and reads some of these
# Models that torch exported (.pt2), as the command line takes them. tests/oracle has their numbers.
# shellcheck source=SCRIPTDIR/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
model=$here/../golden/programs/gcn.pt2

# A ring of 20 nodes with chords, and as many features as the model takes.
features=$("$COMBINEX" predict karate "$model" 2>&1 | sed -nE 's/.*the model takes ([0-9]+) features.*/\1/p')
check "a model that takes other features says how many" [ "$features" -gt 0 ]
mkdir data
awk 'BEGIN { for (i = 0; i < 20; i++) { print i "," (i + 1) % 20; print (i + 1) % 20 "," i; print i "," (i * 7 + 3) % 20 } }' > edges.txt
{ echo "source,target" && cat edges.txt; } > data/edges.csv
awk -v f="$features" 'BEGIN { srand(4); printf "id"; for (j = 0; j < f; j++) printf ",f%d", j; print ",label";
    for (i = 0; i < 20; i++) { printf "%d", i; for (j = 0; j < f; j++) printf ",%.3f", rand() * 2 - 1; print ",c" i % 2 } }' > data/features.csv

run predict data "$model" --json
check "it predicts" all status_is 0 , out_has log_probs
run explain data "$model" --all --target any --json -o answers.jsonl
check "it explains" status_is 0
check "some are found, and each of their edits is needed" all grep -q '"status":"found"' answers.jsonl , grep -q '"certificate":"irreducible"' answers.jsonl
run explain data "$model" --replay answers.jsonl
check "all hold when they are checked again" status_is 0
run explain data "$model" --node 0 --target any --html page.html
check "a page is drawn of it" all status_is 0 , test -s page.html

run explain data "$model" --node 0 --explainer unr
check "what needs layers is refused" fails_with 1 "'unr' compares embeddings of layers"
run explain data "$model" --node 0 --reproducible
check "so is a fixed order" fails_with 1 'cannot be reproducible'
head -c 3000 "$model" > short.pt2
run predict data short.pt2
check "a file that is cut short is named" fails_with 1 '^combinex: short.pt2: '
printf "PK\003\004 and no archive" > other.zip
run predict data other.zip
check "so is a zip of something else" fails_with 1 '^combinex: other.zip: '
mkfifo pipe
run predict data pipe
check "a pipe is not waited for" fails_with 1 '^combinex: pipe: not a file'

# What its scores mean: classes, unless the user says otherwise.
run explain data "$model" --node 0 --scores labels
check "of several labels the user says which" fails_with 1 'is a label of its own.*Say label=0 to label='
run explain data "$model" --all --scores labels --label 1 --json -o labels.jsonl
check "one label is asked about" status_is 0
check "it is no or yes" all grep -q '"name":"no"' labels.jsonl , grep -q '"name":"yes"' labels.jsonl
run explain data "$model" --scores labels --label 1 --replay labels.jsonl
check "these hold, too" status_is 0
run explain data "$model" --replay labels.jsonl
check "of the classes they were not said" all status_is 1 , out_has 'another model'
run explain data "$model" --node 0 --scores labels --label c1 --classes left,right
check "a label has the name of a class of the data, and its classes have names" all status_is 0 , out_has 'left.*would be right|right.*would be left'
run explain data "$model" --node 0 --label 99
check "a label that is not there is named" fails_with 1 "label '99': expected a number from 0 to"
run explain data "$model" --node 0 --classes one
check "two classes have two names" fails_with 1 "classes 'one': two names expected"

run predict data "$model" --scores number --label 0 --json
check "a number is told as it is" all status_is 0 , out_has '"number":'
run explain data "$model" --node 0 --scores number --label 0
check "of numbers a range is asked for" fails_with 1 '[-]-target needs a range'
run explain data "$model" --node 0 --scores number --label 0 --target "about 3"
check "what is no range is refused with examples" fails_with 1 "target 'about 3': .*a range is expected: \">=3.5\""
run explain data "$model" --all --scores number --label 0 --target +10% --json -o numbers.jsonl
check "each can be asked to rise" status_is 0
# shellcheck disable=SC2016 # awk's fields, not the shell's
check "numbers are told before and after, and have risen by a tenth" awk '
    { if (!match($0, /"number_before":[^,]*/)) next; b = substr($0, RSTART + 16, RLENGTH - 16) + 0
      match($0, /"number_after":[^,]*/); a = substr($0, RSTART + 15, RLENGTH - 15) + 0
      if ($0 ~ /"status":"found"/) { found++; if (a < b + 0.1 * (b < 0 ? -b : b) - 1e-5) bad++ } }
    END { exit !(found > 3 && !bad) }' numbers.jsonl
run explain data "$model" --scores number --label 0 --target +10% --replay numbers.jsonl
check "and hold" status_is 0
run explain data "$model" --node 0 --scores number --label 0 --target "[0.4,0.5]" --html range.html
check "an interval is a range" all status_is 0 , out_has 'would be \[0.4,0.5\]|nothing found' , test -s range.html
run report numbers.jsonl data "$model" --scores number --label 0 --target +10% -o numbers.html
check "a page is made of numbers" all status_is 0 , test -s numbers.html

# Which input is which.
run predict data "$model" --inputs x=nothing
check "an input that is not there is named with what is expected" fails_with 1 "'x=nothing': ROLE=INPUT expected"
run predict data "$model" --inputs x=x,edge_index=edge_index --json
check "inputs can be named" all status_is 0 , out_has log_probs
run train karate --epochs 1 -o layers.safetensors
run predict karate layers.safetensors --scores labels
check "layers are what they are" fails_with 1 'is a chain of layers: .*scores is for programs'
finish
