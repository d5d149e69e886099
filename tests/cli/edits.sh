#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2154 # lib.bash sets and reads some of these
# Kinds of edit: edges that are added, in everything that knows edits.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run train karate --epochs 60 -q -o club.model
check "an oracle is trained" status_is 0
run explain karate club.model --node 5 --edits add --details
check "added edges are told in words" all status_is 0 , out_has 'add edge member 5–' , out_has 'edges? added'
run explain karate club.model --node 5 --edits add --json -o added.jsonl
check "and in JSON" all status_is 0 , grep -q '{"op":"add_edge","source":' added.jsonl , \
    grep -q '"edges_added":[1-9]' added.jsonl , grep -q '"edges_removed":0' added.jsonl
run explain karate club.model --replay added.jsonl
check "they hold when replayed" all status_is 0 , out_has '^1 of 1 hold'
run apply karate added.jsonl --json -o edited.safetensors
check "and are applied" all status_is 0 , out_has '"edges_removed": 0, "features_changed": 0, "edges_added": [1-9]'
run predict edited.safetensors club.model --node 5 --json
class=$(grep -o '"after":{"class":[0-9]*' added.jsonl | grep -o '[0-9]*$')
check "the edited graph has the class that was promised" all status_is 0 , out_has "\"class\": $class,"
for format in graphml gexf dot; do
    run apply karate added.jsonl -q -o "edited.$format"
    check "$format marks what is added" all status_is 0 , grep -qE 'added|style=bold' "edited.$format"
done
run report added.jsonl karate club.model -q -o page.html
check "a page has them" all status_is 0 , grep -q '"op":"add_edge"' page.html
run report added.jsonl karate club.model -q -o picture.svg
check "a picture has them in its legend" all status_is 0 , grep -q '>to be added<' picture.svg , \
    grep -q '>added<' picture.svg
sed 's/"op":"add_edge"/"op":"remove_edge"/' added.jsonl > wrong.jsonl
run apply karate wrong.jsonl --force -o wrong.safetensors
check "what is not there cannot be removed instead" fails_with 1 'there is no edge'

run explain karate club.model --node 5 --edits add,grow
check "a kind that nobody knows is told" fails_with 1 "'grow' is no kind of edit: remove, add, features, remove-nodes, add-nodes, weights, attributes or all"
run explain karate club.model --node 5 --edits add --explainer ego
check "a method that adds none says so" fails_with 1 "the explainer 'ego' only removes edges; 'minimal', 'combinex' and 'random-edges' add some"

# Whatever one removal changes, by branch and bound, one removal is found for. With sanitizers, for some of them.
run data generate ba-shapes -q -o shapes.safetensors
run train shapes.safetensors --model gcn --layers 3 --hidden 20 --head cat --dropout 0 --epochs 1000 \
    --learning-rate 0.001 --weight-decay 0.001 --clip 2 --seed 0 -q -o shapes.model
tops=()
every=${CBX_SANITIZED:+20}
every=${every:-5}
for ((node = 300; node < 700; node += every)); do tops+=(--node "$node"); done
run robust shapes.safetensors shapes.model "${tops[@]}" --edits remove --budget 1 --json
grep '"flips_with": 1,' "$scratch/log/out" | grep -o '"node": [0-9]*' | grep -o '[0-9]*' > flips.txt
run explain shapes.safetensors shapes.model "${tops[@]}" --edits remove --json -o single.jsonl
grep '"edges_removed":1,' single.jsonl | grep -o '"node":[0-9]*' | grep -o '[0-9]*$' | sort -u > found.txt
check "one removal is found wherever it is enough" all status_is 0 , test "$(wc -l < flips.txt)" -gt $((100 / every)) , \
    test -z "$(sort flips.txt | comm -23 - found.txt)"

# Nodes that are removed.
run explain karate club.model --node 5 --edits remove-nodes --details
check "removed nodes are told in words" all status_is 0 , out_has 'remove node member [0-9]' , out_has 'of 34 nodes'
run explain karate club.model --node 5 --edits remove-nodes --prove 5 --json -o fewer.jsonl
check "and in JSON" all status_is 0 , grep -q '{"op":"remove_node","node":[0-9]*,' fewer.jsonl , \
    grep -q '"nodes_removed":[1-9]' fewer.jsonl , grep -q 'removals of nodes with all their edges' fewer.jsonl
