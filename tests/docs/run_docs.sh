#!/usr/bin/env bash
# Runs the examples in README.md and docs/*.md. A fenced block marked `sh` is run
# as it stands by bash -e; in one marked `console` the lines after "$ " are; one
# marked `python` is run by a Python that has the package, if there is one, and
# `python pyg` only if that has PyTorch Geometric, too. `sh no-run` and every other
# mark are left alone. The blocks of a file run in order in one scratch folder, with
# the built combinex first on PATH.
set -euo pipefail
# shellcheck source=../python/lib.bash
. "$CBX_SOURCE/tests/python/lib.bash"
test_python
pyg=$python
[ -z "$python" ] || "$python" -c 'import torch_geometric' 2> /dev/null || pyg=''
[ -n "$python" ] || echo "blocks of Python are skipped: $why"
[ -n "$pyg" ] || echo "blocks for PyTorch Geometric are skipped: it is not installed"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
PATH=$(dirname "$COMBINEX"):$PATH
failed=0 count=0 skipped=0

for page in "$CBX_SOURCE"/README.md "$CBX_SOURCE"/docs/*.md; do
    [ -f "$page" ] || continue
    name=$(basename "$page" .md)
    mkdir -p "$scratch/blocks/$name" "$scratch/run/$name"
    # One file a block, named after the line it starts on.
    awk -v dir="$scratch/blocks/$name" '
        /^ *```/ && out { close(out); out = ""; kind = ""; next }
        /^ *```/ && other { other = 0; next }
        /^ *``` *(sh|console|python|python pyg) *$/ {
            kind = $0; gsub(/[ `]/, "", kind)
            out = sprintf("%s/%05d.%s", dir, NR, kind); printf "" > out; next
        }
        /^ *```/ { other = 1; next }
        kind == "sh" || kind ~ /^python/ { print > out }
        kind == "console" && sub(/^ *\$ /, "") { print > out; more = /\\$/; next }
        kind == "console" && more { sub(/^ *> /, ""); print > out; more = /\\$/ }
    ' "$page"
    for block in "$scratch/blocks/$name"/*; do
        [ -f "$block" ] || continue
        case $block in
            *.python) run=("$python") ;;
            *.pythonpyg) run=("$pyg") ;;
            *) run=(bash -e) ;;
        esac
        if [ -z "${run[0]}" ]; then
            skipped=$((skipped + 1))
            continue
        fi
        count=$((count + 1))
        line=$(basename "$block")
        line=$((10#${line%%.*}))
        if ! (cd "$scratch/run/$name" && "${run[@]}" "$block") > "$scratch/log" 2>&1 < /dev/null; then
            echo "FAIL: ${page#"$CBX_SOURCE"/}:$line"
            sed 's/^/    /' "$block" "$scratch/log"
            failed=$((failed + 1))
        fi
    done
done

echo "$count blocks, $failed failed, $skipped skipped"
[ "$count" -gt 0 ] || exit 77
[ "$failed" -eq 0 ]
