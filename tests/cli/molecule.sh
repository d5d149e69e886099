#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# --keep molecule: answers of every method about molecules are molecules.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# Trees of atoms with a ring here and there; what tells the classes apart is a halogen, or a nitrogen.
mkdir M
python3 - << 'PY'
import json
import random

random.seed(4)
kinds = ["C", "N", "O", "F", "Cl", "S", "Na"]
most = {"C": 4, "N": 3, "O": 2, "F": 1, "Cl": 1, "S": 2, "Na": 1}
edges, labels, indicator, classes, first = [], [], [], [], 1
for graph in range(60):
    wanted = ["F", "N"][graph % 2]
    atoms = ["C"] * 3 + random.choices(kinds, k=5) + [wanted] * 2
    degree = [0] * len(atoms)
    for i in range(1, len(atoms)):
        near = [j for j in range(i) if degree[j] < most[atoms[j]]] or [0]
        j = random.choice(near)
        edges += [(first + i, first + j), (first + j, first + i)]
        degree[i] += 1
        degree[j] += 1
    if degree[0] < 4 and degree[2] < 4 and (first + 2, first) not in edges:
        edges += [(first, first + 2), (first + 2, first)]
    labels += [kinds.index(a) for a in atoms]
    indicator += [graph + 1] * len(atoms)
    classes.append(graph % 2)
    first += len(atoms)
