# SPDX-License-Identifier: Apache-2.0
"""A module, or any function of tensors, that is asked in torch itself."""

from __future__ import annotations

import copy
import hashlib
from typing import Any

import numpy as np
import torch

from .._callback import Caller, Question, names_of
from ..errors import UnsupportedError
from ._data import features_of
from ._trace import call_with


class TorchCaller(Caller):
    """Calls it with what the data has, cut to the nodes and edges that it is asked about: a function by the names of
    its parameters, or with the first two as x and edge_index; a module as its forward asks."""

    def __init__(self, function: Any, data: Any):
        self.function: Any = function
        self.data = data
        scripted = isinstance(function, torch.jit.ScriptModule)
        self.is_module = isinstance(function, torch.nn.Module) and not scripted
        self.names = names_of(function.forward if self.is_module else function)
        if scripted:
            self.names = [argument.name for argument in function.forward.schema.arguments[1:]]
        self.dtype = data.x.dtype if data.x.is_floating_point() else torch.float32
        self.nodes, self.edges = data.x.shape[0], data.num_edges
        self.gradient, self.follows_weights = self._try_gradients()

    def _part(self, question: Question, x: torch.Tensor, weight: torch.Tensor) -> Any:
        """The data's own kind of thing, of the nodes and edges in question."""
        part = copy.copy(self.data)
        node, edge = torch.from_numpy(question.node), torch.from_numpy(question.edge)
        for key, item in self.data.items():
            if not isinstance(item, torch.Tensor) or key in ("x", "edge_index", "ptr", "batch"):
                continue
            if self.data.is_edge_attr(key) and item.dim() and item.shape[0] == self.edges:
                part[key] = item[edge.to(item.device)]
            elif self.data.is_node_attr(key) and item.dim() and item.shape[0] == self.nodes:
                part[key] = item[node.to(item.device)]
        part.x = x
        part.edge_index = torch.from_numpy(question.edge_index).to(x.device)
        if "edge_weight" in self.names or self.data.get("edge_weight") is not None:
            part.edge_weight = weight
        if question.batch is not None:
            part.batch = torch.from_numpy(question.batch).to(x.device)
            part.ptr = torch.from_numpy(np.searchsorted(question.batch, np.arange(question.graphs + 1))).to(x.device)
        return part

    def _run(self, question: Question, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        part = self._part(question, x, weight)
        if not self.is_module:
            out = self.function(*[part if name == "data" else part[name] for name in self._given(part)])
        else:
            training = self.function.training
            self.function.eval()
            try:
                out = call_with(self.function, part, part.edge_index)
            finally:
                self.function.train(training)
        if not isinstance(out, torch.Tensor):
            raise UnsupportedError(f"the model returns a {type(out).__name__}, expected one tensor of scores")
        return out

    def _given(self, part: Any) -> list[str]:
        """Names of what there is, up to the first that there is not."""
        known = [name == "data" or name in part for name in self.names]
        return self.names[: known.index(False)] if False in known else self.names

    def _tensors(self, question: Question, gradient: bool) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.from_numpy(question.x).to(self.data.x.device, self.dtype)
        weight = torch.from_numpy(question.edge_weight).to(self.data.x.device)
        return x.requires_grad_(gradient), weight.requires_grad_(gradient)

    def scores(self, question: Question) -> np.ndarray:
        with torch.no_grad():
            return self._run(question, *self._tensors(question, False)).detach().cpu().double().numpy()

    def slopes(self, question: Question, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inputs = self._tensors(question, True)
        out = self._run(question, *inputs)
        told = out.reshape(-1, direction.shape[1])[: question.rows]
        along = torch.from_numpy(np.array(direction)).to(told.device, told.dtype)
        if not told.requires_grad:
            return tuple(np.zeros(tensor.shape, np.float32) for tensor in inputs)  # type: ignore[return-value]
        found = torch.autograd.grad(told, inputs, along, allow_unused=True)
        return tuple(  # type: ignore[return-value]
            np.zeros(tensor.shape, np.float32) if slope is None else slope.detach().cpu().float().numpy()
            for tensor, slope in zip(inputs, found)
        )

    def _try_gradients(self) -> tuple[bool, bool]:
        """Does what it says depend on features and on edge weights, in torch's eyes?"""
        question = whole_of(self.data)
        inputs = self._tensors(question, True)
        out = self._run(question, *inputs)
        if not out.requires_grad:
            return False, False
        by_x, by_weight = torch.autograd.grad(out.sum(), inputs, allow_unused=True)
        return by_x is not None, by_weight is not None


def whole_of(data: Any) -> Question:
    """All of the data."""
    from ._data import edges_of

    edge_index, weight = edges_of(data)
    edges = edge_index.shape[1]
    batch = data.get("batch")
    return Question(
        x=features_of(data).numpy(),
        edge_index=edge_index.cpu().numpy(),
        edge_weight=np.ones(edges, np.float32) if weight is None else weight.detach().cpu().float().numpy(),
        batch=None if batch is None else batch.cpu().numpy(),
        node=np.arange(data.x.shape[0]),
        edge=np.arange(edges),
        rows=data.x.shape[0],
        graphs=1 if batch is None else int(batch.max()) + 1,
    )


def identity_of_module(module: Any) -> str:
    """Its kind and its parameters."""
    digest = hashlib.sha256(repr(module).encode())
    for name, value in module.state_dict().items():
        digest.update(name.encode())
        if isinstance(value, torch.Tensor):
            digest.update(value.detach().cpu().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
