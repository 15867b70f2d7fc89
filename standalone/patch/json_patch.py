"""JSON patch (RFC 6902), with kube-apiserver's limits and its leniencies.

Owns the six operations. Leniencies kept for equality with kube-apiserver: `replace` of a member that is not there adds
it, `test` takes an absent member for null, and array indexes may count from the end.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

import orjson

from standalone.patch.error import inapplicable, malformed, too_large
from standalone.schema.equality import same

OPERATIONS_LIMIT: Final = 10_000
COPIED_LIMIT_BYTES: Final = 3 * 1024 * 1024
_OPERATIONS: Final = ("add", "remove", "replace", "move", "copy", "test")
_WITH_VALUE: Final = ("add", "replace", "test")
_WITH_FROM: Final = ("move", "copy")

Container = dict[str, Any] | list[Any]


def json_patch(document: dict[str, Any], operations: Any) -> dict[str, Any]:
    """Return `document` after all `operations`; the document itself stays as it is.

    Raises PatchError: 400 for a malformed patch, 413 past the limits, 422 for an operation that does not apply or a
    test that fails. Either all operations take effect or none.
    """
    steps = _parse(operations)
    editor = _Editor(document)
    for step in steps:
        editor.run(step)
    if not isinstance(editor.root, dict):
        raise inapplicable("the patched document must be an object")
    return editor.root


def _parse(operations: Any) -> list[Mapping[str, Any]]:
    if not isinstance(operations, list):
        raise malformed("error decoding patch: a JSON patch must be a list of operations")
    if len(operations) > OPERATIONS_LIMIT:
        raise too_large(f"The allowed maximum operations in a JSON patch is {OPERATIONS_LIMIT}, got {len(operations)}")
    for index, operation in enumerate(operations):
        _judge_operation(index, operation)
    return operations


def _judge_operation(index: int, operation: Any) -> None:
    where = f"error decoding patch: operation {index}"
    if not isinstance(operation, dict):
        raise malformed(f"{where} must be an object")
    name = operation.get("op")
    if name not in _OPERATIONS:
        raise inapplicable(f"Unexpected kind: {name if isinstance(name, str) else 'unknown'}")
    for pointer in ("path", "from") if name in _WITH_FROM else ("path",):
        text = operation.get(pointer)
        if not isinstance(text, str):
            raise malformed(f"{where} ({name}) needs {pointer}, a JSON pointer")
        if text and not text.startswith("/"):
            raise inapplicable(f"{name} operation does not apply: doc is missing path: {text}: missing value")
    if name in _WITH_VALUE and "value" not in operation:
        raise malformed(f"{where} ({name}) needs a value")


class _Editor:
    """Applies operations to a copy that is made only along the edited paths."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.root: Any = document
        self._owned: dict[int, Container] = {}
        self._copied_bytes = 0

    def run(self, step: Mapping[str, Any]) -> None:
        name, path = step["op"], step["path"]
        if name == "test":
            self._test(path, step["value"])
        elif name == "remove":
            self._remove(path, name)
        elif name == "move":
            self._add(path, self._remove(step["from"], name), name)
        elif name == "copy":
            self._add(path, self._copy(step["from"]), name)
        elif name == "add":
            self._add(path, step["value"], name)
        else:
            self._replace(path, step["value"])

    def _test(self, path: str, expected: Any) -> None:
        found = self._value_at(path, "test")
        if not (same(found, expected) or _equal_numbers(found, expected)):
            raise inapplicable(f"testing value {path} failed: test failed")

    def _copy(self, path: str) -> Any:
        value = self._value_at(path, "copy")
        self._copied_bytes += len(orjson.dumps(value))
        if self._copied_bytes > COPIED_LIMIT_BYTES:
            raise inapplicable(
                f"Unable to complete the copy, the accumulated size increase of copy is {self._copied_bytes}, "
                f"exceeding the limit {COPIED_LIMIT_BYTES}"
            )
        return copy.deepcopy(value)

    def _value_at(self, path: str, operation: str) -> Any:
        value = self.root
        for key in _keys(path):
            value = _member(value, key, path, operation)
        return value

    def _parent_of(self, path: str, operation: str) -> tuple[Container, str]:
        """Return the container that holds the last key of `path`, made ours to change, and that key."""
        keys = _keys(path)
        self.root = container = self._own(self.root, path, operation)
        for key in keys[:-1]:
            child = self._own(_member(container, key, path, operation), path, operation)
            if isinstance(container, dict):
                container[key] = child
            else:
                container[_index(key, len(container), path, operation)] = child
            container = child
        return container, keys[-1]

    def _own(self, value: Any, path: str, operation: str) -> Container:
        if id(value) in self._owned:
            return self._owned[id(value)]
        if not isinstance(value, dict | list):
            raise _missing(path, operation)
        own = value.copy()
        self._owned[id(own)] = own
        return own

    def _add(self, path: str, value: Any, operation: str) -> None:
        if not path:
            self.root = value
            return
        container, key = self._parent_of(path, operation)
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            container.insert(_index(key, len(container) + 1, path, operation), value)

    def _remove(self, path: str, operation: str) -> Any:
        if not path:
            raise _missing(path, operation)
        container, key = self._parent_of(path, operation)
        if isinstance(container, list):
            return container.pop(_index(key, len(container), path, operation))
        if key not in container:
            raise inapplicable(
                f"error in {operation} for path: '{path}': Unable to remove nonexistent key: {key}: missing value"
            )
        return container.pop(key)

    def _replace(self, path: str, value: Any) -> None:
        if not path:
            self.root = value
            return
        container, key = self._parent_of(path, "replace")
        if isinstance(container, dict):
            container[key] = value
        else:
            container[_index(key, len(container), path, "replace")] = value


def _keys(path: str) -> list[str]:
    return [key.replace("~1", "/").replace("~0", "~") for key in path.split("/")[1:]]


def _member(container: Any, key: str, path: str, operation: str) -> Any:
    if isinstance(container, dict):
        if key not in container and operation != "test":
            raise _missing(path, operation)
        return container.get(key)
    if isinstance(container, list):
        return container[_index(key, len(container), path, operation)]
    raise _missing(path, operation)


def _index(key: str, size: int, path: str, operation: str) -> int:
    digits = key.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise inapplicable(f"error in {operation} for path: '{path}': value was not a proper array index: '{key}'")
    index = int(key)
    if not -size <= index < size:
        raise inapplicable(
            f"error in {operation} for path: '{path}': Unable to access invalid index: {index}: invalid index referenced"
        )
    return index % size


def _missing(path: str, operation: str) -> Exception:
    return inapplicable(f'{operation} operation does not apply: doc is missing path: "{path}": missing value')


def _equal_numbers(left: Any, right: Any) -> bool:
    """RFC 6902 section 4.6: numbers are equal when their values are numerically equal."""
    return type(left) in (int, float) and type(right) in (int, float) and bool(left == right)
