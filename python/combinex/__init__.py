# SPDX-License-Identifier: Apache-2.0
"""Counterfactual explanations of graph neural networks.

    import combinex as cx

    graph = cx.load("karate")
    model = cx.train(graph, epochs=200, seed=1)
    print(cx.explain(model, graph, node=8, target="any"))

`model` may as well be a module of PyTorch Geometric, and `graph` its Data.
"""

from typing import Any as _Any

from ._arguments import brief as _brief
from ._command import bench
from ._convert import builtins, load
from ._counterfactual import Counterfactual, Counterfactuals, Probabilities
from ._edit import Edit
from ._explain import Rules, explain, explain_all
from ._graph import Graph
from ._lib import version as __version__
from ._model import Model
from ._options import explain_table as _explain_table
from ._options import generate_table as _generate_table
from ._options import model_table as _model_table
from ._options import robust_table as _robust_table
from ._options import train_table as _train_table
from ._robust import Radius, robust, robust_all
from ._state_dict import load_state_dict
from ._train import split, train
from .errors import CancelledError, Error, FileError, InvalidError, OutOfMemoryError, UnsupportedError


def options(of: str = "explain") -> str:
    """The options of explain, train, load or robust, one per line, from the library's own tables."""
    tables = {
        "explain": [_explain_table],
        "train": [_model_table, _train_table],
        "load": [_generate_table],
        "robust": [_robust_table],
    }
    if not isinstance(of, str) or of not in tables:
        raise InvalidError(f"options of {_brief(of)}: there are {', '.join(tables)}")
    return "\n".join(table.describe() for table in tables[of])


def explainers() -> "list[str]":
    """Names of the methods: explain(…, explainer=NAME)."""
    return _explain_table.choices("explainer")


def from_pyg(module: _Any, data: _Any, **how: _Any) -> Model:
    """A Model from a module of PyTorch Geometric, proved on `data`: see combinex.pyg.import_model."""
    from .pyg import import_model

    return import_model(module, data, **how)


def from_callable(function: _Any, data: _Any, hops: "int | None" = None) -> Model:
    """A Model that asks `function` for the scores of each node or graph: see docs/models.md. hops: how many steps away
    what a node's scores depend on is at most; where that is not known, nothing is proved of an answer."""
    from ._convert import of_function

    return of_function(function, data, hops)[0]


def export(module: _Any, data: _Any, path: _Any, **how: _Any) -> Model:
    """Writes a module of PyTorch Geometric as a program that needs no Python: see combinex.pyg.export."""
    from .pyg import export as write

    return write(module, data, path, **how)


def __getattr__(name: str) -> _Any:
    """combinex.pyg, without importing torch for those who do not use it."""
    if name == "pyg":
        import importlib

        return importlib.import_module(".pyg", __name__)
    raise AttributeError(f"module 'combinex' has no attribute '{name}'")


__all__ = [
    "CancelledError",
    "Counterfactual",
    "Counterfactuals",
    "Edit",
    "Error",
    "FileError",
    "Graph",
    "InvalidError",
    "Model",
    "OutOfMemoryError",
    "Probabilities",
    "Radius",
    "Rules",
    "UnsupportedError",
    "__version__",
    "bench",
    "builtins",
    "explain",
    "explain_all",
    "explainers",
    "export",
    "from_callable",
    "from_pyg",
    "load",
    "load_state_dict",
    "options",
    "robust",
    "robust_all",
    "split",
    "train",
]
