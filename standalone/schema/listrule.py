"""How a schema may declare list and map types.

Owns the faults of `x-kubernetes-list-type`, `-list-map-keys` and `-map-type`. Uniqueness in objects is in `uniqueness`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from standalone.schema.fault import Fault, forbidden, invalid, not_supported, required

_LIST_TYPES: Final = ("atomic", "set", "map")
_MAP_TYPES: Final = ("atomic", "granular")
_KEYS: Final = "x-kubernetes-list-map-keys"
_LIST_TYPE: Final = "x-kubernetes-list-type"
_MAP_TYPE: Final = "x-kubernetes-map-type"


def list_and_map_faults(schema: Mapping[str, Any], path: str) -> list[Fault]:
    """Return the faults of list and map types at one position."""
    faults = _declared_type_faults(schema, path, _MAP_TYPE, "object", _MAP_TYPES)
    faults += _declared_type_faults(schema, path, _LIST_TYPE, "array", _LIST_TYPES)
    list_type, keys = schema.get(_LIST_TYPE), schema.get(_KEYS) or []
    if keys and list_type is None:
        faults.append(required(f"{path}.{_LIST_TYPE}", f"must be map if {_KEYS} is non-empty"))
    elif keys and list_type != "map":
        faults.append(invalid(f"{path}.{_LIST_TYPE}", list_type, f"must be map if {_KEYS} is non-empty"))
    if list_type == "map":
        faults += _map_faults(schema, path, keys)
    if list_type == "set" and schema.get("type") == "array" and schema.get("items") is not None:
        faults += _set_item_faults(schema["items"], f"{path}.items")
    if list_type in ("map", "set") and (schema.get("items") or {}).get("nullable"):
        faults.append(forbidden(f"{path}.items.nullable", f"cannot be nullable when {_LIST_TYPE} is {list_type}"))
    return faults


def _declared_type_faults(
    schema: Mapping[str, Any], path: str, keyword: str, kind: str, allowed: tuple[str, ...]
) -> list[Fault]:
    declared = schema.get(keyword)
    if declared is None:
        return []
    faults = []
    found = schema.get("type") or ""
    if not found:
        faults.append(required(f"{path}.type", f"must be {kind} if {keyword} is specified"))
    elif found != kind:
        faults.append(invalid(f"{path}.type", found, f"must be {kind} if {keyword} is specified"))
    if declared not in allowed:
        faults.append(not_supported(f"{path}.{keyword}", declared, allowed))
    return faults


def _set_item_faults(items: Mapping[str, Any], path: str) -> list[Fault]:
    detail = f"must be atomic as item of a list with {_LIST_TYPE}=set"
    if items.get("type") == "array" and items.get(_LIST_TYPE) not in (None, "atomic"):
        return [invalid(f"{path}.{_LIST_TYPE}", items.get(_LIST_TYPE), detail)]
    if items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        return [invalid(f"{path}.{_MAP_TYPE}", items.get(_LIST_TYPE), detail)]
    return []


def _map_faults(schema: Mapping[str, Any], path: str, keys: list[str]) -> list[Fault]:
    faults = []
    if not keys:
        faults.append(required(f"{path}.{_KEYS}", f"must not be empty if {_LIST_TYPE} is map"))
    items = schema.get("items")
    if items is None:
        return [*faults, required(f"{path}.items", f"must have a schema if {_LIST_TYPE} is map")]
    if items.get("type") != "object":
        found = items.get("type") or ""
        detail = f"must be object if parent array's {_LIST_TYPE} is map"
        return [*faults, invalid(f"{path}.items.type", found, detail)]
    for index, key in enumerate(keys):
        faults += _key_faults(items, path, key, keys)
        if key in keys[:index]:
            faults.append(invalid(f"{path}.{_KEYS}", keys, "must not contain duplicate entries"))
    return faults


def _key_faults(items: Mapping[str, Any], path: str, key: str, keys: list[str]) -> list[Fault]:
    prop = (items.get("properties") or {}).get(key)
    if prop is None:
        return [invalid(f"{path}.{_KEYS}", keys, "entries must all be names of item properties")]
    faults = []
    below = f"{path}.items.properties[{key}]"
    if prop.get("type") in ("array", "object"):
        detail = f"must be a scalar type if parent array's {_LIST_TYPE} is map"
        faults.append(invalid(f"{below}.type", items.get("type"), detail))
    if key not in (items.get("required") or ()) and prop.get("default") is None:
        detail = f"this property is in {_KEYS}, so it must have a default or be a required property"
        faults.append(required(f"{below}.default", detail))
    if prop.get("nullable"):
        faults.append(forbidden(f"{below}.nullable", f"this property is in {_KEYS}, so it cannot be nullable"))
    return faults
