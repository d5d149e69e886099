# SPDX-License-Identifier: Apache-2.0
"""Time is bounded by the size of the input: every reader, and every `data` command that reads,
on files of 1, 2, 4 and 8 times a size, in every direction in which files can grow: nodes, edges,
features, attributes, names, graphs, files, and what they only claim.

    growth.py DRIVER [WORD...]     DRIVER: build/tests/growth_driver; WORD: only cases with it

Not seconds are measured but instructions, which valgrind's callgrind counts: they are the same on
a busy machine. Of what is left when the fixed costs are taken off, the exponent in the number of
bytes must be near 1."""

import collections
import gzip
import io
import json
import math
import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import types
import zipfile

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)

SIZES = (1, 2, 4, 8)
MOST = 1.3  # n log n is 1.1 or so at these sizes, a square 2

CASES = {}  # name: (base, files of a size, what of them is read)


def case(name, base, read=None):
    def add(make):
        CASES[name] = (base, make, read)
        return make

    return add


# ---- arrays


def npy(array):
    out = io.BytesIO()
    np.save(out, np.asarray(array))
    return out.getvalue()


def npz(arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
        for name, array in arrays.items():
            z.writestr(zipfile.ZipInfo(name + ".npy"), npy(array))
    return out.getvalue()


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
        for name, content in files.items():
            z.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


class csr_matrix:  # pickles like SciPy's
    def __init__(self, rows, columns, values, shape):
        self._shape = shape
        self.indptr = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int32)
        self.indices = np.asarray(columns, np.int32)
        self.data = np.asarray(values, np.float32)
        self.maxprint = 50


module = types.ModuleType("scipy.sparse.csr")
for part in ("scipy", "scipy.sparse", "scipy.sparse.csr"):
    sys.modules[part] = module
csr_matrix.__module__, csr_matrix.__qualname__ = "scipy.sparse.csr", "csr_matrix"
module.csr_matrix = csr_matrix


