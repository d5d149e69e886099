# SPDX-License-Identifier: Apache-2.0
"""Data sets with one thing wrong each, for tests/cli/bad_data.sh.

bad_data.py FOLDER: writes FOLDER/NAME/… for each case, and FOLDER/list: a line "NAME<tab>format<tab>what the message has
to say"; where that is empty the data is sound in a way that is rarely met. NumPy is needed.
"""
import gzip
import io
import json
import pickle
import struct
import sys
import types
import zipfile
from pathlib import Path

import numpy as np

cases = []


def case(name, says, files, format="auto", options="", command="info"):
    cases.append((name, says, files, format, options, command))


def npy(array):
    out = io.BytesIO()
    np.save(out, np.asarray(array))
    return out.getvalue()


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, content in files.items():
            z.writestr(name, content)
    return out.getvalue()


def npz(**arrays):
    return zipped({f"{name}.npy": npy(a) if not isinstance(a, bytes) else a for name, a in arrays.items()})


def without(files, *names, **more):
    return {k: v for k, v in {**files, **more}.items() if k not in names}


# ---- TU
tu = {"D_A.txt": "1, 2\n2, 1\n", "D_graph_indicator.txt": "1\n1\n", "D_graph_labels.txt": "1\n"}
node = {**tu, "D_node_labels.txt": "1\n2\n", "D_node_attributes.txt": "1\n2\n"}
case("tu-no-edges", "_A.txt", without(tu, "D_A.txt"), "tu")
case("tu-infinite", "must be finite", {**tu, "D_node_attributes.txt": "1\n1e999\n"})
case("tu-real-label", "", {**tu, "D_graph_labels.txt": "1.0\n"})
case("tu-labels", "2 lines for 1 graphs", {**tu, "D_graph_labels.txt": "1\n2\n"})
case("tu-label-text", "not a whole number", {**tu, "D_graph_labels.txt": "one\n"})
case("tu-label-fraction", "not a whole number", {**tu, "D_graph_labels.txt": "1.5\n"})
case("tu-kinds", "too many to be kinds", {**tu, "D_node_labels.txt": "1\n2000000000\n"})
case("tu-no-attributes", "a node task needs", tu, options="--task node")
case("tu-class", "too large a class", {**node, "D_node_labels.txt": "1\n99999999\n"}, options="--task node")
case("tu-few-nodes", "lines for", {**tu, "D_node_attributes.txt": "1\n"})

# ---- LINQS
linqs = {"c.content": "a\t1\t0\tX\nb\t0\t1\tY\n", "c.cites": "a\tb\n"}
case("linqs-twice", "'a' is there already", {**linqs, "c.content": "a\t1\t0\tX\na\t0\t1\tY\n"})
case("linqs-unknown", "without content are left out", {**linqs, "c.cites": "a\tb\nz\ta\n"}, command="check")
case("linqs-short", "c.content, line 1", {**linqs, "c.content": "a\n"})

# ---- geom-gcn
head = "node_id\tfeature\tlabel\n"
geom = {"out1_node_feature_label.txt": head + "0\t1,0\t0\n1\t0,1\t1\n", "out1_graph_edges.txt": "a\tb\n0\t1\n"}
listed = head.replace("feature", "feature(feature_amount:9)")
case("geom-text", "is not a number", {**geom, "out1_node_feature_label.txt": head + "0\t1,x\t0\n1\t0,1\t1\n"})
case("geom-width", "1 features, the lines before have 2", {**geom, "out1_node_feature_label.txt": head + "0\t1,0\t0\n1\t0\t1\n"})
case("geom-column", "not the number of a feature", {**geom, "out1_node_feature_label.txt": listed + "0\t3,-1\t0\n1\t0\t1\n"})
case("geom-node", "not the number of a node", {**geom, "out1_node_feature_label.txt": head + "x\t1,0\t0\n"})
case("geom-class", "too large a class", {**geom, "out1_node_feature_label.txt": head + "0\t1,0\t0\n1\t0,1\t99999999\n"})
case("geom-edge", "out1_graph_edges.txt, line 2", {**geom, "out1_graph_edges.txt": "a\tb\n0 x\n"})
masks = dict(train_mask=[1, 0], val_mask=[0, 1], test_mask=[0, 0])
case("geom-mask", "it has no test_mask", {**geom, "g_split_0.6_0.2_0.npz": npz(train_mask=[1, 0], val_mask=[0, 1])})
case("geom-mask-size", "3 values for 2 nodes", {**geom, "g_split_0.6_0.2_0.npz": npz(**{**masks, "val_mask": [0, 1, 1]})})

