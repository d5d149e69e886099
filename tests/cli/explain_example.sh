#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# examples/explain_node.c, with a graph and a model from the command line.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

[[ -x ${EXPLAIN_NODE:-} ]] || skip "EXPLAIN_NODE names no program"
run data generate karate -q -o karate.safetensors
run train karate -q --epochs 50 --seed 1 -o model.safetensors

example() {
    "$EXPLAIN_NODE" "$@" > "$scratch/log/out" 2> "$scratch/log/err"
    status=$?
    ran="explain_node $*"
}
example karate.safetensors model.safetensors 8
check "it finds a counterfactual" \
    all status_is 0 , err_empty , out_has '^node 8: class [0-3] -> class [0-3] \(found\)$'
check "and says which edits it takes" out_has '^  (set feature|remove the edge) '
lines=$(wc -l < "$scratch/log/out")
run explain karate.safetensors model.safetensors --node 8 --target any
check "as many as the command line" out_has "^  $((lines - 1)) changes? ·"
example karate.safetensors model.safetensors 34
check "a node that does not exist is an error" fails_with 1 'node 34 does not exist'
example absent.safetensors model.safetensors 8
check "so is a file that does not exist" fails_with 1 'absent.safetensors'
example model.safetensors
check "without its arguments it says what they are" fails_with 2 'usage: explain_node'
finish
