"""Results that speak of an item that stands in the ledger no more: the claim was made again with the generation that the former had."""

from __future__ import annotations

from dataclasses import replace

from controllers.api.record_set import RecordSet, RecordSetStatus
from controllers.api.zone_unit import ZoneUnit, ZoneUnitSpec, parse_zone_unit
from controllers.core.compose import compose
from controllers.core.memory import ZoneMemory
from tests.controllers.core.build import condition, inputs, meta, record_set, unit

FORMER, AGAIN = record_set("www"), record_set("www", metadata={"uid": "another"}, ttl=77)
TOLD = replace(
    AGAIN, status=RecordSetStatus.model_validate({"conditions": [condition("Programmed", "True", "Programmed")]})
)


def at(spec: ZoneUnitSpec, generation: int, seen: int) -> ZoneUnit:
    """Part 0 with results for everything in it, by a provider that has seen one of its generations."""
    told = unit(spec)
    status = {**told.status.dump(), "observedGeneration": seen}
    metadata = meta("team", "example", generation=generation)
    return parse_zone_unit({"metadata": metadata, "spec": spec.dump(), "status": status})


def spec_of(*claims: RecordSet) -> ZoneUnitSpec:
    parts = compose(inputs(*claims)).parts
    assert parts is not None
    return parts[0]


BEFORE, AFTER = spec_of(FORMER), spec_of(AGAIN)


def test_a_result_of_the_former_item_does_not_count() -> None:
    memory = ZoneMemory()
    compose(inputs(FORMER, units=[at(BEFORE, 1, 1)]), memory)
    for ledger, fenced in (
        (at(BEFORE, 1, 1), True),  # about to be written
        (at(AFTER, 2, 1), True),  # written, not seen
        (at(AFTER, 3, 1), True),  # something beside it was written, too
        (at(AFTER, 3, 2), False),
        (at(AFTER, 3, 3), False),
    ):
        composed = compose(inputs(AGAIN, units=[ledger]), memory)
        assert (AGAIN.key in composed.fenced) is fenced, ledger.meta


def test_a_new_generation_needs_no_fence() -> None:
    edited = record_set("www", metadata={"generation": 2}, ttl=77)
    memory = ZoneMemory()
    compose(inputs(FORMER, units=[at(BEFORE, 1, 1)]), memory)
    assert compose(inputs(edited, units=[at(BEFORE, 1, 1)]), memory).fenced == frozenset()


def test_what_was_not_written_after_all_is_not_fenced() -> None:
    memory = ZoneMemory()
    compose(inputs(AGAIN, units=[at(BEFORE, 1, 1)]), memory)
    assert compose(inputs(FORMER, units=[at(BEFORE, 1, 1)]), memory).fenced == frozenset()


def test_after_a_restart_who_was_told_nothing_waits_for_the_provider() -> None:
    memory = ZoneMemory()
    assert AGAIN.key in compose(inputs(AGAIN, units=[at(AFTER, 2, 1)]), memory).fenced
    assert AGAIN.key in compose(inputs(AGAIN, units=[at(AFTER, 3, 1)]), memory).fenced
    assert compose(inputs(AGAIN, units=[at(AFTER, 3, 2)]), memory).fenced == frozenset()
    assert compose(inputs(AGAIN, units=[at(AFTER, 4, 3)]), memory).fenced == frozenset(), "it was asked once"


def test_after_a_restart_what_was_told_stays() -> None:
    assert compose(inputs(TOLD, units=[at(AFTER, 2, 1)]), ZoneMemory()).fenced == frozenset()
    assert compose(inputs(AGAIN, units=[at(AFTER, 2, 2)]), ZoneMemory()).fenced == frozenset()
