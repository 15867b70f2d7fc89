"""Payloads at composition: what the version that a claim names says of them, and what they are in the storage version."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from controllers.api.condition import ConditionStatus
from controllers.api.provider import Provider
from controllers.api.reason import Reason
from controllers.api.record_set import NAMED_LIMIT, RecordSet
from controllers.api.verdict import Verdict
from controllers.api.zone_unit import UnitRecordSet
from controllers.core.admission.ledger import validate_zone_unit
from controllers.core.compose import Composition, compose
from controllers.core.inputs import ZoneInputs
from controllers.core.memory import ZoneMemory
from controllers.core.providercontract.conversion.outcome import Converted, Failed, Outcome, Unavailable
from controllers.core.providercontract.conversion.request import ConversionKey, ConversionRequest
from controllers.core.question import questions
from kube.object import ObjectKey
from tests.controllers.core.build import (
    TYPES,
    WEBHOOK,
    deleting,
    inputs,
    provider,
    record_set,
    schema,
    two_versions,
    units,
    zone,
    zone_class,
)

TRUE, FALSE, UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN
MODE = schema(mode={"type": "string", "enum": ["raw", "plain"]})
RAW = schema(raw={"type": "boolean"})
ID = schema(id={"type": "string", "maxLength": 4})
STRICT: dict[str, Any] = {
    "zone": {
        "schemas": {"adoption": ID},
        "validationRules": [{"rule": "self.spec.domainName != 'bad.example'", "message": "Not this domain."}],
    },
    "recordSet": {
        "supportedTypes": TYPES,
        "schemas": {"options": MODE, "adoption": ID},
        "validationRules": [
            {"rule": "self.metadata.namespace != 'loud' || self.spec.ttl >= 60", "message": "At least 60 seconds."},
            {"rule": "!has(self.spec.adoption) || self.spec.adoption.id.startsWith('Z')", "message": "An id is Z…."},
        ],
        "disableValidations": [
            {"name": name, "when": "self.spec.?options.?mode.orValue('') == 'plain'"}
            for name in ("require-ttl", "require-a-addresses", "forbid-cname-apex")
        ],
    },
}
TO_RAW = "{'options': {'raw': self.options.mode == 'raw'}}"
ASKED = "the conversion webhook, Service dns-system/convert, to give spec.options of v1alpha1 in v2"


def verdict(composition: Composition, claim: RecordSet) -> Verdict:
    return composition.record_verdicts[claim.key]


def items(composition: Composition) -> dict[ObjectKey, UnitRecordSet]:
    assert composition.parts is not None
    return {item.key: item for spec in composition.parts.values() for item in spec.record_sets}


@pytest.mark.parametrize(
    ("claim", "reason", "words"),
    [
        (record_set("a", options={"mode": "raw"}), Reason.ACCEPTED, ""),
        (record_set("a", options={}), Reason.ACCEPTED, ""),
        (record_set("a", adoption={"id": "Z123"}), Reason.ACCEPTED, ""),
        (record_set("a", options={"mode": "odd"}), Reason.INVALID_PROVIDER_PAYLOAD, 'spec.options.mode: found "odd"'),
        (record_set("a", options={"mood": "raw"}), Reason.INVALID_PROVIDER_PAYLOAD, "spec.options.mood"),
        (record_set("a", adoption={"id": "Z1234"}), Reason.INVALID_PROVIDER_PAYLOAD, "spec.adoption.id"),
        (record_set("a", adoption={"id": "X"}), Reason.INVALID_PROVIDER_PAYLOAD, "An id is Z…."),
        (record_set("a", adoption={}), Reason.INVALID_PROVIDER_PAYLOAD, "validationRules[1]"),
        (record_set("a", namespace="team", ttl=10), Reason.ACCEPTED, ""),
        (record_set("a", ttl=None), Reason.INVALID_PROVIDER_PAYLOAD, "spec.ttl: found nothing"),
        (record_set("a", a=None, ttl=None, options={"mode": "plain"}), Reason.ACCEPTED, ""),
        (record_set("a", type="A", options={"mode": "raw"}), Reason.INVALID_PROVIDER_PAYLOAD, "spec.a: found nothing"),
        (
            record_set("a", type="A", a={"addresses": ["1.2.3"]}),
            Reason.INVALID_PROVIDER_PAYLOAD,
            "spec.a.addresses[0]: ",
        ),
        (record_set("a", type="MX", options={"mode": "plain"}), Reason.INVALID_PROVIDER_PAYLOAD, "spec.mx"),
        (
            record_set("a", "@", type="CNAME", cname={"target": "x.test"}),
            Reason.INVALID_PROVIDER_PAYLOAD,
            "spec.name",
        ),
        (
            record_set("a", "@", type="CNAME", cname={"target": "x.test"}, options={"mode": "plain"}),
            Reason.ACCEPTED,
            "",
        ),
    ],
)
def test_a_record_set_satisfies_the_version_that_it_names(claim: RecordSet, reason: Reason, words: str) -> None:
    composed = compose(inputs(claim, provider=provider(**STRICT)))
    assert verdict(composed, claim).reason is reason, verdict(composed, claim).message
    assert words in verdict(composed, claim).message
    assert (claim.key in items(composed)) is (reason is Reason.ACCEPTED)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"type": "A", "a": {"addresses": ["192.0.2.1", "192.0.2.1"]}}, "spec.a.addresses[1]"),
        ({"type": "AAAA", "aaaa": {"addresses": ["::1", "0::1"]}}, "spec.aaaa.addresses[1]"),
        ({"type": "TXT", "txt": {"values": [""]}}, "spec.txt.values[0]"),
        ({"type": "TXT", "txt": {"values": ["x", "x"]}}, "spec.txt.values[1]"),
        ({"type": "TXT", "txt": {"values": ["x" * 4001]}}, "spec.txt.values[0]"),
        ({"type": "CNAME", "cname": {"target": "Upper.example.net"}}, "spec.cname.target"),
        ({"type": "CNAME", "cname": {"target": "192.0.2.1"}}, "spec.cname.target"),
        ({"type": "MX", "mx": {"records": [{"preference": 1, "exchange": "."}]}}, "spec.mx.records[0].preference"),
        ({"type": "MX", "mx": {"records": [{"preference": 1, "exchange": "a.test."}]}}, "spec.mx.records[0].exchange"),
        ({"type": "CAA", "caa": {"records": [{"flags": 0, "tag": "Issue", "value": "x"}]}}, "spec.caa.records[0].tag"),
        ({"type": "NS", "ns": {"nameServers": ["ns.example.net", "ns.example.net"]}}, "spec.ns.nameServers[1]"),
        ({"type": "NS", "name": "@", "ns": {"nameServers": ["ns.example.net"]}}, "spec.name"),
        ({"type": "NS", "name": "*.a", "ns": {"nameServers": ["ns.example.net"]}}, "spec.name"),
        ({"type": "A", "a": {"addresses": ["192.0.2.1"]}, "txt": {"values": ["x"]}}, "spec.txt"),
        ({"type": "A", "name": "_a", "a": {"addresses": ["192.0.2.1"]}}, "spec.name"),
        ({"type": "A", "name": "Www", "a": {"addresses": ["192.0.2.1"]}}, "spec.name"),
        ({"type": "A", "name": "www.", "a": {"addresses": ["192.0.2.1"]}}, "spec.name"),
        ({"type": "A", "name": "", "a": {"addresses": ["192.0.2.1"]}}, "spec.name"),
        ({"type": "A", "name": "b\u00fccher", "a": {"addresses": ["192.0.2.1"]}}, "spec.name"),
    ],
)
def test_what_the_ledger_would_refuse_is_refused_by_itself_and_holds_up_nobody(
    spec: dict[str, Any], field: str
) -> None:
    """A Provider may switch core validations off, and claims may have come around admission."""
    disabled = ["require-a-addresses", "require-aaaa-addresses", "require-txt-values"]
    toggles = [{"name": name, "when": "true"} for name in disabled]
    lax = provider(recordSet={"supportedTypes": TYPES, "disableValidations": toggles})
    body = {field: value for field, value in spec.items() if field != "name"}
    bad, good = record_set("bad", spec.get("name", "bad"), **body), record_set("good", "good")
    composed = compose(inputs(bad, good, provider=lax))
    assert verdict(composed, bad).reason in {Reason.INVALID_PROVIDER_PAYLOAD, Reason.INVALID_ZONE_REF}
    assert f"{field}: found " in verdict(composed, bad).message
    assert set(items(composed)) == {good.key}
    (unit,) = units(composed)
    raw = {"metadata": {"name": unit.meta.name, "namespace": unit.meta.namespace}, "spec": unit.spec.dump()}
    assert validate_zone_unit(raw, None, None) == []


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"type": "A", "a": {"addresses": []}},
            "spec.a.addresses: found [], allowed: a value of which holds: list should",
        ),
        ({"type": "A", "a": {}}, "spec.a.addresses: found {}, allowed: a value of which holds: field required"),
        (
            {"type": "A", "a": {"addresses": ["192.0.2.1"]}, "ttl": 0},
            "spec.ttl: found 0, allowed: a value of which holds",
        ),
        (
            {"type": "MX", "mx": {"records": [{"preference": 70000, "exchange": "a.test"}]}},
            "spec.mx.records[0].preference: found 70000",
        ),
        ({"type": "A", "a": {"addresses": ["192.0.2.1"]}, "mx": {"records": []}}, "spec.mx.records: found []"),
    ],
)
def test_a_claim_with_values_that_no_type_can_hold_is_there_to_be_refused(spec: dict[str, Any], told: str) -> None:
    bad, good = record_set("bad", "bad", **spec), record_set("good", "good")
    composed = compose(inputs(bad, good))
    assert verdict(composed, bad).reason is Reason.INVALID_PROVIDER_PAYLOAD
    assert verdict(composed, bad).message.startswith(told)
    assert verdict(composed, bad).message.count("; ") == 0
    assert set(items(composed)) == {good.key}


def test_a_claim_with_faults_without_number_is_read_in_a_moment() -> None:
    """Each is looked at once, and only as many are kept as somebody reads."""
    claim = record_set("bad", type="MX", ttl=0, mx={"records": [{}] * 20_000})
    fields = Counter(each.field for each in claim.spec.unreadable)
    assert fields == {"ttl": 1, "mx": NAMED_LIMIT}
    assert verdict(compose(inputs(claim)), claim).reason is Reason.INVALID_PROVIDER_PAYLOAD


@pytest.mark.parametrize("body", [{"a": {}}, {"a": {"addresses": []}}, {"a": None}, {}])
def test_an_empty_body_is_none_where_none_is_needed(body: dict[str, Any]) -> None:
    toggle = {"name": "require-a-addresses", "when": "true"}
    claim = record_set("a", type="A", **body)
    contract = {"supportedTypes": TYPES, "disableValidations": [toggle]}
    composed = compose(inputs(claim, provider=provider(recordSet=contract)))
    assert verdict(composed, claim).accepted
    assert items(composed)[claim.key].a is None


def test_a_body_of_another_type_is_refused_also_where_none_is_needed() -> None:
    """The ledger's own admission would refuse its item."""
    mx = {"records": [{"preference": 1, "exchange": "mail.test"}]}
    claim = record_set("a", type="A", mx=mx)
    toggle = {"name": "require-a-addresses", "when": "true"}
    contract = {"supportedTypes": TYPES, "disableValidations": [toggle]}
    composed = compose(inputs(claim, provider=provider(recordSet=contract)))
    assert verdict(composed, claim).message.startswith("spec.mx: found an object, allowed: nothing")
    assert not items(composed)


