#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# coverage.sh BUILD-FOLDER JOBS: which lines of src/ and cli/ the tests reach. The report is in
# BUILD-FOLDER/coverage; fails below 90 % of the lines of src/. Fuzzing does not count: it
# reaches lines and checks little there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v gcovr > /dev/null || { echo "gcovr is needed: scripts/bootstrap.sh ci" >&2; exit 1; }
mkdir -p "$1"
folder=$(cd "$1" && pwd) jobs=$2
cmake -S . -B "$folder" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER=gcc \
    -DCMAKE_C_FLAGS='-O0 -g --coverage -fprofile-update=atomic' -DCBX_PYTHON=OFF > "$folder/configure.log"
MAKEFLAGS=--no-print-directory cmake --build "$folder" --parallel "$jobs"
find "$folder" -name '*.gcda' -delete
# Without optimisation a search that is given seconds may not get there: that is told, and no more.
(cd "$folder" && ctest --output-on-failure --parallel "$jobs" --timeout 900 -E '^(fuzz/|docs|install|python)') ||
    echo "== some tests failed: what they reached counts all the same"
mkdir -p "$folder/coverage"
gcovr --root . --filter 'src/' --object-directory "$folder" --exclude-unreachable-branches --gcov-ignore-parse-errors -j "$jobs" \
    --html-details "$folder/coverage/index.html" --csv "$folder/coverage/lines.csv" \
    --txt "$folder/coverage/lines.txt" --print-summary --fail-under-line 90
