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
finish