def test_an_owner_that_becomes_unreadable_keeps_its_records_and_can_go() -> None:
    www = record_set("www")
    ledger = units(compose(inputs(www)))
    spec: dict[str, Any] = {"type": "A", "a": {"addresses": []}}
    edited = record_set("www", metadata={"generation": 2}, **spec)
    composed = compose(inputs(edited, units=ledger))
    assert verdict(composed, edited).reason is Reason.INVALID_PROVIDER_PAYLOAD
    assert items(composed) == {www.key: ledger[0].spec.record_sets[0]}
    gone = record_set("www", metadata=deleting(generation=3), **spec)
    assert items(compose(inputs(gone, units=ledger)))[www.key].deletion_requested


@pytest.mark.parametrize("spec", [{"type": "SRV"}, {"ttl": 60, "provider": "hosted"}])
def test_a_claim_without_an_identity_is_none(spec: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="RecordSetSpec"):
        record_set("a", **spec)


@pytest.mark.parametrize(("disabled", "taken"), [((), False), (("forbid-txt-non-printable-ascii",), True)])
def test_a_text_that_is_not_printable_needs_a_provider_that_takes_it(disabled: tuple[str, ...], taken: bool) -> None:
    toggles = [{"name": name, "when": "true"} for name in disabled]
    claim = record_set("a", type="TXT", txt={"values": ["b\u00fccher"]})
    contract = {"supportedTypes": TYPES, "disableValidations": toggles}
    assert verdict(compose(inputs(claim, provider=provider(recordSet=contract))), claim).accepted is taken


