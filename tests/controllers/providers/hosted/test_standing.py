"""Whose zone it is, whether it can be served, and who has a domain that several claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from controllers.api.condition import ConditionType
from controllers.api.provider import Provider, parse_provider
from controllers.api.reason import ZONE_REASONS
from controllers.providers.hosted.binding import BINDING
from controllers.providers.hosted.contract import provider_manifest
from controllers.providers.hosted.standing import Course, Standing, judge_zone
from controllers.providers.hosted.view import Rival, ZoneView
from tests.controllers.providers.hosted.build import KEY, manifest, unit, zone_class
from zonemodel.hosted_zone import SOA

OTHER = {"controllerName": "other.example/controller"}
FOREIGN = {"provider": {"name": "other.example", "version": "v1alpha1"}}
SOA_VALUES = SOA(mname="ns1.dns.test", rname="hostmaster.example.test").dump()


def provider() -> Provider:
    return parse_provider(provider_manifest())


def view(**changes: Any) -> ZoneView:
    """A zone that can be served, but for the changes."""
    plain = ZoneView(
        key=KEY,
        parts=(unit(),),
        zone_class=zone_class(),
        provider=provider(),
        manifest=None,
        pages={},
        live=(),
        rivals=(),
    )
    return replace(plain, **changes)


def deleting(part: int = 0, **more: Any) -> Any:
    return unit(part=part, deletionTimestamp="2026-11-30T12:00:00Z", **more)


def judged(found: ZoneView) -> Standing:
    standing = judge_zone(found, BINDING)
    for kind, verdict in (
        (ConditionType.ACCEPTED, standing.accepted),
        (ConditionType.PROGRAMMED, standing.programmed),
    ):
        assert verdict is None or verdict.reason in ZONE_REASONS[kind, verdict.status]
    return standing


@pytest.mark.parametrize(
    ("changes", "course"),
    [
        ({}, Course.SERVE),
        ({"parts": ()}, Course.LEAVE),
        ({"zone_class": zone_class(**OTHER)}, Course.LEAVE),
        ({"zone_class": zone_class(**OTHER), "parts": (deleting(),)}, Course.LEAVE),
        (
            {
                "zone_class": None,
                "parts": (unit(spec=FOREIGN),),
            },
            Course.LEAVE,
        ),
        ({"zone_class": None}, Course.FREEZE),
        ({"provider": None}, Course.FREEZE),
        ({"zone_class": zone_class(parameters={})}, Course.FREEZE),
        ({"zone_class": zone_class(parameters={"nameServers": [{"name": "ns.example.test"}]})}, Course.FREEZE),
        ({"parts": (deleting(),)}, Course.CLEAN_UP),
        ({"parts": (deleting(),), "zone_class": None}, Course.CLEAN_UP),
        ({"parts": (deleting(spec=FOREIGN),)}, Course.LEAVE),
        ({"parts": (deleting(1, spec=FOREIGN),)}, Course.LEAVE),
        ({"parts": (unit(spec=FOREIGN),)}, Course.FREEZE),
        ({"parts": (deleting(), unit(part=1))}, Course.CLEAN_UP),
        ({"parts": (deleting(1),)}, Course.CLEAN_UP),
        ({"parts": (unit(part=1),)}, Course.WAIT),
        ({"parts": (unit(spec={"parts": [1, 2]}), unit(part=2))}, Course.WAIT),
        ({"parts": (unit(spec={"parts": [1]}), unit(part=1))}, Course.SERVE),
        ({"parts": (unit(), unit(part=1))}, Course.SERVE),
    ],
)
def test_course(changes: dict[str, Any], course: Course) -> None:
    assert judged(view(**changes)).course is course


@pytest.mark.parametrize(
    ("changes", "accepted", "programmed"),
    [
        ({}, ("True", "Accepted"), None),
        ({"zone_class": None}, ("Unknown", "ZoneClassNotResolved"), ("Unknown", "Reconciling")),
        ({"provider": None}, ("Unknown", "ProviderStorageVersionNotResolved"), ("Unknown", "Reconciling")),
        (
            {"zone_class": zone_class(parameters={})},
            ("False", "ZoneClassNotAccepted"),
            ("Unknown", "Reconciling"),
        ),
        (
            {"zone_class": zone_class(identityRef={"name": "me"})},
            ("False", "ZoneClassNotAccepted"),
            ("Unknown", "Reconciling"),
        ),
        (
            {"zone_class": zone_class(provider={"name": "other.example", "version": "v1"})},
            ("False", "InvalidProvider"),
            ("Unknown", "Reconciling"),
        ),
        (
            {"parts": (unit(spec={"provider": {"name": "hosted.dns.appthrust.io", "version": "v2"}}),)},
            ("False", "InvalidProvider"),
            ("Unknown", "Reconciling"),
        ),
        (
            {"zone_class": zone_class(parameters={"nameServers": [{"name": "ns.example.test"}]})},
            ("True", "Accepted"),
            ("False", "ProviderInvalidRequest"),
        ),
    ],
)
def test_what_the_zone_is_told(
    changes: dict[str, Any], accepted: tuple[str, str], programmed: tuple[str, str] | None
) -> None:
    standing = judged(view(**changes))
    assert (standing.accepted.status, standing.accepted.reason) == accepted
    found = standing.programmed
    assert ((found.status, found.reason) if found is not None else None) == programmed


def test_frozen_zone_keeps_the_head_that_is_published() -> None:
    published = manifest(soa=SOA_VALUES, nameServers=[{"name": "old.dns.test"}])
    head = judged(view(zone_class=None, manifest=published)).head
    assert head is not None
    assert [server.name for server in head.name_servers] == ["old.dns.test"]
    assert judged(view(zone_class=None)).head is None


EARLIER, SAME, LATER = "2026-10-31T00:00:00Z", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"


@pytest.mark.parametrize(
    ("created", "name", "rival", "own_published", "yields"),
    [
        (EARLIER, "older", {}, False, True),
        (LATER, "younger", {}, False, False),
        (SAME, "a", {}, False, True),
        (SAME, "zz", {}, False, False),
        (SAME, "a", {}, True, False),
        (SAME, "zz", {"published": True}, False, True),
        (EARLIER, "older", {"zone_class": None}, False, False),
        (EARLIER, "older", {"zone_class": None, "published": True}, False, True),
        (EARLIER, "older", {"zone_class": zone_class(parameters={})}, False, False),
        (EARLIER, "older", {"zone_class": zone_class(**OTHER), "published": True}, False, False),
    ],
)
def test_oldest_ledger_that_is_or_can_be_published_has_the_domain(
    created: str, name: str, rival: dict[str, Any], own_published: bool, yields: bool
) -> None:
    other = Rival(unit(name=name, creationTimestamp=created), rival.get("zone_class", zone_class()), False)
    other = replace(other, published=rival.get("published", False))
    standing = judged(view(rivals=(other,), manifest=manifest() if own_published else None))
    assert (standing.course is Course.YIELD) is yields
    if yields:
        assert standing.programmed is not None
        assert f"team/{name}" in standing.programmed.message


def test_deleting_rival_has_the_domain_as_long_as_it_is_published() -> None:
    leaving = unit(name="older", creationTimestamp=EARLIER, deletionTimestamp=LATER)
    assert judged(view(rivals=(Rival(leaving, zone_class(), True),))).course is Course.YIELD
    assert judged(view(rivals=(Rival(leaving, zone_class(), False),))).course is Course.SERVE