# ---- attributed
attributed = {"edgelist.txt": "0 1\n", "labels.txt": "0 1\n1 2\n", "tfidf.txt": "0\t0\t1\n1\t1\t2\n"}
case("attr-label", "whole numbers from 1", {**attributed, "labels.txt": "0 0\n1 2\n"})
case("attr-label-large", "whole numbers from 1", {**attributed, "labels.txt": "0 99999999\n1 2\n"})
case("attr-node", "labels.txt, line 2", {**attributed, "labels.txt": "0 1\n99999999 2\n"})
case("attr-row", "node 7 does not exist", {**attributed, "tfidf.txt": "0\t0\t1\n7\t1\t2\n"})
case("attr-column", "not the number of a column", {**attributed, "tfidf.txt": "0\t-1\t1\n1\t1\t2\n"})
case("attr-order", "they must ascend", {**attributed, "tfidf.txt": "1\t0\t1\n0\t1\t2\n"})
case("attr-line", "tfidf.txt, line 1", {**attributed, "tfidf.txt": "0\n"})
case("attr-edges", "edgelist.txt is missing", without(attributed, "edgelist.txt"), "attributed")
case("attr-edge", "two nodes expected", {**attributed, "edgelist.txt": "0 x\n"})
f = dict(indices=np.array([0, 1]), indptr=np.array([0, 1, 2]), data=np.ones(2), shape=np.array([2, 2]), format=np.array(b"csr"))
sparse = without(attributed, "tfidf.txt")
case("attr-sizes", "labels for 2 nodes, features for 1", {**sparse, "attrs.npz": npz(**{**f, "indptr": np.array([0, 2]), "shape": np.array([1, 2])})})
case("attr-format", "in the format 'coo'", {**sparse, "attrs.npz": npz(**{**f, "format": np.array(b"coo")})})
case("attr-no-text", "in the format", {**sparse, "attrs.npz": npz(**{**f, "format": np.array(3)})})
case("attr-shape", "not two whole numbers", {**sparse, "attrs.npz": npz(**{**f, "shape": np.array([2.0, 2.0])})})
case("attr-damaged", "not a sound zip archive", {**sparse, "attrs.npz": npz(**f)[:-30]})

# ---- OGB
ogb = {"raw/edge.csv": "0,1\n", "raw/node-feat.csv": "1,0\n0,1\n", "raw/node-label.csv": "0\n1\n", "raw/num-node-list.csv": "2\n"}
case("ogb-folders", "", {**{k + ".gz": gzip.compress(v.encode()) for k, v in ogb.items()}, "split/time/train.csv": "0\n"})
case("ogb-feature", "is not a number", {**ogb, "raw/node-feat.csv": "1,0\n0,x\n"})
case("ogb-width", "1 features, the lines before have 2", {**ogb, "raw/node-feat.csv": "1,0\n0\n"})
case("ogb-rows", "3 lines for 2 nodes", {**ogb, "raw/node-feat.csv": "1,0\n0,1\n0,1\n"})
case("ogb-edge", "two nodes expected", {**ogb, "raw/edge.csv": "0\n"})
case("ogb-end", "node 2 does not exist", {**ogb, "raw/edge.csv": "0,2\n"})
case("ogb-label", "the number of a class expected", {**ogb, "raw/node-label.csv": "0\n1.5\n"})
case("ogb-split", "node 5 does not exist", {**ogb, "split/time/train.csv": "5\n"})
case("ogb-split-text", "the number of a node expected", {**ogb, "split/time/valid.csv": "x\n"})
case("ogb-count", "the number of nodes expected", {**ogb, "raw/num-node-list.csv": "0\n"})
case("ogb-graphs", "many graphs", {**ogb, "raw/num-node-list.csv": "2\n3\n"})
case("ogb-few", "too few rows of features", {**ogb, "raw/num-node-list.csv": "9\n"}, command="check")
case("ogb-claim", "too small for them", {**ogb, "raw/node-feat.csv": "", "raw/num-node-list.csv": "9999999\n"}, command="check")
case("ogb-missing", "raw/node-label.csv.gz is missing", without(ogb, "raw/node-label.csv"))

# ---- npz
adj = dict(adj_data=np.ones(2), adj_indices=np.array([1, 0]), adj_indptr=np.array([0, 1, 2]), adj_shape=np.array([2, 2]))
good = {**adj, "attr_matrix": np.eye(2), "labels": np.array([0, 1])}


def change(**more):
    return {"g.npz": npz(**{k: v for k, v in {**good, **more}.items() if v is not None})}


