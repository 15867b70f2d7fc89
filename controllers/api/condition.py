"""Conditions as the Kubernetes API conventions define them, and how a list of them changes.

Owns `lastTransitionTime`: it moves only when the status does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from kube.object import ObjectMeta
from zonemodel.model import Model

MESSAGE_LIMIT = 2048


class ConditionStatus(StrEnum):
    """The three truth values of a condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class ConditionType(StrEnum):
    """What the product's conditions speak of."""

    ACCEPTED = "Accepted"
    PROGRAMMED = "Programmed"


class Condition(Model):
    """One `metav1.Condition`."""

    type: Annotated[str, Field(description="What the condition speaks of, in CamelCase.")]
    status: Annotated[ConditionStatus, Field(description="True, False or Unknown.")]
    observed_generation: Annotated[
        int | None, Field(ge=0, description="Generation of the object that the condition was decided for.")
    ] = None
    last_transition_time: Annotated[
        str, Field(description="When the status last changed (RFC 3339).", json_schema_extra={"format": "date-time"})
    ] = ""
    reason: Annotated[str, Field(description="Why, as one CamelCase word for programs.")]
    message: Annotated[str, Field(max_length=32768, description="Why, as a sentence for people.")] = ""

    def says_the_same_as(self, other: Condition) -> bool:
        """True when both differ in nothing but the transition time."""
        return self.model_copy(update={"last_transition_time": other.last_transition_time}) == other


Conditions = Annotated[
    tuple[Condition, ...],
    Field(
        description="What is so, one entry for each condition type.",
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    ),
]


def find_condition(conditions: Iterable[Condition], kind: ConditionType | str) -> Condition | None:
    """Return the condition of a type, or None."""
    return next((each for each in conditions if each.type == kind), None)


def merge_conditions(current: Iterable[Condition], wanted: Iterable[Condition], now: str) -> tuple[Condition, ...]:
    """Return `current` with `wanted` in place of its types, sorted by type.

    `now` (RFC 3339) becomes the transition time of each condition whose status changed; one that says the same stays as it is.
    """
    merged = {each.type: each for each in current}
    for each in wanted:
        old = merged.get(each.type)
        changed = old is None or old.status != each.status
        time = now if changed or old is None else old.last_transition_time
        merged[each.type] = each.model_copy(update={"last_transition_time": time})
    return tuple(merged[name] for name in sorted(merged))


def _without_times(document: Any) -> Any:
    """Return a status as JSON without the times of its conditions: what it says, whenever it was said."""
    if isinstance(document, Mapping):
        return {name: _without_times(each) for name, each in document.items() if name != "lastTransitionTime"}
    if isinstance(document, list | tuple):
        return [_without_times(each) for each in document]
    return document


def status_ground(of: ObjectMeta, provider: ObjectMeta | None, *statuses: Model) -> object:
    """Return what a status write and its refusal depend on, as a value that can be compared.

    The object, the Provider that tells what may stand there, and what the statuses say, whenever it was said.
    """
    judge = (provider.uid, provider.generation) if provider is not None else None
    return of.uid, of.generation, judge, *(_without_times(each.dump()) for each in statuses)


def changed_conditions(old: Iterable[Condition], new: Iterable[Condition]) -> list[Condition]:
    """Return the conditions of `new` whose status or reason differs from the one in `old`."""
    before = {each.type: each for each in old}
    return [
        each
        for each in new
        if each.type not in before or (before[each.type].status, before[each.type].reason) != (each.status, each.reason)
    ]


def headline(condition: Condition) -> str:
    """Return the condition's message, or what it says in one short sentence when it has none."""
    return condition.message or f"{condition.type} is {condition.status}."
