"""OpenAPI version 2 in the protocol buffer form that kubectl asks for (gnostic's `openapi.v2.Document`).

Owns the encoding from the JSON-shaped document, by the public field numbers. Extensions travel as YAML text; JSON is
YAML.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import orjson

ACCEPTED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
"""What clients write in `Accept`."""
CONTENT_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""What the answer is called: `@` is no character of a media type, and Go refuses an answer that has it."""

Json = Mapping[str, Any]

_VARINT, _FIXED64, _LENGTH = 0, 1, 2
_SCHEMA_TEXTS = {"$ref": 1, "format": 2, "title": 3, "description": 4, "pattern": 13}
_SCHEMA_NUMBERS = {"multipleOf": 6, "maximum": 7, "minimum": 9}
_SCHEMA_COUNTS = {
    "exclusiveMaximum": 8,
    "exclusiveMinimum": 10,
    "maxLength": 11,
    "minLength": 12,
    "maxItems": 14,
    "minItems": 15,
    "uniqueItems": 16,
    "maxProperties": 17,
    "minProperties": 18,
}
_METHODS = {"get": 2, "put": 3, "post": 4, "delete": 5, "patch": 8}


def v2_protobuf(document: Json) -> bytes:
    """Encode the document that `v2_document` makes; answered under CONTENT_TYPE."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    paths = b"".join(_message(2, _named(path, _path_item(item))) for path, item in document["paths"].items())
    definitions = b"".join(
        _message(1, _named(name, _schema(schema))) for name, schema in document["definitions"].items()
    )
    return _text(1, document["swagger"]) + _message(2, info) + _message(8, paths) + _message(9, definitions)


def _schema(schema: Json) -> bytes:
    parts = [_text(number, schema[key]) for key, number in _SCHEMA_TEXTS.items() if key in schema]
    parts += [_double(number, schema[key]) for key, number in _SCHEMA_NUMBERS.items() if key in schema]
    parts += [_integer(number, int(schema[key])) for key, number in _SCHEMA_COUNTS.items() if key in schema]
    parts += [_text(19, name) for name in schema.get("required", ())]
    parts += [_message(20, _any(value)) for value in schema.get("enum", ())]
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        parts.append(_message(21, _message(1, _schema(additional))))
    elif additional is not None:
        parts.append(_message(21, _integer(2, int(additional))))
    if "type" in schema:
        parts.append(_message(22, _text(1, schema["type"])))
    if "items" in schema:
        parts.append(_message(23, _message(1, _schema(schema["items"]))))
    parts += [_message(24, _schema(each)) for each in schema.get("allOf", ())]
    if "properties" in schema:
        properties = (_message(1, _named(name, _schema(each))) for name, each in schema["properties"].items())
        parts.append(_message(25, b"".join(properties)))
    if "example" in schema:
        parts.append(_message(30, _any(schema["example"])))
    parts.append(_extensions(31, schema))
    return b"".join(parts)


def _path_item(item: Json) -> bytes:
    operations = (_message(number, _operation(item[method])) for method, number in _METHODS.items() if method in item)
    return b"".join(operations) + b"".join(_message(9, _parameter(each)) for each in item["parameters"])


def _operation(operation: Json) -> bytes:
    parts = [
        *(_text(1, tag) for tag in operation["tags"]),
        _text(3, operation["description"]),
        _text(5, operation["operationId"]),
        *(_text(6, each) for each in operation["produces"]),
        *(_text(7, each) for each in operation["consumes"]),
        *(_message(8, _parameter(each)) for each in operation["parameters"]),
        _message(9, b"".join(_message(1, _response(code, each)) for code, each in operation["responses"].items())),
        *(_text(10, each) for each in operation["schemes"]),
        _extensions(13, operation),
    ]
    return b"".join(parts)


def _parameter(parameter: Json) -> bytes:
    """A ParametersItem: the body has a form of its own, query and path parameters differ in their field numbers."""
    place = parameter["in"]
    if place == "body":
        body = _text(2, parameter["name"]) + _text(3, place) + _integer(4, int(parameter["required"]))
        return _message(1, _message(1, body + _message(5, _schema(parameter["schema"]))))
    shift, unique, choice = (1, 20, 3) if place == "query" else (0, 19, 4)
    parts = [
        _integer(1, int(parameter.get("required", False))),
        _text(2, place),
        _text(3, parameter.get("description", "")),
        _text(4, parameter["name"]),
        _text(5 + shift, parameter["type"]),
        _integer(unique, int(parameter.get("uniqueItems", False))),
    ]
    return _message(1, _message(2, _message(choice, b"".join(parts))))


def _response(code: str, response: Json) -> bytes:
    content = _text(1, response["description"])
    if "schema" in response:
        content += _message(2, _message(1, _schema(response["schema"])))
    return _named(code, _message(1, content))


def _extensions(number: int, holder: Json) -> bytes:
    return b"".join(
        _message(number, _named(name, _any(value))) for name, value in holder.items() if name.startswith("x-")
    )


def _any(value: Any) -> bytes:
    return _text(2, orjson.dumps(value).decode())


def _named(name: str, value: bytes) -> bytes:
    return _text(1, name) + _message(2, value)


def _text(number: int, value: str) -> bytes:
    return _message(number, value.encode()) if value else b""


def _message(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH) + _varint(len(content)) + content


def _integer(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value & (1 << 64) - 1) if value else b""


def _double(number: int, value: float) -> bytes:
    return _varint(number << 3 | _FIXED64) + struct.pack("<d", value)


def _varint(value: int) -> bytes:
    digits: list[int] = []
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])
