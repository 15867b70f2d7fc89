"""Where `dns-api migrate` reads a zone: a master file, a transfer, or questions about names that are known.

Owns reading only. What could not be read is an error, never an empty zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.rdatatype
import dns.rrset
import dns.tsig
import dns.xfr
import dns.zone

from cli.dns.exchange import Server
from cli.migrate.registry import Affix, txt_names
from server.transfer.key import KeyFileError, read_keys
from zonemodel.name import to_wire
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import parse_zone_text

ASKED: Final = (dns.rdatatype.A, dns.rdatatype.AAAA, dns.rdatatype.CNAME, dns.rdatatype.MX, dns.rdatatype.NS)


class SourceError(Exception):
    """The zone cannot be read; the message says from where and why."""


def transfer(zone: str, server: Server, key: dns.tsig.Key | None, timeout_s: float) -> ZoneData:
    """Return a zone that a server lets us transfer (RFC 5936). Raises SourceError, ZoneFileError."""
    found = dns.zone.Zone(dns.name.from_text(zone), relativize=False)
    query, _ = dns.xfr.make_query(found)
    if key is not None:
        query.use_tsig(key, algorithm=key.algorithm)
    try:
        dns.query.inbound_xfr(server.host, found, query, server.port, timeout_s, None)
    except (dns.xfr.TransferError, dns.tsig.PeerError) as error:
        raise SourceError(f"{server} refuses to transfer {zone}: {error or type(error).__name__}") from error
    except (OSError, EOFError, dns.exception.DNSException) as error:
        raise SourceError(f"no transfer of {zone} from {server}: {error or type(error).__name__}") from error
    return parse_zone_text(found.to_text(relativize=False, want_origin=True), zone, f"the transfer from {server}")


def ask_for(zone: str, names: Iterable[str], affix: Affix, server: Server, timeout_s: float) -> ZoneData:
    """Return what a server answers about names, and about those where their registry entries may stand. Raises SourceError."""
    sets: dict[tuple[bytes, int], RRset] = {}
    for name in names:
        asked = [(name, kind) for kind in ASKED]
        asked += [
            (each, dns.rdatatype.TXT) for each in txt_names(name, affix) if each == zone or each.endswith(f".{zone}")
        ]
        for each, kind in asked:
            for found in _ask(each, kind, server, timeout_s):
                sets[found.owner, found.rdtype] = found
    return ZoneData(to_wire(zone), tuple(sets.values()))


def read_key(files: Path | None, name: str | None) -> dns.tsig.Key | None:
    """Return the one key of a file, or the one of that name. Raises SourceError."""
    if files is None:
        return None
    try:
        keys = {_key_name(each.name): each for each in read_keys((files,)).values()}
    except KeyFileError as error:
        raise SourceError(str(error)) from error
    wanted = [name.lower().rstrip(".")] if name is not None else list(keys)
    if len(wanted) != 1 or wanted[0] not in keys:
        raise SourceError(f"found {len(keys)} keys in {files}, name one of them: {', '.join(sorted(keys))}")
    key = keys[wanted[0]]
    return dns.tsig.Key(wanted[0], key.secret, f"hmac-{key.algorithm.hash_name}")


def _ask(name: str, kind: dns.rdatatype.RdataType, server: Server, timeout_s: float) -> Iterator[RRset]:
    query = dns.message.make_query(dns.name.from_text(name), kind, flags=0)
    try:
        reply, _ = dns.query.udp_with_fallback(query, server.host, timeout_s, server.port)
    except (OSError, EOFError, dns.exception.DNSException) as error:
        raise SourceError(
            f"no answer about {name} {kind.name} from {server}: {error or type(error).__name__}"
        ) from error
    if reply.rcode() not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN} or not reply.flags & dns.flags.AA:
        code = dns.rcode.to_text(reply.rcode())
        raise SourceError(f"{server} is no authority for {name}: it answered {code}")
    wanted = dns.name.from_text(name)
    yield from (_plain(each) for each in reply.answer if each.name == wanted and each.rdtype == kind)


def _plain(found: dns.rrset.RRset) -> RRset:
    rdatas: Sequence[bytes] = [each.to_digestable() for each in found]
    owner = to_wire(found.name.canonicalize().to_text())
    return RRset(owner, int(found.rdtype), found.ttl, tuple(dict.fromkeys(rdatas)))


def _key_name(wire: bytes) -> str:
    return dns.name.from_wire(wire, 0)[0].to_text(omit_final_dot=True)
