# SPDX-License-Identifier: Apache-2.0
"""combinex as an algorithm of torch_geometric.explain."""

from __future__ import annotations

import logging
from typing import Any, Optional

import torch
from torch_geometric.data import Data
from torch_geometric.explain import Explanation
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.config import ExplanationType, MaskType, ModelMode, ModelTaskLevel

from .._explain import explain_all
from ..errors import UnsupportedError
from ._import import import_both
from ._take import take


class CombinexExplainer(ExplainerAlgorithm):
    """What would have to be different, as an ExplainerAlgorithm:

        explainer = Explainer(model, CombinexExplainer(target="any"), explanation_type="model",
                              node_mask_type="attributes", edge_mask_type="object",
                              model_config=dict(mode="multiclass_classification", task_level="node", return_type="raw"))
        explanation = explainer(data.x, data.edge_index, index=14)

    Masks are 1 for what a counterfactual changes: features set, edges removed or given another weight or attribute;
    "object" masks of nodes mark every node that an edit touches. `explanation.counterfactuals` has the answers
    themselves, one for each index; edges that are added are there only. Options are those of combinex.explain_all.
    """

    def __init__(self, **options: Any):
        super().__init__()
        self.options = options

    def supports(self) -> bool:
        def no(what: str) -> bool:
            logging.error("'%s' does not support %s", type(self).__name__, what)
            return False

        if self.model_config.mode != ModelMode.multiclass_classification:
            return no(f"the mode '{self.model_config.mode.value}', only multiclass_classification")
        if self.model_config.task_level not in (ModelTaskLevel.node, ModelTaskLevel.graph):
            return no(f"the task level '{self.model_config.task_level.value}', only node and graph")
        if self.explainer_config.edge_mask_type not in (None, MaskType.object):
            return no(f"the edge mask type '{self.explainer_config.edge_mask_type.value}', only object")
        return True

    @torch.no_grad()
    def forward(
        self,
        model: torch.nn.Module,
        x: Any,
        edge_index: Any,
        *,
        target: torch.Tensor,
        index: Any = None,
        **kwargs: Any,
    ) -> Explanation:
        if isinstance(x, dict) or isinstance(edge_index, dict):
            raise ValueError(f"{type(self).__name__} does not explain heterogeneous graphs")
        data = Data(x=x, edge_index=edge_index, **{k: v for k, v in kwargs.items() if isinstance(v, torch.Tensor)})
        try:
            own, graph = import_both(model, data, call=lambda module, some: module(some.x, edge_index, **kwargs))
        except UnsupportedError:  # which are no layers that are known here
            own, graph = take(model, data)
        rows = _rows(index, graph.num_rows)
        which = {"graphs" if graph.task == "graph" else "nodes": rows}
        answers = explain_all(own, graph, **which, **self.options)
        if self.explainer_config.explanation_type == ExplanationType.phenomenon:
            # only a decision that is the given one is explained
            wanted = target.reshape(-1).tolist()
            for answer in answers:
                if answer.prediction != wanted[answer.row]:
                    logging.warning(
                        "%s %d: the target is %d, but the model says %d: what is explained is what the model says",
                        answer.task,
                        answer.row,
                        wanted[answer.row],
                        answer.prediction,
                    )
        node_mask, edge_mask = self._masks(answers, x, edge_index)
        return Explanation(node_mask=node_mask, edge_mask=edge_mask, counterfactuals=answers)

    def _masks(self, answers: Any, x: Any, edge_index: Any) -> tuple[Optional[torch.Tensor], Optional[torch.Tensor]]:
        features = torch.zeros(x.shape, device=x.device)
        touched = torch.zeros((x.shape[0], 1), device=x.device)
        edges = torch.zeros(edge_index.shape[1], device=x.device)
        source, target = edge_index
        for answer in answers:
            for edit in answer.edits:
                if edit.op == "set_feature":
                    features[edit.node, edit.feature] = 1.0
                    touched[edit.node] = 1.0
                    continue
                if edit.op == "remove_node":
                    touched[edit.node] = 1.0
                    edges[(source == edit.node) | (target == edit.node)] = 1.0
                    continue
                if edit.op == "add_node":  # which has no place in a mask
                    touched[edit.target] = 1.0
                    continue
                touched[edit.source] = touched[edit.target] = 1.0
                if edit.edge is not None:
                    edges[edit.edge] = 1.0
                elif edit.op != "add_edge":  # which has no place in a mask
                    one, other = edit.source, edit.target
                    edges[((source == one) & (target == other)) | ((source == other) & (target == one))] = 1.0
        kind = self.explainer_config.node_mask_type
        nodes = {
            None: None,
            MaskType.object: touched,
            MaskType.attributes: features,
            MaskType.common_attributes: features.amax(0, keepdim=True),
        }[kind]
        return nodes, edges if self.explainer_config.edge_mask_type is not None else None


def _rows(index: Any, count: int) -> Any:
    if index is None:
        return list(range(count))
    rows = torch.as_tensor(index).reshape(-1)
    return rows.tolist() if rows.dtype != torch.bool else rows
