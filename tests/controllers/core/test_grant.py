"""Grants across namespaces: nothing is taken that was not granted, and nobody learns from a refusal what is granted to whom."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.api.condition import ConditionStatus
from controllers.api.reason import Reason
from controllers.api.verdict import Verdict
from controllers.core.compose import compose
from controllers.core.grant import CLASS_DENIED, NAME_DENIED, NAMESPACE_DENIED, TYPE_DENIED, judge_record_set_grant
from controllers.core.memory import ZoneMemory
from tests.controllers.core.build import inputs, record_set, zone, zone_class

LABELS = {"team": "web", "tier": "front"}
GRANTED = {"matchLabels": {"team": "web"}}
TENANT_MESSAGES = {NAMESPACE_DENIED, NAME_DENIED, TYPE_DENIED}


def grant(pattern: str, *types: str, selector: Any = None) -> dict[str, Any]:
    records = [{"name": {"pattern": pattern}, "types": list(types or ("A",))}]
    return {"namespaces": {"selector": GRANTED if selector is None else selector}, "records": records}


def judge(owner: str, *grants: dict[str, Any], labels: dict[str, str] | None = None, **spec: Any) -> Verdict:
    claim = record_set("claim", owner, namespace="other", **spec)
    here = zone(allowedRecordSets=list(grants))
    return judge_record_set_grant(claim, here, LABELS if labels is None else labels)


NEAR_MISSES = [
    ("www", "wwww"),
    ("www", "www.evil"),
    ("www", "evil.www"),
    ("www", "w"),
    ("a|b", "ab"),
    ("a|b.c", "a.c"),
    ("^a|b$", "axb"),
    ("^a|b$", "ab"),
    ("(?m)^www$", "www.a"),
    ("(?i)", "www"),
    ("(?i)www", "ww"),
    ("", "www"),
    ("$", "www"),
    (".*[.]team", "team"),
    ("[^.]+", "a.b"),
    ("\\*", "www"),
    ("[a-z]+", "*"),
    ("@", "www"),
    (".", "www"),
    ("\\Qwww.a\\E", "wwwxa"),
    ("(?P<x>www)", "www.www"),
]


@pytest.mark.parametrize(("pattern", "owner"), NEAR_MISSES)
def test_a_name_that_is_not_matched_as_a_whole_is_not_granted(pattern: str, owner: str) -> None:
    assert judge(owner, grant(pattern)).message == NAME_DENIED


@pytest.mark.parametrize(
    ("pattern", "owner"),
    [
        ("www", "www"),
        ("a|b.c", "a"),
        ("a|b.c", "b.c"),
        ("^a|b$", "a"),
        (".*", "*"),
        (".*", "@"),
        ("[*]([.].+)?", "*.a"),
        ("(?i)WWW", "www"),
        ("$|www", "www"),
    ],
)
def test_a_name_that_is_matched_as_a_whole_is_granted(pattern: str, owner: str) -> None:
    assert judge(owner, grant(pattern)).accepted


def test_parts_of_different_grants_make_no_grant_together() -> None:
    other = {"matchLabels": {"team": "mail"}}
    assert judge("mx", grant("www"), grant("mx", selector=other)).message == NAME_DENIED
    assert judge("www", grant("www", "TXT"), grant("mx", "A")).message == TYPE_DENIED


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"matchLabels": {}},
        {"matchExpressions": []},
        {"matchLabels": {"team": "web", "absent": ""}},
        {"matchLabels": {"team": "web"}, "matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
        {"matchExpressions": [{"key": "team", "operator": "In", "values": ["WEB", "we"]}]},
        {"matchExpressions": [{"key": "absent", "operator": "Exists"}]},
        {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["web"]}]},
    ],
)
def test_a_selector_that_is_empty_or_does_not_hold_in_full_grants_nothing(selector: dict[str, Any]) -> None:
    assert judge("www", grant(".*", selector=selector)).message == NAMESPACE_DENIED


def test_a_pattern_that_came_around_admission_and_is_none_grants_nothing() -> None:
    assert judge("www", grant("(www")).message == NAME_DENIED
    assert judge("www", grant("(?=www).*")).message == NAME_DENIED
    assert judge("www", grant("a" * 600)).message == NAME_DENIED


@pytest.mark.parametrize("operator", ["Exists", "DoesNotExist"])
def test_a_namespace_that_was_not_seen_waits_and_is_not_one_without_labels(operator: str) -> None:
    """A claim may be seen before its namespace is; what it got then by a label's absence it would keep."""
    selector = {"matchExpressions": [{"key": "team", "operator": operator}]}
    claim = record_set("claim", "www", namespace="other")
    here = zone(allowedRecordSets=[grant(".*", selector=selector)])
    memory = ZoneMemory()

    unseen = compose(inputs(claim, zone=here, labels={}), memory)
    seen = compose(inputs(claim, zone=here, labels={"other": {}}), memory)

    assert unseen.record_verdicts[claim.key].reason is Reason.RECONCILING
    assert unseen.parts is not None
    assert unseen.parts[0].record_sets == ()
    assert seen.record_verdicts[claim.key].accepted is (operator == "DoesNotExist")


