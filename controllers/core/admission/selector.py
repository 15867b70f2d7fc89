"""Label selectors in grants: their shape, as the Kubernetes API defines it (metav1.LabelSelector).

An empty selector selects everything; a grant that means everything has to say so, hence empty ones are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from controllers.api.reference import SelectorOperator
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    LABEL_LIMIT_CHARS,
    Field,
    is_subdomain,
    judge_choice,
    require_list,
    require_object,
    require_text,
)

REQUIREMENT_LIMIT: Final = 64
LABEL_KEY: Final = (
    "a label key: letters, digits, '-', '_' and '.', at most 63 characters, after an optional DNS prefix and '/'"
)
LABEL_VALUE: Final = "a label value: letters, digits, '-', '_' and '.', at most 63 characters"

_WORD: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?\Z")


def require_selector(selector: Field) -> Iterator[Fault]:
    """Object to a selector that is absent, empty or malformed."""
    allowed = "a selector with matchLabels, matchExpressions or both"
    faults = list(require_object(selector, allowed))
    yield from faults
    if faults:
        return
    labels, expressions = selector.child("matchLabels"), selector.child("matchExpressions")
    if not labels.names() and not expressions.size:
        yield selector.fault(f"{allowed}; an empty one would select every namespace")
    yield from _judge_labels(labels)
    if expressions.size:
        yield from _judge_requirements(expressions)


def _judge_labels(labels: Field) -> Iterator[Fault]:
    if not isinstance(labels.value, Mapping):
        return
    if len(labels.value) > REQUIREMENT_LIMIT:
        yield labels.fault(f"at most {REQUIREMENT_LIMIT} labels", FaultReason.TOO_MANY)
        return
    for key in labels.value:
        field = Field(f"{labels.path}[{key}]", labels.value[key])
        if not _is_key(key):
            yield Field(labels.path, key).fault(LABEL_KEY)
        if field.text is None or not _is_value(field.text):
            yield field.fault(LABEL_VALUE)


def _judge_requirements(expressions: Field) -> Iterator[Fault]:
    faults = list(require_list(expressions, "a list of requirements", REQUIREMENT_LIMIT))
    yield from faults
    if faults:
        return
    for item in expressions.items():
        key, operator, values = item.child("key"), item.child("operator"), item.child("values")
        yield from require_text(key, LABEL_KEY)
        if key.text and not _is_key(key.text):
            yield key.fault(LABEL_KEY)
        yield from require_text(operator, f"one of {', '.join(SelectorOperator)}")
        if operator.text:
            yield from judge_choice(operator, list(SelectorOperator))
        yield from _judge_values(values, operator.text)


def _judge_values(values: Field, operator: str | None) -> Iterator[Fault]:
    if operator in {SelectorOperator.EXISTS, SelectorOperator.DOES_NOT_EXIST}:
        if values.size:
            yield values.fault(f"nothing with operator {operator}", FaultReason.FORBIDDEN)
        return
    faults = list(require_list(values, f"a list with at least one item, {LABEL_VALUE}", REQUIREMENT_LIMIT))
    yield from faults
    if not faults:
        yield from (each.fault(LABEL_VALUE) for each in values.items() if each.text is None or not _is_value(each.text))


def _is_key(key: object) -> bool:
    if not isinstance(key, str):
        return False
    prefix, slash, name = key.rpartition("/")
    return (not slash or is_subdomain(prefix)) and 0 < len(name) <= LABEL_LIMIT_CHARS and _WORD.match(name) is not None


def _is_value(value: str) -> bool:
    return value == "" or (len(value) <= LABEL_LIMIT_CHARS and _WORD.match(value) is not None)