run explain karate club.model --replay fewer.jsonl
check "they hold when replayed" all status_is 0 , out_has '^1 of 1 hold'
run apply karate fewer.jsonl --json -o fewer.safetensors
gone=$(grep -o '"nodes_removed":[0-9]*' fewer.jsonl | grep -o '[0-9]*$')
check "and are applied" all status_is 0 , out_has "\"nodes_removed\": $gone"
run data info fewer.safetensors --json
check "the nodes are not there" all status_is 0 , out_has "\"nodes\": $((34 - gone)),"
run predict fewer.safetensors club.model --node 'member 5' --json
class=$(grep -o '"after":{"class":[0-9]*' fewer.jsonl | grep -o '[0-9]*$')
check "who stays has the class that was promised" all status_is 0 , out_has "\"class\": $class,"
for format in graphml gexf dot; do
    run apply karate fewer.jsonl -q -o "fewer.$format"
    check "$format marks what is removed" all status_is 0 , grep -qE 'lost|style=dashed fontcolor' "fewer.$format"
done
run report fewer.jsonl karate club.model -q -o page.html
check "a page has them" all status_is 0 , grep -q '"op":"remove_node"' page.html
run report fewer.jsonl karate club.model -q -o picture.svg
check "a picture has them in its legend" all status_is 0 , grep -q '>node removed<' picture.svg
sed 's/"op":"remove_node","node":[0-9]*/"op":"remove_node","node":5/' fewer.jsonl > wrong.jsonl
run explain karate club.model --replay wrong.jsonl
check "the explained node stays" all status_is 1 , out_has 'removes node 5, which is the one that is explained'
run explain karate club.model --node 5 --edits remove-nodes --explainer ego
check "a method that removes none says so" fails_with 1 "the explainer 'ego' removes no nodes; 'minimal' does"

# Edges that get another weight.
mkdir weighted
printf 'source,target,weight\n' > weighted/edges.csv
printf 'id,label,x\n' > weighted/features.csv
for i in {0..19}; do
    printf '%d,%d,%d\n' "$i" $((i % 2)) $((i % 2)) >> weighted/features.csv
    for j in 1 2 5; do
        printf '%d,%d,0.%d\n' "$i" $(((i + j) % 20)) $(((i * 7 + j * 3) % 8 + 1)) >> weighted/edges.csv
    done
done
run train weighted --epochs 60 --model graphconv -q -o weighted.model
check "an oracle is trained on edges with weights" status_is 0
run explain weighted weighted.model --node 3 --edges directed --edits weights --details
check "weights that change are told in words" all status_is 0 , out_has 'weight of edge .*: .* instead of 0\.[1-8]' , \
    out_has 'edges? reweighted'
run explain weighted weighted.model --node 3 --edges directed --edits weights --json -o weighed.jsonl
check "and in JSON" all status_is 0 , grep -q '{"op":"set_edge","source":[0-9]*,"target":[0-9]*,"undirected":false,"edge":[0-9]*,"weight":0' weighed.jsonl , \
    grep -q '"edges_reweighted":[1-9]' weighed.jsonl
run explain weighted weighted.model --replay weighed.jsonl
check "they hold when replayed" all status_is 0 , out_has '^1 of 1 hold'
run apply weighted weighed.jsonl --json -o weighed.safetensors
check "and are applied" all status_is 0 , out_has '"edges_reweighted": [1-9]'
run predict weighed.safetensors weighted.model --node 3 --json
class=$(grep -o '"after":{"class":[0-9]*' weighed.jsonl | grep -o '[0-9]*$')
check "the edited graph has the class that was promised" all status_is 0 , out_has "\"class\": $class,"
weight=$(grep -o '"weight":[0-9.]*' weighed.jsonl | head -1 | cut -d: -f2)
run apply weighted weighed.jsonl -q -o weighed.graphml
check "graphml has the new weight" all status_is 0 , grep -q ">${weight:0:6}" weighed.graphml
run report weighed.jsonl weighted weighted.model -q -o picture.svg
check "a picture has them in its legend" all status_is 0 , grep -q '>other weight<' picture.svg
sed 's/"weight":[0-9.]*/"weight":9/' weighed.jsonl > wrong.jsonl
run explain weighted weighted.model --replay wrong.jsonl
check "a weight beyond the data's breaks a rule, or the promise" status_is 1
run explain karate club.model --node 5 --edits weights
check "edges without weights say so" fails_with 1 'weights: the edges of this data have none, or all the same'

