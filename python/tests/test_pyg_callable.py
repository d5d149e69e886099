# SPDX-License-Identifier: Apache-2.0
"""Functions of tensors, and modules that torch itself must run."""

import pytest

torch = pytest.importorskip("torch", reason="no torch here: functions of tensors are not asked")
pytest.importorskip("torch_geometric", reason="no torch_geometric here: functions of tensors are not asked")
from torch import nn  # noqa: E402
from torch_geometric import nn as gnn  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402

import combinex as cx  # noqa: E402

FEATURES, CLASSES = 5, 3


def data_of(nodes=30, edges=90, seed=0, **more):
    rng = torch.Generator().manual_seed(seed)
    return Data(
        x=torch.rand(nodes, FEATURES, generator=rng).round(decimals=1),
        edge_index=torch.randint(0, nodes, (2, edges), generator=rng),
        **more,
    )


def module_of(seed=1):
    torch.manual_seed(seed)
    return gnn.GCN(FEATURES, 8, 2, CLASSES).eval()


def says(module, data, row):
    with torch.no_grad():
        return int(module(data.x, data.edge_index)[row].argmax())


def test_a_lambda_of_tensors_is_explained_and_its_answers_flip_it():
    module, data = module_of(), data_of()
    found = 0
    for node in range(4):
        cf = cx.explain(lambda a, b: module(a, b) * 2, data, node=node, target="any")
        if cf.status == "found":
            found += 1
            assert says(module, cf.apply(data), node) == cf.result != cf.prediction
    assert found >= 3


def test_weights_that_are_followed_make_gradient_methods_possible():
    module, data = module_of(), data_of()

    def weighted(x, edge_index, edge_weight):
        return module(x, edge_index, edge_weight=edge_weight)

    for method in ("combinex", "cf-gnn", "cff"):
        found = [
            cx.explain(weighted, data, node=n, target="any", explainer=method, epochs=60).status for n in range(3)
        ]
        assert method != "combinex" or "found" in found
    with pytest.raises(cx.InvalidError, match="'minimal' does without"):
        cx.explain(lambda x, edge_index: module(x, edge_index), data, node=0, explainer="combinex")


def test_gradients_are_torch_s():
    """The same search with the same module as a chain of layers."""
    module, data = module_of(), data_of()
    function = cx.from_callable(lambda x, edge_index, edge_weight: module(x, edge_index, edge_weight), data, hops=2)
    layers = cx.from_pyg(module, data)
    options = {"node": 0, "target": "any", "explainer": "combinex", "epochs": 30, "trace": True}
    losses = [[epoch["loss"] for epoch in cx.explain(m, data, **options).trace] for m in (function, layers)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


def test_other_attributes_of_the_data_come_along_cut_to_what_is_asked_about():
    data = data_of(edge_attr=torch.rand(90, 2), pos=torch.rand(30, 3), scale=torch.tensor([2.0]))
    weight = torch.rand(FEATURES + 3, CLASSES)

    def scores(x, edge_index, edge_attr, pos, scale):
        assert len(edge_attr) == edge_index.shape[1] and len(pos) == len(x)
        heard = torch.zeros(len(x), FEATURES + 3)
        messages = torch.cat([x, pos], 1)[edge_index[0]] * edge_attr[:, :1] * scale
        return heard.index_add(0, edge_index[1], messages) @ weight

    cf = cx.explain(scores, data, node=0, target="any")
    after = cf.apply(data)
    assert cf.status == "found"
    told = scores(after.x, after.edge_index, after.edge_attr, after.pos, after.scale)[0]
    assert int(told.argmax()) == cf.result


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = gnn.GCNConv(FEATURES, 8), nn.Linear(8, CLASSES)

    def forward(self, x, edge_index, batch):
        return self.head(gnn.global_mean_pool(self.conv(x, edge_index).relu(), batch))


def test_a_function_of_graphs_is_asked_about_graphs():
    torch.manual_seed(3)
    module, graphs = Pooled().eval(), [data_of(10, 30, seed) for seed in range(4)]
    cf = cx.explain(lambda x, edge_index, batch: module(x, edge_index, batch), graphs, graph=2, target="any")
    assert cf.status == "found"
    one = Batch.from_data_list([cf.apply(graphs)[2]])
    with torch.no_grad():
        assert int(module(one.x, one.edge_index, one.batch)[0].argmax()) == cf.result


def test_what_a_function_of_tensors_raises_comes_back_as_it_is():
    def fails(x, edge_index):
        if edge_index.shape[1] < 90:
            raise ZeroDivisionError("too few edges")
        return x @ torch.ones(FEATURES, CLASSES)

    with pytest.raises(ZeroDivisionError, match="too few edges"):
        cx.explain(fails, data_of(), node=0, target="any")