def test_a_zone_of_a_namespace_that_was_not_seen_waits_where_labels_count() -> None:
    selector = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
    closed = zone_class(allowedZones={"namespaces": {"from": "Selector", "selector": selector}})

    unseen, seen = (
        compose(inputs(zone_class=closed, labels={})),
        compose(inputs(zone_class=closed, labels={"team": {}})),
    )

    assert unseen.zone_verdict is not None
    assert unseen.zone_verdict.reason is Reason.RECONCILING
    assert seen.zone_verdict is not None
    assert seen.zone_verdict.accepted


def test_a_reference_without_a_namespace_means_the_claims_own() -> None:
    """It never reaches a zone of that name elsewhere."""
    claim = record_set("claim", "www", namespace="other", zoneRef={"name": "example"})

    assert claim.spec.zone_ref.key_from(claim.meta.namespace).namespace == "other"


def test_who_was_first_keeps_a_name_even_from_those_who_are_granted_it() -> None:
    owner = record_set("owner", "www", metadata={"creationTimestamp": "2026-11-02T00:00:00Z"})
    rival = record_set("rival", "www", namespace="other", metadata={"creationTimestamp": "2026-11-03T00:00:00Z"})

    composed = compose(inputs(owner, rival, zone=zone(allowedRecordSets=[grant(".*")]), labels={"other": LABELS}))

    assert composed.record_verdicts[owner.key].accepted
    assert composed.record_verdicts[rival.key].reason is Reason.RECORD_SET_CONFLICT


OWNERS = st.sampled_from(["@", "*", "www", "www.a", "a.www", "*.a", "a", "b", "a-b"])
PIECES = st.sampled_from(["www", "a", "b", ".", "[.]", ".*", "[a-z]+", "(a|b)", "\\*", "@", "|", "^", "$", "?", "x{2}"])
PATTERNS = st.lists(PIECES, min_size=1, max_size=4).map("".join)


@settings(deadline=None)
@given(
    owner=OWNERS, pattern=PATTERNS, kinds=st.sets(st.sampled_from(["A", "TXT", "MX"]), min_size=1), inside=st.booleans()
)
def test_grants_are_what_they_say(owner: str, pattern: str, kinds: set[str], inside: bool) -> None:
    """Against another engine, which agrees with RE2 on what these patterns are made of."""
    try:
        named = re.fullmatch(pattern, owner) is not None
    except re.error:
        return
    verdict = judge(owner, grant(pattern, *kinds), labels=LABELS if inside else {"team": "mail"})

    expected = NAMESPACE_DENIED if not inside else NAME_DENIED if not named else TYPE_DENIED if "A" not in kinds else ""
    assert verdict.message == expected


SECRETS = st.text("qxz", min_size=6, max_size=10).map(lambda text: f"zq{text}")


@settings(deadline=None)
@given(secrets=st.lists(SECRETS, min_size=6, max_size=6, unique=True), owner=OWNERS, inside=st.booleans())
def test_no_message_to_a_tenant_carries_what_grants_are_made_of(secrets: list[str], owner: str, inside: bool) -> None:
    key, value, other, pattern, more, zone_key = secrets
    selector = {
        "matchLabels": {key: value},
        "matchExpressions": [{"key": other, "operator": "In", "values": [more]}],
    }
    closed = zone_class(
        allowedZones={"namespaces": {"from": "Selector", "selector": {"matchLabels": {zone_key: value}}}}
    )
    here = zone(allowedRecordSets=[grant(f"{pattern}|{more}", selector=selector), grant(pattern)])
    claim = record_set("claim", owner, namespace="other")
    labels = {"team": {}, "other": {**LABELS, **({key: value, other: more} if inside else {})}}

    for the_class, accepted in ((zone_class(), True), (closed, False)):
        composed = compose(inputs(claim, zone=here, zone_class=the_class, labels=labels))
        verdict = composed.record_verdicts[claim.key]
        assert verdict.status is not ConditionStatus.TRUE
        assert verdict.message in TENANT_MESSAGES or not accepted
        zone_message = composed.zone_verdict.message if composed.zone_verdict else ""
        assert zone_message in {"", CLASS_DENIED}
        assert not [each for each in secrets if each in verdict.message + zone_message]
