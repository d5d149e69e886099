#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh BUILD-FOLDER SECONDS JOBS [TARGET...]: runs the fuzz targets of a folder that was
# built with CBX_LIBFUZZER, each for so many seconds, JOBS at a time, and prints what was
# done. Inputs that reach something new are kept in BUILD-FOLDER/corpus, and the next run
# goes on from them; one that does harm ends up as BUILD-FOLDER/crash-TARGET-….
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(realpath "$1") seconds=$2 jobs=$3
shift 3

# Files that are written for readers that map them need no disk.
base=/dev/shm
[ -w $base ] || base=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d "$base/combinex-fuzz.XXXXXX")
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR folder seconds

run_one() {
    local name=$1 words more=() longest=16384
    case $name in
        safetensors | model | json | sidecar | replay) words=json ;;
        options | rules | args | url) words=options longest=512 ;;
        bench) words=options ;;
        graphml | gml) words=markup ;;
        npz | planetoid | motif_pickle | archive) words=arrays ;;
        *) words=tables ;;
    esac
    mkdir -p "$folder/corpus/$name"
    [ ! -d "fuzz/found/$name" ] || more+=("fuzz/found/$name")
    local log="$TMPDIR/$name.log" status=0
    "$folder/fuzz/fuzz_$name" -max_total_time="$seconds" -print_final_stats=1 -timeout=20 \
        -rss_limit_mb=2048 -malloc_limit_mb=256 -max_len=$longest -dict="fuzz/words/$words.dict" \
        -artifact_prefix="$folder/crash-$name-" "$folder/corpus/$name" "fuzz/seeds/$name" \
        ${more[@]+"${more[@]}"} > "$log" 2>&1 || status=$?
    awk -v name="$name" -v status="$status" '
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
        /number_of_executed_units/ { runs = $2 }
        /average_exec_per_sec/ { speed = $2 }
        END { printf "%-14s %12d %10d %8d  %s\n", name, runs, speed, edges,
                     status ? "FAILED" : "ok" }' "$log" | tee -a "$TMPDIR/table"
    [ "$status" -eq 0 ] || grep -E 'ERROR|SUMMARY|Test unit|stopp' "$log" >&2 || tail -n 20 "$log" >&2
}
export -f run_one

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for target in "$folder"/fuzz/fuzz_*; do
        [[ $target == *.c ]] || targets+=("${target##*/fuzz_}")
    done
fi
printf '%-14s %12s %10s %8s\n' target executions 'a second' edges
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I {} bash -c 'run_one {}'
awk '{ all += $2; bad += $5 != "ok" } END {
    printf "%d executions in %d targets, %d with findings\n", all, NR, bad; exit bad > 0 }' "$TMPDIR/table"
