# SPDX-License-Identifier: Apache-2.0
"""What stands between a user's data and the module that was trained on it: a scaler.

The data stay in their own units, and so do edits, ranges and bounds; the model gets what the scaler makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import errors

EXPECTED = (
    "expected a fitted StandardScaler of scikit-learn, a NormalizeFeatures of PyTorch Geometric, or two arrays, the "
    "mean and the deviation of each feature"
)


@dataclass(frozen=True)
class Scaler:
    """(x - mean) / scale; or, with neither, rows that sum to 1."""

    mean: np.ndarray | None
    scale: np.ndarray | None

    @property
    def is_of_rows(self) -> bool:
        return self.mean is None


def scaler_of(scaler: Any, num_features: int, least: float) -> Scaler:
    """least: the smallest value of the features."""
    name = type(scaler).__name__
    if name == "NormalizeFeatures":
        if tuple(getattr(scaler, "attrs", ())) != ("x",):
            raise errors.InvalidError(f"scaler: NormalizeFeatures of {scaler.attrs}: only that of x is known here")
        if least != 0:  # it subtracts the smallest value of all data, which an edit may change for every node
            raise errors.InvalidError(
                f"scaler: NormalizeFeatures subtracts the smallest value of all features, which is {least:g} here: it "
                "can be followed exactly only where that is 0"
            )
        return Scaler(None, None)
    if hasattr(scaler, "mean_") and hasattr(scaler, "scale_"):
        mean, scale = scaler.mean_, scaler.scale_  # None: it does not do that part
    elif isinstance(scaler, (tuple, list)) and len(scaler) == 2:
        mean, scale = scaler
    elif name == "StandardScaler":
        raise errors.InvalidError("scaler: the StandardScaler is not fitted yet")
    else:
        raise TypeError(f"scaler is a {name}: {EXPECTED}")
    return Scaler(_row(mean, 0, num_features, "mean"), _row(scale, 1, num_features, "deviation"))


def _row(values: Any, missing: float, num_features: int, what: str) -> np.ndarray:
    if values is None:
        return np.full(num_features, missing)
    try:
        row = np.broadcast_to(np.asarray(values, np.float64), (num_features,))
    except (TypeError, ValueError):
        raise errors.InvalidError(
            f"scaler: the {what} has the shape {np.shape(values)}: expected a number for each of {num_features} "
            "features"
        ) from None
    if not np.isfinite(row).all() or (what == "deviation" and not (row > 0).all()):
        expected = "numbers above 0" if what == "deviation" else "numbers"
        raise errors.InvalidError(f"scaler: the {what} has {row.min():g} in it: expected {expected}")
    return row
