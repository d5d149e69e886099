# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# lib.bash: helpers for the tests of the command line, which source it.
#
# A test runs the command with `run` and says what should be true afterwards:
#
#     run data info karate
#     check "data info says how many nodes there are" out_has 'nodes +34'
#
# It works in a folder of its own, which is gone at the end, and ends with
# `finish`. COMBINEX is the path of the command.
set -u
COMBINEX=$(realpath "${COMBINEX:?the path of the combinex command}")
# shellcheck disable=SC2034 # for those who source this
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/log" "$scratch/work"
cd "$scratch/work" || exit 1

# The user's own data sets have no say here.
unset COMBINEX_DATA
export HOME=$scratch XDG_DATA_HOME=$scratch/share XDG_CACHE_HOME=$scratch/cache
export OMP_WAIT_POLICY=passive # tests run side by side: idle threads must not spin
failures=0 status=0

run() {
    "$COMBINEX" "$@" > "$scratch/log/out" 2> "$scratch/log/err"
    status=$?
    ran="combinex $*"
}

# Every explainer that there is, but those named.
explainers() {
    local others
    others=$("$COMBINEX" explain karate model --node 0 --explainer '?' 2>&1 | sed -n 's/.* is not one of //p')
    tr -s ', ' '\n' <<< "$others" | grep -vxF "$(printf '%s\n' "$@")"
}

# Those that have answers for nodes.
node_explainers() { explainers clear d4; }

# check SENTENCE COMMAND...: the sentence is true if the command succeeds.
check() {
    local sentence=$1
    shift
    if "$@"; then
        echo "ok      $sentence"
        return
    fi
    echo "FAILED  $sentence"
    echo "        not so: $*"
    echo "        after: ${ran:-nothing} (status $status)"
    sed 's/^/        out: /' "$scratch/log/out" | head -n 20
    sed 's/^/        err: /' "$scratch/log/err" | head -n 20
    failures=$((failures + 1))
}

# What can be true. Patterns are extended regular expressions.
status_is() { [[ $status -eq $1 ]]; }
out_has() { grep -Eq -- "$1" "$scratch/log/out"; }
out_says() { tr -s '[:space:]' ' ' < "$scratch/log/out" | grep -Eq -- "$1"; } # across lines
err_has() { grep -Eq -- "$1" "$scratch/log/err"; }
out_empty() { [[ ! -s $scratch/log/out ]]; }
err_empty() { [[ ! -s $scratch/log/err ]]; }
out_lines() { [[ $(wc -l < "$scratch/log/out") -eq $1 ]]; }
not() { ! "$@"; }
all() { # all COMMAND... , COMMAND... : each of them
    local one=()
    while (($#)); do
        if [[ $1 == , ]]; then
            "${one[@]}" || return 1
            one=()
        else
            one+=("$1")
        fi
        shift
    done
    "${one[@]}"
}

# fails_with STATUS PATTERN: the status, the reason, and nothing on stdout.
fails_with() { status_is "$1" && err_has "$2" && out_empty; }

skip() {
    echo "skipped: $*"
    exit 77
}

# Ends the test, with what it has found so far, where processes cannot share the work.
need_mpi() {
    if [[ ${CBX_SANITIZED:-} ]]; then # MPI keeps memory of its own
        echo "skipped: processes that share the work, under a sanitizer"
        finish
    fi
    if ! command -v mpirun > /dev/null; then
        echo "skipped: processes that share the work, which needs mpirun"
        finish
    fi
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
}

# ranks N ARGUMENTS...: runs combinex in so many processes.
ranks() {
    local n=$1
    shift
    ran="mpirun -n $n combinex $*"
    timeout 250 mpirun -n "$n" "$COMBINEX" "$@" > "$scratch/log/out" 2> "$scratch/log/err"
    status=$?
}

finish() {
    ((failures == 0)) || echo "$failures failed"
    exit $((failures > 0))
}
