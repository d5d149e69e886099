#!/usr/bin/env bash
# The first minute with combinex, in a folder that is gone afterwards; the report stays.
set -euo pipefail
build=$(cd "$(dirname "${BASH_SOURCE[0]}")/../build" && pwd)
PATH=$build:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

show combinex data info karate
show combinex train karate --model gcn --epochs 200 --seed 1 -o karate-gcn.safetensors
show combinex predict karate karate-gcn.safetensors
# Member 8 stood between the two parties.
show combinex explain karate karate-gcn.safetensors --node 8 --target any --html demo.html
mv demo.html "$build/demo.html"
printf '\nThe same to look at, in a browser: file://%s\n' "$build/demo.html"