# Edges that get another attribute, of a program that takes them.
if command -v python3 > /dev/null; then
    program=$here/../golden/programs/gat.pt2
    for as in real whole; do
        python3 "$here/graph_of_golden.py" "${program%.pt2}.safetensors" a "$as.safetensors" "$as"
        run explain "$as.safetensors" "$program" --node 5 --target any --edges directed --edits attributes --details
        check "attributes that change are told in words ($as)" all status_is 0 , \
            out_has 'attribute [01] of edge .*: .* instead of ' , out_has 'edges? changed'
        run explain "$as.safetensors" "$program" --node 5 --target any --edges directed --edits attributes --json -o attr.jsonl
        check "and in JSON ($as)" all status_is 0 , \
            grep -q '{"op":"set_edge","from":[-0-9.]*,"source":[0-9]*,"target":[0-9]*,"undirected":false,"edge":[0-9]*,"attribute":[01],"to":[-0-9.]*,' attr.jsonl
        run explain "$as.safetensors" "$program" --replay attr.jsonl
        check "they hold when replayed ($as)" all status_is 0 , out_has '^1 of 1 hold'
        run apply "$as.safetensors" attr.jsonl -q -o applied.safetensors
        check "and are applied ($as)" status_is 0
        run predict applied.safetensors "$program" --node 5 --json
        class=$(grep -o '"after":{"class":[0-9]*' attr.jsonl | grep -o '[0-9]*$')
        check "the edited graph has the class that was promised ($as)" all status_is 0 , out_has "\"class\": $class,"
        run report attr.jsonl "$as.safetensors" "$program" -q -o picture.svg
        check "a picture says so ($as)" all status_is 0 , grep -q 'other weight or attribute' picture.svg
        run report attr.jsonl "$as.safetensors" "$program" -q -o page.html
        check "a page is drawn of it ($as)" all status_is 0 , grep -q '"attribute":' page.html
    done
    sed 's/"to":-3.0/"to":-3.5/' attr.jsonl > wrong.jsonl
    run explain whole.safetensors "$program" --replay wrong.jsonl
    check "an attribute that no edge of the data has breaks a rule, or the promise" status_is 1
    run explain real.safetensors "$program" --node 1 --target any --edits all
    check "all kinds are those that a program takes, and it says which" all status_is 0 , \
        out_has 'all kinds of edit are here: remove,features,remove-nodes,attributes$'
    run explain real.safetensors "$program" --node 1 --target any --edits all --json -o all.jsonl
    check "so does JSON" all status_is 0 , grep -q '"kinds":"remove,features,remove-nodes,attributes"' all.jsonl
    run explain real.safetensors "$program" --replay all.jsonl
    check "and they hold" all status_is 0 , out_has '^1 of 1 hold'
    run explain real.safetensors "$program" --node 1 --edits weights
    check "a kind that it does not take is an error that says why" fails_with 1 "weights: this program takes none, as it has no input 'edge_weight'"
fi
run explain karate club.model --node 5 --edits attributes
check "layers take no attributes" fails_with 1 'attributes: this model takes none'

# The fewest edges in molecules, against answers that were made by trying them all. With sanitizers that takes a minute,
# and is the same search and proof as above and in tests/minimal.
if [[ ${CBX_SANITIZED:-} ]]; then
    echo "skipped the comparisons with CBX_SHARED/external, which are not for sanitizers"
    finish
fi
if [[ -f ${CBX_SHARED:-}/external/scip/truth.json ]] && command -v python3 > /dev/null; then
    BUILD=$(dirname "$COMBINEX") python3 "$here/../../bench/additions.py" --truth "$CBX_SHARED/external/scip" \
        > truth.txt 2>&1
    check "all 188 molecules flip with the fewest edges that come or go, and all 118 that can with those that go" all \
        grep -qE '^\| remove, add \| 188 \| 140 \| 45 \| 3 \|$' truth.txt , \
        grep -qE '^\| remove \| 118 \| 71 \| 44 \| 3 \|$' truth.txt
else
    echo "skipped the comparison with CBX_SHARED/external/scip/truth.json, which is not there"
fi
if [[ -f ${CBX_SHARED:-}/external/cfgnn/truth.json ]] && command -v python3 > /dev/null; then
    BUILD=$(dirname "$COMBINEX") python3 "$here/../../bench/additions.py" --single "$CBX_SHARED/external/cfgnn" \
        > single.txt 2>&1
    check "every node that one removal changes has an answer of one edge" grep -qE '^386 of 386 nodes' single.txt
else
    echo "skipped the comparison with CBX_SHARED/external/cfgnn/truth.json, which is not there"
fi
finish
