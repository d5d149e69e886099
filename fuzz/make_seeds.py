# SPDX-License-Identifier: Apache-2.0
"""Makes seeds/: small sound data sets in every format, framed as bundles in memory.

python3 make_seeds.py     (NumPy is needed for the arrays; SciPy is imitated)
"""
import gzip
import io
import json
import os
import pickle
import struct
import sys
import types
import zipfile

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))


def put(reader, name, files):
    folder = os.path.join(here, "seeds", reader)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        if isinstance(files, bytes):
            f.write(files)
            return
        for i, (file, content) in enumerate(files.items()):
            if isinstance(content, str):
                content = content.encode()
            f.write((b"\n" if i else b"") + f"==> {file} <==\n".encode() + content)


def npy(array):
    out = io.BytesIO()
    np.save(out, np.asarray(array))
    return out.getvalue()


def npz(**arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, array in arrays.items():
            z.writestr(zipfile.ZipInfo(name + ".npy"), npy(array))
    return out.getvalue()


# A stand-in that pickles like SciPy's class.
module = types.ModuleType("scipy.sparse.csr")
sys.modules["scipy"] = types.ModuleType("scipy")
sys.modules["scipy.sparse"] = types.ModuleType("scipy.sparse")
sys.modules["scipy.sparse.csr"] = module


class csr_matrix:
    def __init__(self, dense):
        dense = np.asarray(dense, dtype=np.float32)
        rows, cols = np.nonzero(dense)
        self._shape = dense.shape
        self.indptr = np.searchsorted(rows, np.arange(len(dense) + 1)).astype(np.int32)
        self.indices = cols.astype(np.int32)
        self.data = dense[rows, cols]
        self.maxprint = 50


csr_matrix.__module__ = "scipy.sparse.csr"
csr_matrix.__qualname__ = "csr_matrix"
module.csr_matrix = csr_matrix


def dumps(value, protocol=2):
    return pickle.dumps(value, protocol=protocol)


x = [[1, 0, 2], [0, 1, 0], [0, 0, 1], [3, 0, 0], [0, 1, 1]]
one_hot = np.eye(2, dtype=np.int32)[[0, 1, 0, 1, 0]]

tu = {
    "DS_A.txt": "1, 2\n2, 1\n2, 3\n4, 5\n5, 4\n",
    "DS_graph_indicator.txt": "1\n1\n1\n2\n2\n",
    "DS_graph_labels.txt": "1\n-1\n",
    "DS_node_labels.txt": "0\n1\n2\n0\n1\n",
    "DS_node_attributes.txt": "1.5, 0\n0.25, 1\n3e-2, 1\n-4, 0\n5, 1\n",
}
put("tu", "plain", tu)
put("tu", "bare", {k: v for k, v in tu.items() if "node" not in k})
put("tu", "gzipped", {**tu, "DS_A.txt.gz": gzip.compress(tu.pop("DS_A.txt").encode(), mtime=0)})

content = "p1\t1\t0\t1\tAI\np2\t0\t1\t0\tML\np3\t0\t0\t0\tAI\n"
put("linqs", "plain", {"c.content": content, "c.cites": "p1\tp2\np2\tp3\np9\tp1\n"})

for protocol in (2, 4):
    put("planetoid", f"protocol{protocol}", {
        "ind.d.x": dumps(csr_matrix(x[:1]), protocol),
        "ind.d.y": dumps(one_hot[:1], protocol),
        "ind.d.allx": dumps(csr_matrix(x[:3]), protocol),
        "ind.d.ally": dumps(one_hot[:3], protocol),
        "ind.d.tx": dumps(csr_matrix(x[3:]), protocol),
        "ind.d.ty": dumps(one_hot[3:], protocol),
        "ind.d.graph": dumps({0: [1, 2], 1: [0], 2: [0, 3], 3: [2], 4: [4]}, protocol),
        "ind.d.test.index": "4\n3\n",
    })

put("geom_gcn", "values", {
    "out1_node_feature_label.txt": "node_id\tfeature\tlabel\n1\t0,1,0\t0\n0\t1,0,0\t1\n2\t0,0,1\t0\n",
    "out1_graph_edges.txt": "node_id\tnode_id\n0\t1\n1\t2\n0\t1\n2\t2\n",
    "g_split_0.6_0.2_0.npz": npz(train_mask=[1, 0, 0], val_mask=[0, 1, 0], test_mask=[0, 0, 1]),
})
put("geom_gcn", "lists", {
    "out1_node_feature_label.txt": "node_id\tfeature(feature_amount:4)\tlabel\n0\t3,1\t0\n1\t2\t1\n",
    "out1_graph_edges.txt": "node_id\tnode_id\n0\t1\n",
})

m = csr_matrix(x)
scipy_npz = npz(indices=m.indices, indptr=m.indptr, format=np.array(b"csr"),
                shape=np.array(m._shape), data=m.data)
labels = "0 1\n1 2 3\n2 1\n3\n4 2\n"
put("attributed", "npz", {"edgelist.txt": "0 1\n1 2\n4 4\n", "labels.txt": labels, "attrs.npz": scipy_npz})
put("attributed", "text", {"edgelist.txt": "0\t1\n1\t2\n", "labels.txt": labels,
                           "tfidf.txt": "0\t1\t0.5\n0\t2\t1.5\n3\t0\t2\n"})

a = csr_matrix([[0, 1, 0], [0, 0, 1], [1, 0, 1]])
f = csr_matrix(x[:3])
arrays = dict(adj_data=a.data, adj_indices=a.indices, adj_indptr=a.indptr, adj_shape=a._shape,
              labels=np.array([0, 1, 0]))
npz_files = lambda **more: {k + ".npy": npy(v) for k, v in {**arrays, **more}.items()}
put("npz", "sparse", npz_files(attr_data=f.data, attr_indices=f.indices, attr_indptr=f.indptr,
                               attr_shape=f._shape, class_names=np.array(["a", "b"])))
put("npz", "dense", npz_files(attr_matrix=np.asfortranarray(np.array(x[:3], dtype=np.float64))))

ogb = {
    "raw/edge.csv": "0,1\n1,2\n2,0\n",
    "raw/node-feat.csv": "0.5,1\n-1,2\n3,4\n",
    "raw/node-label.csv": "0\n1\nnan\n",
    "raw/num-node-list.csv": "3\n",
    "split/time/train.csv": "0\n",
    "split/time/valid.csv": "1\n",
    "split/time/test.csv": "2\n",
}
put("ogb", "plain", ogb)
put("ogb", "gzipped", {k + ".gz": gzip.compress(v.encode(), mtime=0) for k, v in ogb.items()})

adjacency = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float64)
features = np.ones((3, 2))
put("motif_pickle", "dict", {"s.pickle": dumps(
    {"adj": adjacency[None], "feat": features[None], "labels": np.array([[0, 1, 0]]),
     "train_idx": [0, 1], "test_idx": [2]}, 3)})
