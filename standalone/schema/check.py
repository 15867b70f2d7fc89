"""Validates a value against its schema node, with the messages of Kubernetes' OpenAPI validator.

Owns types, limits, enums, formats, required fields and the walk. `junctor` owns allOf, anyOf, oneOf and not;
`uniqueness` set and map lists; `cel` validation rules. Never changes the value.
"""

from __future__ import annotations

from typing import Any, Final

from standalone.schema import gotext
from standalone.schema.correlation import old_items, old_member
from standalone.schema.equality import same
from standalone.schema.fault import (
    NO_FIELD,
    Fault,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
    type_invalid,
)
from standalone.schema.format import string_matches
from standalone.schema.jsontype import INT64, NATIVE_FORMATS, json_type, type_fits
from standalone.schema.junctor import check_junctors
from standalone.schema.node import ABSENT, Limits, Node
from standalone.schema.path import Path, spelled

_INT32: Final = range(-(1 << 31), 1 << 31)
_FLOAT32_MAX: Final = 3.4028234663852886e38


def check(node: Node, value: Any, old: Any, path: Path | None, faults: list[Fault]) -> None:
    """Append what is wrong with `value`.

    `old` is the correlated earlier value, or ABSENT: an unchanged sub-tree is not judged again (ratcheting), so that
    objects stored under an older schema can still be updated and a small edit in a large object stays cheap.
    """
    if old is not ABSENT and same(value, old):
        return
    if value is None:
        _check_null(node, path, faults)
        return
    kind = json_type(value)
    _check_type(node, value, kind, path, faults)
    if node.all_of or node.any_of or node.one_of or node.not_:
        check_junctors(node, value, path, faults, judged)
    if kind == "string":
        _check_string(node, value, path, faults)
    elif kind in ("integer", "number"):
        _check_number(node, value, path, faults)
    elif kind == "array":
        _check_array(node, value, old, path, faults)
    if node.enum and not any(_equals_choice(value, choice) for choice in node.enum):
        faults.append(not_supported(spelled(path) or NO_FIELD, value, _choices(node)))
    if kind == "object":
        _check_object(node, value, old, path, faults)


def judged(node: Node, value: Any, path: Path | None) -> list[Fault]:
    """Return what is wrong with `value` on its own, without regard to an earlier one."""
    faults: list[Fault] = []
    check(node, value, ABSENT, path, faults)
    return faults


def _check_null(node: Node, path: Path | None, faults: list[Fault]) -> None:
    name = spelled(path)
    if node.types and not node.nullable:
        detail = f'{name} in body must be of type {",".join(node.types)}: "null"'
        faults.append(type_invalid(name or NO_FIELD, "null", detail))
    if node.enum:
        faults.append(not_supported(name or NO_FIELD, None, _choices(node)))


def _check_type(node: Node, value: Any, kind: str, path: Path | None, faults: list[Fault]) -> None:
    if type_fits(node, value, kind):
        return
    wanted, found = ",".join(node.types), kind
    if node.format and kind not in ("string", "array"):
        wanted, found = node.format, NATIVE_FORMATS.get(kind, "")
    name = spelled(path)
    detail = f"{name} in body must be of type {wanted}: {gotext.quote(found)}"
    faults.append(type_invalid(name or NO_FIELD, found, detail))


def _check_string(node: Node, text: str, path: Path | None, faults: list[Fault]) -> None:
    if node.limits is not None and (fault := _string_fault(node.limits, text, path)) is not None:
        faults.append(fault)
    if node.format and not string_matches(node.format, text):
        name = spelled(path)
        detail = f"{name} in body must be of type {node.format}: {gotext.quote(text)}"
        faults.append(type_invalid(name or NO_FIELD, text, detail))


def _string_fault(limits: Limits, text: str, path: Path | None) -> Fault | None:
    if limits.max_length is not None and len(text) > limits.max_length:
        return too_long(spelled(path) or NO_FIELD, limits.max_length)
    if limits.min_length is not None and len(text) < limits.min_length:
        return _invalid(path, text, f"should be at least {limits.min_length} chars long")
    if limits.pattern is not None and not limits.pattern.matches(text):
        return _invalid(path, text, f"should match '{limits.pattern.text}'")
    return None


