"""Reads recorded vectors: what kube-apiserver's own libraries (v0.37) answered for generated input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def vectors(path: Path) -> list[Any]:
    """Return the values of a file with one JSON value a line."""
    return [json.loads(line) for line in path.read_text().splitlines()]
