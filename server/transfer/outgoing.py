"""Transfers that go out: what a request for AXFR or IXFR is answered (RFC 5936, RFC 1995).

Owns the order of refusals, and the choice between differences and the whole zone. Each reply is made of one version of the zone, however
long it takes. Never signs a reply of one message.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import structlog

from server import rdtype
from server.answer.query import Query
from server.answer.rejection import Rcode
from server.catalog import Catalog
from server.text import name_text
from server.transfer.counters import TransferCounters
from server.transfer.difference import Difference, condense
from server.transfer.histories import Histories
from server.transfer.journal import Entry
from server.transfer.message import Packing, pack
from server.transfer.message_reader import read_message
from server.transfer.permission import Permissions
from server.transfer.record import Record, soa_record
from server.transfer.refusal import refusal
from server.transfer.serial import is_newer, read_soa, serial_of
from server.transfer.signature import Signed
from server.transfer.slots import BusyError, Slots
from server.transport import Streamed
from server.wire import Question
from server.zone.index import ZoneIndex
from zonemodel.name import WireName

_AUTHORITATIVE: Final = 0x84
"""QR and AA, in the first octet of flags."""

_SETTLE_S: Final = 5.0
"""How long a request waits for the newest step of the history before it gets the whole zone."""

_SILENCE_S: Final = 1.0

_TURN_BYTES: Final = 64 * 1024
"""What is sent before queries get their turn."""

_INLINE_BYTES: Final = 64 * 1024
"""Differences that are put together on the event loop; more of them go to a thread."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a transfer; `packet` is without its signature, `opt` the OPT record of the reply or nothing."""

    query: Query
    question: Question
    packet: bytes
    opt: bytes
    signed: Signed | None

    @property
    def head(self) -> bytes:
        """ID and flags of replies that are given."""
        return self.packet[:2] + bytes((_AUTHORITATIVE | self.packet[2] & 1, 0))

    @property
    def question_octets(self) -> bytes:
        return self.packet[12 : self.question.end]

    def refusal(self, rcode: Rcode) -> bytes:
        return refusal(self.packet, self.question.end, self.opt, rcode)

    def one_message(self, records: Iterable[Record]) -> bytes:
        return next(pack(records, self.head, self.question_octets, self.opt))


