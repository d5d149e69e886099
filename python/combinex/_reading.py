# SPDX-License-Identifier: Apache-2.0
"""What the scores of a model mean: classes, labels or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._arguments import brief
from .errors import InvalidError


@dataclass(frozen=True)
class Reading:
    """What the user says, and then what is known: as in cbx_open_options."""

    scores: str = "auto"
    label: int | str | None = None
    classes: Sequence[str] | str | None = None

    @property
    def is_said(self) -> bool:
        return self != Reading()

    def options(self) -> dict[str, Any]:
        """For the library's table."""
        names = self.classes if self.classes is None or isinstance(self.classes, str) else ",".join(self.classes)
        given = {"scores": self.scores, "label": self.label, "classes": names}
        return {key: value for key, value in given.items() if value is not None}

    def named(self, names: Any) -> "Reading":
        """With the number of a label that the data has the name of."""
        if isinstance(self.label, str) and names and self.label in list(names):
            return replace(self, label=list(names).index(self.label))
        return self

    def decided(self, scores: np.ndarray, y: Any) -> "Reading":
        """What they look like, where the user does not say, and where the data's labels y do not."""
        if self.scores != "auto":
            return self
        wide = scores.ndim == 2 and scores.shape[1] > 1
        inside = bool(np.all((scores >= 0) & (scores <= 1)))
        if wide and y is not None and y.ndim == 2 and y.shape[1] == scores.shape[1]:
            return replace(self, scores="label-chances" if inside else "labels")
        if wide and self.label is None and _are_classes(y, scores.shape[1]):
            return self  # whatever numbers an untrained model happens to give
        if wide and inside:
            one = np.allclose(scores.sum(1), 1, atol=1e-3)
            return replace(self, scores="probabilities" if one and self.label is None else "label-chances")
        if wide:
            return self if self.label is None else replace(self, scores="labels")
        if y is not None and y.dtype.kind == "f" and not np.all(np.isin(y[~np.isnan(y)], (0, 1))):
            return replace(self, scores="number")
        return replace(self, scores="label-chances" if inside else "labels")

    @property
    def is_classes(self) -> bool:
        return self.scores in ("auto", "classes", "probabilities")


def _are_classes(y: Any, count: int) -> bool:
    """Does y have one of several classes for each row, and not whether something is so?"""
    if y is None or y.ndim != 1 or y.dtype.kind not in "iu" or not y.size:
        return False
    return bool(y.max() < count and (y.max() > 1 or count == 2))


def labels_of(data: Any) -> np.ndarray | None:
    """y of PyTorch Geometric's data, as it is."""
    y = data.get("y") if hasattr(data, "get") else None
    return None if y is None or not hasattr(y, "detach") else y.detach().cpu().numpy()


def range_of(target: Any) -> str:
    """The range that a number is sought in."""
    if target is None or str(target) in ("next", "any"):
        raise InvalidError(
            'the model gives numbers, and no classes: target= needs a range, such as ">=3.5", "[2,3]" or "+10%", '
            f"not {brief(target)}"
        )
    return str(target)
