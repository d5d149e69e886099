# SPDX-License-Identifier: Apache-2.0
"""_header.py is made when the package is built; its names are those of combinex.h."""

from typing import Any

def __getattr__(name: str) -> Any: ...
