"""Record sets of one owner name: what the Provider's storage version lets stand together, and who has to give way."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.api.provider import Provider
from controllers.api.reason import Reason
from controllers.api.record_set import RecordSet
from controllers.api.verdict import Verdict
from controllers.api.zone_unit import UnitRecordSet
from controllers.core.compose import Composition, compose
from controllers.core.memory import ZoneMemory
from controllers.core.pair_rule import PairRules
from controllers.core.providercontract.contract import Contract
from kube.object import ObjectKey
from tests.controllers.core.build import TYPES, inputs, provider, record_set, schema, two_versions, units, zone

BODIES: dict[str, dict[str, Any]] = {
    "A": {"a": {"addresses": ["192.0.2.1"]}},
    "AAAA": {"aaaa": {"addresses": ["2001:db8::1"]}},
    "TXT": {"txt": {"values": ["x"]}},
    "CNAME": {"cname": {"target": "x.test"}},
    "MX": {"mx": {"records": [{"preference": 1, "exchange": "x.test"}]}},
    "CAA": {"caa": {"records": [{"flags": 0, "tag": "issue", "value": "x.test"}]}},
    "NS": {"ns": {"nameServers": ["ns.test"]}},
}
FLATTENING = {
    "zoneUnit": {
        "disableValidations": [
            {
                "name": "forbid-cname-coexistence",
                "when": "self.type == 'CNAME' && other.type in ['TXT', 'MX', 'CAA']",
            }
        ],
        "validationRules": [
            {"rule": "self.type != 'NS'", "message": "NS stands alone."},
        ],
    }
}
TYPE_PAIRS = [tuple(sorted(pair)) for pair in combinations(TYPES, 2)]


def claim(name: str, record_type: str, owner: str = "www", **more: Any) -> RecordSet:
    return record_set(name, owner, type=record_type, **BODIES[record_type], **more)


def verdict(composition: Composition, of: RecordSet) -> Verdict:
    return composition.record_verdicts[of.key]


def items(composition: Composition) -> dict[ObjectKey, UnitRecordSet]:
    assert composition.parts is not None
    return {item.key: item for spec in composition.parts.values() for item in spec.record_sets}


def go_together(pair: tuple[str, ...], flattening: bool) -> bool:
    if flattening and "NS" in pair:
        return False
    return "CNAME" not in pair or (flattening and set(pair) - {"CNAME"} <= {"TXT", "MX", "CAA"})


@pytest.mark.parametrize("flattening", [False, True])
@pytest.mark.parametrize("pair", TYPE_PAIRS)
def test_which_types_share_a_name(pair: tuple[str, str], flattening: bool) -> None:
    rules = provider(**FLATTENING) if flattening else provider()
    for first, second in (pair, reversed(pair)):
        older, younger = claim("a-older", first), claim("b-younger", second)
        composed = compose(inputs(younger, older, provider=rules))
        assert verdict(composed, older).accepted
        assert verdict(composed, younger).accepted is go_together(pair, flattening), (first, second)
        if not go_together(pair, flattening):
            assert verdict(composed, younger).reason is Reason.RECORD_SET_CONFLICT
            assert f"RecordSet team/a-older owns {first} at www; " in verdict(composed, younger).message


def test_a_conflict_names_the_rule_of_the_provider() -> None:
    ns, txt = claim("a", "NS"), claim("b", "TXT")
    message = verdict(compose(inputs(ns, txt, provider=provider(**FLATTENING))), txt).message
    assert "NS stands alone." in message
    assert "hosted.dns.appthrust.io/v1alpha1" in message


def test_one_type_stands_once_whatever_the_provider_says() -> None:
    generous = {"disableValidations": [{"name": "forbid-cname-coexistence", "when": "true"}]}
    one, other = claim("a", "CNAME"), claim("b", "CNAME")
    composed = compose(inputs(one, other, provider=provider(zoneUnit=generous)))
    assert verdict(composed, other).reason is Reason.RECORD_SET_CONFLICT


def test_names_do_not_concern_one_another() -> None:
    cname, a = claim("a", "CNAME", "www"), claim("b", "A", "web")
    assert len(items(compose(inputs(cname, a)))) == 2


def test_rules_read_the_zone_the_provider_and_both_versions() -> None:
    rule = (
        "zone.domainName == 'example.com' && zone.namespace == 'team' && zone.name == 'example'"
        " && provider.name == 'hosted.dns.appthrust.io' && provider.version == 'v1alpha1' && toVersion == 'v2'"
    )
    both = [claim("a", "A"), claim("b", "TXT")]
    holding = two_versions(storage={"zoneUnit": {"validationRules": [{"rule": rule}]}})
    assert len(items(compose(inputs(*both, provider=holding)))) == 2
    broken = two_versions(storage={"zoneUnit": {"validationRules": [{"rule": f"!({rule})"}]}})
    assert len(items(compose(inputs(*both, provider=broken)))) == 1


def test_rules_are_those_of_the_storage_version() -> None:
    both = [claim("a", "A"), claim("b", "TXT")]
    never = {"zoneUnit": {"validationRules": [{"rule": "false"}]}}
    assert len(items(compose(inputs(*both, provider=two_versions(served=never))))) == 2
    assert len(items(compose(inputs(*both, provider=two_versions(storage=never))))) == 1


def test_a_rule_that_fails_is_a_refusal_that_names_it() -> None:
    failing = {"validationRules": [{"rule": "self.ttl > other.ttl || self.ttl <= other.ttl"}]}
    toggles = {"zoneUnit": {**failing}, "recordSet": without_ttl()}
    one, other = claim("a", "A"), claim("b", "TXT", ttl=None)
    found = verdict(compose(inputs(one, other, provider=provider(**toggles))), other)
    assert found.reason is Reason.RECORD_SET_CONFLICT
    assert "validationRules[0]" in found.message


def test_a_toggle_that_fails_leaves_the_validation_on() -> None:
    failing = {"disableValidations": [{"name": "forbid-cname-coexistence", "when": "self.ttl + other.ttl > 0"}]}
    one, other = claim("a", "CNAME"), claim("b", "TXT", ttl=None)
    rules = provider(zoneUnit=failing, recordSet=without_ttl())
    assert verdict(compose(inputs(one, other, provider=rules)), other).reason is Reason.RECORD_SET_CONFLICT


def without_ttl() -> dict[str, Any]:
    return {"supportedTypes": TYPES, "disableValidations": [{"name": "require-ttl", "when": "true"}]}


def test_a_pair_too_large_for_rules_is_refused() -> None:
    values = [f"{number:04}" + "x" * 3996 for number in range(100)]
    huge, other = record_set("a", type="TXT", txt={"values": values}), claim("b", "A")
    rules = provider(zoneUnit={"validationRules": [{"rule": "true"}]})
    assert verdict(compose(inputs(huge, other, provider=rules)), other).accepted
    values = [f"{number:04}" + "x" * 3996 for number in range(200)]
    found = compose(inputs(record_set("a", type="TXT", txt={"values": values}), other, provider=rules))
    assert verdict(found, other).reason is Reason.RECORD_SET_CONFLICT
    assert "cannot read" in verdict(found, other).message


def by_option() -> Provider:
    """Both record sets of a name must have the same options.tier."""
    return provider(
        recordSet={"supportedTypes": TYPES, "schemas": {"options": schema(tier={"type": "string", "maxLength": 9})}},
        zoneUnit={
            "validationRules": [
                {
                    "rule": "self.?options.?tier.orValue('') == other.?options.?tier.orValue('')",
                    "message": "One tier for a name.",
                }
            ]
        },
    )


def test_an_edit_that_no_longer_goes_with_its_neighbour_is_refused_and_changes_nothing() -> None:
    tiers = by_option()
    a, txt = claim("a", "A", options={"tier": "gold"}), claim("b", "TXT", options={"tier": "gold"})
    before = compose(inputs(a, txt, provider=tiers))
    assert len(items(before)) == 2
    edited = claim("a", "A", options={"tier": "lead"}, metadata={"generation": 2})
    memory = ZoneMemory()
    for _ in range(2):
        after = compose(inputs(edited, txt, provider=tiers, units=units(before)), memory)
        assert verdict(after, a).reason is Reason.RECORD_SET_CONFLICT
        assert "One tier for a name." in verdict(after, a).message
        assert verdict(after, txt).accepted
        assert after.parts == before.parts


def test_edits_of_a_whole_name_go_through_together() -> None:
    tiers = by_option()
    claims = [claim("a", "A"), claim("b", "TXT"), claim("c", "MX")]
    before = compose(inputs(*claims, provider=tiers))
    edits = [edited(name, kind, "lead") for name, kind in (("a", "A"), ("b", "TXT"), ("c", "MX"))]
    after = compose(inputs(*edits, provider=tiers, units=units(before)))
    assert {item.options["tier"] for item in items(after).values() if item.options} == {"lead"}
    assert len(items(after)) == 3


def test_edits_that_leave_a_neighbour_behind_are_all_refused() -> None:
    tiers = by_option()
    before = compose(inputs(claim("a", "A"), claim("b", "TXT"), claim("c", "MX"), provider=tiers))
    edits = [edited("a", "A", "lead"), edited("b", "TXT", "lead"), edited("c", "MX", "gold")]
    for order in (edits, edits[::-1]):
        after = compose(inputs(*order, provider=tiers, units=units(before)))
        assert after.parts == before.parts
        assert {verdict(after, each).reason for each in edits} == {Reason.RECORD_SET_CONFLICT}


def edited(name: str, kind: str, tier: str) -> RecordSet:
    return claim(name, kind, options={"tier": tier}, metadata={"generation": 2})


def test_owners_keep_what_they_have_when_rules_become_stricter() -> None:
    a, ns = claim("a", "A"), claim("b", "NS")
    before = compose(inputs(a, ns))
    stricter = provider(**FLATTENING)
    after = compose(inputs(a, ns, provider=stricter, units=units(before)))
    assert after.parts == before.parts
    assert verdict(after, a).accepted
    assert verdict(after, ns).accepted
    newcomer = claim("c", "TXT")
    assert verdict(compose(inputs(a, ns, newcomer, provider=stricter, units=units(before))), newcomer).reason is (
        Reason.RECORD_SET_CONFLICT
    )


def test_a_neighbour_that_has_not_come_back_keeps_newcomers_waiting() -> None:
    before = compose(inputs(claim("lost", "CNAME")))
    newcomer = claim("new", "A")
    after = compose(inputs(newcomer, units=units(before)))
    assert verdict(after, newcomer).reason is Reason.OWNER_STATE_NOT_RESOLVED


@given(
    seed=st.integers(0, 2**32),
    kinds=st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from(["x", "y"]), st.integers(0, 2)), max_size=10),
    flattening=st.booleans(),
)
def test_the_outcome_is_one_and_every_pair_in_it_goes_together(
    seed: int, kinds: list[tuple[str, str, int]], flattening: bool
) -> None:
    rules = provider(**FLATTENING) if flattening else provider()
    ages = [f"2026-11-0{age + 1}T00:00:00Z" for _, _, age in kinds]
    claims = [
        claim(f"r{number}", kind, owner, metadata={"creationTimestamp": ages[number]})
        for number, (kind, owner, _) in enumerate(kinds)
    ]
    shuffled = claims[:]
    Random(seed).shuffle(shuffled)
    composed, again = compose(inputs(*claims, provider=rules)), compose(inputs(*shuffled, provider=rules))
    assert composed.record_verdicts == again.record_verdicts
    assert composed.parts == again.parts
    for one, other in combinations(items(composed).values(), 2):
        if one.name == other.name:
            assert one.type != other.type
            assert go_together((one.type, other.type), flattening)
    stable = compose(inputs(*shuffled, provider=rules, units=units(composed)))
    assert stable.parts == composed.parts


def test_pairs_are_judged_once_for_as_long_as_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[tuple[str, str]] = []
    original = PairRules.__call__

    def counting(self: PairRules, one: UnitRecordSet, other: UnitRecordSet) -> str | None:
        judged.append((one.record_set_name, other.record_set_name))
        return original(self, one, other)

    monkeypatch.setattr(PairRules, "__call__", counting)
    memory, rules = ZoneMemory(), provider(**FLATTENING)
    losers = [claim(f"loser-{number}", "A") for number in range(50)]
    owner = claim("a-owner", "CNAME")
    ledger = units(compose(inputs(owner, provider=rules)))
    given = inputs(owner, *losers, provider=rules, units=ledger)
    compose(given, memory)
    assert len(judged) == 50
    compose(given, memory)
    assert len(judged) == 50
    again = claim("loser-7", "A", metadata={"generation": 2})
    compose(inputs(owner, *losers[:7], again, *losers[8:], provider=rules, units=ledger), memory)
    assert len(judged) == 51


def test_claims_of_one_type_cost_no_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> str | None:
        raise AssertionError("the type says it all")

    monkeypatch.setattr(PairRules, "__call__", never)
    rivals = [claim(f"r{number}", "A") for number in range(200)]
    composed = compose(inputs(*rivals, provider=provider(**FLATTENING)))
    assert sum(each.accepted for each in composed.record_verdicts.values()) == 1


def test_a_version_without_pair_rules_has_none() -> None:
    given = inputs(zone=zone())
    assert isinstance(given.versions.storage, Contract)
    assert given.zone is not None
    assert PairRules.of(given.versions.storage, given.zone) is None
