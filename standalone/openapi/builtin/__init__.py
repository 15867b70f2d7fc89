"""Schemas of the kinds that need no CustomResourceDefinition, one YAML file per group version.

Owns these files and their reading. They describe the fields of the public Kubernetes API in our own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

META_DOCUMENT = "meta.v1"


@lru_cache(maxsize=32)
def document(name: str) -> Mapping[str, Any]:
    """The content of one file by its name without the suffix; an unknown name is an empty document."""
    source = resources.files(__name__).joinpath(f"{name}.yaml")
    if not source.is_file():
        return {}
    content: Mapping[str, Any] = yaml.load(source.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return content


def builtin_schema(group: str, version: str, kind: str) -> Mapping[str, Any] | None:
    """The `openAPIV3Schema`-shaped root schema of a built-in kind, or None when we describe none.

    `metadata` is a plain object there, as in a CustomResourceDefinition; publishing fills it in.
    """
    schema: Mapping[str, Any] | None = document(f"{group or 'core'}.{version}").get(kind)
    return schema
