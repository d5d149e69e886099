# SPDX-License-Identifier: Apache-2.0
"""combinex inside torch_geometric.explain."""

import pytest

torch = pytest.importorskip("torch", reason="no torch here: the PyG explainer is not tested")
pytest.importorskip("torch_geometric", reason="no torch_geometric here: the PyG explainer is not tested")
from test_pyg_data import Pooled, node_model, undecided  # noqa: E402
from test_pyg_models import Club, club_data, graph, graphs  # noqa: E402
from torch_geometric.data import Batch  # noqa: E402
from torch_geometric.explain import Explainer, Explanation  # noqa: E402
from torch_geometric.explain.metric import characterization_score, fidelity, unfaithfulness  # noqa: E402

from combinex.pyg import CombinexExplainer  # noqa: E402

NODES = dict(mode="multiclass_classification", task_level="node", return_type="raw")
GRAPHS = dict(NODES, task_level="graph")


def explainer(module, config=NODES, kind="model", node="attributes", edge="object", **options):
    return Explainer(
        module,
        CombinexExplainer(target="any", **options),
        explanation_type=kind,
        node_mask_type=node,
        edge_mask_type=edge,
        model_config=config,
    )


def test_a_node():
    data, module = graph(), node_model()
    ask = explainer(module, edges="directed")
    flips = 0
    for node in range(0, 40, 4):
        explanation = ask(data.x, data.edge_index, index=node)
        assert isinstance(explanation, Explanation) and explanation.validate(raise_on_error=True)
        cf = explanation.counterfactuals[0]
        assert cf.row == node and set(explanation.available_explanations) >= {"node_mask", "edge_mask"}
        changed = {(edit.node, edit.feature) for edit in cf.edits if edit.op == "set_feature"}
        assert {tuple(at) for at in explanation.node_mask.nonzero().tolist()} == changed
        removed = {edit.edge for edit in cf.edits if edit.op == "remove_edge"}
        assert set(explanation.edge_mask.nonzero().flatten().tolist()) == removed
        if cf.found:
            edited = cf.apply(data)
            flips += int(module(edited.x, edited.edge_index)[node].argmax()) == cf.result
    assert flips


def test_edges_that_are_added_are_in_no_mask():
    data, module = graph(), node_model()
    added = 0
    for edges in ("directed", "undirected"):
        ask = explainer(module, edges=edges, edits="add")
        for node in range(0, 40, 8):
            explanation = ask(data.x, data.edge_index, index=node)
            added += explanation.counterfactuals[0].num_edges_added
            assert not explanation.edge_mask.any()
    assert added


def test_edges_alone_and_what_is_made_of_them():
    data, module = club_data(), Club()
    ask = explainer(module, node="object", features_to_vary="none", edges="directed")
    for node in range(34):
        explanation = ask(data.x, data.edge_index, index=node)
        cf = explanation.counterfactuals[0]
        if cf.found:
            break
    assert cf.found
    subgraph = explanation.get_explanation_subgraph()
    ends = {end for edit in cf.edits for end in (edit.source, edit.target)}
    assert subgraph.validate() and subgraph.num_edges == cf.num_edges_removed and subgraph.num_nodes == len(ends)
    complement = explanation.get_complement_subgraph()
    assert complement.validate() and complement.num_nodes == 34 - len(ends)
    # without what the counterfactual removes, the class is another: PyG computes this by masking edges,
    # which for GCN weighs edges after normalisation, so its value is checked to be one, not which
    for metric in fidelity(ask, explanation):
        assert 0.0 <= metric <= 1.0
    assert 0.0 <= unfaithfulness(ask, explanation) <= 1.0
    assert characterization_score(torch.tensor([1.0]), torch.tensor([0.5])).shape == (1,)


def test_fidelity_of_edges_where_masks_are_removals():
    """A sum over neighbours is the same with an edge masked and with it removed, so PyG's own metric must see the
    flip: without the explanation the prediction changes."""
    data, module = club_data(), Club("graphconv")
    ask = explainer(module, node=None, features_to_vary="none")
    found = 0
    for node in range(34):
        explanation = ask(data.x, data.edge_index, index=node)
        if explanation.counterfactuals[0].found:
            found += 1
            positive, _ = fidelity(ask, explanation)
            assert positive == 1.0
    assert found


def test_several_nodes_and_all_kinds_of_masks(tmp_path):
    data, module = graph(), node_model()
    shapes = {"attributes": (40, 6), "object": (40, 1), "common_attributes": (1, 6)}
    for kind, shape in shapes.items():
        explanation = explainer(module, node=kind)(data.x, data.edge_index, index=torch.tensor([1, 2, 3]))
        assert tuple(explanation.node_mask.shape) == shape and explanation.validate()
        assert [cf.row for cf in explanation.counterfactuals] == [1, 2, 3]
    explanation = explainer(module, node=None)(data.x, data.edge_index, index=1)
    assert explanation.get("node_mask") is None and explanation.edge_mask.shape == (data.num_edges,)


def test_pictures(tmp_path):
    pytest.importorskip("matplotlib", reason="no matplotlib here")
    pytest.importorskip("networkx", reason="no networkx here")
    pytest.importorskip("pandas", reason="no pandas here")
    import matplotlib

    matplotlib.use("Agg")
    data, module = graph(), node_model()
    explanation = explainer(module, features_to_vary="none")(data.x, data.edge_index, index=list(range(8)))
    explanation.visualize_graph(str(tmp_path / "graph.png"), backend="networkx")
    explanation = explainer(module, keep_edges=True)(data.x, data.edge_index, index=list(range(8)))
    explanation.visualize_feature_importance(str(tmp_path / "features.png"))
    assert (tmp_path / "graph.png").stat().st_size and (tmp_path / "features.png").stat().st_size


def test_a_graph_task():
    batch, module = Batch.from_data_list(graphs()), Pooled().eval()
    ask = explainer(module, GRAPHS)
    explanation = ask(batch.x, batch.edge_index, batch=batch.batch, index=2)
    assert explanation.validate() and explanation.counterfactuals[0].task == "graph"
    touched = explanation.node_mask.sum(1).nonzero().flatten()
    assert all(batch.batch[node] == 2 for node in touched)


def test_nodes_that_are_added_have_no_place_in_a_mask_but_where_they_come_to():
    items, module = undecided()
    batch, added = Batch.from_data_list(items), 0
    ask = explainer(module, GRAPHS, node="object", edits="add-nodes")
    for row in range(len(items)):
        explanation = ask(batch.x, batch.edge_index, batch=batch.batch, index=row)
        assert explanation.validate(raise_on_error=True)
        cf = explanation.counterfactuals[0]
        touched = set(explanation.node_mask.flatten().nonzero().flatten().tolist())
        assert touched == {edit.target for edit in cf.edits} and not explanation.edge_mask.any()
        added += cf.num_nodes_added
    assert added


def test_a_phenomenon():
    data, module = graph(), node_model()
    target = module(data.x, data.edge_index).argmax(1)
    explanation = explainer(module, kind="phenomenon")(data.x, data.edge_index, target=target, index=4)
    assert explanation.validate() and explanation.counterfactuals[0].prediction == int(target[4])


@pytest.mark.parametrize(
    "change",
    [
        dict(config=dict(NODES, mode="regression")),
        dict(config=dict(NODES, task_level="edge")),
        dict(edge="attributes"),
    ],
)
def test_what_is_not_supported_is_refused(change):
    with pytest.raises(ValueError, match="does not support|needs be None"):
        explainer(node_model(), **change)
