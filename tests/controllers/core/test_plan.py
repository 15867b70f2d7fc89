"""Plans: what is told of each zone, and that it is what composition then does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from controllers.api.provider import Provider
from controllers.api.record_set import RecordSet
from controllers.api.zone import Zone
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import UnitRecordSet, ZoneUnit
from controllers.core.compose import compose
from controllers.core.plan import (
    Assumption,
    Effect,
    FieldChange,
    Plan,
    RecordPlan,
    World,
    ZonePlan,
    field_changes,
    make_plan,
)
from kube.object import ObjectKey, ObjectMeta
from tests.controllers.core.build import (
    WEBHOOK,
    ZONE,
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

OTHER_TEAM = {"namespaces": {"selector": {"matchLabels": {"team": "other"}}}}
ANY_HOST = {**OTHER_TEAM, "records": [{"name": {"pattern": ".*"}, "types": ["A"]}]}


def world(
    *record_sets: RecordSet,
    zones: Iterable[Zone] = (zone(),),
    zone_classes: Iterable[ZoneClass] = (zone_class(),),
    providers: Iterable[Provider] = (provider(),),
    zone_units: Iterable[ZoneUnit] = (),
    labels: dict[str, dict[str, str]] | None = None,
) -> World:
    named = {"team": {}, "other": {"team": "other"}, **(labels or {})}
    return World(
        providers={each.key: each for each in providers},
        zone_classes={each.key: each for each in zone_classes},
        zones={each.key: each for each in zones},
        record_sets={each.key: each for each in record_sets},
        zone_units={each.key: each for each in zone_units},
        namespaces={ObjectKey("", name): ObjectMeta(name, labels=each) for name, each in named.items()},
    )


def settled(*record_sets: RecordSet, **more: Any) -> World:
    """A world whose ledger holds what its claims say."""
    zones = list(more.get("zones", (zone(),)))
    labels = {"team": {}, "other": {"team": "other"}}
    composed = compose(inputs(*record_sets, zone=zones[0], labels=labels))
    return world(*record_sets, zone_units=units(composed), **more)


def only(plan: Plan) -> ZonePlan:
    (found,) = plan.zones
    return found


def effects(plan: ZonePlan) -> dict[str, Effect]:
    return {each.key.name: each.effect for each in plan.record_sets}


def of(plan: ZonePlan, name: str) -> RecordPlan:
    (found,) = [each for each in plan.record_sets if each.key.name == name]
    return found


def changes(plan: ZonePlan, name: str) -> dict[str, tuple[Any, Any]]:
    return {each.field: (each.before, each.after) for each in of(plan, name).changes}


def test_nothing_changed_is_nothing_told() -> None:
    here = settled(record_set("www"))

    assert make_plan(here, here).zones == ()


def test_what_is_asked_about_is_told_even_if_nothing_happens_to_it() -> None:
    www = record_set("www")
    here = settled(www, record_set("api", "api"))

    found = only(make_plan(here, here, named=[www.key]))

    assert (found.key, found.effect, found.record_sets, found.untouched) == (ZONE, Effect.NONE, (), 2)


def test_a_new_zone_is_told_with_all_that_is_new_in_it() -> None:
    before = world(zones=(), zone_classes=())

    plan = make_plan(before, world(record_set("www", "www"), record_set("api", "api"), zone_classes=[zone_class(None)]))

    found = only(plan)
    assert (found.effect, found.domain_name) == (Effect.CREATE, "example.com")
    assert effects(found) == {"www": Effect.CREATE, "api": Effect.CREATE}
    assert changes(found, "www") == {"ttl": (None, 300), "a.addresses": (None, ["192.0.2.1"])}
    assert plan.assumed == (Assumption(zone_class().key),)


def test_a_class_that_nobody_has_judged_yet_is_not_taken_to_be_accepted() -> None:
    unjudged = zone_class(None)
    before = world(zones=(), zone_classes=[unjudged])

    plan = make_plan(before, world(record_set("www"), zone_classes=[unjudged]))

    assert plan.assumed == ()
    found = only(plan)
    assert found.verdict is not None
    assert found.verdict.reason == "ZoneClassNotResolved"
    assert of(found, "www").effect is Effect.NONE


def test_a_class_that_is_mended_is_taken_to_be_accepted() -> None:
    broken = zone_class(("False", "InvalidParameters"), parameters={"a": 1})
    mended = zone_class(("False", "InvalidParameters"), parameters={"a": 2})

    plan = make_plan(world(record_set("www"), zone_classes=[broken]), world(record_set("www"), zone_classes=[mended]))

    assert plan.assumed == (Assumption(mended.key),)
    assert effects(only(plan)) == {"www": Effect.CREATE}


def test_a_class_whose_parameters_a_webhook_converts_is_told_with_the_webhook() -> None:
    both = {"zoneClass": {"schemas": {"parameters": schema(mode={"type": "string"})}}}
    served = {"zoneClass": {**both["zoneClass"], "conversion": {"toStorage": {"webhook": WEBHOOK}}}}
    providers = [two_versions(served, both)]
    new = zone_class(None, parameters={"mode": "a"})

    plan = make_plan(world(zone_classes=(), providers=providers), world(zone_classes=[new], providers=providers))

    asked = "the conversion webhook, Service dns-system/convert, to give spec.parameters of v1alpha1 in v2"
    assert plan.assumed == (Assumption(new.key, asked),)


def test_a_change_is_told_field_by_field() -> None:
    old = record_set("www", options={"proxied": True, "tags": ["a"]}, ttl=60)
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    contract = {"supportedTypes": ["A"], "schemas": {"options": {"openAPIV3Schema": schema}}}
    here = provider(recordSet=contract)
    composed = compose(inputs(old, provider=here))
    before = world(old, zone_units=units(composed), providers=[here])
    new = record_set(
        "www",
        metadata={"generation": 2},
        options={"tags": ["a", "b"], "comment": "c"},
        ttl=60,
        a={"addresses": ["192.0.2.1", "192.0.2.2"]},
    )

    found = only(make_plan(before, world(new, zone_units=units(composed), providers=[here])))

    assert effects(found) == {"www": Effect.CHANGE}
    assert changes(found, "www") == {
        "a.addresses": (["192.0.2.1"], ["192.0.2.1", "192.0.2.2"]),
        "options.proxied": (True, None),
        "options.tags": (["a"], ["a", "b"]),
        "options.comment": (None, "c"),
    }


def test_a_change_of_labels_is_one_of_the_claim_alone() -> None:
    old, new = record_set("www"), record_set("www", metadata={"labels": {"team": "x"}})
    before = settled(old)

    found = only(make_plan(before, world(new, zone_units=before.zone_units.values())))

    assert changes(found, "www") == {"metadata.labels[team]": (None, "x")}


def test_what_loses_a_name_is_told_with_the_owner() -> None:
    before = settled(record_set("www"))
    rival = record_set("rival", "www", metadata={"creationTimestamp": "2026-12-01T00:00:00Z"})

    found = only(make_plan(before, world(record_set("www"), rival, zone_units=before.zone_units.values())))

    assert effects(found) == {"rival": Effect.NONE}
    verdict = of(found, "rival").verdict
    assert verdict is not None
    assert (verdict.reason, "team/www" in verdict.message) == ("RecordSetConflict", True)
    assert found.untouched == 1


def test_a_grant_that_is_taken_away_is_told_at_the_records_that_it_shuts_out() -> None:
    granted, denied = zone(allowedRecordSets=[ANY_HOST]), zone({"generation": 2})
    guest = record_set("guest", "guest", namespace="other")
    before = settled(guest, zones=[granted])

    found = only(make_plan(before, world(guest, zones=[denied], zone_units=before.zone_units.values())))

    assert found.effect is Effect.CHANGE
    assert [each.field for each in found.changes] == ["allowedRecordSets"]
    record = of(found, "guest")
    assert (record.effect, changes(found, "guest")) == (Effect.CHANGE, {"allowed": (True, False)})
    assert record.verdict is not None
    assert record.verdict.reason == "NotAllowedByZone"


def test_labels_of_a_namespace_that_open_a_zone_are_seen() -> None:
    granted = zone(allowedRecordSets=[ANY_HOST])
    guest = record_set("guest", "guest", namespace="third")
    before = world(guest, zones=[granted], labels={"third": {}})

    found = only(make_plan(before, world(guest, zones=[granted], labels={"third": {"team": "other"}})))

    assert effects(found) == {"guest": Effect.CREATE}


def test_what_goes_away_is_told_with_what_it_was() -> None:
    before = settled(record_set("www"), record_set("api", "api"))
    after = world(
        record_set("www", metadata=deleting()), record_set("api", "api"), zone_units=before.zone_units.values()
    )

    found = only(make_plan(before, after))

    assert effects(found) == {"www": Effect.DELETE}
    assert of(found, "www").changes[0].after is None
    assert found.untouched == 1


def test_a_zone_that_goes_away_with_nothing_in_it_is_deleted() -> None:
    before = settled()
    after = world(zones=[zone(deleting())], zone_units=before.zone_units.values())

    assert only(make_plan(before, after)).effect is Effect.DELETE


def test_a_record_set_without_its_zone_waits() -> None:
    www = record_set("www")

    found = only(make_plan(world(zones=()), world(www, zones=()), named=[www.key]))

    assert found.domain_name == ""
    assert found.verdict is None
    verdict = of(found, "www").verdict
    assert verdict is not None
    assert (verdict.status, verdict.reason) == ("Unknown", "ZoneNotResolved")


def test_what_was_refused_before_is_no_news_unless_asked_about() -> None:
    rival = record_set("rival", "www", metadata={"creationTimestamp": "2026-12-01T00:00:00Z"})
    before = settled(record_set("www"), rival)
    after = world(record_set("www"), rival, record_set("api", "api"), zone_units=before.zone_units.values())

    assert effects(only(make_plan(before, after))) == {"api": Effect.CREATE}
    assert effects(only(make_plan(before, after, named=[rival.key]))) == {"api": Effect.CREATE, "rival": Effect.NONE}


def test_a_zone_that_is_refused_as_before_is_no_news() -> None:
    rival_class = zone_class(("False", "InvalidParameters"))
    before = world(record_set("www"), zone_classes=[rival_class])
    after = world(record_set("www"), zone_classes=[rival_class], labels={"team": {"a": "b"}})

    assert make_plan(before, after).zones == ()
    told = only(make_plan(before, after, named_zones=[ZONE]))
    assert told.verdict is not None
    assert told.verdict.reason == "ZoneClassNotAccepted"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(value=json_values)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert list(field_changes(value, value)) == []


@given(
    before=st.dictionaries(st.sampled_from("abc"), json_values),
    after=st.dictionaries(st.sampled_from("abc"), json_values),
)
def test_changes_lead_from_one_value_to_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    leaves = dict(_leaves(before))
    for change in field_changes(before, after):
        for known in [each for each in leaves if each == change.field or each.startswith(f"{change.field}.")]:
            del leaves[known]
        leaves |= dict(_leaves(change.after, change.field))
    assert leaves == dict(_leaves(after))


def _leaves(value: Any, path: str = "") -> Iterable[tuple[str, Any]]:
    """Leaves as an object has them: what is empty or None is not there."""
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _leaves(child, f"{path}.{name}" if path else name)
    elif value is not None:
        yield path, value


OWNERS = st.sampled_from(["www", "api", "@"])
claims = st.builds(
    lambda name, owner, type_, address, other, created: record_set(
        name,
        owner,
        namespace="other" if other else "team",
        metadata={"creationTimestamp": f"2026-11-0{created}T00:00:00Z"},
        **({"a": {"addresses": [f"192.0.2.{address}"]}} if type_ == "A" else {"cname": {"target": "a.example"}}),
        type=type_,
    ),
    st.sampled_from([f"c{number}" for number in range(6)]),
    OWNERS,
    st.sampled_from(["A", "A", "CNAME"]),
    st.integers(1, 3),
    st.booleans(),
    st.integers(1, 3),
)
claim_sets = st.lists(claims, max_size=6, unique_by=lambda claim: claim.key)


@settings(deadline=None, max_examples=150)
@given(first=claim_sets, second=claim_sets, granted=st.booleans())
def test_a_plan_is_what_composition_then_does(first: list[RecordSet], second: list[RecordSet], granted: bool) -> None:
    here = zone(allowedRecordSets=[ANY_HOST] if granted else [])
    before = settled(*first, zones=[zone(allowedRecordSets=[ANY_HOST])])
    after_claims = list({claim.key: claim for claim in [*first, *second]}.values())
    after = world(*after_claims, zones=[here], zone_units=before.zone_units.values())

    plan = make_plan(before, after, named=[claim.key for claim in after_claims])

    labels = {"team": {}, "other": {"team": "other"}}
    then = compose(inputs(*after_claims, zone=here, units=before.zone_units.values(), labels=labels))
    assert then.parts is not None
    old = {item.key: item for unit in before.zone_units.values() for item in unit.spec.record_sets}
    new = {item.key: item for spec in then.parts.values() for item in spec.record_sets}
    told = {each.key: each for zone_plan in plan.zones for each in zone_plan.record_sets}
    for key in old.keys() | new.keys():
        assert (key in told and told[key].effect is not Effect.NONE) == _differs(old.get(key), new.get(key))
    for key, verdict in then.record_verdicts.items():
        if not verdict.accepted:
            assert told[key].verdict == verdict
    assert sum(zone_plan.untouched for zone_plan in plan.zones) + len(told) == len(
        old.keys() | {c.key for c in after_claims}
    )


def _differs(old: UnitRecordSet | None, new: UnitRecordSet | None) -> bool:
    if old is None or new is None:
        return old is not new
    return old.model_copy(update={"observed_generation": 0}) != new.model_copy(update={"observed_generation": 0})


def test_a_list_is_one_value() -> None:
    assert list(field_changes({"a": [1, 2]}, {"a": [2]})) == [FieldChange("a", [1, 2], [2])]
