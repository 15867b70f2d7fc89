"""Which clients may transfer a zone, and which servers are told of its changes, whatever the source of the zone.

Owns the order of sources: what a zone's own source says goes before the configuration. An entry that means nothing allows nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeVar

import structlog

from server.catalog import Catalog
from server.transfer.access import Access
from server.transfer.config import TransferConfig
from server.transfer.target import Target, parse_target
from zonemodel.name import WireName

_REMEMBERED: Final = 10_000

log = structlog.get_logger(__name__)
Form = TypeVar("Form")
Meaning = TypeVar("Meaning")


@dataclass(frozen=True, slots=True)
class Permission:
    """Who may transfer a zone, and who is told of changes."""

    access: Access
    notified: tuple[Target, ...]


class Permissions:
    """Those of all zones of a catalog."""

    def __init__(self, catalog: Catalog, config: TransferConfig) -> None:
        self._catalog = catalog
        self._config = config

    def of(self, apex: WireName) -> Permission:
        """Return what holds for a zone now."""
        stated = self._catalog.transfers.get(apex)
        if stated is not None:
            return _permission(stated.allow, stated.notify)
        every, own = self._config.every_zone, self._config.zones.get(apex)
        if own is None:
            return _permission(every.allow, every.notify)
        return _permission(every.allow + own.allow, every.notify + own.notify)


@lru_cache(_REMEMBERED)
def _permission(allow: tuple[str, ...], notify: tuple[str, ...]) -> Permission:
    entries = [text for text in allow if _means(text, Access.parse, (text,)) is not None]
    targets = (_means(text, parse_target, text) for text in notify)
    return Permission(Access.parse(entries), tuple(dict.fromkeys(each for each in targets if each is not None)))


def _means(text: str, parse: Callable[[Form], Meaning], form: Form) -> Meaning | None:
    try:
        return parse(form)
    except ValueError as error:
        log.warning("transfer entry is left out", entry=text, reason=str(error))
        return None