for name, lines in (("A", [f"{a}, {b}" for a, b in edges]), ("graph_indicator", indicator), ("graph_labels", classes),
                    ("node_labels", labels)):
    with open(f"M/M_{name}.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
with open("M/combinex.json", "w", encoding="utf-8") as file:
    json.dump({"feature_names": [f"atom={k}" for k in kinds], "groups": {"atom": ["0-6"]}}, file)
PY
run data convert M M.safetensors
check "there are molecules" status_is 0
run train M.safetensors --model graphconv --layers 2 --hidden 16 --epochs 60 --seed 1 -o model.safetensors
check "and a model" status_is 0

# Prints how many of the answers were found, if all of them are molecules: in one piece as before, and what changed
# has the valence that it had. Nothing of this comes from the library but the answers.
molecules() {
    python3 - "$@" << 'PY'
import json
import sys

kinds = ["C", "N", "O", "F", "Cl", "S", "Na"]
valence = {"C": 4, "N": 3, "O": 2, "F": 1, "Cl": 1, "S": 2}
labels = [int(line) for line in open("M/M_node_labels.txt", encoding="utf-8")]
graph_of = [int(line) - 1 for line in open("M/M_graph_indicator.txt", encoding="utf-8")]
edges = {frozenset(int(n) - 1 for n in line.split(",")) for line in open("M/M_A.txt", encoding="utf-8")}


def pieces(graph, gone):
    left = {i for i, g in enumerate(graph_of) if g == graph}
    count = 0
    while left:
        count += 1
        queue = [left.pop()]
        while queue:
            at = queue.pop()
            near = {i for i in left if frozenset((i, at)) in edges - gone}
            left -= near
            queue += near
    return count


found = 0
for line in open(sys.argv[1], encoding="utf-8"):
    answer = json.loads(line)
    if answer.get("status") != "found":
        continue
    found += 1
    gone = {frozenset((e["source"], e["target"])) for e in answer["edits"] if e["op"] == "remove_edge"}
    assert pieces(answer["graph"], gone) == pieces(answer["graph"], set()), "it falls apart"
    now = {}
    for e in answer["edits"]:
        if e["op"] == "set_feature" and e["to"] == 1:
            assert e["node"] not in now, "two elements at once"
            now[e["node"]] = kinds[e["feature"]]
    for node, kind in now.items():
        before = kinds[labels[node]]
        assert before in valence and valence[before] == valence[kind], f"{before} becomes {kind}"
print(found)
PY
}

# Half of them; with sanitizers, where all of this takes six times as long, the first quarter.
rows=(--all --limit 30) bonds=()
for graph in {40..54}; do bonds+=(--graph "$graph"); done # one is added to some of these
[[ -z ${CBX_SANITIZED:-} ]] || rows=(--all --limit 14) bonds=(--graph 43 --graph 44)
total=0
for method in $(explainers unr); do
    run explain M.safetensors model.safetensors "${rows[@]}" --explainer "$method" --target any --keep molecule --epochs 60 --moexp-most 200 \
        --clear-epochs 5 --d4-epochs 1 --d4-layers 1 --d4-width 4 --json -o answers.jsonl
    check "$method knows the rule" status_is 0
    check "what $method says are molecules" molecules answers.jsonl
    total=$((total + $(molecules answers.jsonl)))
done
check "and there are many" test "$total" -gt "${rows[2]}"
run explain M.safetensors model.safetensors "${rows[@]}" --target any --json -o free.jsonl
check "without the rule there would be others" not molecules free.jsonl

# ---- sentences
run explain M.safetensors model.safetensors "${rows[@]}" --target any --keep molecule --edits all
check "atoms are replaced and bonds go and come in words of chemistry" all status_is 0 , \
    out_has 'replace the (F|Cl) at atom [0-9]+ by (F|Cl)|replace the N at|replace the [CNOS] at' , not out_has 'edge [0-9]'
run explain M.safetensors model.safetensors "${rows[@]}" --target any --edits remove,add --own-features
check "also where only the names of columns say that these are atoms" all status_is 0 , \
    out_has '(remove the|add a) bond (C|N|O|F|Cl|S|Na)[0-9]+–(C|N|O|F|Cl|S|Na)[0-9]+$'
run explain M.safetensors model.safetensors --graph 1 --target any --edits remove,add --edges directed
check "an edge in one direction is no bond" not out_has 'bond'

# ---- atoms that are added
run explain M.safetensors model.safetensors "${rows[@]}" --target any --keep molecule --edits add-nodes
check "new atoms are told in words" all status_is 0 , out_has 'add another (C|N|O|F|Cl|S) at atom [0-9]+$' , \
    not out_has 'another Na'
run explain M.safetensors model.safetensors "${rows[@]}" --target any --keep molecule --edits add-nodes --prove 0.1 --json -o more.jsonl
check "and in JSON" all status_is 0 , grep -qE '"op":"add_node","copy_of":[0-9]+,"to":[0-9]+,"undirected":true,"weight":1' more.jsonl , \
    grep -q '"nodes_added":[1-9]' more.jsonl , grep -q 'copies of nodes (no two alike at one node)' more.jsonl
# Prints how many were added: no atom has more bonds than it can, and each copy is of an atom of its own molecule.
new_atoms() {
    python3 - "$@" << 'PY'
import json
import sys

kinds = ["C", "N", "O", "F", "Cl", "S", "Na"]
valence = {"C": 4, "N": 3, "O": 2, "F": 1, "Cl": 1, "S": 2}
labels = [int(line) for line in open("M/M_node_labels.txt", encoding="utf-8")]
graph_of = [int(line) - 1 for line in open("M/M_graph_indicator.txt", encoding="utf-8")]
ends = [int(line.split(",")[0]) - 1 for line in open("M/M_A.txt", encoding="utf-8")]
added = 0
for line in open(sys.argv[1], encoding="utf-8"):
    answer = json.loads(line)
    new = [e for e in answer["edits"] if e["op"] == "add_node"]
    assert len(new) == answer.get("nodes_added", 0) == len(answer["edits"]), "other edits"
    for e in new:
        assert graph_of[e["copy_of"]] == graph_of[e["to"]] == answer["graph"], "another molecule"
        assert kinds[labels[e["copy_of"]]] in valence, "a metal"
        bonds = ends.count(e["to"]) + sum(other["to"] == e["to"] for other in new)
        assert bonds <= valence[kinds[labels[e["to"]]]], "too many bonds"
        added += 1
print(added)
PY
}
check "there is room for all of them" new_atoms more.jsonl
check "and they are many" test "$(new_atoms more.jsonl)" -gt 10
run explain M.safetensors model.safetensors --replay more.jsonl
check "they hold when replayed" all status_is 0 , out_has '^([0-9]+) of \1 hold'
line=$(grep -n '"nodes_added"' more.jsonl | head -n 1 | cut -d : -f 1)
head -n "$line" more.jsonl | tail -n 1 > one.jsonl
run apply M.safetensors one.jsonl --json -o more.safetensors
new=$(grep -o '"nodes_added":[0-9]*' one.jsonl | grep -o '[0-9]*$')
check "and are applied" all status_is 0 , out_has "\"nodes_added\": $new"
all=$(wc -l < M/M_node_labels.txt)
run data info more.safetensors --json
check "the nodes are there" all status_is 0 , out_has "\"nodes\": $((all + new)),"
row=$(grep -o '"graph":[0-9]*' one.jsonl | head -n 1 | grep -o '[0-9]*$')
class=$(grep -o '"after":{"class":[0-9]*' one.jsonl | grep -o '[0-9]*$')
run predict more.safetensors model.safetensors --graph "$row" --json
check "the molecule has the class that was promised" all status_is 0 , out_has "\"class\": $class,"
for format in graphml gexf dot; do
    run apply M.safetensors one.jsonl -q -o "more.$format"
    check "$format marks what is added" all status_is 0 , grep -qE 'came|color="#2ca02c" penwidth' "more.$format"
done
run report one.jsonl M.safetensors model.safetensors -q -o page.html
check "a page has them" all status_is 0 , grep -q '"comes":true' page.html
run report one.jsonl M.safetensors model.safetensors -q -o picture.svg
check "a picture has them in its legend" all status_is 0 , grep -q '>node added<' picture.svg
sed 's/"copy_of":[0-9]*/"copy_of":599/' one.jsonl > wrong.jsonl
run explain M.safetensors model.safetensors --replay wrong.jsonl
check "another molecule's atoms are none to copy" all status_is 1 , out_has 'they are of two graphs'
run train karate --epochs 5 -o club.model
run explain karate club.model --node 5 --edits add-nodes
check "nodes are added to graphs that have a class" fails_with 1 'add-nodes is for data with a class for each graph'

# ---- bonds
python3 - << 'PY'
import json
import struct

# the same molecules with double bonds here and there, where both ends have room, as weights and as columns
labels = [int(line) for line in open("M/M_node_labels.txt", encoding="utf-8")]
valence = [4, 3, 2, 1, 1, 2, 0]
pairs = sorted({tuple(sorted(int(n) - 1 for n in line.split(","))) for line in open("M/M_A.txt", encoding="utf-8")})
free = [valence[k] for k in labels]
for u, v in pairs:
    free[u] -= 1
    free[v] -= 1
order = {}
for u, v in pairs:
    order[u, v] = 2 if free[u] > 0 and free[v] > 0 and (u + v) % 4 else 1
    free[u] -= order[u, v] - 1
    free[v] -= order[u, v] - 1
with open("M.safetensors", "rb") as file:
    header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    data = file.read()
begin, end = header["edge_index"]["data_offsets"]
ends = struct.unpack(f"<{(end - begin) // 8}q", data[begin:end])
edges = list(zip(ends[: len(ends) // 2], ends[len(ends) // 2 :]))
orders = [order[tuple(sorted(edge))] for edge in edges]
json.dump({"free": free, "order": [[u, v, o] for (u, v), o in order.items()]}, open("orders.json", "w", encoding="utf-8"))


def write(path, name, shape, values):
    block = struct.pack(f"<{len(values)}f", *values)
    made = dict(header)
    made[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(block)]}
    text = json.dumps(made).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data + block)


write("weights.safetensors", "edge_weight", [len(edges)], [float(o) for o in orders])
write("columns.safetensors", "edge_attr", [len(edges), 2], [float(o == k) for o in orders for k in (1, 2)])
PY
# Prints how many edges were added, if all of them have room: orders and all.
room() {
    python3 - "$1" << 'PY'
import json
import sys

told = json.load(open("orders.json", encoding="utf-8"))
added = 0
for line in open(sys.argv[1], encoding="utf-8"):
    free = list(told["free"])
    for e in json.loads(line).get("edits", []):
        if e["op"] == "add_edge":
            added += 1
            for node in (e["source"], e["target"]):
                free[node] -= 1
                assert free[node] >= 0, f"too many bonds at {node}"
assert added > 0
PY
}
for asked in weights:auto columns:single,double; do
    data=${asked%:*}.safetensors
    run explain "$data" model.safetensors "${bonds[@]}" --target any --keep molecule --edits add --total-cfs 5 --add-weight 1 \
        --bonds "${asked#*:}" --json -o bonds.jsonl
    check "bonds that are added have room, by ${asked%:*}" all status_is 0 , room bonds.jsonl
done
run explain columns.safetensors model.safetensors "${rows[@]}" --target any --keep molecule --edits add --total-cfs 5 --json -o bonds.jsonl
check "where nobody says what columns are, each bond counts once" all status_is 0 , not room bonds.jsonl
run explain columns.safetensors model.safetensors --graph 1 --keep molecule --bonds single,twin
check "a bond that nobody knows is told" fails_with 1 "--bonds: 'twin' is no bond: single, double, triple or aromatic"
run explain columns.safetensors model.safetensors --graph 1 --keep molecule --bonds single,double,triple
check "and columns too many" fails_with 1 '--bonds: 3 bonds, and edges have 2 attributes'
run explain M.safetensors model.safetensors --graph 1 --keep molecule --bonds weight
check "and weights that are not there" fails_with 1 '--bonds: weight: edges have none'

# ---- what the columns stand for
run explain M.safetensors model.safetensors --graph 1 --target any --keep molecule --elements C,N,O,F,Cl,S,Na --json
check "elements can be told" status_is 0
run explain M.safetensors model.safetensors --graph 1 --keep molecule --elements C,N,O
check "one for each column" fails_with 1 '--elements: 3 symbols, and no one-hot group has so many columns; expected one symbol'
run explain M.safetensors model.safetensors --graph 1 --keep molecule --elements C,N,O,F,Cl,S,Zz
check "that is one" fails_with 1 "'Zz' is not the symbol of an element"
run explain M.safetensors model.safetensors --graph 1 --elements C,N,O,F,Cl,S,Na
check "and for that rule" fails_with 1 "--elements: is for the rule 'keep molecule' only"
run train karate --epochs 5 --seed 1 -q -o club.safetensors
run explain karate club.safetensors --node 1 --keep molecule
check "people are no atoms" fails_with 1 'no one-hot group whose columns are all named after elements'
finish
