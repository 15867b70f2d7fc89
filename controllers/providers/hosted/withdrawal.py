"""Proofs that hosted zones no longer give an address: the snapshot that every live server reports, and one query to each of them.

Owns who is asked about which zone. A server that is behind with the snapshot has not answered, whatever it says: it is not known which
zone it speaks of.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from controllers.api.record_withdrawal_item import ClassBinding, UnitWithdrawal, UnitWithdrawalStatus
from controllers.api.zone_unit import ZoneUnit
from controllers.ledger.sighting import sight, subject_of
from controllers.ledger.withdrawal import ServerWord, Sighting, observe_all
from controllers.probe.desk import Probed, ProbeDesk
from controllers.probe.prober import Plan
from controllers.providers.hosted.content import Lines
from controllers.providers.hosted.history import History
from controllers.providers.hosted.parameters import Head
from controllers.providers.hosted.published_address import PublishedZone
from controllers.providers.hosted.service_level import ServiceLevel
from controllers.providers.hosted.view import ZoneView
from kube.object import ObjectKey
from zonemodel.name import Fqdn
from zonemodel.record import RecordType

NAME_OCTETS: Final = 8


@dataclass(frozen=True, slots=True)
class Published:
    """What is published of a zone, and how far the live servers have got with it; `head` is None while none is known."""

    head: Head | None
    history: History
    level: ServiceLevel


@dataclass(frozen=True, slots=True)
class _Stamp:
    """A round is for a class, for claims, and for those of them that the servers have got free of: a change asks for a round at once."""

    zone_class: ClassBinding | None
    claims: frozenset[str]
    free: frozenset[str]


class WithdrawalWatch:
    """Observes the withdrawals of hosted zones, during one leadership; `desk` asks the name servers."""

    def __init__(self, desk: ProbeDesk) -> None:
        self._desk = desk
        self._name = secrets.token_hex(NAME_OCTETS)
        self._unsure: dict[ObjectKey, frozenset[str]] = {}
        self._free: dict[ObjectKey, frozenset[str]] = {}
        self._zones: dict[ObjectKey, tuple[Lines, Head, PublishedZone]] = {}

    def observe(
        self,
        view: ZoneView,
        main: ZoneUnit,
        published: Published,
        before: Iterable[UnitWithdrawalStatus],
        now: datetime,
    ) -> tuple[UnitWithdrawalStatus, ...]:
        """Return the results for all withdrawals of a zone."""
        items = [item for item in main.spec.withdrawals if item.allowed]
        if not items:
            self.forget(view)
            return observe_all(main.spec.withdrawals, before, _class_binding(view), {}, now)
        before = tuple(before)
        if view.key not in self._unsure:
            self._unsure[view.key] = _unsure(before, published.history.serial)
        domain = Fqdn(main.spec.zone.domain_name)
        zone = self._zone_of(view.key, domain, published)
        ttls_s = {item.claim_uid: _ttl_of(item, zone) for item in items}
        free = self._free[view.key] = self._freed(view.key, ttls_s, published.level, known=zone is not None)
        stamp = _Stamp(_class_binding(view), frozenset(ttls_s), free)
        plan = Plan(domain, tuple(dict.fromkeys(map(subject_of, items))), servers=view.endpoints, stamp=stamp)
        probed = self._desk.ask(view.key, plan) if view.endpoints else None
        sightings = {}
        if probed is not None and _is_of(probed, plan, stamp):
            found = ((item, sight(item, probed.round)) for item in items)
            sightings = {
                item.claim_uid: _with_snapshot(
                    self._timed(view.key, item, sighting), ttls_s[item.claim_uid], published, known=zone is not None
                )
                for item, sighting in found
                if sighting is not None
            }
        return observe_all(main.spec.withdrawals, before, _class_binding(view), sightings, now)

    def forget(self, view: ZoneView) -> None:
        """Drop a zone: it is not asked about any more."""
        self._desk.forget(view.key)
        self._unsure.pop(view.key, None)
        self._free.pop(view.key, None)
        self._zones.pop(view.key, None)

    def _timed(self, zone: ObjectKey, item: UnitWithdrawal, sighting: Sighting) -> Sighting:
        """Return a sighting with a clock on which no half of a proof was begun that may have come to nothing before we led."""
        if item.claim_uid not in self._unsure[zone]:
            return sighting
        return replace(sighting, clock=f"{sighting.clock} {self._name}")

    def _zone_of(self, key: ObjectKey, domain: Fqdn, published: Published) -> PublishedZone | None:
        """Return the snapshot in the form for lookups, made once for each; None when its content is not known."""
        lines, head = published.history.lines, published.head
        if lines is None or head is None or not published.history.digest:
            return None
        known = self._zones.get(key)
        if known is None or known[0] is not lines or known[1] != head:
            known = self._zones[key] = lines, head, PublishedZone.of(domain, lines, head.name_servers)
        return known[2]

    def _freed(
        self, zone: ObjectKey, ttls_s: Mapping[str, int | None], level: ServiceLevel, *, known: bool
    ) -> frozenset[str]:
        """Return the claims whose address the snapshot does not give, since all servers have had such a snapshot once."""
        before = self._free.get(zone, frozenset())
        reached = known and not level.behind
        return frozenset(uid for uid, ttl_s in ttls_s.items() if ttl_s is None and (reached or uid in before))


def _unsure(before: Iterable[UnitWithdrawalStatus], serial: int | None) -> frozenset[str]:
    """Return the claims whose last look was at another snapshot: those between may have given the address, and only their leader knew."""
    data = ((each.claim_uid, each.provider.data) for each in before if each.provider is not None)
    return frozenset(uid for uid, told in data if told is not None and told.get("serial") != serial)


def _is_of(probed: Probed, plan: Plan, stamp: _Stamp) -> bool:
    """A round under another class, or with other servers, proves nothing under this one."""
    made = probed.plan.stamp
    return isinstance(made, _Stamp) and made.zone_class == stamp.zone_class and probed.plan.asks_the_same_servers(plan)


def _ttl_of(item: UnitWithdrawal, zone: PublishedZone | None) -> int | None:
    return zone.ttl_of(item.name, RecordType(item.type.value), item.address) if zone is not None else None


def _with_snapshot(sighting: Sighting, ttl_s: int | None, published: Published, *, known: bool) -> Sighting:
    """Return what was seen with what the snapshot says beside it."""
    words = tuple(_words(sighting.words, ttl_s, published.level, known=known))
    return replace(sighting, words=words, serial=published.history.serial)


def _words(words: Iterable[ServerWord], ttl_s: int | None, level: ServiceLevel, *, known: bool) -> Iterator[ServerWord]:
    behind = frozenset(level.behind)
    for word in words:
        if ttl_s is not None:
            yield ServerWord(word.server, word.rcode, word.answered, gave=True, ttl_s=max(ttl_s, word.ttl_s or 0))
        elif not word.gave and (not known or word.server.partition(" ")[0] in behind):
            yield ServerWord(word.server, "BEHIND", answered=False)
        else:
            yield word


def _class_binding(view: ZoneView) -> ClassBinding | None:
    meta = view.zone_class.meta if view.zone_class is not None else None
    return ClassBinding(uid=meta.uid, generation=meta.generation) if meta is not None else None
