"""Structural OpenAPI schemas for CustomResourceDefinitions, made from the pydantic types.

Owns the translation: references inlined, nullable unions folded, titles dropped, map and atomic lists kept. Never writes files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from zonemodel.model import Model

_KEPT: Final = (
    "type",
    "format",
    "description",
    "enum",
    "default",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "required",
)
_JUDGED_AT_ADMISSION: Final = (
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "required",
)


def structural_schema(model: type[Model], *, strict: bool) -> dict[str, Any]:
    """Return the structural schema of a type.

    With `strict` off, value constraints and required fields are left to admission, which can then name every fault of a
    manifest in one refusal; types, list semantics and map keys stay.
    """
    document = model.model_json_schema(by_alias=True)
    return _translate(document, document.get("$defs", {}), strict)


def _translate(node: Mapping[str, Any], defs: Mapping[str, Any], strict: bool) -> dict[str, Any]:
    merged = _resolve(node, defs)
    out: dict[str, Any] = {key: merged[key] for key in _KEPT if key in merged}
    out.update({key: value for key, value in merged.items() if key.startswith("x-kubernetes-")})
    if _defaulted_by_code(merged):
        out.pop("default", None)
    if properties := merged.get("properties"):
        out["properties"] = {name: _translate(child, defs, strict) for name, child in properties.items()}
    if "items" in merged:
        out["items"] = _translate(merged["items"], defs, strict)
    if out.get("type") == "object" and "properties" not in out:
        _translate_map(merged, out, defs, strict)
    if not strict:
        for key in _JUDGED_AT_ADMISSION:
            out.pop(key, None)
    _require_map_keys(out)
    return out


def _resolve(node: Mapping[str, Any], defs: Mapping[str, Any]) -> dict[str, Any]:
    """Inline `$ref` and fold `anyOf: [X, null]`; what stands beside them (the field's own words) wins."""
    own = {key: value for key, value in node.items() if key not in {"$ref", "anyOf", "allOf"}}
    targets = [node] if "$ref" in node else [option for option in node.get("anyOf", ()) if option.get("type") != "null"]
    if not targets:
        return own
    if len(targets) != 1:
        raise TypeError(f"a union of several types has no structural schema: {node}")
    target = targets[0]
    resolved = _resolve(defs[target["$ref"].rsplit("/", 1)[1]], defs) if "$ref" in target else _resolve(target, defs)
    return {**resolved, **own}


def _defaulted_by_code(node: Mapping[str, Any]) -> bool:
    """True for defaults that mean "left out": pydantic states them, the API must not store them."""
    return "default" in node and (isinstance(node["default"], dict) or node["default"] in (None, [], ""))


def _translate_map(merged: Mapping[str, Any], out: dict[str, Any], defs: Mapping[str, Any], strict: bool) -> None:
    values = merged.get("additionalProperties")
    if isinstance(values, Mapping) and values:
        out["additionalProperties"] = _translate(values, defs, strict)
    elif "additionalProperties" in merged:
        out["x-kubernetes-preserve-unknown-fields"] = True


def _require_map_keys(out: dict[str, Any]) -> None:
    if out.get("x-kubernetes-list-type") == "map":
        required = set(out["items"].get("required", ())) | set(out["x-kubernetes-list-map-keys"])
        out["items"]["required"] = sorted(required)
