"""Validation of `spec.allowedRecordSets`: the grants of a Zone to RecordSets of other namespaces.

Patterns come from tenants: they are bounded in number and size, and only RE2 reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controllers.core.admission.selector import require_selector
from controllers.core.pattern import Pattern, PatternError
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    Field,
    judge_choice,
    judge_duplicates,
    require_list,
    require_object,
    require_text,
)
from zonemodel.record import RecordType

GRANT_LIMIT: Final = 64
PATTERN_LIMIT: Final = 128
"""Patterns of one Zone: each costs up to a millisecond to compile."""
PROGRAM_LIMIT: Final = 16_384
"""Instructions of all patterns of one Zone: at worst, each RecordSet of another namespace runs all of them for each octet of its name."""


def judge_grants(grants: Field) -> Iterator[Fault]:
    """Object to grants that are malformed, empty in some part, or too many; no grants at all are fine."""
    if not grants.present or grants.value == []:
        return
    faults = list(require_list(grants, "a list of grants", GRANT_LIMIT))
    yield from faults
    if faults:
        return
    patterns = sum(grant.child("records").size for grant in grants.items())
    if patterns > PATTERN_LIMIT:
        yield Fault(
            grants.path,
            f"{patterns} name patterns",
            f"at most {PATTERN_LIMIT} of them in one Zone",
            FaultReason.TOO_MANY,
        )
        return
    sizes: list[int] = []
    for grant in grants.items():
        yield from _judge_grant(grant, sizes)
    if sum(sizes) > PROGRAM_LIMIT:
        yield Fault(
            grants.path,
            f"name patterns of {sum(sizes)} instructions together",
            f"at most {PROGRAM_LIMIT} of them; counted repetitions such as {{0,61}} cost most",
            FaultReason.TOO_MANY,
        )


def _judge_grant(grant: Field, sizes: list[int]) -> Iterator[Fault]:
    """Object to one grant; `sizes` gets the sizes of its patterns."""
    namespaces, records = grant.child("namespaces"), grant.child("records")
    faults = list(require_object(namespaces, "a selector of namespaces"))
    yield from faults or require_selector(namespaces.child("selector"))
    faults = list(require_list(records, "a list with at least one item of name and types", PATTERN_LIMIT))
    yield from faults
    if faults:
        return
    for record in records.items():
        yield from _judge_pattern(record.at("name.pattern"), sizes)
        yield from _judge_types(record.child("types"))


def _judge_pattern(pattern: Field, sizes: list[int]) -> Iterator[Fault]:
    allowed = "an RE2 expression that the whole relative name must match"
    faults = list(require_text(pattern, allowed))
    yield from faults
    if faults or pattern.text is None:
        return
    try:
        sizes.append(Pattern(pattern.text).size)
    except PatternError as error:
        yield pattern.fault(f"{allowed}; this one is refused: {error}")


def _judge_types(types: Field) -> Iterator[Fault]:
    faults = list(require_list(types, f"a list with at least one of {', '.join(RecordType)}", len(RecordType)))
    yield from faults
    if faults:
        return
    items = list(types.items())
    for item in items:
        yield from judge_choice(item, list(RecordType))
    yield from judge_duplicates(items, lambda item: item.text, "type")
