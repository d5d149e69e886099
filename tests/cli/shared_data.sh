#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Every data set in the shared folder, with the three kinds of models.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

[[ -d ${CBX_SHARED:-}/data ]] || skip "CBX_SHARED names no folder with data sets"
export COMBINEX_DATA=$CBX_SHARED/data

shopt -s nullglob
for file in "$COMBINEX_DATA"/*.safetensors; do
    name=$(basename "$file" .safetensors)
    run data info "$name" --json
    check "data info $name works" all status_is 0 , out_has '"nodes": [1-9]'
    row=$(grep -o '"task": "[a-z]*"' "$scratch/log/out" | cut -d '"' -f 4)
    rows=$(grep -o "\"${row}s\": [0-9]*" "$scratch/log/out" | cut -d ' ' -f 2)
    for kind in gcn cheb graphconv; do
        run train "$name" --model "$kind" --epochs 2 --hidden 8 -q -o model.safetensors
        check "train $name --model $kind works" status_is 0
        run predict "$name" model.safetensors --json
        check "predict $name with $kind gives a line for each $row" \
            all status_is 0 , out_lines "$rows" , not grep -Evq "^\{\"$row\": [0-9]+, " "$scratch/log/out"
    done
done
finish
