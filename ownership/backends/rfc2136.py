"""A zone that is read by plain DNS queries and written by DNS UPDATE (RFC 2136), signed with TSIG (RFC 8945).

Owns messages, and what response codes and silence mean. Every addition is conditional on the whole record set that was seen before,
so that of two writers one is told to look again. Names are never enumerated, save by a zone transfer when markers are migrated.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

import dns.asyncquery
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.tsig
import dns.update
import dns.xfr
import dns.zone
from dns.rdtypes.ANY.TXT import TXT

from ownership.backends import text
from ownership.backends.protocol import StoredText
from ownership.codec.envelope import VALUE_MAX_BYTES
from ownership.codec.manifest import MANIFEST_PREFIX
from ownership.codec.page import PAGE_PREFIX
from ownership.error import ConflictError, OutcomeUnknownError, RefusedError, UnavailableError
from ownership.naming import OwnerID, is_marker_name, owner_state_name, shared_state_name
from zonemodel.name import Fqdn

_OURS: Final = (MANIFEST_PREFIX, PAGE_PREFIX, b"heritage=dnsweaver")
_CHANGED: Final = frozenset({dns.rcode.YXDOMAIN, dns.rcode.YXRRSET, dns.rcode.NXRRSET, dns.rcode.NXDOMAIN})
_NO: Final = frozenset({dns.rcode.REFUSED, dns.rcode.NOTAUTH, dns.rcode.NOTZONE, dns.rcode.NOTIMP, dns.rcode.FORMERR})


class _TxtSet(NamedTuple):
    """A TXT set as the server has it; `ttl_s` is None where there is none."""

    ttl_s: int | None
    rdatas: tuple[TXT, ...]


_NOTHING: Final = _TxtSet(None, ())


@dataclass(frozen=True, slots=True)
class Rfc2136Backend:
    """The zone at its primary server; `host` is an address, `key` signs everything that is sent.

    `ttl_s` is that of new sets; one that is there keeps its own (RFC 2181 section 5.2).
    """

    zone: Fqdn
    host: str
    port: int = 53
    key: dns.tsig.Key | None = field(default=None, repr=False)
    timeout_s: float = 5.0
    ttl_s: int = 300
    txt_value_bytes: int = VALUE_MAX_BYTES

    @property
    def enumerates(self) -> bool:
        return False

    async def list_states(self, owners: Collection[OwnerID]) -> Sequence[StoredText]:
        names = [shared_state_name(self.zone), *(owner_state_name(self.zone, owner) for owner in owners)]
        return [StoredText(name, value) for name in names for value in await self.read_txt(name)]

    async def list_markers(self) -> Sequence[StoredText]:
        """Transfer the zone (RFC 5936) and pick the markers."""
        found = dns.zone.Zone(_absolute(self.zone), relativize=False)
        query, _ = dns.xfr.make_query(found)
        self._sign(query)
        try:
            await dns.asyncquery.inbound_xfr(self.host, found, query, self.port, self.timeout_s, None)
        except (dns.xfr.TransferError, dns.tsig.PeerError) as error:
            raise RefusedError(f"{self.zone}: {self.host} refuses a transfer: {_said(error)}") from error
        except (OSError, EOFError, dns.exception.DNSException) as error:
            raise UnavailableError(f"{self.zone}: no transfer from {self.host}: {_said(error)}") from error
        texts = [
            StoredText(_plain(name), _joined(cast(TXT, rdata)))
            for name, rdataset in found.iterate_rdatasets(dns.rdatatype.TXT)
            for rdata in rdataset
        ]
        return [each for each in texts if is_marker_name(each.name, self.zone)]

    async def read_txt(self, name: Fqdn) -> Sequence[bytes]:
        return [_joined(rdata) for rdata in (await self._read(name)).rdatas]

    async def add_txt(self, name: Fqdn, value: bytes, seen: Collection[bytes]) -> None:
        there = await self._read(name)
        values = {_joined(rdata) for rdata in there.rdatas}
        if value in values:
            return
        if values != set(seen):
            raise ConflictError(f"{name}: the values changed since they were read")
        update = dns.update.UpdateMessage(_absolute(self.zone))
        if there.rdatas:
            update.present(_absolute(name), *there.rdatas)
        else:
            update.absent(_absolute(name), dns.rdatatype.TXT)
        ttl_s = self.ttl_s if there.ttl_s is None else there.ttl_s
        update.add(_absolute(name), ttl_s, TXT(dns.rdataclass.IN, dns.rdatatype.TXT, text.split(value)))
        await self._update(update, name)

    async def delete_txt(self, name: Fqdn, value: bytes) -> None:
        """Delete in the split into strings that the zone has it in."""
        exact = [rdata for rdata in (await self._read(name)).rdatas if _joined(rdata) == value]
        if not exact:
            return
        update = dns.update.UpdateMessage(_absolute(self.zone))
        update.delete(_absolute(name), *exact)
        await self._update(update, name)

    async def _read(self, name: Fqdn) -> _TxtSet:
        """Return the set at a name, not the one that a wildcard lends it (RFC 4592)."""
        found = await self._query(name)
        if found.rdatas and not any(_joined(rdata).startswith(_OURS) for rdata in found.rdatas):
            above = name.partition(".")[2]
            while above.endswith(self.zone):
                if set((await self._query(Fqdn(f"*.{above}"))).rdatas) == set(found.rdatas):
                    return _NOTHING
                above = above.partition(".")[2]
        return found

    async def _query(self, name: Fqdn) -> _TxtSet:
        query = dns.message.make_query(_absolute(name), dns.rdatatype.TXT, flags=0)
        self._sign(query)
        try:
            reply = await dns.asyncquery.tcp(query, self.host, self.timeout_s, self.port)
        except (OSError, EOFError, dns.exception.DNSException) as error:
            raise UnavailableError(f"{name}: no answer from {self.host} port {self.port}: {_said(error)}") from error
        code = reply.rcode()
        if code in _NO:
            raise RefusedError(f"{name}: {self.host} answers {dns.rcode.to_text(code)}")
        if code not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN} or not reply.flags & dns.flags.AA:
            raise UnavailableError(f"{name}: {self.host} answers {dns.rcode.to_text(code)} without authority")
        rrset = reply.get_rrset(reply.answer, _absolute(name), dns.rdataclass.IN, dns.rdatatype.TXT)
        return _NOTHING if rrset is None else _TxtSet(rrset.ttl, tuple(cast(TXT, rdata) for rdata in rrset))

    async def _update(self, update: dns.update.UpdateMessage, name: Fqdn) -> None:
        self._sign(update)
        try:
            reply = await dns.asyncquery.tcp(update, self.host, self.timeout_s, self.port)
        except ConnectionRefusedError as error:
            raise UnavailableError(f"{name}: {self.host} port {self.port} takes no connections") from error
        except dns.tsig.PeerError as error:
            raise RefusedError(f"{name}: {self.host} does not accept the signature: {_said(error)}") from error
        except (OSError, EOFError, dns.exception.DNSException) as error:
            raise OutcomeUnknownError(f"{name}: no answer to an update from {self.host}: {_said(error)}") from error
        code = reply.rcode()
        said = f"{name}: {self.host} answers {dns.rcode.to_text(code)} to an update"
        if code in _CHANGED:
            raise ConflictError(said)
        if code in _NO:
            raise RefusedError(said)
        if code != dns.rcode.NOERROR:
            raise OutcomeUnknownError(said)

    def _sign(self, message: dns.message.Message) -> None:
        if self.key is not None:
            message.use_tsig(self.key)


def _absolute(name: Fqdn) -> dns.name.Name:
    return dns.name.from_text(name, dns.name.root)


def _plain(name: dns.name.Name) -> Fqdn:
    return Fqdn(name.to_text(omit_final_dot=True).lower())


def _joined(rdata: TXT) -> bytes:
    return b"".join(rdata.strings)


def _said(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
