"""Whether a published snapshot gives an address for a name, by whatever way: a record, an alias, a wildcard, or the class's own servers.

Pure. Reads a snapshot as a name server does (RFC 1034 section 4.3.2, RFC 4592); aliases that leave the zone end the search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from controllers.providers.hosted.content import Lines
from controllers.providers.hosted.item import RecordKey
from zonemodel.hosted_zone import HostedRecordSet, NameServer
from zonemodel.name import Fqdn, OwnerName, relative_to
from zonemodel.name_tree import NameTree
from zonemodel.record import RecordType

CHAIN_LIMIT: Final = 16
NOBODY: Final = "nobody-has-this-name"


@dataclass(frozen=True, slots=True)
class PublishedZone:
    """A snapshot in the form that looking up names needs; `hosts` are the class's own servers in the zone."""

    domain: Fqdn
    lines: Lines
    hosts: Mapping[OwnerName, frozenset[str]]
    tree: NameTree

    @classmethod
    def of(cls, domain: Fqdn, lines: Lines, servers: tuple[NameServer, ...]) -> PublishedZone:
        """Return the snapshot; `servers` are the class's, which have their addresses inside the zone or elsewhere."""
        hosts = {
            owner: frozenset(server.addresses)
            for server in servers
            if server.addresses and (owner := relative_to(Fqdn(server.name), domain)) is not None
        }
        owners = [*hosts, *(key.name for key in lines)]
        return cls(domain, lines, hosts, NameTree.of(owners))

    def ttl_of(self, name: str, kind: RecordType, address: str) -> int | None:
        """Return the largest TTL on the way from a relative name to the address, None when the snapshot does not give it.

        A wildcard is looked up as itself and as what it makes of a name that nobody has.
        """
        asked = [name, f"{NOBODY}{name[1:]}"] if name.startswith("*") else [name]
        found = [ttl_s for each in asked if (ttl_s := self._walk(each, kind, address)) is not None]
        return max(found, default=None)

    def _walk(self, name: str, kind: RecordType, address: str) -> int | None:
        ttl_s = 0
        for _ in range(CHAIN_LIMIT):
            source = self.tree.source(name)
            if source is None:
                return None
            record = self._record(source, kind)
            if record is not None and address in _addresses(record):
                return max(ttl_s, record.ttl)
            if address in self.hosts.get(OwnerName(source), ()):
                return ttl_s
            alias = self._record(source, RecordType.CNAME)
            target = relative_to(Fqdn(alias.cname.target), self.domain) if alias is not None and alias.cname else None
            if alias is None or target is None:
                return None
            ttl_s, name = max(ttl_s, alias.ttl), target
        return None

    def _record(self, owner: str, kind: RecordType) -> HostedRecordSet | None:
        line = self.lines.get(RecordKey(OwnerName(owner), kind))
        return line.record if line is not None else None


def _addresses(record: HostedRecordSet) -> frozenset[str]:
    texts = record.a.addresses if record.a is not None else record.aaaa.addresses if record.aaaa is not None else ()
    return frozenset(str(ip_address(text)) for text in texts)
