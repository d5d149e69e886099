#!/usr/bin/env bash
# Runs the examples in README.md and docs/*.md. A fenced block marked `sh` is run
# as it stands by bash -e; in one marked `console` the lines after "$ " are.
# `sh no-run` and every other mark are left alone. The blocks of a file run in
# order in one scratch folder, with the built combinex first on PATH.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
PATH=$(dirname "$COMBINEX"):$PATH
failed=0 count=0

for page in "$CBX_SOURCE"/README.md "$CBX_SOURCE"/docs/*.md; do
    [ -f "$page" ] || continue
    name=$(basename "$page" .md)
    mkdir -p "$scratch/blocks/$name" "$scratch/run/$name"
    # One file a block, named after the line it starts on.
    awk -v dir="$scratch/blocks/$name" '
        /^ *```/ && out { close(out); out = ""; kind = ""; next }
        /^ *```/ && other { other = 0; next }
        /^ *``` *(sh|console) *$/ {
            kind = $0; gsub(/[ `]/, "", kind)
            out = sprintf("%s/%05d", dir, NR); printf "" > out; next
        }
        /^ *```/ { other = 1; next }
        kind == "sh" { print > out }
        kind == "console" && sub(/^ *\$ /, "") { print > out; more = /\\$/; next }
        kind == "console" && more { sub(/^ *> /, ""); print > out; more = /\\$/ }
    ' "$page"
    for block in "$scratch/blocks/$name"/*; do
        [ -f "$block" ] || continue
        count=$((count + 1))
        line=$((10#$(basename "$block")))
        if ! (cd "$scratch/run/$name" && bash -e "$block") > "$scratch/log" 2>&1 < /dev/null; then
            echo "FAIL: ${page#"$CBX_SOURCE"/}:$line"
            sed 's/^/    /' "$block" "$scratch/log"
            failed=$((failed + 1))
        fi
    done
done

echo "$count blocks, $failed failed"
[ "$count" -gt 0 ] || exit 77
[ "$failed" -eq 0 ]
