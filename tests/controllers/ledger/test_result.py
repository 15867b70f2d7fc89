"""Statuses of a ledger's parts: what is written at once, what is held back, and what is left untouched."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.api.condition import ConditionStatus, find_condition
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused
from controllers.api.zone_unit import UnitRecordSetStatus, ZoneUnit, ZoneUnitStatus
from controllers.ledger.item_cache import ItemCache
from controllers.ledger.result import Hold, ItemResult, ZoneResult, settle
from controllers.ledger.status_patch import status_patch
from controllers.providers.hosted.item import convert
from controllers.providers.hosted.service_level import PENDING, PROGRAMMED, UNAVAILABLE
from standalone.patch.json_patch import json_patch
from tests.controllers.providers.hosted.build import NOW, unit
from tests.controllers.providers.hosted.world import item

LATER = "2026-11-30T13:00:00Z"
EVERY_HOLD = frozenset(Hold)
NOTHING: frozenset[Hold] = frozenset()
SERVED = ItemResult(PROGRAMMED)
WAITS = ItemResult(PENDING)
GONE = ItemResult(PENDING, gone=True)
CONFLICT = ItemResult(refused(Reason.PROVIDER_CONFLICT, "taken"))


def zone_result(programmed: Verdict = PROGRAMMED) -> ZoneResult:
    return ZoneResult(ACCEPTED, programmed, ("ns1.dns.test",), {"zone": "Z1"}, can_wait=True)


class Ledger:
    """One part whose status goes through several rounds."""

    def __init__(self, *items: dict[str, Any]) -> None:
        self.status = ZoneUnitStatus()
        self.held: set[Hold] = set()
        self._generation = 0
        self.write(*items)

    def write(self, *items: dict[str, Any]) -> None:
        self._generation += 1
        self.unit: ZoneUnit = unit(*items, generation=self._generation)

    def round(
        self, *results: ItemResult, zone: ZoneResult | None = None, release: frozenset[Hold] = NOTHING, now: str = NOW
    ) -> list[dict[str, Any]]:
        """Settle once; returns the patch that it costs."""
        items = ItemCache(convert).items_of([self.unit])
        settlement = settle([self.unit], [self.status], zone or zone_result(), items, [results], release, now)
        old, self.status, self.held = self.status, settlement.statuses[0], settlement.held
        operations = status_patch(old, self.status)
        before: dict[str, Any] = {"status": old.dump()} if old != ZoneUnitStatus() else {}
        assert ZoneUnitStatus.model_validate(json_patch(before, operations).get("status", {})) == self.status
        return operations

    def entry(self, claim: str) -> UnitRecordSetStatus | None:
        return next((each for each in self.status.record_sets if each.record_set_name == claim), None)

    def reason(self, claim: str) -> str | None:
        entry = self.entry(claim)
        found = find_condition(entry.conditions, "Programmed") if entry is not None else None
        return found.reason if found is not None else None

    @property
    def aggregate(self) -> ConditionStatus | None:
        found = find_condition(self.status.conditions, "Programmed")
        return found.status if found is not None else None


def test_a_zone_that_was_programmed_is_called_pending_only_when_that_lasts() -> None:
    ledger = Ledger(item("www"))
    ledger.round(SERVED)
    for release in (NOTHING, frozenset({Hold.PENDING})):
        assert ledger.round(SERVED, zone=zone_result(PENDING), release=release) == []
        assert ledger.held == {Hold.OUTAGE}
    ledger.round(SERVED, zone=zone_result(PENDING), release=EVERY_HOLD)
    assert ledger.status.zone is not None
    found = find_condition(ledger.status.zone.conditions, "Programmed")
    assert found is not None
    assert found.reason == "ProviderChangePending"


def test_served_items_are_reported_at_once() -> None:
    ledger = Ledger(item("www"), item("mail"))
    ledger.round(SERVED, SERVED)
    assert (ledger.reason("www"), ledger.reason("mail")) == ("Programmed", "Programmed")
    assert ledger.status.observed_generation == 1
    assert ledger.aggregate is ConditionStatus.TRUE
    assert ledger.held == set()


def test_second_round_with_the_same_results_costs_nothing() -> None:
    ledger = Ledger(item("www"), item("mail"))
    ledger.round(SERVED, CONFLICT)
    assert ledger.round(SERVED, CONFLICT, now=LATER) == []


def test_result_that_says_not_yet_is_held_back_and_released() -> None:
    ledger = Ledger(item("www"))
    assert ledger.round(WAITS, zone=zone_result(PENDING)) == []
    assert ledger.held == {Hold.PENDING}
    ledger.round(WAITS, zone=zone_result(PENDING), release=EVERY_HOLD)
    assert ledger.reason("www") == "ProviderChangePending"
    assert ledger.aggregate is ConditionStatus.FALSE
    assert ledger.round(WAITS, zone=zone_result(PENDING)) == []
    assert ledger.held == set(), "what is written is not held"


def test_edit_that_is_served_in_time_costs_one_entry() -> None:
    ledger = Ledger(item("www"), item("mail"), item("ftp"))
    ledger.round(SERVED, SERVED, SERVED)
    ledger.write(item("www"), item("mail", "192.0.2.9", generation=2), item("ftp"))
    assert ledger.round(SERVED, WAITS, SERVED, zone=zone_result(PENDING)) == []
    operations = ledger.round(SERVED, SERVED, SERVED)
    assert [each["path"] for each in operations if each["op"] != "test" and "recordSets" in each["path"]] == [
        "/status/recordSets/1"
    ]
    assert ledger.status.observed_generation == 2


def test_what_was_served_is_called_unserved_later_than_what_is_new() -> None:
    ledger = Ledger(item("www"))
    ledger.round(SERVED)
    ledger.write(item("www"), item("mail"))
    down = ItemResult(UNAVAILABLE)
    ledger.round(down, down, zone=zone_result(UNAVAILABLE), release=frozenset({Hold.PENDING}))
    assert (ledger.reason("www"), ledger.reason("mail")) == ("Programmed", "ProviderUnavailable")
    assert ledger.held == {Hold.OUTAGE}
    ledger.round(down, down, zone=zone_result(UNAVAILABLE), release=EVERY_HOLD)
    assert ledger.reason("www") == "ProviderUnavailable"


def test_final_results_are_not_held_back() -> None:
    ledger = Ledger(item("www"))
    ledger.round(SERVED)
    ledger.round(CONFLICT)
    assert ledger.reason("www") == "ProviderConflict"


@pytest.mark.parametrize("reported_before", [True, False])
def test_deletion_is_told_by_an_absent_entry_at_the_generation_that_asks_for_it(reported_before: bool) -> None:
    ledger = Ledger(item("www"), item("mail"))
    if reported_before:
        ledger.round(SERVED, SERVED)
    ledger.write(item("www"), item("mail", deletionRequested=True))
    ledger.round(SERVED, GONE)
    assert ledger.entry("mail") is None
    assert ledger.status.observed_generation == 2


def test_deletion_under_way_is_never_told_as_done() -> None:
    ledger = Ledger(item("www"), item("mail"), item("ftp"))
    ledger.write(item("www"), item("mail", deletionRequested=True), item("ftp"))
    for results in ([WAITS, WAITS, WAITS], [SERVED, WAITS, WAITS], [SERVED, WAITS, SERVED]):
        ledger.round(*results)
        told_as_done = ledger.entry("mail") is None and ledger.status.observed_generation == 2
        assert not told_as_done
    ledger.round(SERVED, GONE, SERVED)
    assert ledger.entry("mail") is None


def test_entries_keep_their_places_when_others_go() -> None:
    claims = ["a", "b", "c", "d", "e"]
    ledger = Ledger(*(item(claim) for claim in claims))
    ledger.round(*(SERVED for _ in claims))
    ledger.write(*(item(claim, deletionRequested=claim in {"b", "d"}) for claim in claims), item("f"))
    operations = ledger.round(SERVED, GONE, SERVED, GONE, SERVED, SERVED)
    assert [each.record_set_name for each in ledger.status.record_sets] == ["a", "c", "e", "f"]
    assert [each["path"] for each in operations if each["op"] == "remove"] == [
        "/status/recordSets/3",
        "/status/recordSets/1",
    ]


def test_entry_of_an_item_that_left_the_ledger_goes() -> None:
    ledger = Ledger(item("www"), item("mail"))
    ledger.round(SERVED, SERVED)
    ledger.write(item("www"))
    ledger.round(SERVED)
    assert ledger.entry("mail") is None


def test_transition_time_moves_with_the_status_only() -> None:
    ledger = Ledger(item("www"))
    ledger.round(SERVED)
    ledger.write(item("www", "192.0.2.2", generation=2))
    ledger.round(SERVED, now=LATER)
    entry = ledger.entry("www")
    assert entry is not None
    assert {each.last_transition_time for each in entry.conditions} == {NOW}
    ledger.round(CONFLICT, now=LATER)
    entry = ledger.entry("www")
    assert entry is not None
    assert {each.type: each.last_transition_time for each in entry.conditions} == {"Accepted": NOW, "Programmed": LATER}


@pytest.mark.parametrize(
    ("zone", "results", "status"),
    [
        (PROGRAMMED, [SERVED, SERVED], ConditionStatus.TRUE),
        (PROGRAMMED, [SERVED, CONFLICT], ConditionStatus.FALSE),
        (Verdict(ConditionStatus.UNKNOWN, Reason.RECONCILING), [SERVED, SERVED], ConditionStatus.UNKNOWN),
        (Verdict(ConditionStatus.UNKNOWN, Reason.RECONCILING), [SERVED, CONFLICT], ConditionStatus.FALSE),
        (refused(Reason.PROVIDER_CONFLICT, ""), [SERVED, SERVED], ConditionStatus.FALSE),
        (PROGRAMMED, [SERVED, GONE], ConditionStatus.TRUE),
    ],
)
def test_aggregate_is_as_bad_as_the_worst_target(
    zone: Verdict, results: list[ItemResult], status: ConditionStatus
) -> None:
    ledger = Ledger(item("www"), item("mail"))
    ledger.round(*results, zone=zone_result(zone))
    assert ledger.aggregate is status


def facts(ledger: Ledger, claim: str) -> tuple[Any, Any] | None:
    entry = ledger.entry(claim)
    assert entry is not None
    return (entry.provider.data, entry.provider.state) if entry.provider is not None else None


def test_facts_stay_until_a_result_says_otherwise() -> None:
    ledger = Ledger(item("www"))
    ledger.round(ItemResult(PROGRAMMED, data={"id": 1}, state={"note": "x"}))
    assert facts(ledger, "www") == ({"id": 1}, {"note": "x"})
    ledger.round(CONFLICT)
    assert facts(ledger, "www") == ({"id": 1}, {"note": "x"})
    ledger.round(ItemResult(PROGRAMMED, state={}))
    assert facts(ledger, "www") == ({"id": 1}, None)
    ledger.round(ItemResult(PROGRAMMED, data={}))
    assert facts(ledger, "www") is None


def test_facts_are_written_beside_a_result_that_would_be_held_back() -> None:
    ledger = Ledger(item("www"))
    ledger.round(
        ItemResult(PENDING, state={"id": 1}), zone=ZoneResult(ACCEPTED, PENDING, ledger_state={"change": "C1"})
    )
    assert facts(ledger, "www") == (None, {"id": 1})
    assert ledger.status.provider is not None
    assert ledger.status.provider.state == {"change": "C1"}


def test_facts_outlive_an_edit_of_the_claim() -> None:
    ledger = Ledger(item("www"))
    ledger.round(ItemResult(PROGRAMMED, data={"id": 1}))
    ledger.write(item("www", "192.0.2.9", generation=2))
    ledger.round(WAITS, release=EVERY_HOLD)
    assert facts(ledger, "www") == ({"id": 1}, None)
    assert ledger.reason("www") == "ProviderChangePending"


def test_facts_of_the_zone_stay_until_a_result_says_otherwise() -> None:
    ledger = Ledger(item("www"))
    told = ZoneResult(ACCEPTED, PROGRAMMED, ("ns1.dns.test",), {"id": "Z1"}, {"ref": "r"}, {"change": "C1"})
    ledger.round(SERVED, zone=told)
    ledger.round(SERVED, zone=ZoneResult(ACCEPTED, UNAVAILABLE), release=EVERY_HOLD)
    zone = ledger.status.zone
    assert zone is not None
    assert zone.provider is not None
    assert (zone.name_servers, zone.provider.data, zone.provider.state) == (
        ("ns1.dns.test",),
        {"id": "Z1"},
        {"ref": "r"},
    )
    ledger.round(SERVED, zone=ZoneResult(ACCEPTED, PROGRAMMED, (), {}, {}, {}))
    assert ledger.status.provider is None
    assert ledger.status.zone is not None
    assert (ledger.status.zone.provider, ledger.status.zone.name_servers) == (None, ())


def test_same_facts_again_cost_nothing() -> None:
    ledger = Ledger(item("www"))
    told = ItemResult(PROGRAMMED, data={"id": 1}, state={"note": ["x"]})
    zone = ZoneResult(ACCEPTED, PROGRAMMED, ("ns1.dns.test",), {"id": "Z1"}, {"ref": "r"}, {"change": "C1"})
    ledger.round(told, zone=zone)
    assert ledger.round(told, zone=zone, now=LATER) == []