hot = np.eye(2)[[0, 1, 0]]
masks = np.eye(3, dtype=bool)
put("motif_pickle", "tuple", {"s.pkl": dumps(
    (adjacency, features, hot * masks[0][:, None], hot * masks[1][:, None], hot * masks[2][:, None],
     masks[0], masks[1], masks[2], adjacency), 3)})

put("csv", "tables", {
    "edges.csv": "source,target,weight\nann,bob,1\nbob,cid,0.5\n",
    "features.csv": 'id,age,city,split\nann,31,"Rome, ""IT""",train\nbob,25.5,Oslo,val\ncid,4,Oslo,test\n',
    "labels.csv": "id;label\nann;a\nbob;b\n",
    "combinex.json": json.dumps({"kinds": {"age": "continuous"}, "bounds": {"age": [0, 99]},
                                 "immutable": ["age"], "groups": {"c": ["1-2"]}}),
})
put("csv", "edges", {"edges.csv": "1 2\n2 3\n3 1\n"})

graphml = """<?xml version="1.0"?>
<graphml><key id="k0" for="node" attr.name="age" attr.type="double"/>
<key id="k1" for="node" attr.name="class" attr.type="string"/>
<key id="k2" for="node" attr.name="city" attr.type="string"/>
<graph edgedefault="undirected">
<node id="a"><data key="k0">3</data><data key="k1">x</data><data key="k2">R</data></node>
<node id="b"><data key="k0">4.5</data><data key="k1">y</data><data key="k2">O</data></node>
<edge source="a" target="b"/></graph></graphml>
"""
put("graphml", "plain", {"g.graphml": graphml})
put("gml", "plain", {"g.gml": 'graph [ directed 1\n node [ id 1 label "a" v 2 ]\n'
                              ' node [ id 2 label "b" v 3 ]\n edge [ source 1 target 2 weight 0.5 ] ]\n'})


