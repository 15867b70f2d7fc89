"""CEL types of schema positions, so that misspelt members and mixed types are refused with the schema.

Owns the translation of nodes to protobuf descriptors, which is how the engine takes static types. The one module that
touches the untyped protobuf package.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import (  # type: ignore[import-untyped,unused-ignore]  # protobuf ships no type stubs
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    struct_pb2,
    timestamp_pb2,
)

from standalone.schema.cel.naming import escaped
from standalone.schema.node import Node

_PACKAGE: Final = "schema"
_Field: Final[Any] = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final[dict[str, Any]] = {
    "string": _Field.TYPE_STRING,
    "integer": _Field.TYPE_INT64,
    "number": _Field.TYPE_DOUBLE,
    "boolean": _Field.TYPE_BOOL,
}
_STRING_FORMS: Final = {"byte": "bytes", "date": "timestamp", "datetime": "timestamp", "duration": "duration"}
_DYNAMIC: Final = ".google.protobuf.Value"
_DYNAMIC_LIST: Final = ".google.protobuf.ListValue"
_DYNAMIC_MAP: Final = ".google.protobuf.Struct"
_STRING: Final = Node(types=("string",))
_OBJECT_META: Final = Node(types=("object",), properties={"name": _STRING, "generateName": _STRING})
RESOURCE_PROPERTIES: Final = {"apiVersion": _STRING, "kind": _STRING, "metadata": _OBJECT_META}
"""What rules may read at the root of an object or embedded object whether or not the schema mentions it."""


def is_exposed(node: Node) -> bool:
    """Return whether rules can reach values at this position at all: their type must be known."""
    if node.int_or_string:
        return True
    if not node.types:
        return False
    if node.types[0] == "array":
        return node.items is not None and is_exposed(node.items)
    return node.additional is None or is_exposed(node.additional)


def exposed_properties(node: Node, *, is_resource: bool) -> dict[str, Node]:
    """Return the properties rules can name, by their CEL identifiers."""
    properties = {**node.properties, **RESOURCE_PROPERTIES} if is_resource else node.properties
    named = ((escaped(name), child) for name, child in properties.items() if is_exposed(child))
    return {identifier: child for identifier, child in named if identifier is not None}


class Declarations:
    """The message types of one schema, made on demand; `pool` is what the engine reads them from."""

    def __init__(self) -> None:
        self._file: Any = descriptor_pb2.FileDescriptorProto(name="schema.proto", package=_PACKAGE, syntax="proto2")
        self._names: dict[tuple[int, bool], str] = {}
        self._kept: list[Node] = []

    def message_of(self, node: Node, *, is_resource: bool) -> str:
        """Return the full name of the message type for an object node."""
        key = (id(node), is_resource)
        if key not in self._names:
            self._names[key] = name = f"{_PACKAGE}.Object{len(self._names)}"
            self._kept.append(node)
            message = self._file.message_type.add(name=name.rpartition(".")[2])
            properties = exposed_properties(node, is_resource=is_resource)
            for number, (identifier, child) in enumerate(properties.items(), start=1):
                self._declare(message, identifier, number, child)
        return self._names[key]

    def pool(self) -> Any:
        """Return a pool of all messages declared so far."""
        pool = descriptor_pool.DescriptorPool()
        for module in (struct_pb2, timestamp_pb2, duration_pb2):
            known: Any = descriptor_pb2.FileDescriptorProto()
            module.DESCRIPTOR.CopyToProto(known)
            pool.Add(known)
            if known.name not in self._file.dependency:
                self._file.dependency.append(known.name)
        pool.Add(self._file)
        return pool

    def _declare(self, message: Any, identifier: str, number: int, node: Node) -> None:
        field = message.field.add(name=identifier, number=number, label=_Field.LABEL_OPTIONAL)
        form = form_of(node)
        if form == "array" and node.items is not None and form_of(node.items) not in ("array", "map"):
            field.label = _Field.LABEL_REPEATED
            self._set_type(field, node.items)
        elif form == "map" and node.additional is not None and form_of(node.additional) not in ("array", "map"):
            field.label = _Field.LABEL_REPEATED
            field.type = _Field.TYPE_MESSAGE
            field.type_name = self._map_entry(message, identifier, node.additional)
        else:
            self._set_type(field, node)

    def _map_entry(self, message: Any, identifier: str, node: Node) -> str:
        # The engine takes a map from a repeated message of this name and shape (protobuf's own encoding of maps).
        camel = "".join(part[:1].upper() + part[1:] for part in identifier.split("_"))
        entry = message.nested_type.add(name=f"{camel}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=_Field.LABEL_OPTIONAL, type=_Field.TYPE_STRING)
        self._set_type(entry.field.add(name="value", number=2, label=_Field.LABEL_OPTIONAL), node)
        return f".{_PACKAGE}.{message.name}.{entry.name}"

    def _set_type(self, field: Any, node: Node) -> None:
        form = form_of(node)
        if form in _SCALARS:
            field.type = _SCALARS[form]
            return
        if form == "bytes":
            field.type = _Field.TYPE_BYTES
            return
        field.type = _Field.TYPE_MESSAGE
        known = {
            "dynamic": _DYNAMIC,
            "array": _DYNAMIC_LIST,
            "map": _DYNAMIC_MAP,
            "timestamp": ".google.protobuf.Timestamp",
            "duration": ".google.protobuf.Duration",
        }
        field.type_name = known.get(form) or f".{self.message_of(node, is_resource=node.embedded)}"


def form_of(node: Node) -> str:
    """Return the kind of CEL type of a position: a scalar's type name, `array`, `map`, `object` or `dynamic`.

    Nullable positions are dynamic: the static types of messages have no null.
    """
    return "dynamic" if node.nullable else value_form(node)


def value_form(node: Node) -> str:
    """Return the kind of CEL type of values other than null."""
    if node.int_or_string or not node.types:
        return "dynamic"
    kind = node.types[0]
    if kind == "string":
        return _STRING_FORMS.get(node.format.replace("-", ""), "string")
    return "map" if kind == "object" and node.additional is not None else kind


def timestamp(seconds: int, nanos: int) -> Any:
    """Return a moment, as seconds since 1970 in UTC, in the form the engine takes inside other values."""
    return timestamp_pb2.Timestamp(seconds=seconds, nanos=nanos)


def duration(seconds: int, nanos: int) -> Any:
    """Return a span of time in the form the engine takes inside other values; both parts carry the sign."""
    return duration_pb2.Duration(seconds=seconds, nanos=nanos)
