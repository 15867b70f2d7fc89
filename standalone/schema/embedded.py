"""Objects inside objects (`x-kubernetes-embedded-resource`): their type and metadata.

Owns what an embedded object must say of itself. The rest of it is judged by its own schema; the metadata of the outer
object is not judged here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from standalone.schema.equality import same
from standalone.schema.fault import Fault, invalid, required
from standalone.schema.node import ABSENT, Node
from standalone.schema.path import Path, spelled_with_keys
from standalone.schema.pattern import Pattern

_KIND: Final = Pattern(r"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$")
_NAMESPACE: Final = Pattern(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
_KIND_DETAIL: Final = (
    "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric "
    "characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  "
    "or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_NAMESPACE_DETAIL: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_METADATA_TYPES: Final[Mapping[str, type]] = {
    "annotations": dict,
    "creationTimestamp": str,
    "deletionGracePeriodSeconds": int,
    "deletionTimestamp": str,
    "finalizers": list,
    "generateName": str,
    "generation": int,
    "labels": dict,
    "managedFields": list,
    "name": str,
    "namespace": str,
    "ownerReferences": list,
    "resourceVersion": str,
    "selfLink": str,
    "uid": str,
}
_NAMES: Final = {dict: "an object", list: "a list", str: "a string", int: "an integer"}


def check_embedded(node: Node, value: Any, old: Any, path: Path | None, faults: list[Fault]) -> None:
    """Append the faults of every embedded object below `value`; sub-trees equal to `old` are skipped."""
    if not (node.embedded or node.embedded_below) or (old is not ABSENT and same(value, old)):
        return
    if isinstance(value, dict):
        if node.embedded:
            faults.extend(_type_faults(value, path))
            if value.get("metadata") is not None:
                faults.extend(_metadata_faults(value["metadata"], Path(path, "metadata")))
        for name, member in value.items():
            child = node.properties.get(name)
            below = child or node.additional
            if below is not None:
                before = old.get(name, ABSENT) if isinstance(old, dict) else ABSENT
                check_embedded(below, member, before, Path(path, name, child is None), faults)
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            before = old[index] if isinstance(old, list) and index < len(old) else ABSENT
            check_embedded(node.items, item, before, Path(path, index), faults)


def _type_faults(value: dict[str, Any], path: Path | None) -> list[Fault]:
    faults = []
    for name in ("apiVersion", "kind"):
        where = spelled_with_keys(Path(path, name))
        text = value.get(name)
        if name not in value:
            faults.append(required(where))
        elif not isinstance(text, str):
            faults.append(invalid(where, text, "must be a string"))
        elif not text:
            faults.append(invalid(where, text, "must not be empty"))
        elif name == "apiVersion" and text.count("/") > 1:
            faults.append(invalid(where, text, f"unexpected GroupVersion string: {text}"))
        elif name == "kind" and not _KIND.matches(text.lower()):
            faults.append(invalid(where, text, _KIND_DETAIL))
    return faults


def _metadata_faults(metadata: Any, path: Path) -> list[Fault]:
    where = spelled_with_keys(path)
    if not isinstance(metadata, dict):
        return [invalid(where, metadata, "must be an object")]
    misshapen = [
        invalid(f"{where}.{name}", metadata[name], f"must be {_NAMES[expected]}")
        for name, expected in _METADATA_TYPES.items()
        if metadata.get(name) is not None and not _is(metadata[name], expected)
    ]
    return misshapen or _content_faults(metadata, where)


def _is(value: Any, expected: type) -> bool:
    return isinstance(value, expected) and not isinstance(value, bool)


def _content_faults(metadata: dict[str, Any], where: str) -> list[Fault]:
    faults = []
    for name in ("name", "generateName"):
        text = metadata.get(name) or ""
        if name == "name" and text in (".", ".."):
            faults.append(invalid(f"{where}.{name}", text, f"may not be '{text}'"))
        faults.extend(
            invalid(f"{where}.{name}", text, f"may not contain '{character}'")
            for character in "/%"
            if character in text
        )
    namespace = metadata.get("namespace") or ""
    if namespace and not _NAMESPACE.matches(namespace):
        faults.append(invalid(f"{where}.namespace", namespace, _NAMESPACE_DETAIL))
    for name in ("labels", "annotations"):
        faults.extend(
            invalid(f"{where}.{name}", text, f"the value of {key} must be a string")
            for key, text in (metadata.get(name) or {}).items()
            if not isinstance(text, str)
        )
    return faults