def test_all_faults_of_a_claim_are_told_at_once() -> None:
    claim = record_set("a", ttl=None, options={"mode": "odd", "more": 1}, adoption={"id": "12345"})
    message = verdict(compose(inputs(claim, provider=provider(**STRICT))), claim).message
    for field in ("spec.options.mode", "spec.options.more", "spec.adoption.id", "spec.ttl"):
        assert field in message


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        ({"adoption": {"id": "Z"}}, Reason.ACCEPTED, ""),
        ({"adoption": {"id": 5}}, Reason.INVALID_PROVIDER_PAYLOAD, "spec.adoption.id: found 5"),
        ({"domainName": "bad.example"}, Reason.INVALID_PROVIDER_PAYLOAD, "Not this domain."),
    ],
)
def test_a_zone_satisfies_the_version_that_it_names(spec: dict[str, Any], reason: Reason, words: str) -> None:
    claim = record_set("a")
    composed = compose(inputs(claim, zone=zone(**spec), provider=provider(**STRICT)))
    assert composed.zone_verdict is not None
    assert composed.zone_verdict.reason is reason
    assert words in composed.zone_verdict.message
    if reason is not Reason.ACCEPTED:
        assert composed.parts is None
        assert verdict(composed, claim).reason is Reason.ZONE_NOT_ACCEPTED


