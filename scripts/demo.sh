#!/usr/bin/env bash
# The first minute with combinex, in a folder that is gone afterwards.
set -euo pipefail
PATH=$(cd "$(dirname "${BASH_SOURCE[0]}")/../build" && pwd):$PATH
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
show combinex explain karate karate-gcn.safetensors --node 8 --target any
