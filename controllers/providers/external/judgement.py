"""Results for a zone and its items, from the newest round over it.

Pure. Before the first round, and without settings, nothing is known: no record is called missing, and no deletion done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import dns.rdatatype

from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, waiting
from controllers.api.zone_unit import UnitRecordSet
from controllers.ledger.result import ItemResult, PlainItem, ZoneResult, faulty
from controllers.probe.round import Round
from controllers.probe.subject import question_about
from controllers.providers.external.contract import RecordSetData, ServerData, ZoneData
from controllers.providers.external.observation import judge_records, judge_stopped, judge_zone, name_servers_of
from controllers.providers.external.parameters import DeletionPolicy, Settings
from controllers.providers.external.pending import lines_to_remove, lines_to_set
from controllers.providers.external.wanted import wanted_of
from zonemodel.name import Fqdn

ASKING: Final = waiting(Reason.RECONCILING, "The servers of the zone are being asked.")
UNGUIDED: Final = waiting(Reason.RECONCILING, "The servers are not asked until the ZoneClass can be followed.")
SERVER_LIMIT: Final = 64

Results = list[list[ItemResult]]
Items = Sequence[Sequence[PlainItem]]


@dataclass(frozen=True, slots=True)
class Look:
    """What results are made of: the zone's settings, and the newest round if there is one."""

    domain: Fqdn
    settings: Settings
    probed: Round | None


def judge_items(look: Look, items: Items) -> Results:
    """Return the result of every item, part by part."""
    return [[_judge(look, item.source) for item in part] for part in items]


def judge_nothing(items: Items) -> Results:
    """Return what can be said of items while the class cannot be followed."""
    return [[ItemResult(UNGUIDED) for _ in part] for part in items]


def zone_result(look: Look, accepted: Verdict = ACCEPTED) -> ZoneResult:
    """Return the result for the zone itself."""
    if look.probed is None:
        return ZoneResult(accepted, ASKING)
    data = ZoneData(servers=tuple(_servers(look.probed))[:SERVER_LIMIT]).dump()
    names = name_servers_of(look.probed)
    return ZoneResult(accepted, judge_zone(look.probed), names or None, data=data, can_wait=True)


def _judge(look: Look, item: UnitRecordSet) -> ItemResult:
    if item.deletion_requested and look.settings.deletion_policy is DeletionPolicy.FORGET:
        return ItemResult(ASKING, gone=True)
    try:
        wanted = wanted_of(item, look.domain)
    except ValueError as error:
        return faulty(f"{item.type.field}: {error}")
    probed = look.probed
    told = []
    if probed is not None:
        told = probed.told(question_about(item.name, item.type.code, look.domain, probed.label))
    if probed is None or (probed.servers and not told):
        return ItemResult(ASKING)
    if item.deletion_requested:
        left = judge_stopped(wanted, told)
        if left is None:
            return ItemResult(ASKING, gone=True)
        return ItemResult(left, data=_pending(lines_to_remove(wanted)))
    observation = judge_records(wanted, told, require_all=look.settings.require_all)
    wants_lines = observation.missing and item.allowed
    lines = lines_to_set(wanted, (answer for _, answer in told)) if wants_lines else ()
    if observation.programmed.accepted or lines:
        return ItemResult(observation.programmed, data=_pending(lines))
    # What is not known leaves the lines of before as they are: they may well still be missing.
    return ItemResult(observation.programmed)


def _pending(lines: Iterable[str]) -> dict[str, Any]:
    return RecordSetData(pending=tuple(lines)).dump()


def _servers(probed: Round) -> Iterable[ServerData]:
    for name, answer in probed.apex(dns.rdatatype.SOA):
        serials = [int(value.split()[2]) for value in answer.values]
        yield ServerData(server=name, answer=answer.word, serial=serials[0] if serials else None)