def test_a_payload_that_the_version_has_no_schema_for_means_no_provider() -> None:
    claim = record_set("a", options={"mode": "raw"})
    assert verdict(compose(inputs(claim)), claim).reason is Reason.INVALID_PROVIDER
    adopting = compose(inputs(zone=zone(adoption={"id": "Z"})))
    assert adopting.zone_verdict is not None
    assert adopting.zone_verdict.reason is Reason.INVALID_PROVIDER


def test_an_owner_with_a_bad_edit_keeps_its_records_as_they_are() -> None:
    strict = provider(**STRICT)
    www = record_set("www", options={"mode": "raw"})
    before = compose(inputs(www, provider=strict))
    edited = record_set("www", options={"mode": "odd"}, ttl=60, metadata={"generation": 2})
    after = compose(inputs(edited, provider=strict, units=units(before)))
    assert verdict(after, www).reason is Reason.INVALID_PROVIDER_PAYLOAD
    assert after.parts == before.parts


def test_rules_see_the_labels_of_a_claim() -> None:
    rules = [{"rule": "'team' in self.metadata.labels", "message": "A label team."}]
    labelled = provider(recordSet={"supportedTypes": TYPES, "validationRules": rules})
    memory = ZoneMemory()
    bare = record_set("www", metadata={"labels": {"x": "y"}})
    assert verdict(compose(inputs(bare, provider=labelled), memory), bare).reason is Reason.INVALID_PROVIDER_PAYLOAD
    named = record_set("www", metadata={"labels": {"team": "web"}})
    assert verdict(compose(inputs(named, provider=labelled), memory), named).accepted


def converting(
    to_storage: dict[str, Any] | None, options: dict[str, Any] = RAW, generation: int = 1, **zone_contract: Any
) -> Provider:
    """v1alpha1 has options.mode, v2 has options.raw."""
    conversion = {"conversion": {"toStorage": to_storage}} if to_storage else {}
    served = {"recordSet": {"supportedTypes": TYPES, "schemas": {"options": MODE, "adoption": ID}, **conversion}}
    storage = {"recordSet": {"supportedTypes": TYPES, "schemas": {"options": options, "adoption": ID}}}
    return two_versions({**served, **zone_contract}, storage, generation)


