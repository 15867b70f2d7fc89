"""The forms of names in the API: RFC 1123 subdomains and labels, RFC 1035 labels, qualified names and label values.

Owns their grammar and the objections in kube-apiserver's words; an empty list is no objection.
"""

from __future__ import annotations

import re

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"
_QUALIFIED_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_QUALIFIED_EXAMPLES = ("MyName", "my.name", "123-abc")


def subdomain_objections(name: str) -> list[str]:
    """A lowercase RFC 1123 subdomain: the names of most objects."""
    rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end"
    return _objections(name, 253, _SUBDOMAIN, f"{rule} with an alphanumeric character", "example.com")


def label_objections(name: str) -> list[str]:
    """A lowercase RFC 1123 label: the names of namespaces."""
    rule = (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end"
    )
    return _objections(name, 63, _LABEL, f"{rule} with an alphanumeric character", "my-name", "123-abc")


def label_1035_objections(name: str) -> list[str]:
    """An RFC 1035 label: the names of services."""
    rule = (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character"
    )
    return _objections(name, 63, _LABEL_1035, f"{rule}, and end with an alphanumeric character", "my-name", "abc-123")


def label_value_objections(value: str) -> list[str]:
    """The value of a label; it may be empty."""
    rule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end"
    return _objections(value, 63, _VALUE, f"{rule} with an alphanumeric character", "MyValue", "my_value", "12345")


def qualified_objections(name: str) -> list[str]:
    """A name with an optional DNS subdomain before it: label keys, annotation keys, finalizers."""
    prefix, slash, local = name.rpartition("/")
    if "/" in prefix:
        rule = f"a qualified name {_QUALIFIED_RULE}"
        form = _regex_rule(rule, _QUALIFIED, _QUALIFIED_EXAMPLES)
        return [f"{form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    objections = []
    if slash:
        objections = [
            f"prefix part {each}" for each in (subdomain_objections(prefix) if prefix else ["must be non-empty"])
        ]
    if not local:
        objections.append("name part must be non-empty")
    found = _objections(local, 63, _QUALIFIED, _QUALIFIED_RULE, *_QUALIFIED_EXAMPLES)
    return objections + [f"name part {each}" for each in found]


def _objections(value: str, limit_bytes: int, pattern: str, rule: str, *examples: str) -> list[str]:
    objections = []
    if len(value) > limit_bytes:
        objections.append(f"must be no more than {limit_bytes} bytes")
    if not re.fullmatch(pattern, value):
        objections.append(_regex_rule(rule, pattern, examples))
    return objections


def _regex_rule(rule: str, pattern: str, examples: tuple[str, ...]) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"
