"""All of transfers in one value: what comes in, what goes out, and who is told, started and stopped together.

Owns their order. Never serves a query for data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path
from typing import Final

import structlog

from server.address import Address
from server.catalog import Catalog
from server.transfer.archive import Archive
from server.transfer.config import TransferConfig
from server.transfer.counters import TransferCounters
from server.transfer.delegate import PlainAnswer, TransferDelegate
from server.transfer.exchange import Sources
from server.transfer.histories import Histories
from server.transfer.key_store import KeyStore
from server.transfer.message import Packing
from server.transfer.notifier import Notifier
from server.transfer.outgoing import Outgoing
from server.transfer.permission import Permissions
from server.transfer.secondary.secondaries import Secondaries
from server.transfer.secondary.secondary import Surroundings
from server.transfer.slots import Slots
from zonemodel.name import WireName

_FOLDER: Final = "transfer"
_MOST_ASKED: Final = 512
"""How many primaries are asked at once whether there is news: each takes a file descriptor, for ten seconds if it is away."""

log = structlog.get_logger(__name__)


class Transfers:
    """The transfers of one server; `delegate` is what its answer policy needs.

    `listen` are the addresses that others know the server by, `plain` answers what was signed as if it was not,
    `packing` makes the messages of what goes out.
    """

    def __init__(
        self,
        config: TransferConfig,
        catalog: Catalog,
        cache_dir: Path | None,
        listen: Collection[Address],
        plain: PlainAnswer,
        payload_bytes: int,
        packing: Packing,
    ) -> None:
        self.counters = TransferCounters()
        self._archive = None if cache_dir is None else Archive(cache_dir / _FOLDER)
        self._keys = KeyStore(config.key_files)
        self._tasks: list[asyncio.Task[None]] = []
        permissions = Permissions(catalog, config)
        sources = Sources(listen)
        asking = Slots(_MOST_ASKED, config.incoming_per_primary, None)
        incoming = Slots(config.incoming, config.incoming_per_primary, None)
        surroundings = Surroundings(catalog, self._archive, asking, incoming, self._keys, sources, self.counters)
        self._secondaries = Secondaries(config.secondaries, surroundings)
        self._notifier = Notifier(catalog, permissions, self._keys, sources, self.counters)
        pulled = self._secondaries.apexes
        self._histories = Histories(
            catalog,
            self._archive,
            pulled,
            lambda apex: apex in pulled or bool(permissions.of(apex).access),
            self._notifier.announce,
        )
        slots = Slots(config.outgoing, config.outgoing_per_client)
        outgoing = Outgoing(catalog, self._histories, permissions, slots, self.counters, packing)
        self.delegate = TransferDelegate(self._keys, outgoing, self._secondaries.take_notice, plain, payload_bytes)
        if config.secondaries and self._archive is None:
            log.warning(
                "there is no cache directory: zones of primaries are gone after a restart until they were pulled"
            )

    @property
    def withheld(self) -> int:
        """How many zones of primaries are not served: never pulled, or expired."""
        return self._secondaries.withheld

    @property
    def pulled(self) -> Collection[WireName]:
        """The zones that come from primaries."""
        return self._secondaries.apexes

    async def load(self) -> None:
        """Read keys, take the archive and serve what it keeps; raises KeyFileError or CacheError."""
        self._keys.load()
        if self._archive is not None:
            await asyncio.to_thread(self._archive.open)
        await self._secondaries.load()

    def start(self) -> None:
        """Begin to pull, to keep histories and to tell of changes; once queries are answered."""
        runs = (self._keys.run(), self._histories.run(), self._secondaries.run())
        self._tasks = [asyncio.create_task(run) for run in runs]
        for task in self._tasks:
            task.add_done_callback(_on_end)

    def reload(self) -> None:
        """Read keys again and ask all primaries."""
        self._keys.reload()
        self._secondaries.refresh()

    async def stop(self) -> None:
        """End all of it; what is to be kept is written first."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._histories.flush()
        await self._notifier.stop()
        if self._archive is not None:
            self._archive.close()


def _on_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a part of transfers ended", error=repr(error))