case("npz-int16", "", change(labels=np.array([0, 1], np.int16)))
case("npz-uint32", "", change(labels=np.array([0, 1], np.uint32), attr_matrix=np.eye(2, dtype=np.float16).astype(np.float32)))
case("npz-real-label", "", change(labels=np.array([0.0, 1.0])))
case("npz-unlabelled", "", change(labels=None), "npz")
case("npz-surrogate", "", change(class_names=npy(np.array(["a", "b"])).replace(b"b\0\0\0", b"\0\xd8\0\0")))
case("npz-label", "label 1 is -7", change(labels=np.array([0, -7])))
case("npz-label-nan", "label 1 is", change(labels=np.array([0, np.nan])))
case("npz-labels", "labels is not a list of numbers", change(labels=np.eye(2)))
case("npz-adjacency", "no adj_indptr", change(adj_indptr=None), "npz")
case("npz-square", "adjacency matrix is 2 x 3 for 2 nodes", change(adj_shape=np.array([2, 3])))
case("npz-matrix", "attr_matrix is not a matrix", change(attr_matrix=np.ones(2)))
case("npz-texts", "not all there", change(adj_data=np.array([b"a", b"b"])))
case("npz-indptr", "does not fit a shape of 2 x 2", change(adj_indptr=np.array([0, 2])))
case("npz-columns", "too many for so short a file", change(attr_matrix=None, attr_data=np.ones(1), attr_indices=np.array([0]),
                                                         attr_indptr=np.array([0, 1, 1]), attr_shape=np.array([2, 2**30])))
case("npz-indices", "3 indices for 2 values", change(adj_indices=np.array([1, 0, 1])))
case("npz-descending", r"indptr\[1\] is 9", change(adj_indptr=np.array([0, 9, 2])))
case("npz-column", r"indices\[1\] is 5; columns are 0 to 1", change(adj_indices=np.array([1, 5])))
case("npz-version-2", "", change(labels=b"\x93NUMPY\x02\x00" + struct.pack("<I", 64) + b"{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }".ljust(63) + b"\n" + struct.pack("<2q", 0, 1)))
case("npz-cut", "labels.npy", change(labels=npy(np.array([0, 1]))[:20]))
case("npz-folder-entry", "", {"g.npz": zipped({"empty/": b"", **{f"{k}.npy": npy(v) for k, v in good.items()}})})
encrypted = bytearray(npz(**good))
for magic, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
    start = -1
    while (start := encrypted.find(magic, start + 1)) >= 0:
        encrypted[start + at] |= 1
case("npz-encrypted", "cannot be unpacked", {"g.npz": bytes(encrypted)}, "npz")

# ---- pickles
module = types.ModuleType("scipy.sparse.csr")
sys.modules.update({"scipy": types.ModuleType("scipy"), "scipy.sparse": types.ModuleType("scipy.sparse"), "scipy.sparse.csr": module})


class csr_matrix:
    def __init__(self, dense, **more):
        dense = np.asarray(dense, dtype=np.float32)
        rows, cols = np.nonzero(dense)
        self._shape, self.data = dense.shape, dense[rows, cols]
        self.indptr = np.searchsorted(rows, np.arange(len(dense) + 1)).astype(np.int32)
        self.indices = cols.astype(np.int32)
        self.__dict__.update(more)
        self.__dict__ = {k: v for k, v in self.__dict__.items() if v is not None}


csr_matrix.__module__, csr_matrix.__qualname__, module.csr_matrix = "scipy.sparse.csr", "csr_matrix", csr_matrix
rows, hot = np.eye(3), np.eye(2, dtype=np.int32)[[0, 1, 0]]
planetoid = {"x": csr_matrix(rows[:1]), "y": hot[:1], "allx": csr_matrix(rows[:2]), "ally": hot[:2], "tx": csr_matrix(rows[2:]),
             "ty": hot[2:], "graph": {0: [1], 1: [0, 2], 2: [1]}}


def planet(index="2\n", **more):
    parts = {**planetoid, **more}
    return {**{f"ind.d.{k}": pickle.dumps(v, 2) for k, v in parts.items() if v is not None}, "ind.d.test.index": index}


