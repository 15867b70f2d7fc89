"""Judges an `openAPIV3Schema` itself: is it structural, and does it use only what Kubernetes supports.

Owns the faults of schemas, worded as a CustomResourceDefinition's refusal words them. Never looks at objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def schema_faults(schema: Mapping[str, Any], field: str) -> list[Any]:
    return []
