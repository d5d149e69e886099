#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# The bash completion, asked as bash asks it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run help --completion bash
source "$scratch/log/out"

# offers WORDS... : what is offered for the last of the words, in $scratch/log/out
offers() {
    COMP_WORDS=(combinex "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    ran="completing: combinex $*"
    _combinex 2> "$scratch/log/err"
    printf '%s\n' "${COMPREPLY[@]}" > "$scratch/log/out"
}

offers ''
check "the commands are offered" all out_has '^train$' , out_has '^data$' , not out_has 'list'
offers tr
check "what was typed narrows them" all out_has '^train$' , out_lines 1
offers data ''
check "data has its own commands" all out_has '^list$' , out_has '^generate$' , not out_has train
offers train --
check "options are offered" all out_has '^--model$' , out_has '^--epochs$' , out_has '^--output$'
offers predict --
check "each command has its own" all out_has '^--node$' , not out_has '^--epochs$'
kinds=$(grep -c '^X(' "$(dirname "${BASH_SOURCE[0]}")/../../src/layer/layers.def")
offers train karate --model ''
# and auto
check "choices are offered" all out_has '^gcn$' , out_has '^cheb$' , out_lines "$((kinds + 1))"
offers train karate --model = c
check "also after an equals sign" all out_has '^cheb$' , out_lines 1
offers train karate --model =
check "also right after it" out_lines "$((kinds + 1))"
offers train karate --epochs ''
check "numbers are not guessed" not out_has .
offers data generate ''
check "generators are offered" all out_has '^ba-shapes$' , out_has '^tree-grid$'

touch graph.safetensors notes.txt
mkdir -p folder "$scratch/two words"
touch "$scratch/two words/club.safetensors"
export COMBINEX_DATA="$scratch/two words"
offers train ''
check "data sets are built-ins, files, folders and names in data folders" \
    all out_has '^karate$' , out_has '^graph.safetensors$' , out_has '^folder$' , out_has '^club$'
check "other files are no data sets" not out_has notes
offers train --epochs 5 --json ka
check "operands are counted past options" all out_has '^karate$' , out_lines 1
offers train club
check "a name is offered in full length too" out_has '^club$'
offers predict karate ''
check "the second operand of predict is a model file" \
    all out_has '^graph.safetensors$' , not out_has karate
offers predict karate --threads = 2 graph
check "an option with an equals sign is no operand" out_has '^graph.safetensors$'
offers train karate -o n
check "any file may be an output" out_has '^notes.txt$'
check "nothing was complained about" err_empty
finish
