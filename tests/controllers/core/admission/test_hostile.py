"""Manifests made to hold the webhook up: their judgement is bounded in work and their refusals in size.

Work is counted where it can be, by the calls that Python makes, so that a slow machine proves nothing and a fast one neither.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.core.admission.ledger import validate_zone_unit, validate_zone_unit_status
from controllers.core.admission.provider import validate_provider
from controllers.core.admission.record_set import validate_record_set
from controllers.core.admission.review import deny, parse_request
from controllers.core.admission.status import (
    validate_record_set_status,
    validate_zone_class_status,
    validate_zone_status,
)
from controllers.core.admission.zone import validate_zone
from controllers.core.admission.zone_class import validate_zone_class
from controllers.core.providercontract.fault import Fault
from tests.controllers.core.admission.build import (
    RESOLUTION,
    STORAGE,
    Manifest,
    changed,
    ledger,
    provider,
    record_set,
    zone,
    zone_class,
)
from tests.controllers.core.admission.test_handler import review

CALL_LIMIT = 200_000
ANSWER_LIMIT_OCTETS = 200_000


class Calls:
    """How many functions were called."""

    def __init__(self) -> None:
        self.count = 0

    def note(self, frame: FrameType, event: str, argument: object) -> None:
        self.count += event in {"call", "c_call"}


@contextmanager
def counted() -> Iterator[Calls]:
    calls = Calls()
    sys.setprofile(calls.note)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def nest(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    return value


LABELS = {f"l{i}": "v" for i in range(100_000)}
PATTERNS = [{"name": {"pattern": "(\\pL{20}){9}" + str(i)}, "types": ["A"]} for i in range(20_000)]
SCHEMA = "spec.versions.0.zone.schemas.adoption.openAPIV3Schema"
RULES = "spec.versions.0.zone.validationRules"
Judge = Callable[[Manifest], list[Fault]]


def judge_record_set(manifest: Manifest) -> list[Fault]:
    return validate_record_set(manifest, None, RESOLUTION, "example.com")


def judge_zone(manifest: Manifest) -> list[Fault]:
    return validate_zone(manifest, None, RESOLUTION)


def judge_zone_class(manifest: Manifest) -> list[Fault]:
    return validate_zone_class(manifest, None, RESOLUTION)


def judge_zone_status(manifest: Manifest) -> list[Fault]:
    return validate_zone_status(manifest, zone(), STORAGE)


def judge_record_set_status(manifest: Manifest) -> list[Fault]:
    return validate_record_set_status(manifest, record_set(), STORAGE)


HUGE: dict[str, tuple[Judge, Manifest, str, Any]] = {
    "half a million wrong addresses": (judge_record_set, record_set(), "spec.a.addresses", ["x"] * 500_000),
    "as many wrong addresses as may be": (judge_record_set, record_set(), "spec.a.addresses", ["x"] * 4_096),
    "as many equal texts as may be": (judge_record_set, record_set("TXT"), "spec.txt.values", ["x"] * 4_096),
    "one text of a megabyte": (judge_record_set, record_set("TXT"), "spec.txt.values", ["é" * 500_000]),
    "a name of a megabyte": (judge_record_set, record_set(), "spec.name", "a." * 500_000),
    "half a million mail exchanges": (judge_record_set, record_set("MX"), "spec.mx.records", [{}] * 500_000),
    "a hundred thousand options": (judge_record_set, record_set(), "spec.options", LABELS),
    "deep options": (judge_record_set, record_set(), "spec.options", nest(900)),
    "a hundred thousand tags": (judge_record_set, record_set(), "spec.options", {"tags": ["x"] * 100_000}),
    "a hundred thousand labels": (judge_record_set, record_set(), "metadata.labels", LABELS),
    "twenty thousand patterns": (judge_zone, zone(), "spec.allowedRecordSets.0.records", PATTERNS),
    "a hundred heavy patterns": (judge_zone, zone(), "spec.allowedRecordSets.0.records", PATTERNS[:100]),
    "a hundred thousand grants": (judge_zone, zone(), "spec.allowedRecordSets", [{}] * 100_000),
    "selected labels": (judge_zone, zone(), "spec.allowedRecordSets.0.namespaces.selector.matchLabels", LABELS),
    "a parameter of a megabyte": (judge_zone_class, zone_class(), "spec.parameters.policy", "x" * 1_000_000),
    "a hundred thousand conditions": (judge_zone_status, zone(), "status.conditions", [{}] * 100_000),
    "a hundred thousand name servers": (judge_zone_status, zone(), "status.nameServers", ["A."] * 100_000),
    "deep provider data": (judge_record_set_status, record_set(), "status.provider.data", nest(900)),
    "a hundred thousand versions": (validate_provider, provider(), "spec.versions", [{}] * 100_000),
    "a hundred thousand properties": (validate_provider, provider(), f"{SCHEMA}.properties", LABELS),
    "a deep schema": (validate_provider, provider(), SCHEMA, nest(900)),
    "a hundred thousand rules": (validate_provider, provider(), RULES, [{"rule": "true"}] * 100_000),
}


def put(manifest: Manifest, path: str, value: Any) -> None:
    """Set a value that is too large or too deep to be copied."""
    *parents, last = path.split(".")
    place: Any = manifest
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    place[last] = value


@pytest.mark.parametrize(("judge", "manifest", "path", "value"), HUGE.values(), ids=HUGE.keys())
def test_a_huge_manifest_costs_bounded_work(judge: Judge, manifest: Manifest, path: str, value: Any) -> None:
    put(manifest, path, value)

    with counted() as calls:
        faults = judge(manifest)

    assert calls.count < CALL_LIMIT
    answer = deny(parse_request(review("recordsets", "CREATE", record_set())), faults)
    assert len(json.dumps(answer)) < ANSWER_LIMIT_OCTETS


def test_an_answer_names_many_faults_and_counts_the_others() -> None:
    faults = judge_record_set(record_set("MX", {"spec.mx.records": [{}] * 500}))

    status = deny(parse_request(review("recordsets", "CREATE", record_set())), faults)["response"]["status"]

    assert len(status["details"]["causes"]) == 200
    assert "1000 faults" in status["message"]
    assert "and 800 more" in status["message"]


@pytest.mark.parametrize("size", [250, 1_000])
def test_a_ledger_costs_what_changes_in_it(size: int) -> None:
    """The cost beside the comparison of what stays is the same however large the ledger is."""
    item = ledger()["spec"]["recordSets"][0]
    items = [{**item, "recordSetName": f"r{i}", "name": f"n{i}"} for i in range(size)]
    old = ledger({"spec.recordSets": items})
    new = ledger({"spec.recordSets": [*items, {**item, "recordSetName": "new", "name": "new"}]})

    with counted() as calls:
        faults = validate_zone_unit(new, old, STORAGE)

    assert faults == []
    assert calls.count < 30 * size + 2_000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PLACES = {
    "A": ["spec", "spec.a", "spec.a.addresses", "spec.zoneRef", "spec.options", "spec.ttl", "spec.name", "metadata"],
    "MX": ["spec.mx", "spec.mx.records", "spec.mx.records.0", "spec.mx.records.0.exchange"],
    "CAA": ["spec.caa", "spec.caa.records", "spec.caa.records.0.flags", "spec.caa.records.0.value"],
    "NS": ["spec.ns", "spec.ns.nameServers", "spec.type", "spec.provider"],
    "TXT": ["spec.txt", "spec.txt.values", "spec.adoption"],
}


@settings(deadline=None)
@given(place=st.sampled_from([(kind, path) for kind, paths in PLACES.items() for path in paths]), value=json_values)
def test_no_value_at_any_place_of_a_record_set_is_a_crash(place: tuple[str, str], value: object) -> None:
    kind, path = place
    manifest = record_set(kind, {path: value})

    for fault in validate_record_set(manifest, record_set(kind), RESOLUTION, "example.com"):
        assert len(str(fault)) < 2_000


@settings(deadline=None)
@given(
    path=st.sampled_from(
        [
            "spec",
            "spec.versions",
            "spec.versions.0",
            "spec.versions.0.zone",
            "spec.versions.0.zone.schemas",
            "spec.versions.0.zone.schemas.adoption.openAPIV3Schema",
            "spec.versions.0.zone.schemas.adoption.openAPIV3Schema.properties.zoneID",
            "spec.versions.0.recordSet.validationRules",
            "spec.versions.0.recordSet.validationRules.0.rule",
            "spec.versions.0.recordSet.disableValidations.0",
            "spec.versions.0.recordSet.supportedTypes",
            "spec.versions.0.identity",
            "spec.versions.0.zoneClass.conversion",
        ]
    ),
    value=json_values,
)
def test_no_value_at_any_place_of_a_provider_is_a_crash(path: str, value: object) -> None:
    validate_provider(provider({path: value}))


@settings(deadline=None)
@given(
    path=st.sampled_from(
        ["status", "status.conditions", "status.zone", "status.recordSets", "status.provider", "spec.recordSets", "spec.zone", "spec"]
    ),
    value=json_values | st.lists(json_values, max_size=2),
)  # fmt: skip
def test_no_value_in_a_status_or_ledger_is_a_crash(path: str, value: object) -> None:
    validate_zone_status(zone({path: value}), zone(), STORAGE)
    validate_record_set_status(record_set("A", {path: value}), record_set(), STORAGE)
    validate_zone_class_status(zone_class({path: value}))
    validate_zone_unit(changed(ledger(), {path: value}), None, STORAGE)
    validate_zone_unit_status(changed(ledger(), {path: value}), ledger(), STORAGE)


@settings(deadline=None)
@given(
    path=st.sampled_from(
        [
            "spec.allowedRecordSets",
            "spec.allowedRecordSets.0.records.0.name.pattern",
            "spec.domainName",
            "spec.adoption",
        ]
    ),
    value=json_values,
)
def test_no_value_in_a_zone_is_a_crash(path: str, value: object) -> None:
    validate_zone(zone({path: value}), zone(), RESOLUTION)
    validate_zone_class(zone_class({path: value, "spec.allowedZones": value}), None, RESOLUTION)
