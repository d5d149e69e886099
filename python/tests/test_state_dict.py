# SPDX-License-Identifier: Apache-2.0
"""Models from state_dicts, without torch; files that torch.save wrote are in test_pyg.py."""

import os
import pickle
import zipfile

import numpy as np
import pytest

import combinex as cx
from combinex import _torch_file
from combinex._assemble import Layer, assemble
from combinex._state_dict import from_state_dict

RNG = np.random.default_rng(5)


def array(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def neighbours(graph):
    """A of PyG's GCNConv, densely: symmetric normalisation with self-loops."""
    a = np.eye(graph.num_nodes)
    a[graph.edge_target, graph.edge_source] = 1
    d = a.sum(1) ** -0.5
    return d[:, None] * a * d[None]


def log_softmax(z):
    z = z - z.max(1, keepdims=True)
    return z - np.log(np.exp(z).sum(1, keepdims=True))


def same(model, graph, scores):
    np.testing.assert_allclose(model.predict(graph), log_softmax(scores), atol=1e-5)


def gcn_by_hand(graph, layers, activation):
    a, out = neighbours(graph), [graph.x.astype(float)]
    for i, (weight, bias) in enumerate(layers):
        z = a @ out[-1] @ weight.T + bias
        out.append(activation(z, i))
    return out[1:]


def relu(z, i=0):
    return np.maximum(z, 0)


def test_today_s_names_and_a_head(small):
    w1, b1, w2, b2, wh, bh = array(5, 3), array(5), array(4, 5), array(4), array(2, 4), array(2)
    names = {"convs.0.bias": b1, "convs.0.lin.weight": w1, "convs.1.bias": b2, "convs.1.lin.weight": w2}
    model = from_state_dict({**names, "lin.weight": wh, "lin.bias": bh}, "gcn")
    h = gcn_by_hand(small, [(w1, b1), (w2, b2)], relu)
    same(model, small, h[-1] @ wh.T + bh)


def test_names_before_pyg_2(small):
    w1, b1, w2, b2, wh, bh = array(3, 5), array(5), array(5, 5), array(5), array(2, 10), array(2)
    old = {"conv1.weight": w1, "conv1.bias": b1, "conv2.weight": w2, "conv2.bias": b2, "out.weight": wh, "out.bias": bh}
    model = from_state_dict(old, {"conv": "gcn"})
    assert model.arch["jk"] == "cat"
    h = gcn_by_hand(small, [(w1.T, b1), (w2.T, b2)], relu)
    same(model, small, np.hstack(h) @ wh.T + bh)


def test_old_and_new_chebyshev_are_the_same(small):
    weight, bias, wh = array(3, 3, 4), array(4), array(2, 4)
    old = from_state_dict({"conv.weight": weight, "conv.bias": bias, "lin.weight": wh}, "cheb")
    new = {f"conv.lins.{k}.weight": weight[k].T for k in range(3)}
    new = from_state_dict({**new, "conv.bias": bias, "lin.weight": wh}, "cheb")
    assert old.hash() == new.hash()


def test_old_and_new_graphconv_are_the_same(small):
    rel, root, bias, wh = array(3, 4), array(4, 3), array(4), array(2, 4)
    old = {"c.weight": rel, "c.lin.weight": root, "c.lin.bias": bias, "o.weight": wh}
    new = {"c.lin_rel.weight": rel.T, "c.lin_root.weight": root, "c.lin_rel.bias": bias, "o.weight": wh}
    assert from_state_dict(old, "graphconv").hash() == from_state_dict(new, "graphconv").hash()


def test_without_a_head_the_last_convolution_gives_the_scores(small):
    w1, b1, w2, b2 = array(5, 3), array(5), array(2, 5), array(2)
    names = {"a.lin.weight": w1, "a.bias": b1, "b.lin.weight": w2, "b.bias": b2}
    scores = gcn_by_hand(small, [(w1, b1), (w2, b2)], lambda z, i: z if i else np.maximum(z, 0))[-1]
    assert (scores < 0).any()
    same(from_state_dict(names, "gcn"), small, scores)


def test_no_activation_at_all(small):
    w1, b1, w2, b2 = array(5, 3), array(5), array(2, 5), array(2)
    names = {"a.lin.weight": w1, "a.bias": b1, "b.lin.weight": w2, "b.bias": b2}
    model = from_state_dict(names, {"conv": "gcn", "activation": "none"})
    same(model, small, gcn_by_hand(small, [(w1, b1), (w2, b2)], lambda z, i: z)[-1])


def test_leaky_activations_and_a_head_on_all(small):
    w1, b1, w2, b2, wh, bh = array(5, 3), array(5), array(4, 5), array(4), array(2, 9), array(2)
    layers = [Layer("gcn", [w1], b1, 0.2), Layer("gcn", [w2], b2, -0.5)]
    model = assemble("node", layers, {0: wh[:, :5], 1: wh[:, 5:]}, bh)
    leaky = lambda z, i: np.where(z > 0, z, (0.2, -0.5)[i] * z)
    same(model, small, np.hstack(gcn_by_hand(small, [(w1, b1), (w2, b2)], leaky)) @ wh.T + bh)


def test_linear_layers_among_graphconvs(small):
    w0, b0, rel, root, b1, wh, bh = array(5, 3), array(5), array(4, 5), array(4, 5), array(4), array(2, 4), array(2)
    layers = [Layer("linear", [w0], b0, 0.0), Layer("graphconv", [rel, root], b1, 0.0)]
    model = assemble("node", layers, {1: wh}, bh)
    a = np.zeros((6, 6))
    a[small.edge_target, small.edge_source] = 1
    h = np.maximum(small.x @ w0.T + b0, 0)
    h = np.maximum(a @ h @ rel.T + b1 + h @ root.T, 0)
    same(model, small, h @ wh.T + bh)


def test_what_has_no_equal_is_refused():
    rel, root, bias = array(2, 3), array(2, 3), array(2)
    graphconv = Layer("graphconv", [rel, root], bias, 1.0)
    with pytest.raises(cx.UnsupportedError, match="max pooling"):
        assemble("graph", [graphconv], {0: np.eye(2)}, np.zeros(2), pool="max")
    two = [
        Layer("graphconv", [array(3, 3), array(3, 3)], array(3), 1.0, "first"),
        Layer("graphconv", [rel, root], bias, 0.0, "second"),
    ]
    with pytest.raises(cx.UnsupportedError, match="second takes a maximum"):
        assemble("node", two, {1: np.eye(2)}, np.zeros(2), aggr="max")
    mixed = [Layer("gcn", [array(3, 3)], array(3)), Layer("graphconv", [rel, root], bias)]
    with pytest.raises(cx.UnsupportedError, match="gcn and graphconv"):
        assemble("node", mixed, {1: np.eye(2)}, np.zeros(2))
    linear = [Layer("linear", [array(3, 3)], array(3), name="lin0"), Layer("gcn", [array(2, 3)], bias)]
    with pytest.raises(cx.UnsupportedError, match="lin0 is a linear layer among gcn"):
        assemble("node", linear, {1: np.eye(2)}, np.zeros(2))


@pytest.mark.parametrize(
    "tensors, arch, message",
    [
        ({"a.lin.weight": (2, 3)}, "gat", "conv is 'gat'"),
        ({"a.lin.weight": (2, 3)}, {"conv": "gcn", "depth": 2}, "no key 'depth'"),
        ({"weight": (2, 3)}, "cheb", "no cheb convolution"),
        ({"a.lin.weight": (4, 3), "norm.running_mean": (4,)}, "gcn", "no place for norm.running_mean"),
        ({"a.lin.weight": (4, 3), "o.weight": (2, 5)}, "gcn", "the head takes 5 units, but jk 'last' gives 4"),
        ({"a.lin.weight": (4, 3), "o.weight": (4, 4), "p.weight": (2, 4)}, "gcn", "which is the head: o, p"),
        ({"a.lin.weight": (4, 3)}, {"conv": "gcn", "head": "x"}, "no Linear has the name 'x'"),
        ({"a.lin.weight": (4, 3)}, {"conv": "gcn", "activation": "tanh"}, "activation is 'tanh'"),
        ({"a.lin.weight": (4, 3), "a.bias": ()}, "gcn", "the bias of a has the shape [], expected [4]"),
        ({"a.lin.weight": (4, 3), "a.bias": (3,)}, "gcn", "the bias of a has the shape [3], expected [4]"),
        (
            {"a.lin.weight": (4, 3), "o.weight": (2, 4), "o.bias": (1,)},
            "gcn",
            "the bias of o has the shape [1], expected [2]",
        ),
    ],
)
def test_what_is_wrong_is_said(tensors, arch, message):
    with pytest.raises(cx.InvalidError) as caught:
        from_state_dict({name: array(*shape) for name, shape in tensors.items()}, arch)
    assert message in str(caught.value)


# ---- files


def archive(path, pickled, **storages):
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("archive/data.pkl", pickled)
        for key, content in storages.items():
            out.writestr(f"archive/data/{key.lstrip('_')}", content)
    return path


def test_nothing_in_a_file_is_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/touched",)

    for content in (Evil(), {"weight": Evil()}, [Evil()]):
        path = archive(tmp_path / "evil.pt", pickle.dumps(content, 2))
        with pytest.raises(cx.InvalidError, match="refers to (posix|nt|os).system"):
            cx.load_state_dict(path, arch="gcn")
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize("name", ["builtins eval", "torch load", "combinex load", "collections Counter", "os getcwd"])
def test_no_other_name_is_found(tmp_path, name):
    module, attribute = name.split()
    path = archive(tmp_path / "x.pt", f"c{module}\n{attribute}\n.".encode())
    with pytest.raises(cx.InvalidError, match=f"refers to {module}.{attribute}"):
        _torch_file.read(path)


def tensor_pickle(offset=0, size=(2, 2), stride=(2, 1), count=4, kind="FloatStorage"):
    """What torch.save writes for {"w": tensor}, opcode by opcode."""

    def number(v):
        return b"J" + int(v).to_bytes(4, "little", signed=True)

    def numbers(vs):
        return b"(" + b"".join(map(number, vs)) + b"t"

    storage = b"(X\x07\0\0\0storagectorch\n" + kind.encode() + b"\nX\x01\0\0\x000X\x03\0\0\0cpu" + number(count) + b"tQ"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(offset) + numbers(size) + numbers(stride)
    return b"\x80\x02}X\x01\0\0\0w" + tensor + b"\x89ccollections\nOrderedDict\n)RtRs."


def test_a_tensor_is_read(tmp_path):
    content = np.arange(4, dtype="<f4").tobytes()
    read = _torch_file.read(archive(tmp_path / "x.pt", tensor_pickle(), _0=content))
    assert read["w"].tolist() == [[0, 1], [2, 3]]
    read = _torch_file.read(archive(tmp_path / "x.pt", tensor_pickle(stride=(1, 2)), _0=content))
    assert read["w"].tolist() == [[0, 2], [1, 3]]
    half = (np.array([1, -2, 0.5, 3], np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
    read = _torch_file.read(archive(tmp_path / "x.pt", tensor_pickle(kind="BFloat16Storage"), _0=half))
    assert read["w"].tolist() == [[1, -2], [0.5, 3]]


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(offset=1), "in a storage of 4 elements"),
        (dict(size=(3, 2)), "in a storage of 4 elements"),
        (dict(stride=(1000, 1)), "in a storage of 4 elements"),
        (dict(stride=(-1, 1)), "stride"),
        (dict(offset=-4), "at -4"),
        (dict(size=(2,)), "size"),
        (dict(count=5), "has 4 elements, not 5"),
        (dict(kind="ComplexFloatStorage"), "ComplexFloatStorage"),
    ],
)
def test_tensors_that_lie_are_refused(tmp_path, change, message):
    path = archive(tmp_path / "x.pt", tensor_pickle(**change), _0=bytes(16))
    with pytest.raises(cx.InvalidError) as caught:
        _torch_file.read(path)
    assert message in str(caught.value) and "x.pt" in str(caught.value)


def test_damaged_files_are_refused(tmp_path):
    good = archive(tmp_path / "good.pt", tensor_pickle(), _0=bytes(16)).read_bytes()
    for size in range(0, len(good), 7):
        (tmp_path / "cut.pt").write_bytes(good[:size])
        with pytest.raises(cx.Error):
            _torch_file.read(tmp_path / "cut.pt")
    body = tensor_pickle()
    for at in range(len(body)):
        path = archive(tmp_path / "flip.pt", body[:at] + bytes([body[at] ^ 0x21]) + body[at + 1 :], _0=bytes(16))
        try:
            _torch_file.read(path)
        except cx.Error:
            pass
    with pytest.raises(cx.FileError):
        _torch_file.read(tmp_path / "none.pt")
    with pytest.raises(cx.InvalidError, match="is missing"):
        _torch_file.read(archive(tmp_path / "x.pt", tensor_pickle()))