def ring(n, m=None):
    """Edges of a ring of n nodes, or m of them, going round and round."""
    a = np.arange(n if m is None else m) % n
    return a, (a + 1 + np.arange(len(a)) // n) % n


def lines(rows, between=","):
    return "".join(between.join(map(str, row)) + "\n" for row in rows)


# ---- safetensors


def native(tensors, meta=None):
    header, data = {"__metadata__": meta or {}}, b""
    for name, array in tensors.items():
        kind = {"int64": "I64", "float32": "F32", "int32": "I32", "uint8": "U8"}[str(array.dtype)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return {"g.safetensors": struct.pack("<Q", len(text)) + text + data}


def dense(n, f, m=None, **more):
    x = (np.arange(n * f) % 7).astype(np.float32).reshape(n, f)  # no one-hot groups in it
    return {"edge_index": np.array(ring(n, m)), "x": x, "y": np.arange(n) % 2, **more}


def sparse(n, f, m=None):
    return {"edge_index": np.array(ring(n, m)), "y": np.arange(n) % 2, "x.shape": np.array([n, f]),
            "x.indptr": np.arange(n + 1), "x.indices": (np.arange(n) % min(f, 5)).astype(np.int32),
            "x.values": np.ones(n, np.float32)}


case("safetensors nodes", 100)(lambda s: native(dense(s, 4)))
case("safetensors edges", 200)(lambda s: native(dense(50, 4, s)))
case("safetensors features", 400)(lambda s: native(dense(20, s)))
case("safetensors claimed features", 40)(lambda s: native(sparse(s, 20 * s)))
case("safetensors feature names", 100)(
    lambda s: native(dense(2, s), {"feature_names": json.dumps([f"f{i}" for i in range(s)])}))
case("safetensors node names", 100)(
    lambda s: native(dense(s, 1), {"node_names": json.dumps([f"n{i}" for i in range(s)])}))
case("safetensors class names", 100)(
    lambda s: native(dense(s, 1, y=np.arange(s)), {"class_names": json.dumps([f"c{i}" for i in range(s)])}))
case("safetensors other tensors", 100)(
    lambda s: native(dense(4, 2, **{f"other{i}": np.zeros(1, np.uint8) for i in range(s)})))
case("safetensors notes", 300)(lambda s: native(dense(4, 2), {f"note{i}": "x" for i in range(s)}))
case("safetensors groups", 500)(lambda s: native(dense(4, s, feature_group=np.arange(s, dtype=np.int32) // 2)))
case("safetensors one-hot groups", 300)(
    lambda s: native({**dense(2, 1), "x": np.tile(np.eye(2, dtype=np.float32), s)}))
case("safetensors splits", 200)(
    lambda s: native(dense(20, 2, **{"splits.train_mask": np.ones((20, s), np.uint8)})))
case("safetensors graphs", 100)(lambda s: native(
    {**dense(2 * s, 2), "edge_index": np.arange(2 * s).reshape(2, s) * 0 + 2 * np.arange(s),
     "y": np.arange(s) % 2, "graph_ptr": 2 * np.arange(s + 1)}))


# ---- a sidecar


def beside(sidecar, f):
    return {**native(dense(2, f), {"feature_names": json.dumps([f"f{i}" for i in range(f)])}),
            "g.combinex.json": json.dumps(sidecar)}


case("sidecar kinds by name", 300, "g.safetensors")(
    lambda s: beside({"kinds": {f"f{i}": "continuous" for i in range(s)}}, s))
case("sidecar overlapping bounds", 300, "g.safetensors")(
    lambda s: beside({"bounds": {f"{i}-{s - 1}": [0, 9] for i in range(s)}}, s))
case("sidecar the same list again", 300, "g.safetensors")(
    lambda s: beside({"immutable": [f"0-{s - 1}"] * s}, s))
case("sidecar groups", 200, "g.safetensors")(
    lambda s: beside({"groups": {f"g{i}": [i] for i in range(s)}}, s))


# ---- text formats


def tu(n=20, m=None, graphs=1, attributes=1, labels=2):
    a, b = ring(n, m)
    at = np.arange(n) * graphs // n
    keep = at[a] == at[b]
    return {"DS_A.txt": lines(zip(a[keep] + 1, b[keep] + 1), ", "),
            "DS_graph_indicator.txt": lines((g + 1,) for g in at),
            "DS_graph_labels.txt": lines((g % 2,) for g in range(graphs)),
            "DS_node_labels.txt": lines((i % labels,) for i in range(n)),
            "DS_node_attributes.txt": lines((["0.5"] * attributes for _ in range(n)), ", ")}


case("tu nodes", 200)(lambda s: tu(s))
case("tu edges", 500)(lambda s: tu(20, s))
case("tu graphs", 100)(lambda s: tu(2 * s, graphs=s))
case("tu attributes", 50)(lambda s: tu(20, attributes=s))
case("tu labels", 800)(lambda s: tu(s, labels=s))  # sparse from the second size on


def table(n=20, m=None, numbers=1, texts=0, kinds=2, name="n"):
    a, b = ring(n, m)
    head = ["id", *(f"x{j}" for j in range(numbers)), *(f"t{j}" for j in range(texts)), "label"]
    rows = ([f"{name}{i}", *["1.5"] * numbers, *[f"k{i % kinds}"] * texts, f"c{i % 2}"] for i in range(n))
    return {"edges.csv": lines([("source", "target"), *((f"{name}{i}", f"{name}{j}") for i, j in zip(a, b))]),
            "features.csv": lines([head, *rows])}


case("csv nodes", 200)(lambda s: table(s))
case("csv edges", 400)(lambda s: table(20, s))
case("csv features", 50)(lambda s: table(20, numbers=s))
case("csv texts", 20)(lambda s: table(20, texts=s))
case("csv categories", 100)(lambda s: table(2 * s, texts=1, kinds=s))
case("csv long names", 1000)(lambda s: table(10, name="n" * s))
case("csv one long line", 2000)(lambda s: {"edges.csv": "a,b\n", "features.csv": "id," + "x" * s + "\na,1\nb,2\n"})
case("gzip", 200)(lambda s: {k + ".gz": gzip.compress(v.encode()) for k, v in table(s).items()})
case("archive", 200, "g.zip")(lambda s: {"g.zip": zipped(table(s))})
case("archive of many files", 50, "g.zip")(
    lambda s: {"g.zip": zipped({**table(), **{f"other{i}.txt": "" for i in range(s)}})})
case("folder of many files", 50)(lambda s: {**table(), **{f"other{i}.txt": "" for i in range(s)}})


def crowd(count):
    """Words of which a table that scatters FNV-1a's sums would put as many in one place as there are."""
    bits, words, start = (4 * count).bit_length(), [], 0
    with np.errstate(over="ignore"):
        while len(words) < count:
            numbers = np.arange(start, start + (1 << 18), dtype=np.uint64)
            start += 1 << 18
            h = np.full(len(numbers), 0xCBF29CE484222325, np.uint64)
            for place in range(6):
                letter = (numbers >> np.uint64(4 * place)) % np.uint64(16) + np.uint64(ord("a"))
                h = (h ^ letter) * np.uint64(0x100000001B3)
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                h = (h ^ (h >> np.uint64(shift))) * np.uint64(factor)
            h ^= h >> np.uint64(31)
            for number in numbers[h % np.uint64(1 << bits) == 0]:
                words.append("".join(chr(ord("a") + (int(number) >> 4 * place) % 16) for place in range(6)))
    return words[:count]


def crowded(n):
    names = crowd(n)
    return {"edges.csv": "a,b\n" + lines(zip(names, names)), "features.csv": "id,x\n" + lines((w, 1) for w in names)}


case("csv names made to collide", 100)(crowded)


def graphml(n=10, m=None, keys=1, texts=0, kinds=2, default="", said=True, note=""):
    a, b = ring(n, m)
    of = [(f"k{j}", "double") for j in range(keys)] + [(f"t{j}", "string") for j in range(texts)]
    out = ["<graphml>", *(f'<key id="{k}" for="node" attr.name="{k}" attr.type="{t}">{default}</key>' for k, t in of),
           '<graph edgedefault="directed">']
    for i in range(n):
        data = (f'<data key="{k}">{1.5 if t == "double" else f"v{i % kinds}"}</data>' for k, t in of)
        out += [f'<node id="n{i}">', *(data if said else ()), note, "</node>"]
    out += [f'<edge source="n{i}" target="n{j}"/>' for i, j in zip(a, b)]
    return {"g.graphml": "\n".join([*out, "</graph></graphml>"])}


case("graphml nodes", 100)(lambda s: graphml(s))
case("graphml edges", 200)(lambda s: graphml(10, s))
case("graphml keys", 50)(lambda s: graphml(10, keys=s))
case("graphml texts", 30)(lambda s: graphml(10, texts=s))
case("graphml categories", 60)(lambda s: graphml(2 * s, texts=1, kinds=s))
case("graphml defaults", 100)(lambda s: graphml(2, keys=s, default="<default>1</default>", said=False))
case("graphml zeros of keys times nodes", 60)(
    lambda s: graphml(s, keys=s, default="<default>0</default>", said=False))
case("graphml keys of one name", 100)(
    lambda s: {"g.graphml": "<graphml>" + "".join(f'<key id="{i}" attr.name="label" attr.type="int"/>' for i in range(s)) +
               "<graph>" + "".join(f'<node id="{i}"/>' for i in range(s)) + "</graph></graphml>"})
case("graphml one long text", 20000)(lambda s: graphml(note="<!-- " + "x" * s + " -->"))
case("graphml one long value", 20000)(lambda s: graphml(note='<data key="t0">' + "x" * s + "</data>", texts=1))
case("graphml deep", 200)(lambda s: graphml(note="<a>" * s + "</a>" * s))


def gml(n=10, m=None, words=1, texts=0, kinds=2, note=""):
    a, b = ring(n, m)
    said = [f"a{j} 1.5" for j in range(words)]
    return {"g.gml": "graph [ directed 1\n" + "".join(
        f"node [ id {i} {' '.join(said)} {' '.join(f't{j} {chr(34)}v{i % kinds}{chr(34)}' for j in range(texts))} {note} ]\n"
        for i in range(n)) + "".join(f"edge [ source {i} target {j} ]\n" for i, j in zip(a, b)) + "]"}


case("gml nodes", 200)(lambda s: gml(s))
case("gml edges", 300)(lambda s: gml(10, s))
case("gml words", 50)(lambda s: gml(10, words=s))
case("gml texts", 30)(lambda s: gml(10, texts=s))
case("gml categories", 60)(lambda s: gml(2 * s, texts=1, kinds=s))
case("gml one long text", 2000)(lambda s: gml(note='note "' + "&amp;" * s + '"', n=2))
case("gml long lists", 200)(lambda s: gml(note="l [ " + "a 1 " * s + "]"))


def linqs(n=20, f=3, m=None):
    a, b = ring(n, m)
    return {"g.content": lines(([f"p{i}", *["1"] * f, f"c{i % 3}"] for i in range(n)), "\t"),
            "g.cites": lines(((f"p{i}", f"p{j}") for i, j in zip(a, b)), "\t")}


case("linqs nodes", 200)(lambda s: linqs(s))
case("linqs features", 50)(lambda s: linqs(20, s))
case("linqs edges", 300)(lambda s: linqs(m=s))


def geom(n=20, f=3, m=None, splits=1):
    a, b = ring(n, m)
    mask = npz({k + "_mask": np.ones(n, np.uint8) for k in ("train", "val", "test")})
    return {"out1_node_feature_label.txt": "node_id\tfeature\tlabel\n" + lines(
                ((i, ",".join(["1"] * f), i % 2) for i in range(n)), "\t"),
            "out1_graph_edges.txt": "node_id\tnode_id\n" + lines(zip(a, b), "\t"),
            **{f"g_split_0.6_0.2_{i}.npz": mask for i in range(splits)}}


case("geom-gcn nodes", 150)(lambda s: geom(s))
case("geom-gcn features", 50)(lambda s: geom(20, s))
case("geom-gcn edges", 300)(lambda s: geom(m=s))
case("geom-gcn splits", 4)(lambda s: geom(splits=s))


def attributed(n=20, m=None, entries=1, columns=5):
    a, b = ring(n, m)
    return {"edgelist.txt": lines(zip(a, b), " "), "labels.txt": lines(((i, 1 + i % 2) for i in range(n)), " "),
            "tfidf.txt": lines(((i, j * columns // entries, "0.5") for i in range(n) for j in range(entries)), "\t")}


case("attributed nodes", 200)(lambda s: attributed(s))
case("attributed edges", 300)(lambda s: attributed(m=s))
case("attributed entries", 30)(lambda s: attributed(entries=s, columns=s))
case("attributed claimed columns", 100)(lambda s: attributed(s, columns=100 * s))


def ogb(n=20, m=None, f=2):
    a, b = ring(n, m)
    return {"raw/edge.csv": lines(zip(a, b)), "raw/node-feat.csv": lines(["0.5"] * f for _ in range(n)),
            "raw/node-label.csv": lines((i % 2,) for i in range(n)), "raw/num-node-list.csv": f"{n}\n",
            **{f"split/time/{part}.csv": lines((i,) for i in range(k, n, 3)) for k, part in
               enumerate(("train", "valid", "test"))}}


case("ogb nodes", 200)(lambda s: ogb(s))
case("ogb edges", 300)(lambda s: ogb(m=s))
case("ogb features", 50)(lambda s: ogb(f=s))


# ---- arrays and pickles


def benchmark(n=20, m=None, f=3, **more):
    a, b = np.sort(np.array(ring(n, m)), axis=1)
    rows, i = np.arange(n), np.arange(n + 1)
    return {"g.npz": npz({"adj_data": np.ones(len(a), np.float32), "adj_indices": b.astype(np.int32),
                          "adj_indptr": np.searchsorted(a, i), "adj_shape": np.array([n, n]),
                          "attr_data": np.ones(n, np.float32), "attr_indices": (rows % f).astype(np.int32),
                          "attr_indptr": i, "attr_shape": np.array([n, f]), "labels": rows % 2, **more})}


case("npz nodes", 500, "g.npz")(lambda s: benchmark(s))
case("npz edges", 1000, "g.npz")(lambda s: benchmark(50, s))
case("npz claimed features", 100, "g.npz")(lambda s: benchmark(s, f=40 * s))
case("npz names", 300, "g.npz")(lambda s: benchmark(s, node_names=np.array([f"n{i}" for i in range(s)])))
case("npz dense", 100, "g.npz")(lambda s: benchmark(20, attr_matrix=np.ones((20, s))))
case("npz other arrays", 30, "g.npz")(lambda s: benchmark(**{f"other{i}": np.zeros(1) for i in range(s)}))


def planetoid(n=30, f=4, links=2, protocol=2):
    def rows(count):
        return csr_matrix(np.arange(count), np.arange(count) % f, np.ones(count), (count, f))

    def hot(count):
        return np.eye(2, dtype=np.int32)[np.arange(count) % 2]

    test = n // 3
    graph = collections.defaultdict(list, {i: [(i + k + 1) % n for k in range(links)] for i in range(n)})
    parts = {"x": rows(5), "y": hot(5), "allx": rows(n - test), "ally": hot(n - test), "tx": rows(test),
             "ty": hot(test), "graph": graph}
    return {**{f"ind.d.{k}": pickle.dumps(v, protocol) for k, v in parts.items()},
            "ind.d.test.index": lines((i,) for i in range(n - test, n))}


case("planetoid nodes", 150)(lambda s: planetoid(s))
case("planetoid links", 20)(lambda s: planetoid(links=s))
case("planetoid claimed features", 150)(lambda s: planetoid(s, f=20 * s))
case("planetoid protocol 4", 150)(lambda s: planetoid(s, protocol=4))


def motif(n=10, f=2):
    a = np.zeros((n, n))
    a[ring(n)] = 1
    return {"s.pickle": pickle.dumps({"adj": a, "feat": np.ones((n, f)), "labels": np.arange(n) % 2,
                                      "train_idx": list(range(n // 2)), "test_idx": list(range(n // 2, n))}, 3)}


case("motif-pickle nodes", 20)(lambda s: motif(s))
case("motif-pickle features", 50)(lambda s: motif(f=s))



def explained(f, stored):
    """A graph of two nodes with so many stored values of f features, and a model of them."""
    x = np.arange(stored, dtype=np.int32) * (f // stored)
    graph = native({"edge_index": np.array([[0, 1], [1, 0]]), "y": np.array([0, 1]), "x.shape": np.array([2, f]),
                    "x.indptr": np.arange(3) * stored, "x.indices": np.tile(x, 2),
                    "x.values": np.tile(np.float32([1, 2]), stored)})
    model = native({"layers.0.lin.weight": np.ones((1, f), np.float32) / f, "layers.0.bias": np.zeros(1, np.float32),
                    "output_layer.weight": np.float32([[1], [-1]]), "output_layer.bias": np.zeros(2, np.float32)},
                   {"arch": json.dumps({"task": "node", "conv": "gcn", "jk": "last"})})
    return {**graph, "m.safetensors": model["g.safetensors"]}


case("explain features that are never 0", 500, "g.safetensors")(lambda s: explained(s, s))
case("explain features that are never used", 70000, "g.safetensors")(lambda s: explained(s, s // 200))

# ---- what is done with them: other cases are described as JSON

CONVERTED = ("safetensors nodes", "safetensors edges", "safetensors claimed features", "safetensors feature names",
             "safetensors node names", "safetensors class names", "safetensors graphs")
# Tables hold one graph, and every zero: too many are refused, which tests/write sees to.
REFUSED = {("safetensors graphs", "csv"), ("safetensors graphs", "npz"), ("safetensors claimed features", "csv")}


def commands(name, path, out):
    if name.startswith("explain"):
        model = os.path.join(os.path.dirname(path), "m.safetensors")
        yield "combinex", ["explain", path, model, "--node", "0", "--target", "any", "--explainer", "combinex",
                           "--epochs", "2", "-q"]
        return
    yield "info", ["data", "info", path, "--json"]
    if name in CONVERTED or name.endswith("nodes"):
        yield "check", ["data", "check", path]
    for to in ("graphml", "gexf", "dot", "csv", "npz", "safetensors") if name in CONVERTED else ():
        if (name, to) not in REFUSED:
            yield to, ["data", "convert", path, f"{out}.{to}", "--to", to, "-q"]


def put(folder, files):
    total = 0
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        content = content.encode() if isinstance(content, str) else content
        total += len(content) + len(name)
        with open(path, "wb") as f:
            f.write(content)
    return total


def count(dump):
    """Instructions in a dump of callgrind, but for zlib's: packing looks for repeats in the last 32 kB, and so
    becomes slower per byte until there are as many."""
    total, inside, skip = 0, "", False
    for line in dump:
        if line.startswith("ob="):
            inside = line
        elif line.startswith("calls="):
            skip = True  # the next line has what was called in it
        elif line[0].isdigit():
            if not skip and "libz.so" not in inside:
                total += int(line.split()[1])
            skip = False
    return total


def measure(driver, folder, plan):
    """Instructions by label."""
    done = subprocess.run(
        ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder}/counts", "--combine-dumps=no",
         "--compress-strings=no", "--compress-pos=no", driver],
        input="".join("\t".join([label, *words]) + "\n" for label, words in plan), text=True,
        stderr=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1", "LC_ALL": "C"})
    if done.returncode:
        sys.exit(f"FAILED  {done.stderr}")
    counts = {}
    for name in os.listdir(folder):
        if not re.fullmatch(r"counts\.\d+", name):
            continue
        with open(os.path.join(folder, name)) as f:
            dump = f.read().splitlines()
        label = [line for line in dump[:20] if line.startswith("desc: Trigger: Client Request: ")]
        if label:
            counts[label[0].split(": ", 3)[3]] = count(line for line in dump if line)
    return counts


def exponent(sizes, counts):
    """Of the last doubling, without what the first ones have in common."""
    more, less = counts[-1] - counts[-2], counts[-2] - counts[-3]
    grown = (sizes[-1] - sizes[-2]) / (sizes[-2] - sizes[-3])
    return math.log(max(more, 1) / max(less, 1)) / math.log(grown)


def main(driver, *words):
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        plan, sizes = [], {}
        for name, (base, make, read) in CASES.items():
            if words and not any(word in name for word in words):
                continue
            for size in SIZES:
                where = os.path.join(folder, name.replace(" ", "-"), str(size), "g")
                sizes.setdefault(name, []).append(put(where, make(base * size)))
                path = os.path.join(where, read or ("g.safetensors" if name.startswith("safetensors") else ""))
                plan += [(f"{name}|{what}|{size}", line) for what, line in commands(name, path, where + "-out")]
        counts = measure(driver, folder, plan)
    failed, runs = 0, collections.OrderedDict()
    for label, _ in plan:
        runs.setdefault(label.rsplit("|", 1)[0], []).append(counts[label])
    for label, taken in runs.items():
        name, what = label.split("|")
        grows = exponent(sizes[name], taken)
        failed += grows > MOST
        print(f"{'FAILED' if grows > MOST else 'ok':7} {name}, {what}: exponent {grows:.2f}"
              f" ({sizes[name][-1]} bytes, {taken[-1] / 1e6:.1f} million instructions)")
    print(f"{len(runs)} ways to grow, {failed} of them by more than the input")
    return 1 if failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
