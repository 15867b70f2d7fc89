"""The fields of ObjectMeta and their types: unknown ones are dropped, wrong types are refused.

Owns the table of fields and the wording of a type that does not fit, which is that of a Go JSON decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

JsonObject = dict[str, Any]


class MetadataTypeError(ValueError):
    """A value of the wrong JSON type; the message says where and what is expected."""


def known_only(metadata: JsonObject) -> list[str]:
    """Drop unknown fields in place and return their paths. Raises MetadataTypeError."""
    unknown = [name for name in metadata if name not in _FIELDS]
    for name in unknown:
        del metadata[name]
    for name, value in metadata.items():
        if value is not None:
            _FIELDS[name](value, f"ObjectMeta.metadata.{name}")
    return [f"metadata.{name}" for name in sorted(unknown)]


def _string(value: Any, field: str) -> None:
    _expect(isinstance(value, str), value, field, "string")


def _integer(value: Any, field: str) -> None:
    _expect(isinstance(value, int) and not isinstance(value, bool), value, field, "int64")


def _boolean(value: Any, field: str) -> None:
    _expect(isinstance(value, bool), value, field, "bool")


def _string_map(value: Any, field: str) -> None:
    _expect(isinstance(value, dict), value, field, "map[string]string")
    for each in value.values():
        if each is not None:
            _string(each, field)


def text_of_nulls(texts: JsonObject) -> JsonObject:
    """Labels or annotations in which null is the empty text, as it is read into text."""
    return {name: text or "" for name, text in texts.items()} if None in texts.values() else texts


def _string_list(value: Any, field: str) -> None:
    _expect(isinstance(value, list), value, field, "[]string")
    for each in value:
        _string(each, field)


def _owners(value: Any, field: str) -> None:
    _expect(isinstance(value, list), value, field, "[]v1.OwnerReference")
    for each in value:
        _expect(isinstance(each, dict), each, field, "v1.OwnerReference")
        for name, member in each.items():
            check = _OWNER_FIELDS.get(name)
            if check is not None and member is not None:
                check(member, f"OwnerReference.metadata.ownerReferences.{name}")


def _managers(value: Any, field: str) -> None:
    _expect(isinstance(value, list), value, field, "[]v1.ManagedFieldsEntry")
    for each in value:
        _expect(isinstance(each, dict), each, field, "v1.ManagedFieldsEntry")


def _expect(fits: bool, value: Any, field: str, wanted: str) -> None:
    if not fits:
        raise MetadataTypeError(
            f"json: cannot unmarshal {_json_type(value)} into Go struct field {field} of type {wanted}"
        )


def _json_type(value: Any) -> str:
    names: Iterator[str] = (name for kinds, name in _JSON_TYPES if isinstance(value, kinds))
    return next(names, "null")


_JSON_TYPES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "bool"),
    (str, "string"),
    ((int, float), "number"),
    (list, "array"),
    (dict, "object"),
)
_OWNER_FIELDS: dict[str, Callable[[Any, str], None]] = {
    "apiVersion": _string,
    "kind": _string,
    "name": _string,
    "uid": _string,
    "controller": _boolean,
    "blockOwnerDeletion": _boolean,
}
_FIELDS: dict[str, Callable[[Any, str], None]] = {
    "name": _string,
    "generateName": _string,
    "namespace": _string,
    "selfLink": _string,
    "uid": _string,
    "resourceVersion": _string,
    "generation": _integer,
    "creationTimestamp": _string,
    "deletionTimestamp": _string,
    "deletionGracePeriodSeconds": _integer,
    "labels": _string_map,
    "annotations": _string_map,
    "ownerReferences": _owners,
    "finalizers": _string_list,
    "managedFields": _managers,
}
