#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# analyze.sh BUILD-FOLDER JOBS [gcc|clang-tidy|cppcheck]...: gcc -fanalyzer, clang-tidy and cppcheck
# over src/ and cli/, all of them or those named, each where it is installed. Any finding is a failure. What is switched off has its reason here,
# in .clang-tidy, or beside the line. DEPTH says how many states of a function clang's analyzer looks at; without, as many as it does by default,
# which takes four times as long as 60000.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$1 jobs=$2
shift 2
wanted=" ${*:-gcc clang-tidy cppcheck} "
wants() { [[ $wanted == *" $1 "* ]]; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
failed=()
step() { echo "== $1"; }
# CBX_ANALYZE tells what cbx_fail returns, which tools that see one file at a time cannot know.
common=(-DCBX_TESTS=OFF -DCBX_PYTHON=OFF -DCBX_MPI=OFF)

if wants gcc && command -v gcc > /dev/null; then
    step "gcc -fanalyzer"
    # malloc-leak, file-leak: gcc 12 loses what a struct owns; every test runs under LeakSanitizer instead.
    # use-of-uninitialized-value: gcc 12 does not see arrays that a loop fills; clang's analyzer looks for it.
    # unused-value: the words of CBX_ANALYZE.
    off='-Wno-analyzer-malloc-leak -Wno-analyzer-file-leak -Wno-analyzer-use-of-uninitialized-value -Wno-unused-value'
    cmake -S . -B "$folder/gcc" -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=None -DCBX_WERROR=ON \
        -DCMAKE_C_FLAGS="-O1 -fanalyzer -DCBX_ANALYZE $off" "${common[@]}" > "$folder/gcc.log"
    MAKEFLAGS=--no-print-directory cmake --build "$folder/gcc" --parallel "$jobs" --target combinex_cli \
        > "$folder/gcc.log" 2>&1 || { grep -v '^\[' "$folder/gcc.log" | sed -n 1,200p; failed+=(gcc); }
fi

tidy=$(command -v clang-tidy || command -v clang-tidy-14 || true)
if wants clang-tidy && [ -n "$tidy" ] && command -v clang > /dev/null; then
    step "clang-tidy"
    cmake -S . -B "$folder/clang" -DCMAKE_C_COMPILER=clang -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
        -DCMAKE_C_FLAGS=-DCBX_ANALYZE "${common[@]}" > "$folder/clang.log"
    depth=()
    [ -z "${DEPTH:-}" ] || depth=(--extra-arg={-Xclang,-analyzer-config,-Xclang,max-nodes="$DEPTH"})
    # one file a run: small ones fill the gaps that large ones leave
    printf '%s\n' src/*/*.c cli/*.c | xargs -P "$jobs" -n 1 "$tidy" -p "$folder/clang" --quiet "${depth[@]}" \
        > "$folder/tidy.txt" 2> "$folder/tidy.log" || { cat "$folder/tidy.txt"; failed+=(clang-tidy); }
elif wants clang-tidy; then
    echo "== no clang-tidy: skipped"
fi

if wants cppcheck && command -v cppcheck > /dev/null; then
    step "cppcheck"
    include=(-Iinclude)
    for room in src/*/; do include+=("-I$room"); done
    cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr -j "$jobs" \
        --suppressions-list=scripts/cppcheck.txt --error-exitcode=1 "${include[@]}" \
        -DCBX_HAVE_CURL -DCBX_ANALYZE -D__GNUC__ src cli 2>&1 || failed+=(cppcheck)
elif wants cppcheck; then
    echo "== no cppcheck: skipped"
fi
[ ${#failed[@]} -eq 0 ] || { echo "findings: ${failed[*]}" >&2; exit 1; }
