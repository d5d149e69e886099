#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# combinex robust against answers that were made elsewhere by trying every set: the fewest edits of
# every row of MUTAG, ENZYMES and Cora that there are such answers of, for every kind of edit.
. "$CBX_SOURCE/tests/cli/lib.bash"

external=$CBX_SHARED/external/scip
if [ ! -f "$external/truth.json" ] || ! command -v python3 > /dev/null; then
    echo "skipped: needs python3 and $external"
    exit 77
fi

# rows DATA KIND KEY: options that ask for the rows that have such an answer
rows() {
    python3 - "$external/truth.json" "$@" << 'P'
import json, sys
path, data, kind, mode = sys.argv[1:]
for row in json.load(open(path))[data]:
    if mode in row and row[mode]["K"] >= 2:
        print(f"--{kind}", row[kind])
P
}

# agrees FILE DATA KIND MODE KEY K: each line has the fewest edits that were found by trying all of up to K
agrees() {
    python3 - "$external/truth.json" "$@" << 'P'
import json, sys
path, file, data, kind, mode, key, most = sys.argv[1:]
truth = {row[kind]: row[mode] for row in json.load(open(path))[data] if mode in row and row[mode]["K"] >= 2}
lines = [json.loads(line) for line in open(file)]
assert sorted(line[kind] for line in lines) == sorted(truth), "not the same rows"
for line in lines:
    fewest, tried = truth[line[kind]][key], min(truth[line[kind]]["K"], int(most))
    if fewest is not None and fewest <= tried:
        assert (line["robust"], line["flips_with"], line["lower_bound"]) == (False, fewest, fewest), (line, fewest)
    else:
        assert line["lower_bound"] > tried or line["robust"], (line, fewest)
P
}

# holds WHAT DATA KIND MODE KEY K OPTIONS...
holds() {
    local what=$1 data=$2 kind=$3 mode=$4 key=$5 most=$6
    shift 6
    # shellcheck disable=SC2046 # words, not lines
    run robust "$external/$data.safetensors" "$external/$data.model.safetensors" --json \
        --time-limit 0 --budget "$most" "$@" $(rows "$data" "$kind" "$mode") -o rows.jsonl
    check "$what: asked" status_is 0
    check "$what: the same answers" agrees rows.jsonl "$data" "$kind" "$mode" "$key" "$most"
}

holds "MUTAG, removals" MUTAG graph delete minimal 3 --edits remove --target next
holds "MUTAG, removals of one direction" MUTAG graph delete_arc minimal 2 \
    --edits remove --edges directed --target next
holds "MUTAG, additions and removals" MUTAG graph edit minimal 2 --edits both --target next
holds "MUTAG, within local budgets" MUTAG graph edit_paper_s2 minimal 2 \
    --edits both --local-strength 2 --target next
holds "ENZYMES, the next class" ENZYMES graph delete minimal 2 --edits remove --target next
holds "ENZYMES, any class" ENZYMES graph delete minimal_any 2 --edits remove --target any
holds "Cora, the next class" Cora node delete_arc minimal 3 --edges directed --target next
holds "Cora, any class" Cora node delete_arc minimal_any 3 --edges directed --target any
finish
