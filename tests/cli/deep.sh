#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Input that is nested deeper than any stack: refused, with a stack of half a megabyte.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
levels=200000
many() { printf "%${levels}s" '' | sed "s/ /$1/g"; } # many TEXT
# A sanitizer's own frames are large.
nm "$COMBINEX" 2> /dev/null | grep __asan_init > /dev/null || ulimit -s 512

run train karate --epochs 2 --hidden 4 -q -o model.safetensors
echo "{\"node\": 0, \"x\": $(many '[')$(many ']')}" > deep.jsonl
run explain karate model.safetensors --replay deep.jsonl
check "a replay of deep JSON is refused" all status_is 1 , out_has 'line 1: not a JSON object: nested too deeply'
mkdir tables
printf 'source,target\n0,1\n1,0\n' > tables/edges.csv
printf 'id,a\n0,1\n1,2\n' > tables/features.csv
echo "$(many '[')$(many ']')" > deep.json
run data info tables --sidecar deep.json
check "so is a sidecar" fails_with 1 'deep.json, line 1: nested too deeply'
{ printf '\200\002'; many ']'; printf "%$((levels - 1))s" '' | tr ' ' a; printf .; } > deep.pkl
run data info deep.pkl
check "a pickle of deep lists is read, and refused for what it is" fails_with 1 'deep.pkl: .*expected'
if "$COMBINEX" data formats | grep ' gml ' > /dev/null; then
    echo "graph [ node [ id 0 $(many 'a [ ') b 1 $(many '] ') ] ]" > one.gml
    run data info one.gml
    check "deep GML is refused" fails_with 1 'one.gml'
    echo "<?xml version=\"1.0\"?><graphml>$(many '<graph>')$(many '<\/graph>')</graphml>" > two.graphml
    run data info two.graphml
    check "deep GraphML is refused" fails_with 1 'two.graphml'
fi
# shellcheck disable=SC2059 # the bytes are the format
{ # a header that is nothing but brackets
    header="$(many '[')$(many ']')"
    printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((${#header} & 255)) $((${#header} >> 8 & 255)) \
        $((${#header} >> 16 & 255)) $((${#header} >> 24 & 255)))"
    printf '\0\0\0\0%s' "$header"
} > deep.safetensors
run data info ./deep.safetensors
check "a deep header is refused" fails_with 1 'deep.safetensors: header, byte [0-9]+: nested too deeply'
path=tree
for ((i = 0; i < 60; i++)); do path=$path/deeper; done
mkdir -p "$path"
printf 'source,target\n0,1\n' > "$path/edges.csv"
run data info tree
check "a deep tree of folders is not followed to its end" fails_with 1 'tree'
finish
