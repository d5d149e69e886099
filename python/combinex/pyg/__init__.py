# SPDX-License-Identifier: Apache-2.0
"""PyTorch Geometric: its data and its modules, and combinex as one of its explainers. Needs torch and PyG."""

from ._data import graph_from_pyg
from ._explainer import CombinexExplainer
from ._export import export
from ._import import import_both, import_model
from ._scaled import take_scaled
from ._take import ask_in_torch, take

__all__ = ["CombinexExplainer", "ask_in_torch", "export", "graph_from_pyg", "import_both", "import_model", "take", "take_scaled"]
