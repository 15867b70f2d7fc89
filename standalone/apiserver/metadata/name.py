"""The forms of names in the API: RFC 1123 subdomains and labels, RFC 1035 labels, qualified names and label values.

Owns their grammar and the objections in kube-apiserver's words; an empty list is no objection.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Form:
    """What a name may be: a length, a pattern, and the two in words with examples."""

    limit_bytes: int
    pattern: str
    rule: str
    examples: tuple[str, ...]

    def objections(self, value: str) -> list[str]:
        found = self.length_objections(value)
        return found if re.fullmatch(self.pattern, value) else [*found, self.description]

    def length_objections(self, value: str) -> list[str]:
        return [f"must be no more than {self.limit_bytes} bytes"] if len(value) > self.limit_bytes else []

    @property
    def description(self) -> str:
        shown = " or ".join(f"'{example}', " for example in self.examples)
        return f"{self.rule} (e.g. {shown}regex used for validation is '{self.pattern}')"


_ENDS = "and must start and end with an alphanumeric character"
_LABEL_PATTERN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED_PATTERN = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_QUALIFIED_RULE = f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS}"
_SUBDOMAIN = _Form(
    253,
    rf"{_LABEL_PATTERN}(\.{_LABEL_PATTERN})*",
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ENDS}",
    ("example.com",),
)
_LABEL = _Form(
    63,
    _LABEL_PATTERN,
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS}",
    ("my-name", "123-abc"),
)
_LABEL_1035 = _Form(
    63,
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    ("my-name", "abc-123"),
)
_LABEL_VALUE = _Form(
    63,
    f"({_QUALIFIED_PATTERN})?",
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_ENDS}",
    ("MyValue", "my_value", "12345"),
)
_QUALIFIED = _Form(63, _QUALIFIED_PATTERN, _QUALIFIED_RULE, ("MyName", "my.name", "123-abc"))


def is_qualified_finalizer(name: str) -> bool:
    """Whether a finalizer says whose it is, by a domain or because Kubernetes itself has it."""
    return "/" in name or name in ("kubernetes", "orphan", "foregroundDeletion")


def subdomain_objections(name: str) -> list[str]:
    """A lowercase RFC 1123 subdomain: the names of most objects."""
    return _SUBDOMAIN.objections(name)


def label_objections(name: str) -> list[str]:
    """A lowercase RFC 1123 label: the names of namespaces."""
    if "." in name and not _SUBDOMAIN.objections(name):
        return [*_LABEL.length_objections(name), "must not contain dots"]
    return _LABEL.objections(name)


def label_1035_objections(name: str) -> list[str]:
    """An RFC 1035 label: the names of services and of versions."""
    return _LABEL_1035.objections(name)


def label_value_objections(value: str) -> list[str]:
    """The value of a label; it may be empty."""
    return _LABEL_VALUE.objections(value)


def qualified_objections(name: str) -> list[str]:
    """A name with an optional DNS subdomain before it: label keys, annotation keys, finalizers."""
    prefix, slash, local = name.rpartition("/")
    if "/" in prefix:
        described = _Form(
            63, _QUALIFIED_PATTERN, f"a qualified name {_QUALIFIED_RULE}", _QUALIFIED.examples
        ).description
        return [f"{described} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    objections = []
    if slash:
        of_prefix = _SUBDOMAIN.objections(prefix) if prefix else ["must be non-empty"]
        objections = [f"prefix part {each}" for each in of_prefix]
    if not local:
        objections.append("name part must be non-empty")
    return objections + [f"name part {each}" for each in _QUALIFIED.objections(local)]