@pytest.mark.parametrize(
    ("expression", "reason", "words"),
    [
        (TO_RAW, Reason.ACCEPTED, ""),
        ("{'options': self.options}", Reason.PROVIDER_CONVERSION_FAILED, "v2 refuses what it gave: options.mode"),
        ("{'option': self.options}", Reason.PROVIDER_CONVERSION_FAILED, "'option' beside options and adoption"),
        ("{'options': {'raw': self.adoption.id == ''}}", Reason.PROVIDER_CONVERSION_FAILED, "expression fails"),
        ("{'options': null}", Reason.ACCEPTED, ""),
        ("{'options': {'raw': 1.0 / 0.0}}", Reason.PROVIDER_CONVERSION_FAILED, "no form in JSON"),
    ],
)
def test_a_payload_is_converted_by_expression(expression: str, reason: Reason, words: str) -> None:
    claim = record_set("www", options={"mode": "raw"})
    composed = compose(inputs(claim, provider=converting({"cel": expression})))
    found = verdict(composed, claim)
    assert (found.reason, found.status) == (reason, TRUE if reason is Reason.ACCEPTED else FALSE), found.message
    assert words in found.message
    if reason is Reason.ACCEPTED:
        assert items(composed)[claim.key].options == (None if "null" in expression else {"raw": True})
        assert composed.parts is not None
        assert composed.parts[0].provider.version == "v2"
    else:
        assert claim.key not in items(composed)


def test_octets_that_an_expression_gives_are_no_payload() -> None:
    open_options = {
        "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "description": "Any."}
    }
    claim = record_set("www", options={"mode": "raw"})
    with_octets = converting({"cel": "{'options': {'raw': b'abc'}}"}, options=open_options)
    found = verdict(compose(inputs(claim, provider=with_octets)), claim)
    assert found.reason is Reason.PROVIDER_CONVERSION_FAILED


def test_a_claim_without_payloads_needs_no_conversion() -> None:
    claim = record_set("www")
    composed = compose(inputs(claim, provider=converting({"cel": "{'options': {'raw': self.options.mode == ''}}"})))
    assert verdict(composed, claim).accepted
    assert items(composed)[claim.key].options is None


def test_a_version_that_does_not_say_how_to_convert_cannot() -> None:
    claim, plain = record_set("www", options={"mode": "raw"}), record_set("plain", "plain")
    composed = compose(inputs(claim, plain, provider=converting(None)))
    assert verdict(composed, claim).reason is Reason.PROVIDER_CONVERSION_FAILED
    assert "does not say how a RecordSet is converted" in verdict(composed, claim).message
    assert verdict(composed, plain).accepted


def test_a_type_that_the_storage_version_lacks_is_refused() -> None:
    claim = record_set("txt", type="TXT", txt={"values": ["x"]})
    lacking = two_versions(storage={"recordSet": {"supportedTypes": ["A"]}})
    found = verdict(compose(inputs(claim, provider=lacking)), claim)
    assert found.reason is Reason.INVALID_PROVIDER
    assert "v2 supports: A" in found.message


def asked(composed: ZoneInputs) -> list[ConversionRequest]:
    found = questions(composed, ZoneMemory())
    assert found is not None
    return found


def test_a_webhook_is_asked_with_everything_it_may_know() -> None:
    claim = record_set("www-a", "www", options={"mode": "raw"}, namespace="team")
    (question,) = asked(
        inputs(claim, record_set("plain", "b"), provider=converting({"webhook": WEBHOOK}, generation=3))
    )
    assert question.key == ConversionKey("uid-team-www-a", 1, "provider-uid", 3)
    assert (question.target.kind, question.from_version, question.to_version) == ("RecordSet", "v1alpha1", "v2")
    assert question.provider == "hosted.dns.appthrust.io"
    assert question.payload == {"options": {"mode": "raw"}}
    assert question.context == {
        "zone": {"namespace": "team", "name": "example", "domainName": "example.com"},
        "recordSet": {"namespace": "team", "name": "www-a", "recordName": "www", "type": "A"},
    }
    assert (question.service.namespace, question.service.name, question.service.port) == ("dns-system", "convert", 443)


@pytest.mark.parametrize(
    "claim",
    [
        record_set("www", options={"mode": "odd"}),
        record_set("www", options={"mode": "raw"}, namespace="stranger"),
        record_set("www", options={"mode": "raw"}, metadata=deleting()),
        record_set("www"),
    ],
    ids=["refused", "not allowed", "going away", "without payload"],
)
def test_a_webhook_is_not_asked_about_what_is_decided_without_it(claim: RecordSet) -> None:
    assert asked(inputs(claim, provider=converting({"webhook": WEBHOOK}))) == []


