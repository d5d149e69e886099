#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Values that are no numbers, or too large ones: refused with the place, and never printed.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

mapfile -t methods < <(node_explainers)
check "there are methods to try" test "${#methods[@]}" -gt 8
# table NAME VALUE EDGES: a CSV data set of four nodes in a ring, with one value of its own
table() {
    mkdir -p "$1"
    printf 'source,target\n' > "$1/edges.csv"
    for edge in $3; do printf '%s\n' "${edge/-/,}" >> "$1/edges.csv"; done
    printf 'id,label,a,b\n0,0,%s,0.5\n1,1,0.2,0.1\n2,0,0.3,0.9\n3,1,0.7,0.4\n' "$2" > "$1/features.csv"
}
ring='0-1 1-0 1-2 2-1 2-3 3-2 3-0 0-3'
no_nan() { ! grep -Eiq '\b(nan|inf|infinity)\b' "$scratch/log/out"; }

table plain 0.6 "$ring"
run train plain --standardise off --epochs 5 --hidden 4 --split random -q -o model.safetensors
check "an ordinary table trains" status_is 0
size=$(stat -c %s model.safetensors)
for bad in '\000\000\300\177:nan' '\000\000\200\177:inf' '\000\000\200\377:-inf'; do
    cp model.safetensors bad.safetensors
    # shellcheck disable=SC2059 # the bytes are the format
    printf "${bad%:*}" | dd of=bad.safetensors bs=1 seek=$((size - 4)) conv=notrunc status=none
    run predict plain bad.safetensors
    check "a parameter that is ${bad#*:} is refused at load, with file, tensor and place" \
        fails_with 1 "bad\.safetensors: output_layer\.bias has the value -?${bad#*:} at 1; parameters must be finite"
done
for value in nan inf 1e39; do
    table bad "$value" "$ring"
    run data info bad
    check "a feature of $value is refused with its place" fails_with 1 'bad.*features\.csv.*(line 2|row|node 0)'
done

table large 3e38 "$ring"
run train large --standardise off --model graphconv --epochs 2 --split random -q -o no.safetensors
check "training on features that overflow says so" all fails_with 1 'diverged|not finite' , test ! -e no.safetensors
run train plain --standardise off --model graphconv --epochs 5 --hidden 4 --split random -q -o conv.safetensors
run explain large conv.safetensors --node 0 --target any
check "so does explaining" fails_with 1 'node 0: the model.s output is not finite'

table huge 1e30 "$ring"
table zero 0 "$ring"
table tiny 1e-42 "$ring"
table lonely 0.6 '1-2 2-1 2-3 3-2'
table loops 0.6 '0-0 1-1 2-2 3-3'
table twice 0.6 "$ring $ring"
for data in huge zero tiny lonely loops twice; do
    for method in "${methods[@]}"; do
        run explain "$data" model.safetensors --all --explainer "$method" --target any --epochs 20 --json
        check "$method on $data gives numbers" all status_is 0 , out_lines 4 , no_nan , err_empty
    done
done
finish
