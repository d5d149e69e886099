#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-stack.sh: the stack a function takes must not grow with its input, and must be small.
# gcc says what each takes: none may be "dynamic" (a variable-length array, alloca), and none
# more than LIMIT bytes. Recursion is looked for in the calls that gcc saw: what calls itself,
# by whatever way, must be in the list below, with what bounds its depth.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
limit=${STACK_LIMIT:-40000}
command -v gcc > /dev/null || { echo "== stack: no gcc: skipped"; exit 0; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What bounds each, and the test that goes deeper.
recursive='
src/core/json.c:read_value    DEEPEST levels of JSON; tests/core/test_json.c
src/core/json.c:read_members  the same
src/read/bundle.c:list_folder             DEEPEST folders; tests/cli/deep.sh
src/minimal/prove.c:try_sets              sets of MOST_SET moves
cbx_pattern_eval                          DEEPEST layers
cbx_pattern_edge                          the same
src/proof/pattern_back.c:edge_values      the same
src/proof/pattern_back.c:step             the same
src/proof/pattern_back.c:step_all         the same
src/proof/box_back.c:value                DEEPEST layers
src/proof/box_back.c:value_of_edges       the same
src/proof/cells.c:explore                 DEEPEST halvings
cbx_json_put                              as deep as read_value went
src/core/json_writer.c:put_members        the same
src/report/report.c:keep                  the same
cbx_fields_check                          tables in tables: one level, tests/method/test_registered.c
cbx_fields_default                        the same
src/core/options.c:option_at              the same
src/core/options.c:find                   the same
'
includes=(-Iinclude)
for room in src/*/; do includes+=("-I$room"); done
for package in zlib libzip expat openblas libcurl; do
    read -ra flags <<< "$(pkg-config --cflags "$package" 2> /dev/null || true)"
    includes+=("${flags[@]}")
done
defines=(-D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -DCBX_NO_CLONES)
! pkg-config --exists libcurl || defines+=(-DCBX_HAVE_CURL)
compile() { # compile FLAGS... FILE
    local file=${*: -1}
    gcc -std=c17 -O2 -fopenmp -fstack-usage -fcallgraph-info=su "$@" -w -Werror=vla -c \
        -o "$scratch/$(echo "${file%.c}" | tr / _).o"
}
export -f compile
export scratch
printf '%s\n' src/*/*.c cli/*.c | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I {} \
    bash -c 'compile "$@"' compile "${defines[@]}" "${includes[@]}" {}

dynamic=$(cat "$scratch"/*.su | grep -E 'dynamic' | grep -v 'dynamic,bounded' || true)
large=$(awk -v limit="$limit" '$(NF - 1) > limit' "$scratch"/*.su || true)
largest=$(sort -k 2 -n -r -t $'\t' "$scratch"/*.su | sed -n 1p | cut -f 1,2 | tr '\t' ' ')
count=$(cat "$scratch"/*.su | wc -l)
# A static function is called FILE:NAME here.
sed -nE 's/^edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)".*/\1 \2/p' "$scratch"/*.ci |
    awk 'index($2, $1 ".") != 1' | # a function calls the part that the compiler split off
    sed -E 's/\.(part|constprop|isra|cold)(\.[0-9]+)?//g' | sort -u > "$scratch/calls"
cycles=$(awk '
    { to[$1] = to[$1] " " $2 }
    function reach(from, at,   list, n, i) {
        n = split(to[at], list, " ")
        for (i = 1; i <= n; i++) {
            if (list[i] == from) return 1
            if (!(list[i] in seen)) { seen[list[i]] = 1; if (reach(from, list[i])) return 1 }
        }
        return 0
    }
    END { for (name in to) { delete seen; if (reach(name, name)) print name } }' "$scratch/calls" | sort)
unknown=''
for name in $cycles; do
    grep -q "^$name " <<< "$recursive" || unknown="$unknown $name"
done
echo "stack: $count functions, the largest frame is $largest bytes; recursive: ${cycles//$'\n'/ }"
if [ -n "$dynamic$large$unknown" ]; then
    [ -z "$dynamic" ] || printf 'grows with its input:\n%s\n' "$dynamic"
    [ -z "$large" ] || printf 'more than %s bytes:\n%s\n' "$limit" "$large"
    [ -z "$unknown" ] || echo "recursive, and not known to be bounded:$unknown"
    exit 1
fi
