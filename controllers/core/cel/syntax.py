"""Checked expressions as values: the part of CEL's abstract syntax that the cost of an expression depends on.

Reads the serialized form (cel.expr.CheckedExpr) through a descriptor of its own, which names the fields that are read and
skips all others; whoever writes it back keeps them. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import (  # type: ignore[import-untyped] # no stubs are installed for protobuf
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; `text` is None unless it is a string."""

    text: str | None


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """A field of a value, or with `presence` whether it is there."""

    operand: Node
    field: str
    presence: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator; the target of a member call is its first argument."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list or map literal; the entries of a map are its keys and values."""

    elements: tuple[Node, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Loop:
    """A comprehension, which is what every macro over a list or a map becomes."""

    variables: tuple[str, ...]
    source: Node
    accumulator: str
    initial: Node
    condition: Node
    step: Node
    result: Node


Node = Literal | Name | Select | Call | Sequence | Loop


def parse_checked(serialized: bytes) -> Node:
    """Return the syntax of a serialized checked expression (google.protobuf.Any holding a cel.expr.CheckedExpr)."""
    envelope = _Envelope.FromString(serialized)
    return _node(_Checked.FromString(envelope.value).expr)


def rename_calls(serialized: bytes, names: Mapping[str, str]) -> bytes:
    """Return a serialized expression in which functions are called by other names."""
    envelope = _Envelope.FromString(serialized)
    checked = _Checked.FromString(envelope.value)
    _rename(checked, names)
    envelope.value = checked.SerializeToString()
    renamed: bytes = envelope.SerializeToString()
    return renamed


def _rename(message: Any, names: Mapping[str, str]) -> None:
    if message.DESCRIPTOR is _Call:
        message.function = names.get(message.function, message.function)
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in value if field.is_repeated else (value,):
                _rename(each, names)


def _node(expr: Any) -> Node:
    match expr.WhichOneof("kind"):
        case "const_expr":
            constant = expr.const_expr
            return Literal(constant.string_value if constant.HasField("string_value") else None)
        case "ident_expr":
            return Name(expr.ident_expr.name)
        case "select_expr":
            select = expr.select_expr
            return Select(_node(select.operand), select.field, select.test_only)
        case "call_expr":
            call = expr.call_expr
            target = (_node(call.target),) if call.HasField("target") else ()
            return Call(call.function, target + tuple(_node(each) for each in call.args))
        case "list_expr":
            return Sequence(tuple(_node(each) for each in expr.list_expr.elements), "")
        case "struct_expr":
            return Sequence(tuple(_entry_nodes(expr.struct_expr.entries)), expr.struct_expr.message_name)
        case "comprehension_expr":
            return _loop(expr.comprehension_expr)
        case kind:
            raise ValueError(f"an expression of kind {kind} is not known")


def _entry_nodes(entries: Any) -> list[Node]:
    nodes = []
    for entry in entries:
        if entry.HasField("map_key"):
            nodes.append(_node(entry.map_key))
        nodes.append(_node(entry.value))
    return nodes


def _loop(loop: Any) -> Loop:
    return Loop(
        variables=tuple(name for name in (loop.iter_var, loop.iter_var2) if name),
        source=_node(loop.iter_range),
        accumulator=loop.accu_var,
        initial=_node(loop.accu_init),
        condition=_node(loop.loop_condition),
        step=_node(loop.loop_step),
        result=_node(loop.result),
    )


_PACKAGE: Final = "checked"
_MESSAGES: Final[dict[str, tuple[tuple[str, int, str], ...]]] = {
    "Envelope": (("value", 2, "bytes"),),
    "Checked": (("expr", 4, "Expr"),),
    "Expr": (
        ("const_expr", 3, "Constant"),
        ("ident_expr", 4, "Ident"),
        ("select_expr", 5, "Select"),
        ("call_expr", 6, "Call"),
        ("list_expr", 7, "List"),
        ("struct_expr", 8, "Struct"),
        ("comprehension_expr", 9, "Loop"),
    ),
    "Constant": (("string_value", 6, "string"),),
    "Ident": (("name", 1, "string"),),
    "Select": (("operand", 1, "Expr"), ("field", 2, "string"), ("test_only", 3, "bool")),
    "Call": (("target", 1, "Expr"), ("function", 2, "string"), ("args", 3, "Expr*")),
    "List": (("elements", 1, "Expr*"),),
    "Struct": (("message_name", 1, "string"), ("entries", 2, "Entry*")),
    "Entry": (("map_key", 3, "Expr"), ("value", 4, "Expr")),
    "Loop": (
        ("iter_var", 1, "string"),
        ("iter_range", 2, "Expr"),
        ("accu_var", 3, "string"),
        ("accu_init", 4, "Expr"),
        ("loop_condition", 5, "Expr"),
        ("loop_step", 6, "Expr"),
        ("result", 7, "Expr"),
        ("iter_var2", 8, "string"),
    ),
}


def _message_classes() -> tuple[Any, Any, Any]:
    file: Any = descriptor_pb2.FileDescriptorProto(name="checked.proto", package=_PACKAGE, syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name == "Expr":
            message.oneof_decl.add(name="kind")
        for field_name, number, kind in fields:
            _add_field(message, field_name, number, kind)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    envelope, checked, call = (
        pool.FindMessageTypeByName(f"{_PACKAGE}.{name}") for name in ("Envelope", "Checked", "Call")
    )
    return message_factory.GetMessageClass(envelope), message_factory.GetMessageClass(checked), call


def _add_field(message: Any, name: str, number: int, kind: str) -> None:
    types: Any = descriptor_pb2.FieldDescriptorProto
    field = message.field.add(name=name, number=number, label=types.LABEL_OPTIONAL)
    if kind.endswith("*"):
        field.label = types.LABEL_REPEATED
    element = kind.rstrip("*")
    if element in _MESSAGES:
        field.type, field.type_name = types.TYPE_MESSAGE, f".{_PACKAGE}.{element}"
    else:
        field.type = getattr(types, f"TYPE_{element.upper()}")
    if message.name == "Expr":
        field.oneof_index = 0


_Envelope, _Checked, _Call = _message_classes()
