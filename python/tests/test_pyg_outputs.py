# SPDX-License-Identifier: Apache-2.0
"""Labels, single scores and numbers, as programs and as functions."""

import pytest

torch = pytest.importorskip("torch", reason="no torch here: models of PyTorch are not exported")
pytest.importorskip("torch_geometric", reason="no torch_geometric here: models of PyG are not exported")
from torch import nn  # noqa: E402
from torch_geometric import nn as gnn  # noqa: E402
from torch_geometric.data import Data  # noqa: E402

import combinex as cx  # noqa: E402


class Net(nn.Module):
    def __init__(self, width, last=None):
        super().__init__()
        self.first, self.second, self.last = gnn.GraphConv(4, 8), gnn.GraphConv(8, width), last

    def forward(self, x, edge_index):
        out = self.second(self.first(x, edge_index).tanh(), edge_index)
        return out if self.last is None else self.last(out)


def net(seed, data, width, last=None):
    """Whose scores are above 0 for about half of the nodes."""
    torch.manual_seed(seed)
    module = Net(width).eval()
    with torch.no_grad():
        module.second.lin_rel.bias -= module(data.x, data.edge_index).median(0).values
    module.last = last
    return module


def data_of(**more):
    rng = torch.Generator().manual_seed(1)
    return Data(x=torch.rand(24, 4, generator=rng), edge_index=torch.randint(0, 24, (2, 70), generator=rng), **more)


def doors(module):
    """The module, which becomes a program, and a function, which is asked."""
    return {"program": module, "callback": lambda x, edge_index: module(x, edge_index)}


@pytest.fixture(params=["program", "callback"])
def door(request):
    return request.param


def after(module, data, cf, node):
    edited = cf.apply(data)
    with torch.no_grad():
        return module(edited.x, edited.edge_index)[node]


def test_one_label_of_several_flips(door):
    data = data_of()
    module = net(2, data, 3, nn.Sigmoid())
    model = doors(module)[door]
    with pytest.raises((cx.InvalidError, cx.UnsupportedError), match="is a label of its own.*label=0 to label=2"):
        cx.explain(model, data, node=0, target="any")
    found = 0
    for node in range(4):
        cf = cx.explain(model, data, node=node, target="any", label=1)
        assert cf.oracle == door
        if cf.status == "found":
            found += 1
            assert bool(after(module, data, cf, node)[1] > 0.5) == (cf.result == 1)
            assert "yes" in str(cf) and "no" in str(cf)
    assert found >= 2


def test_raw_scores_of_labels_are_not_taken_for_classes(door):
    """The data's own labels, of several columns, tell."""
    data = data_of(y=torch.randint(0, 2, (24, 3)).float())
    module = net(2, data, 3)
    with pytest.raises((cx.InvalidError, cx.UnsupportedError), match="is a label of its own"):
        cx.explain(doors(module)[door], data, node=0, target="any")
    cf = cx.explain(doors(module)[door], data, node=0, target="any", label=2, classes=("bad", "good"))
    assert "good" in str(cf) and "bad" in str(cf)


@pytest.mark.parametrize("last", [None, nn.Sigmoid()], ids=["logit", "probability"])
def test_one_score_is_yes_or_no(door, last):
    data = data_of()
    module = net(4, data, 1, last)
    middle = 0 if last is None else 0.5
    found = 0
    for node in range(4):
        cf = cx.explain(doors(module)[door], data, node=node, target="any")
        if cf.status == "found":
            found += 1
            assert bool(after(module, data, cf, node)[0] > middle) == (cf.result == 1)
    assert found >= 2


def test_a_number_is_moved_into_a_range(door):
    data = data_of(y=torch.rand(24))
    module = net(5, data, 1)
    model = doors(module)[door]
    with pytest.raises(cx.InvalidError, match="target= needs a range"):
        cx.explain(model, data, node=0)
    with torch.no_grad():
        now = module(data.x, data.edge_index).reshape(-1)
    for target, holds in (
        (">=%.3f" % (now[0] + 0.2), lambda v: v >= now[0] + 0.2 - 1e-3),
        ("[%.3f,%.3f]" % (now[0] - 0.4, now[0] - 0.1), lambda v: now[0] - 0.4 - 1e-3 <= v <= now[0] - 0.1 + 1e-3),
        ("+10%", lambda v: v >= now[0] + 0.1 * abs(now[0]) - 1e-5),
    ):
        cf = cx.explain(model, data, node=0, target=target)
        assert cf.status == "found"
        value = float(after(module, data, cf, 0)[0])
        assert holds(value)
        assert cf.numbers == (pytest.approx(float(now[0]), abs=1e-4), pytest.approx(value, abs=1e-4))
        assert cf.to_dict()["number_after"] == pytest.approx(value, abs=1e-4)


def test_many_numbers_are_moved_each_from_its_own(door):
    data = data_of(y=torch.rand(24))
    module = net(6, data, 1)
    cfs = cx.explain_all(doors(module)[door], data, nodes=[0, 1, 2, 3], target="-0.1")
    assert all(cf.numbers[1] <= cf.numbers[0] - 0.1 + 1e-5 for cf in cfs if cf.status == "found")
    assert sum(cf.status == "found" for cf in cfs) >= 2


def test_probabilities_of_a_function_are_read_as_such():
    data = data_of()
    module = net(7, data, 3, nn.Softmax(1))
    model = cx.from_callable(lambda x, edge_index: module(x, edge_index), data)
    told = model.predict(cx.pyg.graph_from_pyg(data, num_classes=3))
    with torch.no_grad():
        assert told == pytest.approx(module(data.x, data.edge_index).log().numpy(), abs=1e-4)
