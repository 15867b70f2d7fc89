"""Plans of withdrawals: what is told of each, from claims alone, and when there is nothing to tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from controllers.api.record_set import RecordSet
from controllers.api.record_withdrawal import RecordWithdrawal
from controllers.api.record_withdrawal_waiver import RecordWithdrawalWaiver
from controllers.core.compose import compose
from controllers.core.item import item_of
from controllers.core.plan import Effect, World, ZonePlan, make_plan
from controllers.core.withdrawal.outlook import Outlook, Pointing, WithdrawalPlan
from kube.object import ObjectKey, ObjectMeta
from tests.controllers.core import build
from tests.controllers.core.build import record_set
from tests.controllers.core.withdrawal.build import ADDRESS, inputs, provider, waiver, withdrawal
from zonemodel.name import Fqdn

OLD = ObjectKey("team", "old-ip")


def world(
    *record_sets: RecordSet,
    withdrawals: Iterable[RecordWithdrawal] = (),
    waivers: Iterable[RecordWithdrawalWaiver] = (),
    **more: Any,
) -> World:
    """A world whose ledger holds what its claims say."""
    withdrawals = list(withdrawals)
    zone, zone_class = more.get("zone", build.zone()), build.zone_class()
    composed = compose(replace(inputs(*withdrawals, zone=zone), record_sets=record_sets))
    return World(
        providers={provider().key: provider()},
        zone_classes={zone_class.key: zone_class},
        zones={zone.key: zone},
        record_sets={each.key: each for each in record_sets},
        zone_units={each.key: each for each in build.units(composed)},
        namespaces={ObjectKey("", "team"): ObjectMeta("team", labels={"team": "dns"})},
        withdrawals={each.key: each for each in withdrawals},
        waivers={each.key: each for each in waivers},
    )


def zone_plan(before: World, after: World, named: Iterable[ObjectKey] = ()) -> ZonePlan:
    (found,) = make_plan(before, after, named_withdrawals=named).zones
    return found


def only(before: World, after: World, named: Iterable[ObjectKey] = ()) -> WithdrawalPlan:
    (found,) = zone_plan(before, after, named).withdrawals
    return found


def with_claim(before: World, claim: RecordWithdrawal) -> World:
    return replace(before, withdrawals={**before.withdrawals, claim.key: claim})


WWW = record_set("www", "www")
OTHER = record_set("www", "www", type="A", a={"addresses": ["192.0.2.9"]})


def test_a_new_withdrawal_is_held_by_the_record_set_that_gives_the_address() -> None:
    here = world(WWW)
    found = only(here, with_claim(here, withdrawal()))
    assert (found.key, found.owner, found.address, found.created) == (OLD, "www", ADDRESS, True)
    assert (found.outlook, found.giving) == (Outlook.HELD, (ObjectKey("team", "www"),))
    assert found.acceptance.accepted


def test_a_new_withdrawal_of_an_address_that_nobody_gives_is_to_be_proven() -> None:
    here = world(OTHER)
    assert only(here, with_claim(here, withdrawal())).outlook is Outlook.TO_BE_PROVEN


def test_a_change_of_records_lets_a_withdrawal_go_on_or_holds_it_again() -> None:
    held, free = world(WWW, withdrawals=[withdrawal()]), world(OTHER, withdrawals=[withdrawal()])
    then = only(held, replace(held, record_sets=free.record_sets))
    assert (then.outlook, then.created, then.changed) == (Outlook.TO_BE_PROVEN, False, False)
    again = only(free, replace(free, record_sets=held.record_sets))
    assert (again.outlook, again.giving) == (Outlook.HELD, (ObjectKey("team", "www"),))


def test_what_is_proven_stays_so_only_while_nobody_gives_the_address_again() -> None:
    ready = {"observedGeneration": 1, "conditions": [build.condition("Ready", "True", "Withdrawn")]}
    free = world(OTHER, withdrawals=[withdrawal(status=ready)])
    assert only(free, free, [OLD]).outlook is Outlook.PROVEN
    assert only(free, replace(free, record_sets={WWW.key: WWW})).outlook is Outlook.HELD


def test_a_waiver_releases_what_is_held() -> None:
    claim = withdrawal()
    held = world(WWW, withdrawals=[claim])
    release = waiver(claim)
    found = only(held, replace(held, waivers={release.key: release}))
    assert (found.outlook, found.waiver, found.giving) == (Outlook.RELEASED, release.key, (ObjectKey("team", "www"),))


def test_a_withdrawal_that_is_refused_is_told_with_its_reason_and_nothing_is_promised() -> None:
    here = world(WWW)
    found = only(here, with_claim(here, withdrawal(owner="*")))
    assert (found.acceptance.reason, found.outlook, found.giving) == ("NotAllowed", None, ())
    missing = withdrawal("lost", zoneRef={"namespace": "team", "name": "nowhere"})
    plans = make_plan(here, with_claim(here, missing)).zones
    assert [(each.key.name, each.withdrawals[0].acceptance.reason) for each in plans] == [
        ("nowhere", "InvalidWithdrawal")
    ]


def test_nothing_is_told_of_withdrawals_that_nothing_happens_to() -> None:
    here = world(WWW, withdrawals=[withdrawal(), withdrawal("other", "elsewhere")])
    assert make_plan(here, here).zones == ()
    api = record_set("api", "api")
    found = zone_plan(here, replace(here, record_sets={**here.record_sets, api.key: api}))
    assert (found.withdrawals, found.untouched) == ((), 3)


def test_a_zone_that_is_being_deleted_is_not_gone_while_a_withdrawal_holds_it() -> None:
    here = world(withdrawals=[withdrawal()])
    leaving = build.zone(metadata=build.deleting())
    found = zone_plan(here, replace(here, zones={leaving.key: leaving}), [OLD])
    assert found.effect is not Effect.DELETE


CNAME = record_set("alias", "www", type="CNAME", cname={"target": "app.example.com"})
APP = record_set("app", "app")


@pytest.mark.parametrize(
    ("owner", "record_sets", "giving"),
    [
        ("www", [CNAME, APP], ["alias", "app"]),
        ("www", [CNAME, record_set("star", "*")], ["alias", "star"]),
        ("www", [record_set("star", "*")], ["star"]),
        ("a.b.www", [record_set("star", "*"), record_set("stop", "b.www", type="TXT", txt={"values": ["x"]})], []),
        ("www", [record_set("out", "www", type="CNAME", cname={"target": "www.elsewhere.test"})], []),
        ("www", [record_set("loop", "www", type="CNAME", cname={"target": "www.example.com"})], []),
        ("www", [record_set("six", "www", type="AAAA", aaaa={"addresses": ["2001:db8::1"]})], []),
        ("@", [record_set("apex", "@")], ["apex"]),
    ],
)
def test_every_way_from_the_name_to_the_address_counts(
    owner: str, record_sets: list[RecordSet], giving: list[str]
) -> None:
    here = world(*record_sets)
    found = only(here, with_claim(here, withdrawal(owner=owner)))
    assert [key.name for key in found.giving] == giving


def test_a_wildcard_counts_by_what_it_makes_of_names() -> None:
    grant = {
        "namespaces": {"selector": {"matchLabels": {"team": "dns"}}},
        "records": [{"name": {"pattern": r"\*"}, "types": ["A"]}],
    }
    here = world(record_set("star", "*"), record_set("www", "www"), zone=build.zone(allowedRecordSets=[grant]))
    found = only(here, with_claim(here, withdrawal(owner="*")))
    assert (found.outlook, [key.name for key in found.giving]) == (Outlook.HELD, ["star"])


def test_a_record_that_is_being_deleted_is_as_good_as_gone() -> None:
    item, claim = item_of(WWW), compose(inputs(withdrawal())).inventory.items
    assert claim is not None
    for leaving, giving in ((False, (WWW.key,)), (True, ())):
        pointing = Pointing([item.model_copy(update={"deletion_requested": leaving})], Fqdn("example.com"))
        assert pointing.giving(claim[0]) == giving


def test_a_proof_of_an_older_generation_proves_nothing() -> None:
    here = world(OTHER)
    ready = build.condition("Ready", "True", "Withdrawn")
    for generation, outlook in ((1, Outlook.PROVEN), (2, Outlook.TO_BE_PROVEN)):
        claim = withdrawal(metadata={"generation": generation}, status={"conditions": [ready]})
        assert only(here, with_claim(here, claim)).outlook is outlook
