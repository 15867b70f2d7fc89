"""Which records of a zone no query reaches: what lies below a zone cut or a DNAME (RFC 1034 section 4.2.1, RFC 6672).

Addresses of name servers below a cut are no shadowed data but the glue that referrals need. Judges visibility only.
"""

from __future__ import annotations

from typing import Final

from cli.zone.body import name_text
from zonemodel.name import WireName
from zonemodel.record import RecordType
from zonemodel.rrset import RRset, ZoneData

_DNAME: Final = 39
_DS: Final = 43
_ADDRESSES: Final = frozenset({RecordType.A.code, RecordType.AAAA.code})
_PARENT_SIDE: Final = frozenset({RecordType.NS.code, _DS})


class Shadows:
    """The cuts and DNAMEs of a zone."""

    def __init__(self, zone: ZoneData) -> None:
        delegations = [each for each in zone.rrsets if each.rdtype == RecordType.NS.code]
        self._apex = zone.origin
        self._cuts = {each.owner for each in delegations} - {zone.origin}
        self._dnames = {each.owner for each in zone.rrsets if each.rdtype == _DNAME}
        self._servers = {rdata.lower() for each in delegations for rdata in each.rdatas}

    def over(self, rrset: RRset) -> str | None:
        """Return what hides a set from queries, such as `below the delegation of sub.example.com`, or None."""
        glue = rrset.rdtype in _ADDRESSES and rrset.owner in self._servers
        for ancestor in _ancestors(rrset.owner, self._apex):
            if ancestor in self._dnames:
                return f"below the DNAME of {name_text(ancestor)}"
            if ancestor in self._cuts and not glue:
                return f"below the delegation of {name_text(ancestor)}"
        if rrset.owner in self._cuts and rrset.rdtype not in _PARENT_SIDE and not glue:
            return f"at the delegation of {name_text(rrset.owner)}"
        return None


def _ancestors(owner: WireName, apex: WireName) -> list[WireName]:
    """Return the names above `owner` up to the apex, the nearest first."""
    names = []
    name = owner
    while name != apex:
        name = WireName(name[1 + name[0] :])
        names.append(name)
    return names
