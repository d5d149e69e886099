#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# A small benchmark from end to end: whole, killed and resumed, stopped and resumed, and
# shared by processes. All must give the same tables.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# With sanitizers, where it takes four times as long, a third of it.
epochs=300
[[ -z ${CBX_SANITIZED:-} ]] || epochs=100
small=(bench --data karate --models "gcn,cheb" --folds 2 --samples 5 --train-epochs 60
    --epochs "$epochs" --unr-rollouts "$epochs" --jobs 1)
tables=(summary.csv summary.json summary.md summary.tex ranks.svg)

same_tables() { # same_tables DIR DIR
    local table
    for table in "${tables[@]}"; do
        cmp "$1/$table" "$2/$table" || return 1
    done
}
timeless() { zcat "$1/rows.csv.gz" | cut -d, -f1-23; } # without seconds and memory
same_rows() { cmp <(timeless "$1") <(timeless "$2"); }
no_parts() { [[ -z $(find "$1" -name '*.part' -o -name '*.tmp') ]]; }

run "${small[@]}" --out whole
check "a benchmark runs from end to end" \
    all status_is 0 , err_empty , out_has '^280 answers, 280 of them new; tables in whole'
check "with one line an answer, all explainers and folds" \
    test "$(timeless whole | tail -n +2 | cut -d, -f2-4 | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c | xargs)" = "56 5"
check "and every table" test -s whole/summary.csv -a -s whole/summary.json -a -s whole/summary.md \
    -a -s whole/summary.tex -a -s whole/ranks.svg -a -s whole/timing.csv -a -s whole/report.html
check "which put the published figures beside" \
    grep -Eq 'combinex-feat .*\(0\.075 ± 0\.004, (better|equal|worse)\)' whole/summary.md
check "no unfinished file stays" no_parts whole
check "at the end the winner of each cell is named, with its validity and edits" \
    all out_has '^data set +model +winner +valid +edits +second +valid +edits$' , \
    out_has '^karate +gcn +[a-z-]+ +[01]\.[0-9]{3} +[0-9.]+ +[a-z-]+ +[01]\.[0-9]{3} +[0-9.]+$' , out_has '^karate +cheb '
check "minimal is among the methods, and once more for any class, which does not compete" \
    all grep -q '^| minimal |' whole/summary.md , grep -q '^| minimal-any |' whole/summary.md , not out_has 'minimal-any'

run "${small[@]}" --out whole
check "a folder is not written over" fails_with 1 'a benchmark was begun here; --resume'
run "${small[@]}" --out whole --resume --folds 3
check "nor gone on with under other settings" \
    fails_with 1 "begun with other settings: 'folds 2', and not 'folds 3'"
cp -r whole again
run "${small[@]}" --out again --resume -q --html page.html
check "--html puts its page elsewhere, too" cmp page.html again/report.html
check "what is complete is not done again" all status_is 0 , same_tables whole again , \
    cmp whole/rows.csv.gz again/rows.csv.gz

# What is kept of a benchmark: its rows. The rest can be made of them.
mkdir kept
zcat whole/rows.csv.gz > kept/rows.csv
run "${small[@]}" --out kept --resume
check "tables can be made of the rows alone, unpacked or not, without an oracle" all status_is 0 , \
    out_has '^280 answers, 0 of them new' , same_tables whole kept , cmp whole/rows.csv.gz kept/rows.csv.gz , \
    test ! -e kept/rows.csv -a -z "$(ls kept/models)"
printf 'not the end' | cat <(head -c 2000 whole/rows.csv.gz) - > kept/rows.csv.gz
run "${small[@]}" --out kept --resume
check "rows that are damaged are refused by name" fails_with 1 'kept/rows.csv.gz: damaged, or cut short'
# Of an archive without a history there is none to tell.
commit=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --short=12 HEAD 2> /dev/null || true)
check "a manifest tells what ran when, with which version and of which commit" \
    test "$(sed -E 's/"(at|seconds)": ("[0-9TZ:-]{20}"|[0-9.]+)/"\1"/g; s/"version": "[0-9.]+"/"version"/; s/"commit": "'"$commit"'(-dirty)?"/"commit"/' whole/manifest.jsonl | head -n 2)" = \
    '{"at", "event": "begun", "version", "commit", "processes": 1, "jobs": 1, "answers": 0, "asked": 0, "seconds"}
{"at", "event": "ended", "version", "commit", "processes": 1, "jobs": 1, "answers": 280, "asked": 280, "seconds"}'

# Waits until some answers are there, and not yet all; then sends the signal.
stop_in_the_middle() { # stop_in_the_middle SIGNAL DIR
    "$COMBINEX" "${small[@]}" --out "$2" > "$scratch/log/out" 2> "$scratch/log/err" &
    local job=$! tries=0
    until [[ -f $2/rows.0.part && $(wc -l < "$2/rows.0.part") -ge 20 ]] || ((tries++ > 3000)); do
        sleep 0.01
    done
    kill "-$1" "$job"
    wait "$job" 2> /dev/null
    status=$?
    ran="combinex ${small[*]} --out $2, then SIG$1"
}
set -m # or bash would make jobs in the background ignore Ctrl-C
stop_in_the_middle KILL killed
check "killed in the middle, it leaves no tables" all status_is 137 , test ! -e killed/summary.csv
check "but the answers so far" test "$(wc -l < killed/rows.0.part)" -ge 20 -a "$(wc -l < killed/rows.0.part)" -lt 280
printf 'karate,gcn,0,comb' >> killed/rows.0.part # as if cut short while writing
run "${small[@]}" --out killed --resume
check "it resumes with what is missing" all status_is 0 , out_has '^280 answers, ' , \
    not out_has '280 of them new'
