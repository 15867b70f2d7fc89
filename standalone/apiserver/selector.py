"""Label and field selectors: their grammar and whether an object matches.

Owns the query syntax (labels: `k=v,k!=v,k in (a,b),k notin (a,b),k,!k`; fields: `path=v,path!=v`). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from standalone.apiserver.conversion import decoded
from standalone.apiserver.metadata.name import label_value_objections, qualified_objections
from standalone.apiserver.status import bad_request
from standalone.resource import Resource
from standalone.schema.gotext import quote
from standalone.store.record import Record

_SET = re.compile(r"(?P<key>\S+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_ORDER = re.compile(r"(?P<key>[^=!<>]+?)\s*(?P<operator>[<>])\s*(?P<value>\S*)")
_EQUALITY = re.compile(r"(?P<key>[^=!]+?)\s*(?P<operator>==|!=|=)\s*(?P<value>[^=!]*)")
_COMMA_OUTSIDE_PARENTHESES = re.compile(r",(?![^(]*\))")


class Operator(Enum):
    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    ABSENT = "absent"
    GREATER = ">"
    LESS = "<"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one key; `NOT_IN` also holds when the key is absent, as in Kubernetes."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def holds(self, value: str | None) -> bool:
        if self.operator is Operator.EXISTS:
            return value is not None
        if self.operator is Operator.ABSENT:
            return value is None
        if self.operator in (Operator.GREATER, Operator.LESS):
            return self._is_beyond(value)
        return (value in self.values) is (self.operator is Operator.IN)

    def _is_beyond(self, value: str | None) -> bool:
        """Whether a label is a number beyond that of the requirement; what is no number is not."""
        if value is None or not _INTEGER.fullmatch(value):
            return False
        (bound,) = self.values
        return int(value) > int(bound) if self.operator is Operator.GREATER else int(value) < int(bound)


Selector = tuple[Requirement, ...]
Matcher = Callable[[Record], bool]


@lru_cache(maxsize=512)
def parse_label_selector(text: str) -> Selector:
    """Raises ApiError 400 with what could not be read."""
    return tuple(_label_requirement(term.strip()) for term in _terms(text))


@lru_cache(maxsize=512)
def parse_field_selector(text: str) -> Selector:
    """Raises ApiError 400 with what could not be read."""
    found = []
    for term in filter(None, re.split(r"(?<!\\),", text)):
        match = _EQUALITY.fullmatch(term.strip())
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        value = re.sub(r"\\(.)", r"\1", match["value"])
        operator = Operator.NOT_IN if match["operator"] == "!=" else Operator.IN
        found.append(Requirement(match["key"], operator, frozenset({value})))
    return tuple(found)


def matcher(resource: Resource, label_selector: str, field_selector: str) -> Matcher | None:
    """One predicate for both selectors, or None when everything matches. Raises ApiError 400."""
    labels = parse_label_selector(label_selector)
    fields = parse_field_selector(field_selector)
    selectable = {
        "metadata.name",
        *(("metadata.namespace",) if resource.namespaced else ()),
        *resource.selectable_fields,
    }
    for requirement in fields:
        if requirement.key not in selectable:
            raise bad_request(f"field label not supported: {requirement.key}")
    if not labels and not fields:
        return None
    return lambda record: matches_labels(labels, record.labels) and _matches_fields(fields, resource, record)


def matches_labels(selector: Selector, labels: Mapping[str, str]) -> bool:
    return all(requirement.holds(labels.get(requirement.key)) for requirement in selector)


def name_of(field_selector: str) -> str | None:
    """The one name a field selector pins, so that a list or watch need not look at the others."""
    for requirement in parse_field_selector(field_selector):
        if requirement.key == "metadata.name" and requirement.operator is Operator.IN:
            return next(iter(requirement.values))
    return None


def _matches_fields(selector: Selector, resource: Resource, record: Record) -> bool:
    obj: dict[str, Any] | None = None
    for requirement in selector:
        if requirement.key == "metadata.name":
            value: str | None = record.key.name
        elif requirement.key == "metadata.namespace":
            value = record.key.namespace
        else:
            obj = decoded(resource, record) if obj is None else obj
            value = _field(obj, requirement.key)
        if not requirement.holds(value):
            return False
    return True


def _field(obj: Mapping[str, Any], path: str) -> str:
    value: Any = obj
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _terms(text: str) -> list[str]:
    return _COMMA_OUTSIDE_PARENTHESES.split(text) if text.strip() else []


def _label_requirement(term: str) -> Requirement:
    if match := _SET.fullmatch(term):
        values = frozenset(value.strip() for value in match["values"].split(","))
        return _checked(Requirement(match["key"], Operator(match["operator"]), values))
    if match := _EQUALITY.fullmatch(term):
        operator = Operator.NOT_IN if match["operator"] == "!=" else Operator.IN
        return _checked(Requirement(match["key"].strip(), operator, frozenset({match["value"].strip()})))
    if match := _ORDER.fullmatch(term):
        if not _INTEGER.fullmatch(match["value"]):
            why = "for 'Gt', 'Lt' operators, the value must be an integer"
            raise bad_request(f"unable to parse requirement: values[0]: Invalid value: {quote(match['value'])}: {why}")
        return _checked(Requirement(match["key"], Operator(match["operator"]), frozenset({match["value"]})))
    if term.startswith("!"):
        return _checked(Requirement(term[1:].strip(), Operator.ABSENT))
    return _checked(Requirement(term, Operator.EXISTS))


def _checked(requirement: Requirement) -> Requirement:
    key = requirement.key
    if objections := qualified_objections(key):
        raise bad_request(f"unable to parse requirement: key: Invalid value: {quote(key)}: {'; '.join(objections)}")
    for value in sorted(requirement.values):
        if objections := label_value_objections(value):
            where = f"values[0][{key}]: Invalid value: {quote(value)}"
            raise bad_request(f"unable to parse requirement: {where}: {'; '.join(objections)}")
    return requirement