case("planetoid-sound", "", planet())
case("planetoid-missing", "ind.d.ty is missing", planet(ty=None))
case("planetoid-labels", "an array of nodes x classes was expected", planet(y=[1, 2]))
case("planetoid-index", "the number of a node expected", planet("two\n"))
case("planetoid-far", "in so short a file", planet("99999999\n"))
case("planetoid-features", "allx has 3 features, tx has 2", planet(tx=csr_matrix(np.eye(2)[:1])))
case("planetoid-sizes", "do not fit allx and tx", planet(ally=hot))
case("planetoid-tests", "planetoid-tests|ind.d", planet("2\n2\n"))
case("planetoid-graph", "a list where a dict was expected", planet(graph=[1]))
case("planetoid-entry", "is not a node with a list", planet(graph={0: 1}))
case("planetoid-edge", "ind.d.graph", planet(graph={0: [9]}))
case("planetoid-dense", "a csr_matrix was expected", planet(allx=[1]))
case("planetoid-no-shape", "has no _shape", planet(allx=csr_matrix(rows[:2], _shape=None)))
case("planetoid-no-data", "has no data", planet(allx=csr_matrix(rows[:2], data=None)))
case("planetoid-bad-csr", "indices", planet(allx=csr_matrix(rows[:2], indices=np.array([7, 0], np.int32))))

motif = {"adj": np.ones((2, 2)), "feat": np.ones((2, 1)), "labels": np.array([0, 1])}


def motifs(value=None, **more):
    return {"s.pickle": pickle.dumps({k: v for k, v in {**motif, **more}.items() if v is not None} if value is None else value, 2)}


case("motif-sound", "", motifs(big=2**40, small=-(2**40), real=0.5, huge=True, train_idx=[0], test_idx=[1]))
case("motif-missing", "the feature matrix is missing", motifs(feat=None))
case("motif-list", "labels is a list, an array was expected", motifs(labels=[0, 1]))
case("motif-square", "not square", motifs(adj=np.ones((2, 3))))
case("motif-shape", "has a shape that does not fit", motifs(feat=np.ones((3, 1))))
case("motif-split", "the split is a dict, a list was expected", motifs(train_idx={}))
case("motif-node", "the split names node 9", motifs(train_idx=[9]))
case("motif-text", "a dict or a tuple of arrays was expected", motifs("text"))
case("motif-long", "more than 64 bits", motifs(big=2**80))
case("motif-objects", "the state of a numpy.ndarray is not understood", motifs(adj=np.array([[None]])))

# ---- tables
csv = {"edges.csv": "a,b\nb,c\n", "features.csv": "id,v\na,1\nb,2\nc,3\n"}
case("csv-gzip", "", {"x_edges.csv.gz": gzip.compress(b"a,b\n"), "x_node_features.csv": "id,v\na,1\nb,2\n"})
case("csv-label", "node 'z' has no row", {**csv, "labels.csv": "id,label\na,1\nz,2\n"})
case("csv-label-header", "a header with a node's id and its label", {**csv, "labels.csv": "1,2\n3,4\n"})
case("csv-header", "a header with an id", {**csv, "features.csv": "1,2\n3,4\n"})
case("csv-marked", "", {**csv, "edges.csv": "\ufeff" + '"source" x,target\r\n a , "b ""c"""\r\n'.replace('"source" x', "source"),
                       "features.csv": 'id,v\na,1\n"b ""c""",2\n'})
case("csv-weights", "", {"edges.csv": "source,target,weight\na,b,1\na,b,2\na,a,3\nb,c,1\n"}, options="--symmetric")
case("csv-long", "", {**csv, "features.csv": "id,v\na,1\nb," + "0" * 200_000 + "2\nc,3\n"})
case("csv-empty", "the file is empty", {"edges.csv": "\n\n"})
case("csv-fields", "3 fields, the header has 2", {**csv, "features.csv": "id,v\na,1,2\n"})

# ---- sidecars
def side(value):
    return {**csv, "combinex.json": value if isinstance(value, str) else json.dumps(value)}


case("side-kinds", "neither a kind nor an object", side({"kinds": 3}))
case("side-bounds", "'bounds' is not an object", side({"bounds": [1]}))
case("side-bound", "not \\[smallest, largest\\]", side({"bounds": {"v": [2, 1]}}))
case("side-bound-infinite", "not \\[smallest, largest\\]", side({"bounds": {"v": [0, 1e300]}}))
case("side-groups", "'groups' is not an object of lists", side({"groups": []}))
case("side-two", "is in two groups", side({"groups": {"a": ["v"], "b": ["v"]}}))
case("side-names", "entry 0 of 'feature_names' is not a text", side({"feature_names": [1]}))
case("side-count", "is not a list of 1 names", side({"feature_names": ["a", "b"]}))
case("side-name", "'name' is not a text", side({"name": 1}))
case("side-key", "did you mean 'kinds'", side({"kind": "discrete"}))
case("side-json", "combinex.json, line 2", side("{\n,}"))
case("side-list", "not a JSON object", side([]))