check "to the same tables, byte by byte" same_tables whole killed
check "from the same rows" same_rows whole killed
check "and removes what was unfinished" no_parts killed

stop_in_the_middle INT stopped
check "Ctrl-C says how to go on" all status_is 130 , err_has 'interrupted; .*--resume' , \
    grep -q '"event": "cancelled"' stopped/manifest.jsonl
run "${small[@]}" --out stopped --resume
check "and it goes on to the same tables" all status_is 0 , same_tables whole stopped
set +m

run "${small[@]}" --out threads --jobs 3
check "threads change nothing" all status_is 0 , same_tables whole threads , same_rows whole threads

run "${small[@]}" --out whole --resume --json
check "programs get numbers" all status_is 0 , out_has '"answers": 280, "asked": 0, "failures": 0' , \
    out_has '"winners": \[\{"data": "karate", "model": "gcn", "winner": "[a-z-]+", "validity": [0-9.]+, "edits": '

run bench --data karate --folds 2 --samples 5 --models gcn --explainers ego,cff --dry-run
check "a dry run shows the plan and the time" all status_is 0 , out_has 'karate +gcn +2 oracles +20 answers +[0-9.]+ s' , \
    out_has '^together'
# A chain of three, where node 0 has no incoming edge and node 1 one, and a pair on its own.
mkdir chain
printf 'source,target\n0,1\n1,2\n3,4\n4,3\n' > chain/edges.csv
printf 'id,label,a,b\n0,0,1,0\n1,1,0,1\n2,0,1,0\n3,1,0,1\n4,0,1,0\n' > chain/features.csv
run bench --data chain --models cheb --folds 8 --samples 5 --train-epochs 5 --epochs 5 --explainers cf-gnn --jobs 1 --out chain-bench
check "rows without an edge are asked like any other: none is skipped" all status_is 0 , \
    grep -q '^node,chain,cheb,cf-gnn,8,8,0,0,' chain-bench/summary.csv

run bench --data karate --explainers combinex-lim --out x
check "an explainer that does not exist is named" fails_with 1 "did you mean 'combinex-lin'"
run bench --data karate --dry-run --html page.html
check "a page shows results" fails_with 2 '--html shows results, and --dry-run has none'
run bench --data karate --out x --html absent/page.html
check "a page that cannot be written is told first" all fails_with 1 'absent/page.html: cannot write' , test ! -e x
run bench --data karate
check "without a folder it does not start" fails_with 2 'bench needs a folder: --out DIR'

# Features so large that sums of 600 neighbours overflow, and means do not: graphconv's cell
# fails, gcn's does not.
mkdir star
{ echo source,target; seq -f '0,%g' 600; seq -f '%g,0' 600; } > star/edges.csv
{ echo id,label,a,b; seq 0 600 | awk '{ print $1 "," $1 % 2 ",1e36," ($1 % 2 ? "1e36" : "5e35") }'; } > star/features.csv
run bench --data star --models "gcn,graphconv" --folds 2 --samples 3 --train-epochs 5 --epochs 5 --explainers ego \
    --jobs 1 --out broken
check "a cell that fails is reported and the rest goes on" all status_is 1 , \
    err_has 'star graphconv fold 1/2: training: training diverged' , out_has '^6 answers' , \
    grep -q '^node,star,gcn,ego,2,6,' broken/summary.csv
mkdir -p stuck/models/karate-cheb-0.model.safetensors # as if the disk were full there
run "${small[@]}" --explainers ego --out stuck
check "an oracle that cannot be written is the end, before hours of training for nothing" \
    fails_with 1 '^combinex: stuck/models/karate-cheb-0.model.safetensors: cannot write'

need_mpi
ranks 2 "${small[@]}" --out two
if err_has 'built without MPI'; then
    check "without MPI, processes do not write over each other" status_is 1
    echo "skipped: processes that share the work: built without MPI"
    finish
fi
check "two processes give the rows and tables of one" \
    all status_is 0 , same_tables whole two , same_rows whole two , no_parts two
ranks 4 "${small[@]}" --out four
check "and so do four" all status_is 0 , same_tables whole four , same_rows whole four
rm -r killed
mkdir killed
cp -r two/models two/plan.txt killed
zcat two/rows.csv.gz | grep -E '^karate,gcn' | sed -n 1,30p > killed/rows.1.part
ranks 2 "${small[@]}" --out killed --resume
check "what a process that died left is used, and the rest done again" all status_is 0 , \
    out_has '^280 answers, 250 of them new' , same_tables whole killed
finish