@pytest.mark.parametrize(
    ("answer", "status", "reason", "words"),
    [
        (None, UNKNOWN, Reason.RECONCILING, f"Waiting for {ASKED}."),
        (Converted({"options": {"raw": True}}), TRUE, Reason.ACCEPTED, ""),
        (Converted({}), TRUE, Reason.ACCEPTED, ""),
        (Converted({"options": {"raw": "yes"}}), FALSE, Reason.PROVIDER_CONVERSION_FAILED, "options.raw"),
        (Converted({"options": {"mode": "raw"}}), FALSE, Reason.PROVIDER_CONVERSION_FAILED, "options.mode"),
        (Converted({"parameters": {}}), FALSE, Reason.PROVIDER_CONVERSION_FAILED, "'parameters'"),
        (Converted({"options": {"raw": [[]] * 30_000}}), FALSE, Reason.PROVIDER_CONVERSION_FAILED, "too large"),
        (Failed("it says no"), FALSE, Reason.PROVIDER_CONVERSION_FAILED, "failed: it says no."),
        (Unavailable("no answer"), UNKNOWN, Reason.PROVIDER_CONVERSION_UNAVAILABLE, "not available: no answer."),
    ],
)
def test_what_a_webhook_answers_decides(
    answer: Outcome | None, status: ConditionStatus, reason: Reason, words: str
) -> None:
    claim = record_set("www", options={"mode": "raw"})
    new = with_answer(inputs(claim, provider=converting({"webhook": WEBHOOK})), answer)
    composed = compose(new)
    found = verdict(composed, claim)
    assert (found.status, found.reason) == (status, reason), found.message
    assert words in found.message
    assert (claim.key in items(composed)) is found.accepted


def with_answer(given: ZoneInputs, answer: Outcome | None) -> ZoneInputs:
    answers = {question.key: answer for question in asked(given) if answer is not None}
    return replace(given, answers=answers)


@pytest.mark.parametrize("answer", [None, Unavailable("no answer"), Failed("it says no"), Converted({"x": 1})])
def test_what_stands_in_the_ledger_stays_while_a_conversion_does_not_succeed(answer: Outcome | None) -> None:
    hook = converting({"webhook": WEBHOOK})
    www, other = record_set("www", options={"mode": "raw"}), record_set("other", "other")
    before = compose(with_answer(inputs(www, other, provider=hook), Converted({"options": {"raw": True}})))
    edited = record_set("www", options={"mode": "plain"}, ttl=60, metadata={"generation": 2})
    moved = record_set("other", "other", ttl=77, metadata={"generation": 2})
    after = compose(with_answer(inputs(edited, moved, provider=hook, units=units(before)), answer))
    assert items(after)[www.key] == items(before)[www.key]
    assert items(after)[other.key].ttl == 77
    assert www.key in after.hold


def test_an_answer_that_comes_is_taken_up_by_a_memory() -> None:
    memory = ZoneMemory()
    given = inputs(record_set("www", options={"mode": "raw"}), provider=converting({"webhook": WEBHOOK}))
    claim = given.record_sets[0]
    assert verdict(compose(given, memory), claim).reason is Reason.RECONCILING
    assert verdict(compose(with_answer(given, Unavailable("x")), memory), claim).status is UNKNOWN
    composed = compose(with_answer(given, Converted({"options": {"raw": True}})), memory)
    assert items(composed)[claim.key].options == {"raw": True}
    assert verdict(compose(with_answer(given, Failed("x")), memory), claim).status is FALSE


