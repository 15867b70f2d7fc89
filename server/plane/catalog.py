"""A catalog whose zones are answered by native code too.

Owns how compiled zones get there. Never compiles, and never decides what an answer contains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from server import rdtype
from server._native import Content, Tables
from server.answer.rejection import NOT_OURS, NOT_READY, Rejection
from server.answer.responder import COMPUTED_TYPES
from server.catalog import Catalog
from server.plane.bulk import bulk_of, collect_bulk, gather_bulk, read_bulk
from server.text import name_text
from server.zone.compile import Zone
from server.zone.judge import UnservableError
from server.zone.persistent import Layered
from server.zone.table import COMPUTED, Answer, Node, ZoneTable
from zonemodel.name import WireName
from zonemodel.rrset import RRset

if TYPE_CHECKING:
    from server._native import Edit

_MOST_PREPARED: Final = 4
"""Zones that were prepared and not served yet; one that is never served must not stay."""

_FEW_NAMES: Final = 300
"""Names that are handed over on the event loop."""

log = structlog.get_logger(__name__)


class NativeFaultError(UnservableError):
    """Native code failed on a version of a zone, which is not served; the one before is, as it was."""


class NativeCatalog(Catalog):
    """`native` follows every change before it returns. So many `threads` answer beside the event loop.

    `replace`, `withhold`, `remove` and `prepare` raise NativeFaultError, and change nothing, when native code fails.
    """

    def __init__(self, payload_bytes: int, threads: int) -> None:
        self.native = Tables(
            payload_bytes,
            sorted(COMPUTED_TYPES),
            rdtype.COUNTED,
            _refusal(NOT_OURS),
            _refusal(NOT_READY),
            threads,
            COMPUTED,
        )
        self._prepared: dict[int, Content] = {}
        self._complete = False
        super().__init__()

    @property
    def complete(self) -> bool:
        return self._complete

    @complete.setter
    def complete(self, complete: bool) -> None:
        if complete is not self._complete:
            self.native.set_complete(complete)
            self._complete = complete

    def tally(self) -> None:
        elsewhere, zones = self.native.take_asked()
        self.asked_elsewhere[:] = map(add, self.asked_elsewhere, elsewhere)
        for apex, numbers in zones:
            table = self.tables.get(apex)
            asked = self.asked_elsewhere if table is None else table.asked
            asked[:] = map(add, asked, numbers)

    def remove(self, apex: WireName) -> None:
        with _told(apex):
            self.tally()
            self.native.remove(apex)
        super().remove(apex)

    def read(self, path: Path, origin: str | None) -> Zone | None:
        return self._completed(read_bulk(path, origin))

    def gather(
        self,
        origin: WireName,
        made: Iterable[RRset],
        pages: Iterable[bytes],
        read: Callable[[bytes], RRset],
    ) -> Zone | None:
        return self._completed(gather_bulk(origin, made, pages, read))

    def collect(self, origin: WireName, records: Sequence[tuple[WireName, int, int, bytes]]) -> Zone | None:
        return self._completed(collect_bulk(origin, records))

    def _completed(self, zone: Zone | None) -> Zone | None:
        """Have what native code read be complete before it is served; None for what is left to Python."""
        if zone is None:
            return None
        try:
            self._keep(zone, self._read(zone.table))
        except NativeFaultError as error:
            log.error("native code failed on a zone, Python compiles it", reason=str(error))
            return None
        return zone

    def prepare(self, zone: Zone) -> None:
        table = zone.table
        if table.version not in self._prepared and not self._is_quick(table):
            self._keep(zone, self._read(table))

    def _is_quick(self, table: ZoneTable) -> bool:
        """Say whether `replace` has little to hand over, or no more than there would be to do ahead."""
        patch, served = table.patch, self.tables.get(table.apex)
        if patch is None or served is None or served.version != patch.since:
            return False
        return len(patch.names) <= _FEW_NAMES or bulk_of(table.nodes) is None

    def _keep(self, zone: Zone, content: Content) -> None:
        self._prepared[zone.table.version] = content
        for version in list(self._prepared)[:-_MOST_PREPARED]:  # other threads do so, too
            self._prepared.pop(version, None)

    def _put(self, table: ZoneTable) -> None:
        with _told(table.apex):
            # What was prepared lacks a patch of the same version, which leaves aliases to the responder.
            lacks_patch = table.patch is not None and table.patch.since == table.version
            content = None if lacks_patch else self._prepared.pop(table.version, None)
            if content is not None or not self._patch(table):
                content = content or self._read(table)
                self.native.put(table.apex, table.version, content, table.soa, table.signed)
        super()._put(table)

    def _read(self, table: ZoneTable) -> Content:
        answers, nodes = table.answers, table.nodes
        with _told(table.apex):
            if isinstance(answers, Layered) and isinstance(nodes, Layered) and (bulk := bulk_of(nodes)) is not None:
                return self.native.complete(bulk, _own_edits(answers, nodes))
            return self.native.prepare(answers.pages, nodes.pages)

    def _patch(self, table: ZoneTable) -> bool:
        """Hand over what differs from the version that is served, if that is what the table was made from."""
        if table.patch is None:
            return False
        edits = [(name, _content(table, name, types)) for name, types in table.patch.names.items()]
        return self.native.patch(table.apex, table.patch.since, table.version, edits, table.soa, table.signed)


@contextmanager
def _told(apex: WireName) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise NativeFaultError(f"native code failed on the zone {name_text(apex)}: {error}") from error


def _content(table: ZoneTable, name: bytes, types: tuple[int, ...]) -> tuple[Node, list[tuple[int, Answer]]] | None:
    node = table.nodes.get(name)
    if node is None:
        return None
    return node, [(type_, table.answers[name + type_.to_bytes(2, "big")]) for type_ in types]


def _own_edits(answers: Layered[bytes, Answer], nodes: Layered[bytes, Node]) -> list[Edit]:
    """Return the names that are not as the base has them; one that was compiled has all its answers beside its node."""
    found: defaultdict[bytes, list[tuple[int, Answer]]] = defaultdict(list)
    for key, answer in answers.later():
        found[key[:-2]].append((int.from_bytes(key[-2:], "big"), answer))
    own = dict(nodes.later())
    return [(name, (own[name], found[name]) if name in own else None) for name in nodes.touched()]


def _refusal(rejection: Rejection) -> tuple[int, bytes]:
    option = b"" if rejection.reason is None else rejection.reason.option()
    return rejection.rcode, option
