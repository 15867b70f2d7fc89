"""The proof of a withdrawal: two clean looks at every server, a TTL apart, under a clock in the test's hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.api.record_withdrawal_item import ClassBinding, UnitWithdrawal, UnitWithdrawalStatus
from controllers.ledger.withdrawal import Evidence, ServerWord, Sighting, observe, observe_all
from tests.controllers.ledger.withdrawal_item import WITHDRAWAL

CLASS = ClassBinding(uid="class", generation=1)
ITEM = UnitWithdrawal.model_validate(WITHDRAWAL)
WAIVER = {
    "namespace": "team",
    "name": "release",
    "uid": "w-1",
    "specDigest": "sha256:" + "0" * 64,
    "reservationRef": {"group": "g.example", "kind": "Hold", "name": "h", "uid": "r-1"},
}
CLEAN = (ServerWord("ns1", "NXDOMAIN", True), ServerWord("ns2", "NOERROR", True))
SILENT = (ServerWord("ns1", "NXDOMAIN", True), ServerWord("ns2", "TIMEOUT", False))


def giving(ttl_s: int) -> tuple[ServerWord, ...]:
    return (ServerWord("ns1", "NXDOMAIN", True), ServerWord("ns2", "NOERROR", True, gave=True, ttl_s=ttl_s))


@dataclass
class Story:
    """One withdrawal, look by look; `result` is what stands in the ledger, as it comes back from the API."""

    item: UnitWithdrawal = ITEM
    zone_class: ClassBinding = CLASS
    now: datetime = field(default_factory=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))
    elapsed_s: float = 5000.0
    clock: str = "first process"
    result: UnitWithdrawalStatus | None = None

    def look(self, words: tuple[ServerWord, ...] | None, after_s: float = 0.0, took_s: float = 1.0) -> Story:
        self.now += timedelta(seconds=after_s)
        self.elapsed_s += after_s
        began, self.now = self.now, self.now + timedelta(seconds=took_s)
        began_s, self.elapsed_s = self.elapsed_s, self.elapsed_s + took_s
        sighting = None
        if words is not None:
            sighting = Sighting(words, began, self.now, 7, began_s, self.elapsed_s, self.clock)
        result = observe(self.item, self.result, self.zone_class, sighting, self.now)
        self.result = UnitWithdrawalStatus.model_validate(result.dump())
        assert observe(self.item, self.result, self.zone_class, sighting, self.now) == self.result
        return self

    def says(self, kind: str) -> tuple[str, str]:
        assert self.result is not None
        found = next(each for each in self.result.conditions if each.type == kind)
        assert found.observed_generation == 1
        return found.status.value, found.reason

    @property
    def withdrawn(self) -> tuple[str, str]:
        return self.says("Withdrawn")

    @property
    def ready(self) -> tuple[str, str]:
        return self.says("Ready")


def test_nothing_is_said_before_the_first_look() -> None:
    story = Story().look(None)
    assert (story.withdrawn, story.ready) == (("Unknown", "Reconciling"), ("False", "NotWithdrawn"))


def test_one_clean_look_is_no_proof_and_two_too_close_together_are_none() -> None:
    story = Story().look(CLEAN)
    assert (story.withdrawn, story.ready) == (("Unknown", "Reconciling"), ("False", "NotWithdrawn"))
    assert story.look(CLEAN, after_s=59.9).withdrawn == ("Unknown", "Reconciling")
    story.look(CLEAN, after_s=0.1)
    assert (story.withdrawn, story.ready) == (("True", "Verified"), ("True", "Withdrawn"))
    assert story.look(CLEAN, after_s=10).withdrawn == ("True", "Verified")


@pytest.mark.parametrize(("seen_s", "wait_s"), [(0, 60), (30, 60), (600, 600), (3600, 3600), (86_400, 3600)])
def test_looks_are_apart_by_the_ttl_that_was_seen_last_within_bounds(seen_s: int, wait_s: int) -> None:
    story = Story().look(giving(seen_s))
    assert (story.withdrawn, story.ready) == (("False", "StillPublished"), ("False", "NotWithdrawn"))
    story.look(CLEAN)
    assert story.look(CLEAN, after_s=wait_s - 2).withdrawn == ("Unknown", "Reconciling")
    assert story.look(CLEAN, after_s=1).withdrawn == ("True", "Verified")


def test_time_counts_from_the_end_of_the_first_look_to_the_beginning_of_the_second() -> None:
    story = Story().look(CLEAN, took_s=30)
    assert story.look(CLEAN, after_s=40, took_s=30).withdrawn == ("Unknown", "Reconciling")
    assert story.look(CLEAN, after_s=0).withdrawn == ("True", "Verified")


def test_a_server_without_an_answer_proves_nothing_and_loses_nothing() -> None:
    story = Story().look(CLEAN).look(SILENT, after_s=60)
    assert (story.withdrawn, story.ready) == (("Unknown", "DNSProbeFailed"), ("False", "DNSProbeFailed"))
    assert story.look(CLEAN, after_s=1).withdrawn == ("True", "Verified")
    # What was proven is not claimed while a server is silent.
    assert story.look(SILENT).ready == ("False", "DNSProbeFailed")


def test_an_address_that_comes_back_begins_everything_anew() -> None:
    story = Story().look(CLEAN).look(CLEAN, after_s=60).look(giving(120), after_s=60)
    assert (story.withdrawn, story.ready) == (("False", "StillPublished"), ("False", "NotWithdrawn"))
    assert story.look(CLEAN).look(CLEAN, after_s=100).withdrawn == ("Unknown", "Reconciling")
    assert story.look(CLEAN, after_s=20).withdrawn == ("True", "Verified")


def test_a_server_that_gives_the_address_outweighs_one_that_is_silent() -> None:
    story = Story().look((*giving(60), ServerWord("ns3", "TIMEOUT", False)))
    assert story.withdrawn == ("False", "StillPublished")


def test_no_server_at_all_proves_nothing() -> None:
    assert Story().look(()).look((), after_s=3600).withdrawn == ("Unknown", "DNSProbeFailed")


def test_a_server_that_is_new_has_to_be_clean_twice_too() -> None:
    story = Story().look(CLEAN)
    more = (*CLEAN, ServerWord("ns3", "NXDOMAIN", True))
    assert story.look(more, after_s=60).withdrawn == ("Unknown", "Reconciling")
    assert story.look(more, after_s=60).withdrawn == ("True", "Verified")
    assert story.look(CLEAN).withdrawn == ("True", "Verified")


@pytest.mark.parametrize("change", [{"claim_uid": "u-2"}, {"claim_generation": 2}])
def test_another_claim_of_the_name_begins_anew(change: dict[str, Any]) -> None:
    story = Story().look(CLEAN)
    story.item = ITEM.model_copy(update=change)
    later = story.now + timedelta(hours=2)
    seen = Sighting(CLEAN, later, later, None, story.elapsed_s + 7200, story.elapsed_s + 7200, story.clock)
    result = observe(story.item, story.result, CLASS, seen, later)
    assert [each.reason for each in result.conditions if each.type == "Withdrawn"] == ["Reconciling"]


def test_one_look_is_never_two_even_when_the_clock_is_put_back() -> None:
    story = Story()
    back = story.now - timedelta(hours=2)
    story.result = observe(ITEM, None, CLASS, Sighting(CLEAN, story.now, back), story.now)
    assert story.withdrawn == ("Unknown", "Reconciling")
    assert observe(ITEM, story.result, CLASS, Sighting(CLEAN, story.now, back), story.now) == story.result


@pytest.mark.parametrize("jump", [timedelta(days=1), timedelta(days=-1)])
def test_a_wall_clock_that_jumps_neither_makes_a_proof_nor_delays_one(jump: timedelta) -> None:
    story = Story().look(CLEAN)
    story.now += jump
    assert story.look(CLEAN, after_s=59).withdrawn == ("Unknown", "Reconciling")
    assert story.look(CLEAN, after_s=1).withdrawn == ("True", "Verified")


def test_another_process_has_not_counted_the_seconds_and_begins_half_a_proof_anew() -> None:
    story = Story().look(giving(600)).look(CLEAN)
    story.clock, story.elapsed_s = "second process", story.elapsed_s + 10_000
    assert story.look(CLEAN, after_s=3600).withdrawn == ("Unknown", "Reconciling")
    assert story.look(CLEAN, after_s=598).withdrawn == ("Unknown", "Reconciling")
    assert story.look(CLEAN, after_s=2).withdrawn == ("True", "Verified")
    story.clock, story.elapsed_s = "third process", 3.0
    assert story.look(CLEAN).withdrawn == ("True", "Verified")
    assert story.look(giving(60)).withdrawn == ("False", "StillPublished")


def test_notes_about_very_many_servers_stay_small() -> None:
    many = tuple(ServerWord(f"ns{number}.a-long-name.example", "NXDOMAIN", True) for number in range(500))
    story = Story().look(many)
    assert story.result is not None
    assert story.result.provider is not None
    assert len(str(story.result.provider.state)) < 300
    assert story.look(many, after_s=60).withdrawn == ("True", "Verified")
    assert story.look((*many, ServerWord("new", "NXDOMAIN", True)), after_s=60).withdrawn == ("Unknown", "Reconciling")


@pytest.mark.parametrize(
    ("rcode", "meaning"),
    [
        ("CHAIN", "CHAIN: the chain of aliases is too long."),
        ("NOADDRESS", "NOADDRESS: the server has no address."),
        ("NOTASKED", "NOTASKED: nobody has asked the server."),
        ("SERVFAIL", "ns9 SERVFAIL."),
    ],
)
def test_why_a_server_gave_no_answer_is_told_in_words(rcode: str, meaning: str) -> None:
    story = Story().look((*CLEAN, ServerWord("ns9", rcode, answered=False)))
    assert story.withdrawn == ("Unknown", "DNSProbeFailed")
    assert story.result is not None
    message = story.result.conditions[0].message
    assert message.startswith(f"1 of 3 servers gave no answer: ns9 {rcode}.")
    assert message.endswith(meaning)


@pytest.mark.parametrize("other", [ClassBinding(uid="other", generation=1), ClassBinding(uid="class", generation=2)])
def test_another_class_begins_anew(other: ClassBinding) -> None:
    story = Story().look(CLEAN)
    story.zone_class = other
    assert story.look(CLEAN, after_s=3600).withdrawn == ("Unknown", "Reconciling")
    assert story.result is not None
    assert story.result.zone_class == other


def test_a_claim_that_is_not_accepted_is_not_observed() -> None:
    story = Story(ITEM.model_copy(update={"allowed": False})).look(CLEAN).look(CLEAN, after_s=60)
    assert (story.withdrawn, story.ready) == (("Unknown", "Reconciling"), ("False", "NotAccepted"))


def test_a_waiver_releases_what_is_not_proven_and_is_told_in_full() -> None:
    waived = UnitWithdrawal.model_validate({**ITEM.dump(), "waiver": WAIVER})
    for words in (giving(60), SILENT, CLEAN, ()):
        story = Story(waived).look(words)
        assert story.ready == ("True", "OperatorAuthorizedRelease")
        assert story.says("OverrideAccepted") == ("True", "OperatorAuthorizedRelease")
        assert story.withdrawn[0] != "True"
        assert story.result is not None
        assert story.result.waiver == waived.waiver
    story = Story(waived).look(CLEAN).look(CLEAN, after_s=60)
    assert story.ready == ("True", "Withdrawn")
    story.item = ITEM
    story.look(giving(60))
    assert story.ready == ("False", "NotWithdrawn")
    assert story.result is not None
    assert {each.type for each in story.result.conditions} == {"Withdrawn", "Ready"}


def test_a_waiver_of_another_namespace_is_a_mismatch() -> None:
    waived = UnitWithdrawal.model_validate({**ITEM.dump(), "waiver": {**WAIVER, "namespace": "other"}})
    story = Story(waived).look(giving(60))
    assert story.says("OverrideAccepted") == ("False", "WaiverMismatch")
    assert story.ready == ("False", "NotWithdrawn")


def test_evidence_is_bounded_and_stays_while_it_says_the_same() -> None:
    words = tuple(ServerWord(f"ns{number:02}", "NXDOMAIN", True) for number in range(40))
    story = Story().look(words)

    def evidence() -> Evidence:
        assert story.result is not None
        assert story.result.provider is not None
        assert story.result.provider.data is not None
        return Evidence.model_validate(story.result.provider.data)

    first = evidence()
    assert len(first.servers) == 32
    assert first.serial == 7
    story.look(words, after_s=60)
    assert evidence() == first
    story.look(words, after_s=600)
    assert evidence().servers[0].observed_time > first.servers[0].observed_time
    story.look((ServerWord("zz", "SERVFAIL", False), *words))
    assert evidence().servers[0].rcode == "SERVFAIL"


def test_without_a_class_there_are_no_results() -> None:
    assert observe_all([ITEM], [], None, {}, datetime.now(UTC)) == ()


WORDS = st.sampled_from([CLEAN, SILENT, giving(0), giving(120), giving(7200), (), None])


@given(st.lists(st.tuples(WORDS, st.floats(min_value=0, max_value=4000)), max_size=12))
def test_verified_always_rests_on_two_clean_looks_a_ttl_apart(looks: list[tuple[Any, float]]) -> None:
    """A model of the rule, told from the beginning of the story each time."""
    story = Story()
    since: datetime | None = None
    ttl_s = 0
    for words, after_s in looks:
        began = story.now + timedelta(seconds=after_s)
        story.look(words, after_s)
        ended = story.now
        proven = False
        if words and any(word.gave for word in words):
            since, ttl_s = None, max(word.ttl_s or 0 for word in words)
        elif words is CLEAN:
            since = since or ended
            proven = (began - since).total_seconds() >= min(max(ttl_s, 60), 3600)
        assert (story.withdrawn == ("True", "Verified")) == proven
        assert (story.ready == ("True", "Withdrawn")) == proven


def test_a_condition_keeps_its_time_from_look_to_look_while_it_says_the_same() -> None:
    story = Story().look(giving(60))
    assert story.result is not None
    before = {each.type: each.last_transition_time for each in story.result.conditions}
    story.look(giving(60), after_s=300)
    assert {each.type: each.last_transition_time for each in story.result.conditions} == before


def test_a_waiver_releases_nothing_that_is_not_accepted() -> None:
    item = UnitWithdrawal.model_validate(WITHDRAWAL | {"allowed": False, "waiver": WAIVER})
    story = Story(item).look(giving(60))
    assert story.ready == ("False", "NotAccepted")
    assert story.result is not None
    assert {each.type for each in story.result.conditions} == {"Withdrawn", "Ready"}


def test_a_wall_clock_that_is_put_back_within_a_look_does_not_date_it_before_its_beginning() -> None:
    began = datetime(2026, 11, 30, 12, tzinfo=UTC)
    sighting = Sighting(CLEAN, began, began - timedelta(hours=1), 7, 5000.0, 5001.0, "clock")
    found = observe(ITEM, None, CLASS, sighting, began)
    withdrawn = next(each for each in found.conditions if each.type == "Withdrawn")
    assert "after 2026-11-30T12:01:00Z" in withdrawn.message