class Outgoing:
    """Answers requests for the zones of a catalog."""

    def __init__(
        self,
        catalog: Catalog,
        histories: Histories,
        permissions: Permissions,
        slots: Slots,
        counters: TransferCounters,
        packing: Packing,
    ) -> None:
        self._catalog = catalog
        self._histories = histories
        self._permissions = permissions
        self._slots = slots
        self._counters = counters
        self._packing = packing
        self._silent_until_s = 0.0

    def answer(self, request: Request, limit_bytes: int) -> bytes | Streamed:
        """Return the reply; over UDP it is one message of at most `limit_bytes`."""
        rejection = self._rejection(request)
        if rejection is not None:
            self._note_refusal(request, rejection)
            return request.refusal(rejection)
        if request.question.qtype == rdtype.AXFR:
            if not request.query.transport:
                return request.refusal(Rcode.FORMERR)  # a zone never fits one message (RFC 5936 section 4.2)
            return Streamed(self._stream(request, None))
        return self._answer_ixfr(request, limit_bytes)

    def _note_refusal(self, request: Request, rcode: Rcode) -> None:
        """Count it, and log one a second at most: anybody can cause them."""
        self._counters.refused += 1
        now_s = time.monotonic()
        if now_s < self._silent_until_s:
            return
        self._silent_until_s = now_s + _SILENCE_S
        zone = name_text(request.question.name)
        log.info("transfer is refused", zone=zone, client=request.query.client, rcode=rcode.name)

    def _rejection(self, request: Request) -> Rcode | None:
        apex = request.question.name
        if apex not in self._catalog.tables:
            return Rcode.NOTAUTH if self._catalog.complete else Rcode.SERVFAIL
        key = None if request.signed is None else request.signed.key.name
        if not self._permissions.of(apex).access.allows(request.query.client, key):
            return Rcode.REFUSED
        return Rcode.SERVFAIL if apex not in self._catalog.zones else None

    def _answer_ixfr(self, request: Request, limit_bytes: int) -> bytes | Streamed:
        serial = _client_serial(request.packet, request.question.name)
        if serial is None:
            return request.refusal(Rcode.FORMERR)
        index = self._catalog.zones[request.question.name].index
        present = request.one_message((soa_record(index),))
        if not is_newer(serial_of(index), serial):
            return present
        if request.query.transport:
            return Streamed(self._stream(request, serial))
        entries = self._histories.since(index, serial)
        if entries is None or sum(len(entry.octets) for entry in entries) > _INLINE_BYTES:
            return present  # the client comes again over TCP (RFC 1995 section 2)
        messages = pack(_ixfr_records(index, entries), request.head, request.question_octets, request.opt)
        reply = next(messages)
        return reply if len(reply) <= limit_bytes and next(messages, None) is None else present

    async def _stream(self, request: Request, serial: int | None) -> AsyncGenerator[bytes]:
        """Yield the messages of a transfer; `serial` is the client's version where it asks for differences."""
        signer = None if request.signed is None else request.signed.stream()
        try:
            async with self._slots.one(request.query.client), aclosing(self._messages(request, serial)) as messages:
                async for message in messages:
                    yield message if signer is None else signer.sign(message, time.time())
        except BusyError:
            refusal = request.refusal(Rcode.SERVFAIL)
            yield refusal if signer is None else signer.sign(refusal, time.time())

    async def _messages(self, request: Request, serial: int | None) -> AsyncGenerator[bytes]:
        apex = request.question.name
        if serial is not None:
            await self._settled(apex)
        zone = self._catalog.zones.get(apex)
        if zone is None:
            yield request.refusal(Rcode.SERVFAIL)
            return
        entries = None if serial is None else self._histories.since(zone.index, serial)
        records = None if entries is None else await _differences(zone.index, entries)
        kind = "AXFR" if records is None else "IXFR"
        started_s, sent, turn = time.monotonic(), 0, _TURN_BYTES
        around = (request.head, request.question_octets, request.opt)
        messages = (
            self._packing.zone(zone.index, *around) if records is None else self._packing.records(records, *around)
        )
        for message in messages:
            yield message
            sent += len(message)
            if sent >= turn:
                turn = sent + _TURN_BYTES
                await asyncio.sleep(0)  # queries come first
        self._counters.sent[kind] += 1
        log.info(
            "zone is transferred",
            zone=name_text(apex),
            client=request.query.client,
            kind=kind,
            serial=serial_of(zone.index),
            octets=sent,
            duration_s=round(time.monotonic() - started_s, 3),
        )

    async def _settled(self, apex: WireName) -> None:
        try:
            async with asyncio.timeout(_SETTLE_S):
                await self._histories.settled(apex)
        except TimeoutError:
            log.debug("history is behind, the whole zone is transferred", zone=name_text(apex))


def _client_serial(packet: bytes, apex: WireName) -> int | None:
    """Return the serial of the version that an IXFR request starts from, None when it does not say one (RFC 1995 section 3)."""
    try:
        (soa,) = read_message(packet).authority
        return read_soa(soa.rdata).serial if (soa.owner, soa.rdtype) == (apex, rdtype.SOA) else None
    except ValueError:
        return None


async def _differences(index: ZoneIndex, entries: Sequence[Entry]) -> list[Record] | None:
    """Return the records of an IXFR reply, None when the whole zone is shorter."""
    if sum(len(entry.octets) for entry in entries) <= _INLINE_BYTES:
        records = _ixfr_records(index, entries)
    else:
        records = await asyncio.to_thread(_ixfr_records, index, entries)
    return records if len(records) <= len(index.sets) or len(records) <= _count(index) else None


def _ixfr_records(index: ZoneIndex, entries: Sequence[Entry]) -> list[Record]:
    soa = soa_record(index)
    difference: Difference = condense([entry.difference() for entry in entries])
    return [soa, *difference.as_records(), soa]


def _count(index: ZoneIndex) -> int:
    return sum(len(rrset.rdatas) for sets in index.sets.values() for rrset in sets.values())
