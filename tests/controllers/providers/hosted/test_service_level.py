"""History of a zone's snapshots, and what reports say in its terms."""

from __future__ import annotations

from controllers.providers.hosted.content import Lines
from controllers.providers.hosted.history import NEVER, REMEMBERED, History
from controllers.providers.hosted.item import RecordKey
from controllers.providers.hosted.service_level import measure
from tests.controllers.providers.hosted.build import items_of, manifest, report
from tests.controllers.providers.hosted.world import item
from zonemodel.record import RecordType

WWW, MAIL = RecordKey("www", RecordType.A), RecordKey("mail", RecordType.A)


def lines(**addresses: str) -> Lines:
    found = items_of(*(item(name, address) for name, address in addresses.items()))
    return {each.record_key: each.line for each in found if each.line is not None}


def two_snapshots() -> History:
    history = History()
    history.advance("one", 1, lines(www="192.0.2.1"), ())
    history.advance("two", 2, lines(www="192.0.2.1", mail="192.0.2.2"), ())
    return history


def test_record_is_what_it_is_since_the_snapshot_that_changed_it() -> None:
    history = two_snapshots()
    assert (history.since(WWW), history.since(MAIL)) == (1, 2)
    history.advance("three", 3, lines(mail="192.0.2.2"), ())
    assert history.since(WWW) == 3, "absence counts from the snapshot that dropped it"


def test_unknown_snapshot_is_older_than_everything() -> None:
    history = two_snapshots()
    assert history.number_of("never seen", 9) == NEVER
    level = measure(("a",), manifest(report("a", "never seen")), history, 1)
    assert not level.has_withdrawn(0)
    assert level.judge(0).reason == "ProviderChangePending"


def test_content_that_comes_back_counts_as_the_newest_for_who_has_seen_it_come_back() -> None:
    history = History()
    for generation, (digest, address) in enumerate((("one", "1"), ("two", "2"), ("one", "1")), start=1):
        history.generation = generation
        history.advance(digest, generation, lines(www=f"192.0.2.{address}"), ())
    fresh = measure(("a",), manifest(report("a", "one", generation=3), generation=3), history, 1)
    assert fresh.judge(history.since(WWW)).reason == "Programmed"
    stale = measure(("a",), manifest(report("a", "one", generation=1), generation=3), history, 1)
    assert stale.judge(history.since(WWW)).reason == "ProviderChangePending", "it may serve what came between"
    assert not stale.has_withdrawn(history.since(WWW))


def test_reports_from_before_the_manifest_was_found_or_put_right_again_prove_nothing() -> None:
    found = History(digest="one", seen_generation=3, lines=lines(www="192.0.2.1"))
    level = measure(("a",), manifest(report("a", "one", generation=2), generation=3), found, 1)
    assert level.judge(found.since(WWW)).reason == "ProviderChangePending"
    found.generation = 5
    found.restate()
    for generation, reason in ((3, "ProviderChangePending"), (5, "Programmed")):
        level = measure(("a",), manifest(report("a", "one", generation=generation), generation=5), found, 1)
        assert level.judge(found.since(WWW)).reason == reason


def test_when_the_former_content_is_not_known_everything_is_new() -> None:
    history = History(digest="found", lines=None)
    history.advance("next", 2, lines(www="192.0.2.1"), ())
    level = measure(("a",), manifest(report("a", "found")), history, 1)
    assert level.judge(history.since(WWW)).reason == "ProviderChangePending"
    assert not level.has_withdrawn(history.since(MAIL)), "it may have stood in the unknown content"


def test_each_record_is_judged_by_the_slowest_live_server() -> None:
    history = two_snapshots()
    level = measure(("a", "b"), manifest(report("a", "two"), report("b", "one"), report("gone", "zero")), history, 1)
    assert level.judge(history.since(WWW)).reason == "Programmed"
    assert level.judge(history.since(MAIL)).reason == "ProviderChangePending"
    assert level.judge_zone(history.number).message == "Waiting for name server b."


def test_too_few_live_servers_program_nothing_but_do_not_hold_up_deletions() -> None:
    history = two_snapshots()
    level = measure(("a",), manifest(report("a", "two")), history, 2)
    verdict = level.judge_zone(history.number)
    assert (verdict.reason, verdict.message) == (
        "ProviderChangePending",
        "Live name servers: 1, the ZoneClass asks for 2.",
    )
    assert level.has_withdrawn(2)


def test_no_live_server_is_unavailable_and_proves_no_deletion() -> None:
    level = measure((), manifest(report("a", "two")), two_snapshots(), 1)
    assert level.judge(0).reason == "ProviderUnavailable"
    assert not level.has_withdrawn(0)


def test_refusal_concerns_what_the_server_has_not_got_to() -> None:
    history = two_snapshots()
    refusing = report("a", "one", generation=2, state="Rejected", message="bad MX")
    level = measure(("a",), manifest(refusing, generation=2), history, 1)
    assert level.judge(history.since(WWW)).reason == "Programmed"
    verdict = level.judge(history.since(MAIL))
    assert (verdict.reason, verdict.message) == ("ProviderInvalidRequest", "Name server a refuses the snapshot: bad MX")


def test_refusal_of_a_snapshot_that_was_replaced_is_over() -> None:
    history = two_snapshots()
    stale = report("a", "one", generation=1, state="Rejected", message="bad MX")
    level = measure(("a",), manifest(stale, generation=2), history, 1)
    assert level.judge(history.since(MAIL)).reason == "ProviderChangePending"


def test_memory_of_a_long_history_is_bounded_and_errs_on_the_safe_side() -> None:
    history = History()
    for number in range(1, 2 * REMEMBERED + 10):
        history.advance(f"d{number}", number, lines(**{f"n{number}": "192.0.2.1"}), (f"p{number}",))
    history.compact(history.number - 1, [f"p{history.number - 1}"])
    assert history.number_of("d1", 9) == NEVER
    assert history.since(WWW) == history.number - 1
    assert history.last_named(f"p{history.number - 1}") == history.number - 1
    assert history.last_named("p1") is None