def zone_webhook() -> Provider:
    adopting = {"zone": {"schemas": {"adoption": ID}, "conversion": {"toStorage": {"webhook": WEBHOOK}}}}
    storage = {"zone": {"schemas": {"adoption": schema(zoneID={"type": "string"})}}}
    return two_versions(adopting, storage)


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (None, UNKNOWN, Reason.RECONCILING),
        (Unavailable("no answer"), UNKNOWN, Reason.PROVIDER_CONVERSION_UNAVAILABLE),
        (Failed("no"), FALSE, Reason.PROVIDER_CONVERSION_FAILED),
        (Converted({"adoption": {"id": "Z"}}), FALSE, Reason.PROVIDER_CONVERSION_FAILED),
        (Converted({"adoption": {"zoneID": "Z"}}), TRUE, Reason.ACCEPTED),
    ],
)
def test_a_zones_adoption_is_converted_before_anything_is_composed(
    answer: Outcome | None, status: ConditionStatus, reason: Reason
) -> None:
    claim = record_set("www")
    given = inputs(claim, zone=zone(adoption={"id": "Z"}), provider=zone_webhook())
    assert [each.target.kind for each in asked(given)] == ["Zone"]
    assert "recordSet" not in asked(given)[0].context
    composed = compose(with_answer(given, answer))
    assert composed.zone_verdict is not None
    assert (composed.zone_verdict.status, composed.zone_verdict.reason) == (status, reason)
    if status is TRUE:
        assert composed.parts is not None
        assert composed.parts[0].zone.adoption == {"zoneID": "Z"}
    else:
        assert composed.parts is None
        assert verdict(composed, claim).status is status


def test_nothing_is_asked_for_a_zone_that_is_not_composed() -> None:
    claim = record_set("www", options={"mode": "raw"})
    hook = converting({"webhook": WEBHOOK})
    for changed in (
        {"zone": None},
        {"zone_class": None},
        {"zone": zone(deleting())},
        {"zone_class": zone_class(("False", "InvalidParameters"))},
    ):
        given = inputs(claim, provider=hook, **changed)
        assert questions(given, ZoneMemory()) is None


def former_ledger() -> tuple[RecordSet, RecordSet, Composition]:
    """Two owners, composed while v1alpha1 was the storage version."""
    before = provider(recordSet={"supportedTypes": TYPES, "schemas": {"options": MODE, "adoption": ID}})
    www, plain = record_set("www", options={"mode": "raw"}), record_set("plain", "plain")
    return www, plain, compose(inputs(www, plain, provider=before))


def test_a_ledger_moves_to_a_new_storage_version_with_items_whose_claims_were_lost() -> None:
    www, plain, before = former_ledger()
    after = compose(inputs(plain, provider=converting({"cel": TO_RAW}), units=units(before)))
    assert after.parts is not None
    assert after.parts[0].provider.version == "v2"
    assert items(after)[www.key].options == {"raw": True}
    assert items(after)[plain.key] == items(before)[plain.key]


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (None, UNKNOWN, Reason.RECONCILING),
        (Unavailable("x"), UNKNOWN, Reason.PROVIDER_CONVERSION_UNAVAILABLE),
        (Failed("x"), FALSE, Reason.PROVIDER_CONVERSION_FAILED),
    ],
)
def test_a_ledger_moves_as_a_whole_or_not_at_all(
    answer: Outcome | None, status: ConditionStatus, reason: Reason
) -> None:
    www, plain, before = former_ledger()
    given = inputs(plain, provider=converting({"webhook": WEBHOOK}), units=units(before))
    (question,) = asked(given)
    assert question.key.subject == f"ledger/{www.key}"
    assert question.payload == {"options": {"mode": "raw"}}
    after = compose(with_answer(given, answer))
    assert after.parts is None
    assert after.zone_verdict is not None
    assert (after.zone_verdict.status, after.zone_verdict.reason) == (status, reason)
    assert str(www.key) in after.zone_verdict.message
    moved = compose(with_answer(given, Converted({"options": {"raw": False}})))
    assert items(moved)[www.key].options == {"raw": False}


def test_a_ledger_of_a_version_that_is_gone_does_not_move() -> None:
    www, plain, before = former_ledger()
    gone = provider(name="v1alpha1", storage=True, recordSet={"supportedTypes": TYPES})
    assert compose(inputs(plain, provider=gone, units=units(before))).zone_verdict is not None
    spec = units(before)[0].spec
    old = units(before)[0].spec.model_copy(update={"provider": spec.provider.model_copy(update={"version": "v0"})})
    composition = Composition(before.ledger, None, {}, {0: old})
    after = compose(inputs(plain, provider=gone, units=units(composition)))
    assert after.zone_verdict is not None
    assert after.zone_verdict.reason is Reason.PROVIDER_CONVERSION_FAILED
    assert "v0" in after.zone_verdict.message
    assert after.parts is None
    assert www.key in after.ledger.items
