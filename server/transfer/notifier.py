"""NOTIFY to the servers that are to hear of changes (RFC 1996): at the start and with each new serial, until they answer.

Owns retries. A server that never answers finds out by itself when its refresh time comes.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final

import structlog

from kube.backoff import Backoff
from server import rdtype
from server.catalog import Catalog
from server.text import name_text
from server.transfer.counters import TransferCounters
from server.transfer.exchange import Sources, exchange_datagram, request_message
from server.transfer.key_store import KeyStore
from server.transfer.message import Packer
from server.transfer.message_reader import read_message
from server.transfer.permission import Permissions
from server.transfer.record import soa_record
from server.transfer.serial import serial_of
from server.transfer.slots import Slots
from server.transfer.target import Target
from server.transfer.verification import SignatureError, Verifier, sign_request
from server.wire import HEADER_BYTES, NOTIFY
from zonemodel.name import WireName

_ATTEMPTS: Final = 9
_REPLY_S: Final = 3.0
_BACKOFF: Final = Backoff(first_s=1.0, base_s=2.0, cap_s=60.0)
_AT_ONCE: Final = 512
_AT_ONCE_PER_TARGET: Final = 32
"""Notices that have to be answered, each of which takes a file descriptor; a server that is away holds up nobody else's."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Errand:
    """A target that is being told; `news` is set when there is more to tell."""

    news: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class Notifier:
    """Tells of the zones of a catalog."""

    def __init__(
        self,
        catalog: Catalog,
        permissions: Permissions,
        keys: KeyStore,
        sources: Sources,
        counters: TransferCounters,
    ) -> None:
        self._catalog = catalog
        self._permissions = permissions
        self._keys = keys
        self._sources = sources
        self._counters = counters
        self._errands: dict[tuple[WireName, Target], _Errand] = {}
        self._turns = Slots(_AT_ONCE, _AT_ONCE_PER_TARGET, None)

    def announce(self, apex: WireName) -> None:
        """Have everybody told that a zone has another serial."""
        for target in self._permissions.of(apex).notified:
            errand = self._errands.get((apex, target))
            if errand is None:
                errand = self._errands[apex, target] = _Errand()
                errand.task = asyncio.create_task(self._run(apex, target, errand))
            errand.news.set()

    async def stop(self) -> None:
        tasks = [errand.task for errand in self._errands.values() if errand.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, apex: WireName, target: Target, errand: _Errand) -> None:
        try:
            while errand.news.is_set():
                errand.news.clear()
                await self._tell(apex, target, errand.news)
        finally:
            del self._errands[apex, target]

    async def _tell(self, apex: WireName, target: Target, news: asyncio.Event) -> None:
        """Send until there is an answer, or something newer to tell, or no sense in trying on."""
        error = ""
        for attempt in range(_ATTEMPTS):
            try:
                async with self._turns.one(str(target)):
                    if self._is_to_hear(target, apex):  # that may have changed while the turn was waited for
                        await self._send(apex, target)
                return
            except (OSError, TimeoutError, SignatureError, ValueError) as failure:
                error = str(failure) or type(failure).__name__
            try:
                async with asyncio.timeout(_BACKOFF.delay_s(attempt)):
                    await news.wait()
                return
            except TimeoutError:
                continue
        self._counters.notices_failed += 1
        log.warning("notice is given up", zone=name_text(apex), target=str(target), error=error)

    def _is_to_hear(self, target: Target, apex: WireName) -> bool:
        return apex in self._catalog.zones and target in self._permissions.of(apex).notified

    async def _send(self, apex: WireName, target: Target) -> None:
        """Raises OSError, TimeoutError, SignatureError, or ValueError for a reply that is none."""
        index = self._catalog.zones[apex].index
        message = request_message(NOTIFY, apex, rdtype.SOA)
        packer = Packer(message[HEADER_BYTES:])
        packer.add(soa_record(index))
        message = packer.message(message[:4])
        verifier: Verifier | None = None
        if target.key is not None:
            key = self._keys.get(target.key)
            if key is None:
                raise ValueError(f"there is no key {name_text(target.key)}")
            message, verifier = sign_request(message, key, time.time())
        octets = await exchange_datagram(message, target.address, self._sources.for_peer(target.host), _REPLY_S)
        reply = read_message(octets)
        if verifier is not None:
            verifier.check(octets, reply.tsig_at, time.time())
        if reply.opcode != NOTIFY:
            raise ValueError("the reply is not one to a notice")
        self._counters.notices_sent += 1
        level = log.warning if reply.rcode else log.debug
        level(
            "notice is answered", zone=name_text(apex), target=str(target), serial=serial_of(index), rcode=reply.rcode
        )
