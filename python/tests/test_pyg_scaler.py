# SPDX-License-Identifier: Apache-2.0
"""Modules that were trained on scaled features, asked about data in their own units."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Data  # noqa: E402
from torch_geometric.nn import GATv2Conv, GCNConv, SAGEConv  # noqa: E402
from torch_geometric.transforms import NormalizeFeatures  # noqa: E402

import combinex as cx  # noqa: E402


def people(nodes=20, seed=3):
    """Incomes in euros, years, and whether a house is owned."""
    torch.manual_seed(seed)
    x = torch.stack(
        [
            torch.randint(15000, 60000, (nodes,)).float(),
            torch.randint(0, 30, (nodes,)).float(),
            torch.randint(0, 2, (nodes,)).float(),
        ],
        dim=1,
    )
    ring = torch.arange(nodes)
    edge_index = torch.cat([torch.stack([ring, (ring + 1) % nodes]), torch.stack([(ring + 1) % nodes, ring])], dim=1)
    return Data(x=x, edge_index=edge_index)


class Net(torch.nn.Module):
    def __init__(self, conv, **options):
        super().__init__()
        self.first, self.second = conv(3, 8, **options), conv(8, 2)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def standard(x):
    return x.mean(0), x.std(0, unbiased=False)


class Fitted:
    """What is looked at of a StandardScaler."""

    def __init__(self, x):
        self.mean_, self.scale_ = (part.double().numpy() for part in standard(x))


def scaled(data, mean, deviation):
    return Data(x=(data.x - mean) / deviation, edge_index=data.edge_index)


@pytest.mark.parametrize(
    "conv, options, oracle",
    [
        (GCNConv, {}, "layers"),
        (SAGEConv, {}, "layers"),
        (SAGEConv, {"aggr": "max"}, "program"),
        (GATv2Conv, {}, "program"),
    ],
)
def test_answers_are_in_the_datas_units_and_hold_for_the_module_behind_its_scaler(conv, options, oracle):
    data = people()
    mean, deviation = standard(data.x)
    torch.manual_seed(2)
    module = Net(conv, **options).eval()
    found = 0
    for node, cf in enumerate(cx.explain_all(module, data, nodes=range(10), scaler=(mean, deviation), keep_edges=True)):
        assert cf.oracle == oracle
        with torch.no_grad():
            assert module(scaled(data, mean, deviation).x, data.edge_index)[node].argmax() == cf.prediction
            if cf.status == "found":
                after = cf.apply(data)
                x = (after.x - mean) / deviation
                assert module(x, after.edge_index)[node].argmax() == cf.result
                assert ((after.x >= data.x.min(0).values) & (after.x <= data.x.max(0).values)).all()
                found += 1
    assert found > 0


def test_a_fitted_scaler_is_its_mean_and_deviation():
    data = people()
    torch.manual_seed(1)
    module = Net(SAGEConv).eval()
    one = cx.explain(module, data, node=0, scaler=Fitted(data.x))
    other = cx.explain(module, data, node=0, scaler=standard(data.x))
    assert one.to_dict()["edits"] == other.to_dict()["edits"]


def test_rows_that_sum_to_one_are_followed_where_that_is_exact():
    data = people()
    torch.manual_seed(1)
    module = Net(GCNConv).eval()
    cf = cx.explain(module, data, node=0, scaler=NormalizeFeatures(), keep_edges=True)
    normal = NormalizeFeatures()(data.clone())
    with torch.no_grad():
        assert module(normal.x, data.edge_index)[0].argmax() == cf.prediction
    data.x[0, 1] = -1
    with pytest.raises(cx.InvalidError, match="subtracts the smallest value of all features, which is -1 here"):
        cx.explain(module, data, node=0, scaler=NormalizeFeatures())


def test_what_is_no_scaler_is_told_with_what_was_expected():
    data, module = people(), Net(GCNConv).eval()
    with pytest.raises(TypeError, match="scaler is a int: expected a fitted StandardScaler"):
        cx.explain(module, data, node=0, scaler=3)
    with pytest.raises(cx.InvalidError, match=r"the mean has the shape \(2,\): expected a number for each of 3"):
        cx.explain(module, data, node=0, scaler=(np.zeros(2), np.ones(3)))
    with pytest.raises(cx.InvalidError, match="expected numbers above 0"):
        cx.explain(module, data, node=0, scaler=(np.zeros(3), np.zeros(3)))
    with pytest.raises(cx.InvalidError, match="scaler goes with a module"):
        cx.explain(cx.train("karate", epochs=1), "karate", node=0, scaler=(0, 1))
