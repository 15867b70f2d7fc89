"""One refresh from one primary: is there something newer, and if so, what (RFC 1034 section 4.3.5, RFC 1995, RFC 5936).

Owns the order: SOA, then IXFR, then AXFR where IXFR led to nothing. Never changes what is served.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from server import rdtype
from server.text import name_text
from server.transfer.exchange import Sources, request_message
from server.transfer.key_store import KeyStore
from server.transfer.message import Packer
from server.transfer.record import Record, soa_record
from server.transfer.secondary.assembly import Assembly, Outcome, SequenceError
from server.transfer.secondary.stream import PrimaryError, asking
from server.transfer.serial import is_newer, read_soa, serial_of
from server.transfer.target import Target
from server.wire import HEADER_BYTES, QUERY
from server.zone.index import ZoneIndex
from zonemodel.name import WireName

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Primary:
    """One primary and what is needed to talk to it."""

    target: Target
    sources: Sources
    keys: KeyStore

    async def news(
        self, apex: WireName, present: ZoneIndex | None, serial: int, *, has_expired: bool = False
    ) -> Outcome:
        """Return what the primary, which has this serial, has beyond `present`, None for nothing yet; raises PrimaryError.

        A version that `has_expired` binds nobody: a primary that began its serials anew has the zone then, whatever it is.
        """
        if present is None:
            return await self.whole(apex)
        have = serial_of(present)
        if not is_newer(serial, have):
            if has_expired:
                return await self.whole(apex)
            raise PrimaryError(f"it has serial {serial}, which is older than {have}")
        try:
            return await self._transfer(_ixfr_request(apex, soa_record(present)), apex, have)
        except PrimaryError as error:
            log.info(
                "IXFR led to nothing, asking for the zone",
                zone=name_text(apex),
                primary=str(self.target),
                reason=str(error),
            )
            return await self.whole(apex)

    async def whole(self, apex: WireName) -> Outcome:
        """Return the whole zone; raises PrimaryError."""
        return await self._transfer(request_message(QUERY, apex, rdtype.AXFR), apex, None)

    async def serial(self, apex: WireName) -> int:
        """Return the serial of the zone that the primary has; raises PrimaryError."""
        async with asking(request_message(QUERY, apex, rdtype.SOA), self.target, self.sources, self.keys) as reply:
            message = await reply.next()
            reply.finish()
        found = [record for record in message.answer if (record.owner, record.rdtype) == (apex, rdtype.SOA)]
        if len(found) != 1 or not message.is_authoritative:
            raise PrimaryError("it does not answer for the zone with authority")
        return read_soa(found[0].rdata).serial

    async def _transfer(self, request: bytes, apex: WireName, have: int | None) -> Outcome:
        assembly = Assembly(apex, have)
        async with asking(request, self.target, self.sources, self.keys) as reply:
            while assembly.outcome is None:
                message = await reply.next()
                try:
                    assembly.take(message.answer)
                except SequenceError as error:
                    raise PrimaryError(str(error)) from error
                if not message.answer:
                    raise PrimaryError("a message of the transfer holds no records")
            reply.finish()
        return assembly.outcome


def _ixfr_request(apex: WireName, soa: Record) -> bytes:
    """RFC 1995 section 3: the SOA of the version at hand stands in the authority section."""
    plain = request_message(QUERY, apex, rdtype.IXFR)
    packer = Packer(plain[HEADER_BYTES:])
    packer.add(soa)
    octets = packer.message(plain[:4])
    return octets[:6] + b"\0\0" + b"\0\1" + octets[10:]