def _check_number(node: Node, value: float, path: Path | None, faults: list[Fault]) -> None:
    if len(node.types) == 1 and not _in_range(node.types[0], node.format, value):
        with_format = f"with format {node.format}" if node.format else "(default format)"
        detail = f"Checked value must be of type {node.types[0]} {with_format} in {spelled(path)}"
        faults.append(invalid(NO_FIELD, "", detail))
    if node.limits is None:
        return
    limits = node.limits
    if limits.multiple_of is not None and not _is_multiple(value, limits.multiple_of):
        faults.append(_invalid(path, value, f"should be a multiple of {gotext.number(limits.multiple_of)}"))
    if limits.minimum is not None:
        bound = _bound(limits.minimum, value)
        if value < bound or (limits.exclusive_minimum and value == bound):
            word = "greater than" if limits.exclusive_minimum else "greater than or equal to"
            faults.append(_invalid(path, value, f"should be {word} {gotext.number(bound)}"))
    if limits.maximum is not None:
        bound = _bound(limits.maximum, value)
        if value > bound or (limits.exclusive_maximum and value == bound):
            word = "less than" if limits.exclusive_maximum else "less than or equal to"
            faults.append(_invalid(path, value, f"should be {word} {gotext.number(bound)}"))


def _bound(limit: float, value: float) -> float:
    """Integers are compared with the limit cut to an integer, floats with the limit as a float, as Kubernetes does."""
    return int(limit) if isinstance(value, int) and value in INT64 else float(limit)


def _in_range(type_name: str, format_name: str, value: float) -> bool:
    if type_name == "integer":
        return int(value) == value and int(value) in (_INT32 if format_name == "int32" else INT64)
    return format_name != "float" or abs(value) <= _FLOAT32_MAX


def _is_multiple(value: float, factor: float) -> bool:
    if isinstance(value, int) and float(factor).is_integer():
        return value % int(factor) == 0
    quotient = 1 / factor * value if factor < 1 else value / factor
    return abs(quotient - round(quotient)) < 1e-9


def _check_array(node: Node, value: list[Any], old: Any, path: Path | None, faults: list[Fault]) -> None:
    if node.items is not None:
        item_node = node.items
        plain = item_node.plain
        earlier = old_items(node, value, old)
        for index, item in enumerate(value):
            if type(item) is not plain:
                check(item_node, item, earlier[index] if earlier else ABSENT, Path(path, index), faults)
    if node.limits is None:
        return
    if node.limits.min_items is not None and len(value) < node.limits.min_items:
        faults.append(_invalid(path, len(value), f"should have at least {node.limits.min_items} items"))
    if node.limits.max_items is not None and len(value) > node.limits.max_items:
        faults.append(too_many(spelled(path) or NO_FIELD, len(value), node.limits.max_items))
    if node.limits.unique_items and _has_twins(value):
        faults.append(_invalid(path, "", "shouldn't contain duplicates"))


def _has_twins(value: list[Any]) -> bool:
    return any(same(item, earlier) for index, item in enumerate(value) for earlier in value[:index])


def _check_object(node: Node, value: dict[str, Any], old: Any, path: Path | None, faults: list[Fault]) -> None:
    if node.limits is not None:
        _check_size(node.limits, value, path, faults)
    properties, additional = node.properties, node.additional
    for name, member in value.items():
        child = properties.get(name, additional)
        if child is None:
            if node.additional_forbidden:
                faults.append(_invalid_text(path, name, f"{spelled(path)}.{name} in body is a forbidden property"))
        elif type(member) is not child.plain:
            check(child, member, old_member(old, name, member), Path(path, name), faults)
    faults.extend(required(spelled(Path(path, name))) for name in node.required if name not in value)


def _check_size(limits: Limits, value: dict[str, Any], path: Path | None, faults: list[Fault]) -> None:
    if limits.min_properties is not None and len(value) < limits.min_properties:
        faults.append(_invalid(path, len(value), f"should have at least {limits.min_properties} properties"))
    if limits.max_properties is not None and len(value) > limits.max_properties:
        faults.append(too_many(spelled(path) or NO_FIELD, len(value), limits.max_properties))


def _equals_choice(value: Any, choice: Any) -> bool:
    if type(value) in (int, float) and type(choice) in (int, float):
        return bool(value == choice)
    return same(value, choice)


def _choices(node: Node) -> list[str]:
    return [choice if isinstance(choice, str) else gotext.json_text(choice) for choice in node.enum]


def _invalid(path: Path | None, value: Any, detail: str) -> Fault:
    return _invalid_text(path, value, f"{spelled(path)} in body {detail}")


def _invalid_text(path: Path | None, value: Any, detail: str) -> Fault:
    return invalid(spelled(path) or NO_FIELD, value, detail)
