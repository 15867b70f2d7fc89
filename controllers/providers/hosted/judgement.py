"""The result of each item and of the zone, from their fate in the snapshot, what was published, and what the servers serve.

Pure. Owns the difference between what the ledger asks for and what has been published.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused
from controllers.ledger.result import ItemResult, ZoneResult, faulty
from controllers.providers.hosted.content import Content, Fate
from controllers.providers.hosted.history import History
from controllers.providers.hosted.item import Item, Items
from controllers.providers.hosted.publication import Publication
from controllers.providers.hosted.service_level import PENDING, UNAVAILABLE, ServiceLevel
from controllers.providers.hosted.standing import Course, Standing
from kube.object import ObjectKey

NOT_ALLOWED: Final = "The Zone no longer allows it; what was served before stays."
ZONE_FROZEN: Final = "The zone stays served as it last was, see the Zone's conditions."
SHADOWED: Final = ItemResult(
    refused(Reason.PROVIDER_CONFLICT, "Another RecordSet of the zone has the same name and type.")
)
MISPLACED: Final = faulty(
    "name: a name server of the zone has its addresses here by the ZoneClass; "
    "found CNAME, allowed are other types (RFC 2181 section 10.3)"
)
GONE: Final = ItemResult(PENDING, gone=True)


def judge_publication(
    parts: Sequence[Items], publication: Publication, history: History, level: ServiceLevel, standing: Standing
) -> list[list[ItemResult]]:
    """Return the results of a zone's items, part by part."""
    content, obstacle = publication.content, publication.obstacle
    if obstacle is not None and (content is None or publication.manifest is None):
        return _blocked(parts, obstacle, published=publication.manifest is not None)
    assert content is not None, "without a content there is an obstacle"
    judge = _Judge(content, history, level, obstacle, frozen=standing.course is Course.FREEZE)
    return [
        [judge.result(item, fate) for item, fate in zip(items, fates, strict=True)]
        for items, fates in zip(parts, content.fates, strict=True)
    ]


def judge_zone_result(
    key: ObjectKey, publication: Publication, history: History, level: ServiceLevel, standing: Standing
) -> ZoneResult:
    """Return the result of the zone itself; what keeps it from being published weighs more than what servers report."""
    return ZoneResult(
        accepted=standing.accepted,
        programmed=standing.programmed or publication.obstacle or level.judge_zone(history.number),
        name_servers=tuple(server.name for server in standing.head.name_servers) if standing.head is not None else (),
        data={"hostedZone": key.name} if publication.manifest is not None else {},
        can_wait=True,
    )


def _blocked(parts: Iterable[Items], obstacle: Verdict, *, published: bool) -> list[list[ItemResult]]:
    """A zone whose content is not to be, or cannot be, published. Without a snapshot every deletion is complete."""
    blocked = ItemResult(obstacle)
    return [
        [GONE if item.source.deletion_requested and not published else blocked for item in items] for items in parts
    ]


class _Judge:
    def __init__(
        self, content: Content, history: History, level: ServiceLevel, obstacle: Verdict | None, *, frozen: bool
    ) -> None:
        self._wanted = content.lines
        self._published = history.lines
        self._history = history
        self._level = level
        self._obstacle = ItemResult(obstacle or PENDING)
        reason = ZONE_FROZEN if frozen else NOT_ALLOWED
        self._deferred = ItemResult(refused(Reason.PROVIDER_CHANGE_DEFERRED, reason))
        self._served: dict[int, ItemResult] = {}

    def result(self, item: Item, fate: Fate) -> ItemResult:
        """Return the result of one item."""
        match fate:
            case Fate.SERVED:
                return self._by_servers(item) if self._is_published(item) else self._obstacle
            case Fate.LEAVING:
                return self._leaving(item)
            case Fate.DEFERRED:
                return self._deferred
            case Fate.FAULTY:
                return faulty(item.fault)
            case Fate.MISPLACED:
                return MISPLACED
            case Fate.SHADOWED:
                return SHADOWED

    def _is_published(self, item: Item) -> bool:
        """Say whether the newest snapshot has for the item's name and type what it should have, be it nothing."""
        if self._published is None:
            return False
        key = item.record_key
        published, wanted = self._published.get(key), self._wanted.get(key)
        return published is wanted or published == wanted

    def _by_servers(self, item: Item) -> ItemResult:
        since = self._history.since(item.record_key)
        result = self._served.get(since)
        if result is None:
            result = self._served[since] = ItemResult(self._level.judge(since))
        return result

    def _leaving(self, item: Item) -> ItemResult:
        if not self._is_published(item):
            return self._obstacle
        if self._level.has_withdrawn(self._history.since(item.record_key)):
            return GONE
        return ItemResult(PENDING if self._level.live else UNAVAILABLE)
