#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# combinex data: list, info, generate, and how a data set is found.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run data list
check "data list shows the built-in sets" all status_is 0 , out_has '^  karate ' , out_has 'ba-shapes'
check "without data files it says where it looked" out_has "$scratch/share/combinex"
run data list --json
check "data list --json is one object per line" not grep -Evq '^\{"name": ".*"\}$' "$scratch/log/out"

run data info karate
check "data info counts nodes, edges and classes" \
    all status_is 0 , out_has 'nodes +34 ' , out_has 'edges +156, undirected' , out_has 'classes +4$'
run data info karate --json
check "data info --json is one object on one line" all out_lines 1 , out_has '^\{.*\}$'
check "data info --json has the same numbers" all out_has '"task": "node"' , out_has '"nodes": 34' , \
    out_has '"edges": 156' , out_has '"undirected": true' , out_has '"self_loops": 0'

run data generate karate -o karate2.safetensors
check "data generate writes a file" all status_is 0 , test -s karate2.safetensors
run data info ./karate2.safetensors
check "a graph that was written reads back" all status_is 0 , out_has 'edges +156, undirected'

for name in ba-shapes tree-cycles tree-grid erdos-renyi barabasi-albert; do
    run data generate "$name" --seed 3 -q -o "$name.safetensors"
    check "data generate $name works, quietly" all status_is 0 , out_empty , err_empty
    run data generate "$name" --seed 3 -q -o again.safetensors
    check "$name has the same bytes for the same seed" cmp -s "$name.safetensors" again.safetensors
    run data generate "$name" --seed 4 -q -o other.safetensors
    check "$name has other bytes for another seed" not cmp -s "$name.safetensors" other.safetensors
    run data info "$name.safetensors"
    check "$name reads back" status_is 0
done
run data generate erdos-renyi --nodes 1234 --json -o sized.safetensors
check "generators take sizes, and --json says what was made" \
    all status_is 0 , out_has '"nodes": 1234' , out_has '"file": "sized.safetensors"'
run data generate ba-shape -o x.safetensors
check "a generator that does not exist gets the nearest one suggested" \
    all fails_with 1 "did you mean 'ba-shapes'" , test ! -e x.safetensors

run data info karat
check "an unknown data set gets the nearest one suggested" fails_with 1 "no data set 'karat'.*'karate'"
check "and the message says what was tried" err_has "tried $scratch/share/combinex/karat.safetensors"
run data info ./missing.safetensors
check "a missing file is named" fails_with 1 'missing.safetensors.*No such file'
run data info missing.safetensors
check "a name with the ending is a file, and not looked up" fails_with 1 'missing.safetensors'

mkdir -p "$scratch/one" "$scratch/two words" "$scratch/share/combinex"
cp karate2.safetensors "$scratch/one/club.safetensors"
cp ba-shapes.safetensors "$scratch/two words/shapes.safetensors"
cp tree-grid.safetensors "$scratch/two words/club.safetensors"
cp tree-grid.safetensors "$scratch/share/combinex/grid.safetensors"
export COMBINEX_DATA="$scratch/one::$scratch/two words:$scratch/absent"
run data info club
check "a name is looked up in the folders of COMBINEX_DATA, first folder first" \
    all status_is 0 , out_has "$scratch/one/club.safetensors" , out_has 'nodes +34 '
run data info shapes
check "folders may have blanks in their names" status_is 0
run data info grid
check "the user's own folder comes last" status_is 0
run data info clib
check "names in folders are suggested too" fails_with 1 "did you mean 'club'"
run data list
check "data list shows the folders and their files" all out_has "In $scratch/two words:" , \
    out_has '^  shapes ' , out_has '^  grid '
run data list --json
check "data list --json shows files with their path" \
    out_has "\"name\": \"club\", \"kind\": \"file\", \"path\": \"$scratch/one/club.safetensors\""
finish
