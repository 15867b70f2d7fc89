"""JSON merge patch (RFC 7386)."""

from __future__ import annotations

from typing import Any

from standalone.patch.error import malformed


def merge_patch(document: dict[str, Any], patch: Any) -> dict[str, Any]:
    """Return `document` with `patch` merged in; null removes a member, lists replace lists.

    Raises PatchError (400) when the patch is not an object: an API object cannot be replaced by anything else.
    """
    if not isinstance(patch, dict):
        raise malformed(f"error decoding patch: a merge patch must be an object, found {_json_name(patch)}")
    return _merged(document, patch)


def _merged(target: Any, patch: dict[str, Any]) -> dict[str, Any]:
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            result[name] = _merged(result.get(name), value)
        else:
            result[name] = value
    return result


def _json_name(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "a boolean", str: "a string", list: "a list"}.get(type(value), "a number")