# ---- GraphML and GML
graphml = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}<graph edgedefault="directed">{body}</graph></graphml>"""


def markup(keys, *nodes, edges=""):
    body = "".join(f'<node id="n{i}">' + "".join(f'<data key="{k}">{v}</data>' for k, v in node.items()) + "</node>" for i, node in enumerate(nodes))
    keys = "".join(f'<key id="{k}" for="{w}" attr.name="{n}" attr.type="{t}"/>' for k, w, n, t in keys)
    return {"g.graphml": graphml.format(keys=keys, body=body + edges)}


case("graphml-split", "", markup([("s", "node", "split", "string"), ("b", "node", "member", "boolean")],
                                 {"s": "train", "b": "true"}, {"s": "test", "b": "false"}, edges='<edge source="n0" target="n1"/>'))
case("graphml-texts", "different texts", markup([("t", "node", "note", "string")], *({"t": f"t{i}"} for i in range(80))))
case("graphml-class", "", markup([("c", "node", "label", "boolean")], {"c": "true"}, {"c": "false"}))
case("graphml-weight", "", markup([("w", "edge", "weight", "string")], {}, {}, edges='<edge source="n0" target="n1"><data key="w">much</data></edge>'))
case("graphml-cut", "graphml", {"g.graphml": "<graphml><graph>"})
case("gml-cut", "gml", {"g.gml": "graph [ node [ id 1"})


# ---- native files, checked for all that is wrong
def native(meta=None, **tensors):
    header, data = {"__metadata__": meta or {"name": "n"}}, b""
    kinds = {"int64": "I64", "float32": "F32", "int32": "I32", "uint8": "U8"}
    for name, array in tensors.items():
        header[name.replace("__", ".")] = {"dtype": kinds[str(array.dtype)], "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return {"g.safetensors": struct.pack("<Q", len(text)) + text + data}


edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
ones, nan = np.ones((3, 2), np.float32), np.float32("nan")
base = dict(edge_index=edges, y=np.array([0, 1, 0]), x=ones)
csr = dict(x__indptr=np.array([0, 1, 2, 2]), x__indices=np.array([0, 1], np.int32), x__values=np.ones(2, np.float32), x__shape=np.array([3, 2]))


def check_native(name, says, **more):
    tensors = {k: v for k, v in {**base, **more}.items() if v is not None}
    case(name, says, native(**tensors), command="check")


check_native("native-nan", "feature 0 of node 0 is nan", x=np.full((3, 2), nan))
check_native("native-many", "and [0-9]+ more", x=np.full((3, 200), nan))
check_native("native-bounds", "feature 0 has the bounds 2 to 1", feat_min=np.array([2, 0], np.float32), feat_max=np.array([1, 3], np.float32))
check_native("native-outside", "lie outside their feature", feat_min=np.zeros(2, np.float32), feat_max=np.full(2, 0.5, np.float32))
check_native("native-twice", "1 edge is there more than once", edge_index=np.array([[0, 0, 1], [1, 1, 2]]))
check_native("native-loops", "1 edge leads from a node to itself", edge_index=np.array([[0, 1], [0, 2]]))
check_native("native-alone", "have no edge to another node", edge_index=np.array([[0], [1]]))
check_native("native-none", "there are no edges", edge_index=np.zeros((2, 0), np.int64))
check_native("native-split", "are in two parts of a split", train_mask=np.ones(3, np.uint8), test_mask=np.ones(3, np.uint8))
check_native("native-sparse-row", "less than the entry before", x=None, **{**csr, "x__indptr": np.array([0, 2, 1, 2])})
check_native("native-sparse-column", "columns are 0 to 1", x=None, **{**csr, "x__indices": np.array([0, 7], np.int32)})
check_native("native-sparse-order", "they must ascend", x=None, **{**csr, "x__indptr": np.array([0, 2, 2, 2]), "x__indices": np.array([1, 0], np.int32)})
check_native("native-sparse-nan", "is nan", x=None, **{**csr, "x__values": np.full(2, nan)})
check_native("native-graphs", "less than the entry before", y=np.array([0, 1]), graph_ptr=np.array([0, 4, 3]))

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with open(folder / "list", "w") as index:
        for name, says, files, format, options, command in cases:
            for path, content in files.items():
                target = folder / name / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content if isinstance(content, bytes) else content.encode())
            (folder / name).mkdir(exist_ok=True)
            path = f"{name}/{next(iter(files))}" if len(files) == 1 else f"./{name}"
            print(path, command, format, options or "-", says or "-", sep="\t", file=index)
