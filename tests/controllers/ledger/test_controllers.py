"""Which zones a change concerns, whoever made it, and that nothing is followed any more when a leadership has ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from controllers.api.group import PROVIDERS, ZONE_CLASSES, ZONE_UNITS
from controllers.api.provider import parse_provider
from controllers.api.zone_class import ZoneClass, parse_zone_class
from controllers.api.zone_unit import ZoneUnit, parse_zone_unit
from controllers.ledger.context import LedgerContext
from controllers.ledger.controllers import LedgerControllers, ProbedLedger
from controllers.ledger.surroundings import LedgerInformers, Surroundings
from controllers.probe.prober import Prober
from controllers.providers.external.binding import BINDING
from controllers.providers.external.class_rule import judge_parameters
from controllers.providers.external.parameters import Settings
from controllers.runtime.controller import Requeue
from controllers.runtime.recorder import EventRecorder
from kube.access import Access
from kube.client import Client
from kube.informer import Informer
from kube.object import ObjectKey
from kube.store import Change
from tests.controllers.core import build
from tests.controllers.probe.internet import internet

NEIGHBOUR = ObjectKey("team", "neighbour")


class Units:
    def __init__(self) -> None:
        self.forgotten: list[ObjectKey] = []

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        return None

    def forget_unit(self, key: ObjectKey) -> None:
        self.forgotten.append(key)


class Provider(ProbedLedger[Settings]):
    def __init__(self) -> None:
        client = Client(Access("http://127.0.0.1:9"), field_manager="test")
        self.informers = LedgerInformers(
            Informer(client, PROVIDERS, parse_provider),
            Informer(client, ZONE_CLASSES, parse_zone_class),
            Informer(client, ZONE_UNITS, parse_zone_unit),
        )
        self.informers.register_indexes()
        surroundings = Surroundings(client, self.informers, EventRecorder(client, "test"))
        super().__init__("test", surroundings, Prober(internet("", {}), 53))
        self.units = Units()
        self.ledger = LedgerControllers(
            "test", surroundings, BINDING, judge_parameters, self._make, concerned=lambda _: (NEIGHBOUR,)
        )

    def _make(self, context: LedgerContext) -> Units:
        return self.units


def unit(**metadata: Any) -> ZoneUnit:
    spec = {
        "zone": {
            "ref": {"namespace": "team", "name": "example"},
            "observedGeneration": 1,
            "domainName": "example.com",
            "zoneClassRef": {"namespace": "team", "name": "hosted"},
        },
        "provider": build.PROVIDER,
    }
    return parse_zone_unit({"metadata": build.meta("team", "example", **metadata), "spec": spec})


def keys(found: Iterable[ObjectKey]) -> set[str]:
    return {each.name for each in found}


def test_neighbours_are_looked_at_when_a_ledger_comes_is_going_or_has_gone() -> None:
    ledger, one, gone = Provider().ledger, unit(), unit(**build.deleting())
    key = one.key
    assert keys(ledger.zones_for_zone_unit(Change(key, None, one))) == {"example", "neighbour"}
    assert keys(ledger.zones_for_zone_unit(Change(key, one, replace(one)))) == {"example"}
    assert keys(ledger.zones_for_zone_unit(Change(key, one, gone))) == {"example", "neighbour"}
    assert keys(ledger.zones_for_zone_unit(Change(key, gone, None))) == {"example", "neighbour"}


def test_what_was_written_to_a_part_is_forgotten_when_it_has_gone() -> None:
    provider = Provider()
    for new, forgotten in ((unit(), []), (None, [unit().key])):
        list(provider.ledger.zones_for_zone_unit(Change(unit().key, unit(), new)))
        assert provider.units.forgotten == forgotten


def test_the_status_of_a_class_concerns_no_zone() -> None:
    ledger, asked = Provider().ledger, list[ObjectKey]()

    def zones_of_class(key: ObjectKey) -> Iterable[ObjectKey]:
        asked.append(key)
        return iter(())

    ledger.zones_of_class = zones_of_class  # type: ignore[method-assign,assignment] # there are no zones here
    judged: ZoneClass = build.zone_class()
    list(ledger.zones_for_zone_class(Change(judged.key, build.zone_class(None), judged)))
    assert asked == []
    list(ledger.zones_for_zone_class(Change(judged.key, judged, build.zone_class(parameters={"probeTimeout": "9s"}))))
    assert asked == [judged.key]


async def test_nothing_is_followed_after_the_end() -> None:
    async with Provider() as provider:
        names = [each.name for each in provider.controllers]
        assert names == ["test-zone-class", "test-zone-unit", "test-probe", "test-probe-slow"]
        assert provider.ledger._events._endings
    assert not provider.ledger._events._endings
