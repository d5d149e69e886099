# SPDX-License-Identifier: Apache-2.0
"""What a module does when it runs: its layers in the order of their calls, with what went in and came out.

The layers are watched, the code between them is not: whatever stands there is found out from the numbers, see
_match.py. So it does not matter how a forward function is written.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Callable

import torch
from torch_geometric.nn import MessagePassing

from ..errors import InvalidError, UnsupportedError
from ._data import pointers


@dataclass
class Call:
    name: str  # of the module
    module: Any
    kind: str  # conv, linear, norm or other
    input: Any
    output: Any
    edges: Any = None  # what a convolution was given
    weight: Any = None


def _kind(module: Any) -> str | None:
    """How a module is watched; None: not at all."""
    if isinstance(module, MessagePassing):
        return "conv"
    if isinstance(module, torch.nn.Linear) or type(module).__name__ == "Linear":
        return "linear"
    if isinstance(module, torch.nn.BatchNorm1d):
        return "norm"
    leaf = next(module.children(), None) is None
    own = next(module.parameters(recurse=False), None) is not None
    return "other" if leaf and own and not isinstance(module, torch.nn.PReLU) else None


def _watched(module: Any) -> list[tuple[str, Any, str]]:
    """Layers, and not what they are made of."""
    out: list[tuple[str, Any, str]] = []
    inside: list[str] = []
    for name, part in module.named_modules():
        if any(name == outer or name.startswith(outer + ".") for outer in inside):
            continue
        kind = _kind(part)
        if kind:
            out.append((name or type(part).__name__, part, kind))
            if kind == "conv" and name:
                inside.append(name)
            if not name:
                break
    return out


def record(module: Any, run: Callable[[], Any]) -> tuple[list[Call], torch.Tensor]:
    """The calls of one run, and what it gave. Nothing of the module is changed."""
    calls: list[Call] = []
    hooks = []

    def watch(name: str, kind: str) -> Any:
        def hook(part: Any, args: Any, kwargs: Any, output: Any) -> None:
            given = args[0] if args else kwargs.get("x", kwargs.get("input"))
            if isinstance(given, (tuple, list)) and len(given) == 2 and given[0] is given[1]:
                given = given[0]
            call = Call(name, part, kind, _kept(given), _kept(output))
            if kind == "conv":
                call.edges = args[1] if len(args) > 1 else kwargs.get("edge_index")
                weight = kwargs.get("edge_weight")
                if weight is None and len(args) > 2 and "edge_weight" in _names(part):
                    weight = args[2]
                call.weight = _kept(weight)
            calls.append(call)

        return hook

    for name, part, kind in _watched(module):
        hooks.append(part.register_forward_hook(watch(name, kind), with_kwargs=True))
    training = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with torch.no_grad():
            output = run()
    finally:
        for hook in hooks:
            hook.remove()
        for part, mode in training.items():
            part.training = mode
    if not isinstance(output, torch.Tensor):
        raise UnsupportedError(
            f"the module returns a {type(output).__name__}, expected one tensor of scores; "
            "call=lambda module, data: … can pick it"
        )
    output = output.detach().cpu().float()
    return calls, output.unsqueeze(0) if output.dim() == 1 else output


def _kept(value: Any) -> Any:
    """A copy: the code that follows may write over it."""
    return value.detach().cpu().float().clone() if isinstance(value, torch.Tensor) else value


def _names(part: Any) -> list[str]:
    return list(inspect.signature(part.forward).parameters)


def call_with(module: Any, data: Any, edge_index: torch.Tensor) -> Any:
    """Calls module.forward with what the names of its parameters ask for."""
    if hasattr(module, "signature") and hasattr(module.signature, "param_dict"):  # torch_geometric.nn.Sequential
        wanted = {name: inspect.Parameter.empty for name in module.signature.param_dict}
    else:
        parameters = inspect.signature(module.forward).parameters.values()
        wanted = {p.name: p.default for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    arguments: dict[str, Any] = {}
    adjacency = next((data[key] for key in ("adj_t", "adj") if data.get(key) is not None), None)
    for position, (name, default) in enumerate(wanted.items()):
        value = None
        if name in ("data", "graph", "batch_data"):
            value = data
        elif name in ("edge_index", "adj_t", "adj", "edges"):
            value = adjacency if data.get("edge_index") is None else data.edge_index
        elif name in ("batch_size", "num_graphs"):
            value = len(pointers(data)) - 1 if data.get("batch") is not None else None
        elif data.get(name) is not None:
            value = data[name]
        elif name == "edge_weight" and isinstance(data.get("edge_attr"), torch.Tensor) and data.edge_attr.dim() == 1:
            value = data.edge_attr
        elif name == "batch" and default is inspect.Parameter.empty:
            value = torch.zeros(data.num_nodes, dtype=torch.long, device=edge_index.device)
        elif position == 0 and len(wanted) == 1:
            value = data
        if value is not None:
            arguments[name] = value
        elif default is inspect.Parameter.empty:
            if name in ("edge_weight", "edge_attr", "batch"):
                arguments[name] = None
            else:
                raise InvalidError(
                    f"{type(module).__name__}.forward takes '{name}', which the data does not have; "
                    "call=lambda module, data: … can say how to call it"
                )
    return module(**arguments)
