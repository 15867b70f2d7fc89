"""Message types for the type checker: shapes as protobuf descriptors.

The types serve the checker only; values never become messages, so a field that is absent is an error and not a default.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf import (  # type: ignore[import-untyped] # no stubs are installed for protobuf
    descriptor_pb2,
    descriptor_pool,
    struct_pb2,
    wrappers_pb2,
)

from controllers.core.cel.shape import Kind, Shape

_Field: Final[Any] = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final = {
    Kind.TEXT: (_Field.TYPE_STRING, ".google.protobuf.StringValue"),
    Kind.INTEGER: (_Field.TYPE_INT64, ".google.protobuf.Int64Value"),
    Kind.NUMBER: (_Field.TYPE_DOUBLE, ".google.protobuf.DoubleValue"),
    Kind.BOOLEAN: (_Field.TYPE_BOOL, ".google.protobuf.BoolValue"),
}
_ANY: Final = ".google.protobuf.Value"


class Messages:
    """The message types of one environment; `pool` is what the checker looks them up in."""

    def __init__(self) -> None:
        self._file: Any = descriptor_pb2.FileDescriptorProto(name="shapes.proto", syntax="proto2")
        self._file.dependency.extend([struct_pb2.DESCRIPTOR.name, wrappers_pb2.DESCRIPTOR.name])

    def add(self, name: str, shape: Shape) -> str:
        """Add an OBJECT shape and everything below it; return the name of its message type."""
        message = self._file.message_type.add(name=name)
        for number, (field_name, field_shape) in enumerate(shape.fields.items(), start=1):
            field = message.field.add(name=field_name, number=number)
            self._describe(field, field_shape, message, f"{name}_{field_name}")
        return name

    def pool(self) -> Any:
        """Return a descriptor pool that holds the types."""
        pool = descriptor_pool.DescriptorPool()
        for dependency in (struct_pb2, wrappers_pb2):
            pool.AddSerializedFile(dependency.DESCRIPTOR.serialized_pb)
        pool.AddSerializedFile(self._file.SerializeToString())
        return pool

    def _describe(self, field: Any, shape: Shape, parent: Any, name: str) -> None:
        field.label = _Field.LABEL_OPTIONAL
        element = shape.element
        if shape.kind is Kind.LIST and element is not None:
            field.label = _Field.LABEL_REPEATED
            self._describe_value(field, element, name)
        elif shape.kind is Kind.MAP and element is not None:
            field.label = _Field.LABEL_REPEATED
            self._describe_map(field, element, parent, name)
        else:
            self._describe_value(field, shape, name)

    def _describe_map(self, field: Any, element: Shape, parent: Any, name: str) -> None:
        """A map is a list of entries, each a nested message whose name protobuf derives from that of the field."""
        words = [word for word in field.name.split("_") if word]
        entry = parent.nested_type.add(name="".join(word[:1].upper() + word[1:] for word in words) + "Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL)
        value = entry.field.add(name="value", number=2, label=_Field.LABEL_OPTIONAL)
        self._describe_value(value, element, name)
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{parent.name}.{entry.name}"

    def _describe_value(self, field: Any, shape: Shape, name: str) -> None:
        """One value that is no list or map of its own; protobuf nests neither in the other, so such elements stay open."""
        if shape.kind in _SCALARS:
            scalar, wrapper = _SCALARS[shape.kind]
            if not shape.nullable:
                field.type = scalar
                return
            field.type_name = wrapper
        elif shape.kind is Kind.OBJECT:
            field.type_name = f".{self.add(name, shape)}"
        else:
            field.type_name = _ANY
        field.type = _Field.TYPE_MESSAGE
