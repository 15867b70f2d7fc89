"""`Field`: one place in a raw manifest, with its path, and the checks that hold for fields of any kind.

Manifests are what a JSON parser gives: dicts, lists, texts, numbers. A null counts as absent, as it does in the Kubernetes
API. Checks are generators of faults, so that callers chain them
in the order in which a person should read them. Knows no resource type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from controllers.core.providercontract.fault import Fault, FaultReason, describe

NAME_LIMIT_CHARS: Final = 253
LABEL_LIMIT_CHARS: Final = 63
OBJECT_NAME: Final = "the name of an object: lowercase letters, digits, hyphens and dots, at most 253 characters"
NAMESPACE_NAME: Final = "the name of a namespace: lowercase letters, digits and hyphens, at most 63 characters"

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAMESPACE: Final = re.compile(rf"{_LABEL}\Z")
_SUBDOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\Z")


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its path from the root of the manifest and its JSON value, None when it is absent."""

    path: str
    value: object

    @property
    def present(self) -> bool:
        return self.value is not None

    def child(self, name: str) -> Field:
        """Return the field `name` below this one, absent when this one is no object."""
        path = f"{self.path}.{name}" if self.path else name
        return Field(path, self.value.get(name) if isinstance(self.value, dict) else None)

    def at(self, dotted: str) -> Field:
        """Return the field at a dotted path below this one."""
        field = self
        for name in dotted.split("."):
            field = field.child(name)
        return field

    def names(self) -> list[str]:
        """Return the names of the fields below this one that are present."""
        return [key for key, value in self.value.items() if value is not None] if isinstance(self.value, dict) else []

    def items(self) -> Iterator[Field]:
        """Yield the items of a list, nothing for anything else."""
        if isinstance(self.value, list):
            for index, value in enumerate(self.value):
                yield Field(f"{self.path}[{index}]", value)

    @property
    def text(self) -> str | None:
        """The value when it is a text, also an empty one."""
        return self.value if isinstance(self.value, str) else None

    @property
    def integer(self) -> int | None:
        """The value when it is an integer."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None

    @property
    def size(self) -> int:
        """How many items a list has, 0 for anything else."""
        return len(self.value) if isinstance(self.value, list) else 0

    def fault(self, allowed: str, reason: FaultReason = FaultReason.INVALID) -> Fault:
        """Return the fault that this field's value is not what is allowed."""
        return Fault(self.path, describe(self.value), allowed, reason)


def require_object(field: Field, allowed: str) -> Iterator[Fault]:
    """Object to a field that is absent or no JSON object."""
    if not field.present:
        yield field.fault(allowed, FaultReason.REQUIRED)
    elif not isinstance(field.value, dict):
        yield field.fault(allowed, FaultReason.TYPE_INVALID)


def require_text(field: Field, allowed: str) -> Iterator[Fault]:
    """Object to a field that is absent, no text, or an empty one."""
    if not field.present or field.value == "":
        yield field.fault(allowed, FaultReason.REQUIRED)
    elif field.text is None:
        yield field.fault(allowed, FaultReason.TYPE_INVALID)


def require_list(field: Field, allowed: str, limit_items: int) -> Iterator[Fault]:
    """Object to a field that is absent, no list, an empty one or one of more than `limit_items`."""
    if not field.present or field.value == []:
        yield field.fault(allowed, FaultReason.REQUIRED)
    elif not isinstance(field.value, list):
        yield field.fault(allowed, FaultReason.TYPE_INVALID)
    elif field.size > limit_items:
        yield field.fault(f"at most {limit_items} items", FaultReason.TOO_MANY)


def require_integer(field: Field, low: int, high: int) -> Iterator[Fault]:
    """Object to a field that is absent or no integer from `low` to `high`."""
    allowed = f"an integer from {low} to {high}"
    if not field.present:
        yield field.fault(allowed, FaultReason.REQUIRED)
    elif field.integer is None:
        yield field.fault(allowed, FaultReason.TYPE_INVALID)
    elif not low <= field.integer <= high:
        yield field.fault(allowed)


def require_object_name(field: Field) -> Iterator[Fault]:
    """Object to a field that cannot be the name of an object (RFC 1123 subdomain)."""
    yield from require_text(field, OBJECT_NAME)
    if field.text and not is_subdomain(field.text):
        yield field.fault(OBJECT_NAME)


def judge_reference(field: Field, what: str) -> Iterator[Fault]:
    """Object to a field that is no `{namespace?, name}` reference; `what` says what it must name."""
    faults = list(require_object(field, f"{what}: name, and namespace when it is another one"))
    if faults:
        yield from faults
        return
    yield from require_object_name(field.child("name"))
    namespace = field.child("namespace")
    if namespace.present and (namespace.text is None or not _NAMESPACE.match(namespace.text)):
        yield namespace.fault(NAMESPACE_NAME)


def judge_duplicates(
    items: Sequence[Field], identity: Callable[[Field], Hashable | None], what: str
) -> Iterator[Fault]:
    """Object to each item whose identity stood before; an identity of None is not compared."""
    first: dict[Hashable, str] = {}
    for item in items:
        key = identity(item)
        if key is None:
            continue
        if key in first:
            yield item.fault(f"each {what} once; it is the same as {first[key]}", FaultReason.DUPLICATE)
        else:
            first[key] = item.path


def judge_choice(field: Field, choices: Collection[str]) -> Iterator[Fault]:
    """Object to a present field that is none of the choices."""
    if field.present and field.value not in list(choices):
        yield field.fault(f"one of {', '.join(choices)}", FaultReason.NOT_SUPPORTED)


def judge_immutable(new: Field, old: Field, names: Sequence[str]) -> Iterator[Fault]:
    """Object to each field below `new` that differs from the one below `old`."""
    for name in names:
        before, after = old.at(name), new.at(name)
        if before.value != after.value:
            yield after.fault(f"{describe(before.value)}, since the field is immutable", FaultReason.FORBIDDEN)


def is_subdomain(text: str) -> bool:
    """Say whether a text is a lowercase RFC 1123 subdomain of at most 253 characters."""
    return len(text) <= NAME_LIMIT_CHARS and _SUBDOMAIN.match(text) is not None