def safetensors(tensors, meta):
    header, data = {"__metadata__": meta}, b""
    for name, array in tensors.items():
        kind = {"int64": "I64", "float32": "F32", "int32": "I32", "uint8": "U8"}[str(array.dtype)]
        header[name] = {"dtype": kind, "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


edge_index = np.array([[0, 1, 2], [1, 2, 0]])
y = np.array([0, 1, -1])
put("safetensors", "dense", safetensors({"edge_index": edge_index, "y": y, "x": np.array(x[:3], dtype=np.float32)},
                                        {"name": "d", "class_names": '["a", "b"]'}))
put("safetensors", "sparse", safetensors(
    {"edge_index": edge_index, "y": y, "x.indptr": f.indptr.astype(np.int64),
     "x.shape": np.array([3, 3]), "x.indices": f.indices, "x.values": f.data,
     "train_mask": np.array([1, 0, 0], dtype=np.uint8)}, {"name": "s"}))


# ---- what is not a reader's: put(TARGET, NAME, bytes)

def model(conv, weights, **arch):
    tensors = {name: np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
               for name, shape in weights.items()}
    arch = json.dumps({"task": "node", "conv": conv, "jk": "last", **arch})
    return safetensors(tensors, {"format": "pt", "arch": arch, "data": "six"})


head = {"output_layer.weight": (3, 2), "output_layer.bias": (3,)}
put("model", "gcn", model("gcn", {
    "layers.0.lin.weight": (2, 3), "layers.0.bias": (2,), "layers.1.lin.weight": (2, 2),
    "layers.1.bias": (2,), "output_layer.weight": (3, 4), "output_layer.bias": (3,)}, jk="cat", dropout=0.5))
put("model", "cheb", model("cheb", {
    "layers.0.lins.0.weight": (2, 3), "layers.0.lins.1.weight": (2, 3), "layers.0.bias": (2,), **head}))
put("model", "graphconv", model("graphconv", {
    "layers.0.lin_rel.weight": (2, 3), "layers.0.lin_rel.bias": (2,),
    "layers.0.lin_root.weight": (2, 3), **head}, task="graph", pool="max", aggr="mean"))

put("json", "object", b'{"a": [1, -2.5e3, true, false, null], "b": {"c": "\\u00e9\\ud83d\\ude00 \xc3\xa9\\n"}, "": 0}')
put("json", "numbers", b"[0, -0, 9223372036854775807, -9223372036854775808, 1E-2, 0.5e+10, 1e308]")

put("sidecar", "all", json.dumps({
    "name": "n", "feature_names": ["age", "tall", "short"], "class_names": ["x", "y"],
    "node_names": ["A", "B", "C"], "kinds": {"age": "continuous", "1-2": "discrete"},
    "bounds": {"age": [0, 99], "tall": [0, 1]}, "immutable": ["age"],
    "groups": {"size": ["tall", "2"]}}).encode())
put("sidecar", "ranges", b'{"kinds": {"0-2": "continuous"}, "immutable": [0, "1-2"], "groups": {"g": [1], "h": [2]}}')

side = lambda c, *p: {"class": c, "probabilities": p}
edge = {"op": "remove_edge", "source": 2, "target": 1, "undirected": True, "influence": 0.1}
put("replay", "found", json.dumps({
    "node": 1, "status": "found", "target": "any", "before": side(0, 0.5, 0.25, 0.25),
    "after": side(1, 0.25, 0.5, 0.25), "certificate": "irreducible", "threshold": 0.3,
    "edits": [edge, {"op": "set_feature", "node": 1, "feature": 2, "from": -2.0, "to": 0.5, "influence": None},
              {"op": "remove_edge", "source": 3, "target": 2, "edge": 5}],
    "data_sha256": "0123456789abcdef" * 4, "model_sha256": "0" * 64}).encode())
put("replay", "others", b"\n".join(json.dumps({key: 2, "status": status, "target": target, "edits": [],
    "before": side(0, 1, 0, 0)}).encode() for key, status, target in
    [("node", "not_found", 1), ("graph", "skipped", 2), ("node", "cancelled", "any")]))

put("options", "some", b"epochs 20\nlr 0.5\nexplainer cf-gnn\ntarget any\ndiverse true\nseed 9007199254740992\n"
    b"model cheb\nlayers 3\ndropout 0.1\nformat tu\ntimeout 1.5\nnodes 10\nfolds 2\nsplit kfold\npaper\n")
put("options", "odd", b"epochs -1\nepochs 1e9\nlr nan\nlr 0x1p3\nprove inf\nepochz 3\nmax-edits 9223372036854775808\n")

put("rules", "lists", b"target any\nfeatures-to-vary 0,size\nimmutable-nodes 3,4\nprotected-edges 0-1,2-3\n"
    b"max-edits 3\nkeep connected\n")
put("rules", "ranges", b"target 1\npermitted-range size:-3:3,0:0:1\none-hot 0-1\nimmutable-features 2\nprove 1\n")
put("rules", "own", b"target any\nown-features true\nown-edges true\ntotal-cfs 2\ndiverse true\nstopping-threshold 0.4\n")
for name in ["combinex", "cf-gnn", "cff", "unr", "ego", "random-edges", "random-features", "moexp", "rcexplainer", "clear", "d4"]:
    put("rules", name, f"explainer {name}\ntarget any\nepochs 3\nedges directed\n".encode())

head = (b"data,model,fold,explainer,row,outcome,label,prediction,target,result,fidelity,node_sparsity,"
        b"edge_sparsity,distribution_distance,embedding_distance,features_changed,edges_removed,nodes,edges,"
        b"epoch,certificate,best_lead,oracle_accuracy,seconds,peak_mb\n")
put("bench", "rows", b"data a\nmodels gcn,cheb\nexplainers ego,minimal,combinex-lin\nfolds 2\nsamples 2\n\n" + head +
    b"a,gcn,0,ego,1,found,1,1,2,2,1,0.5,0.25,0.125,3.5,1,2,6,12,3,none,,0.5,0.001,40.5\n"
    b"a,gcn,1,minimal,2,not_found,2,0,1,0,,,,,,0,0,6,12,0,none_within_budget,-0.5,0.5,0.002,40.5\n"
    b"a,cheb,0,combinex-lin,1,skipped,-1,0,1,0,,,,,,0,0,6,12,0,none,,0.25,1e-3,41\n")
put("bench", "all", b"data x\ndata karate\nmodels all\nexplainers all\npreset none\nfolds 1\n\n" + head)

put("args", "explain", b"explain\nkarate\nm.safetensors\n--node\n3\n--node=4\n--preset\npaper\n-o\nx\n--json\n--epochs=5")
put("args", "train", b"train\nkarate\n--model=gcn\n--hidden\n8\n-q\n-om.safetensors\n--\n-x")
put("args", "data", b"data\nconvert\na\n-o\nb.npz\n--to\nnpz\n--symmetric")
put("args", "bench", b"bench\n--data\nkarate,cora\n--models\ngcn\n--out\nd\n--resume\n--help")


def archive(files, **entry):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in files.items():
            z.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


put("archive", "csv", archive({"edges.csv": "a,b\nb,c\n", "features.csv": "id,f,label\na,1,x\nb,2,y\nc,3,x\n"}))
put("archive", "tu", archive({"T/T_A.txt": "1, 2\n2, 1\n", "T/T_graph_indicator.txt": "1\n1\n",
                              "T/T_graph_labels.txt": "1\n"}))
put("archive", "npz", npz(**arrays, attr_matrix=np.ones((3, 2))))

put("url", "curl", b"https://user:word@example.org:443/a/b?c#d")
put("url", "loopback", b"http://127.0.0.1:8000/x.zip")
put("url", "brackets", b"HTTP://a@[::1]:80/x?@y")


def parts(path):
    """An exported model's parts, below the archive's own folder."""
    with zipfile.ZipFile(path) as z:
        files = {name.split("/", 1)[1]: z.read(name) for name in z.namelist()}
    return {name: content for name, content in files.items() if "sample_inputs" not in name and ".data" not in name}


programs = os.path.join(here, "..", "tests", "golden", "programs")
for name in ["gcn", "gat", "pool"]:
    put("program", name, parts(os.path.join(programs, name + ".pt2")))
with open(os.path.join(programs, "gcn.pt2"), "rb") as f:
    put("pt_archive", "gcn", f.read())
