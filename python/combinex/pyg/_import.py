# SPDX-License-Identifier: Apache-2.0
"""A module of PyTorch Geometric as a Model, proved on the user's data."""

from __future__ import annotations

import copy
from typing import Any, Callable, Optional

import numpy as np
import torch

from .._assemble import assemble
from .._graph import Graph
from .._model import Model
from ..errors import UnsupportedError
from ._data import collate, coo_of, edges_of, features_of, graph_from_pyg, is_sparse, pointers
from ._match import Matcher, Structure, dropout_of, log_probabilities
from ._trace import Call, call_with, record

TOLERANCE = 1e-4
Runner = Optional[Callable[[Any, Any], Any]]


def import_both(module: Any, data: Any, *, call: Runner = None, **more: Any) -> tuple[Model, Graph]:
    """The module and the data it is asked about."""
    data = collate(data)
    edge_index, _ = edges_of(data)
    batch = torch.from_numpy(np.repeat(np.arange(len(pointers(data)) - 1), np.diff(pointers(data))))
    graphs = len(pointers(data)) - 1

    def run(some: Any) -> tuple[list[Call], torch.Tensor]:
        return record(module, lambda: call(module, some) if call else call_with(module, some, edge_index))

    probe = _with_features(data, _random_like(features_of(data)))
    calls, output = run(probe)
    structure = Matcher(calls, output, features_of(probe), batch, graphs).structure()
    weight = _weights(calls, edge_index)
    model = assemble(
        structure.task,
        structure.layers,
        structure.head,
        structure.bias,
        aggr=structure.aggr,
        pool=structure.pool,
        dropout=dropout_of(module),
    )

    def as_graph(some: Any, **arguments: Any) -> Graph:
        return graph_from_pyg(some, task=structure.task, edge_weight=weight, num_classes=model.num_classes, **arguments)

    _prove(model, as_graph(probe), output, structure, "on features drawn at random")
    graph = as_graph(data, **more)
    calls, output = run(data)
    structure.calls = calls
    structure.outputs = []
    _prove(model, graph, output, structure, "on this data")
    return model, graph


def import_model(module: Any, data: Any, *, call: Runner = None) -> Model:
    """A Model that does what `module` does, for data like `data`: the structure is read off a run, and then both run
    on `data` and must agree to 1e-4 in every log-probability. call(module, data) runs the module where
    the names of forward's parameters do not tell how."""
    return import_both(module, data, call=call)[0]


def _random_like(x: torch.Tensor) -> torch.Tensor:
    """Of the same size, but of both signs, so that an activation shows."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(x.shape, generator=generator)


def _with_features(data: Any, x: torch.Tensor) -> Any:
    out = copy.copy(data)
    dtype = data.x.dtype if data.x.is_floating_point() else torch.float32
    out.x = x.to(data.x.device, dtype)
    return out


def _weights(calls: list[Call], edge_index: torch.Tensor) -> torch.Tensor | None:
    """The weights that the convolutions were given; they must all have seen the data's own edges."""
    found: list[Any] = []
    for call in calls:
        if call.kind != "conv":
            continue
        edges, weight = call.edges, call.weight
        if is_sparse(edges):
            edges, weight = coo_of(edges)
        same = isinstance(edges, torch.Tensor) and edges.shape == edge_index.shape
        if not same or not bool((edges.to(edge_index.device) == edge_index).all()):
            raise UnsupportedError(
                f"{call.name} is not given the edges of the data as they are: are some added or removed in forward? "
                "Do that to the data instead"
            )
        weight = None if weight is None else weight.detach().cpu().float().reshape(-1)
        if found and not _same(found[0], weight):
            raise UnsupportedError(f"{call.name} is given other edge weights than the convolutions before it")
        found.append(weight)
    return found[0] if found else None


def _same(a: torch.Tensor | None, b: torch.Tensor | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and bool((a == b).all())


# ---- the proof


def _worst(ours: np.ndarray, theirs: torch.Tensor) -> tuple[float, int]:
    """The largest difference in units of what is tolerated, and its row."""
    expected = theirs.numpy()
    gap = np.abs(ours - expected) / np.maximum(1.0, np.abs(expected))
    gap[~np.isfinite(gap)] = np.inf
    row = int(gap.max(1).argmax())
    return float(gap[row].max()), row


def _prove(model: Model, graph: Graph, output: torch.Tensor, structure: Structure, where: str) -> None:
    gap, row = _worst(model.predict(graph), log_probabilities(output))
    if gap <= TOLERANCE:
        return
    raise UnsupportedError(
        f"{where} the imported model differs from the module: by {gap:.3g} in the log-probabilities of "
        f"{structure.task} {row}, where at most {TOLERANCE:g} is allowed; suspected is {_suspect(graph, structure)}"
    )


def _suspect(graph: Graph, structure: Structure) -> str:
    """The first layer whose own output differs."""
    outputs = [call.output for call in structure.calls if call.kind == "conv"]
    names = [call.name for call in structure.calls if call.kind == "conv"]
    convolutions = [i for i, layer in enumerate(structure.layers) if layer.kind != "linear"]
    nodes = Graph(graph.edge_index, graph.x, edge_weight=graph.edge_weight)
    for i, name, output in zip(convolutions, names, outputs):
        part = [copy.copy(layer) for layer in structure.layers[: i + 1]]
        part[-1].slope = 1.0
        width = part[-1].width
        if width < 2 or width != output.shape[1]:
            continue
        try:
            own = assemble("node", part, {i: np.eye(width)}, np.zeros(width), aggr=structure.aggr)
        except UnsupportedError:
            continue
        if _worst(own.predict(nodes), output.log_softmax(1))[0] > TOLERANCE:
            return f"{name} ({type(next(c.module for c in structure.calls if c.name == name)).__name__})"
    return "what stands behind the convolutions"
