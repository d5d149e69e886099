#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Files that are not what they should be: exit status 1, and a message that names them.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run data generate karate -q -o graph.safetensors
run train karate --hidden 8 --epochs 2 -q -o model.safetensors
check "there is a model to spoil" test -s model.safetensors

run predict karate absent.safetensors
check "a missing model is named" fails_with 1 'absent.safetensors.*No such file'
size=$(stat -c %s model.safetensors)
for length in 0 4 8 100 $((size / 2)) $((size - 1)); do
    head -c "$length" model.safetensors > cut.safetensors
    run predict karate cut.safetensors
    check "a model cut to $length bytes is refused by name" fails_with 1 'cut.safetensors'
done
size=$(stat -c %s graph.safetensors)
for length in 0 4 8 100 $((size / 2)) $((size - 1)); do
    head -c "$length" graph.safetensors > cut.safetensors
    run data info cut.safetensors
    check "a graph cut to $length bytes is refused by name" fails_with 1 'cut.safetensors'
done
head -c 5000 /dev/urandom > noise.safetensors
run data info noise.safetensors
check "noise is no graph" fails_with 1 'noise.safetensors'
run predict karate noise.safetensors
check "noise is no model" fails_with 1 'noise.safetensors'
run predict karate graph.safetensors
check "a graph is no model" fails_with 1 'graph.safetensors'
run data info model.safetensors
check "a model is no graph" fails_with 1 'model.safetensors'
mkdir folder.safetensors
run data info ./folder.safetensors
check "a folder is no graph" fails_with 1 'folder.safetensors'
run predict karate .
check "a folder is no model" fails_with 1 '\.: '

run data generate erdos-renyi --nodes 50 --features 21 -q -o other.safetensors
run predict other.safetensors model.safetensors
check "a model that does not fit says both sizes" fails_with 1 '(34.*21|21.*34)'
finish
