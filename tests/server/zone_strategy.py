"""Random small zones: few labels, so that owners meet, hide, alias and cover one another."""

from __future__ import annotations

from hypothesis import strategies as st

from server.zone.index import Changes, ZoneIndex
from server.zone.judge import UnservableError, judge_zone
from zonemodel.name import WireName, from_labels
from zonemodel.rrset import RRset, ZoneData

APEX_LABELS = [b"z", b"test"]
APEX = from_labels(APEX_LABELS)
OUTSIDE = from_labels([b"www", b"elsewhere", b"example"])
A, NS, CNAME, SOA, MX, TXT, AAAA, DNAME, DS = 1, 2, 5, 6, 15, 16, 28, 39, 43
TYPES = (A, NS, CNAME, SOA, MX, TXT, AAAA, DNAME, DS, 65280)

labels = st.sampled_from([b"a", b"b", b"c", b"*"])
owners = st.lists(labels, max_size=3).map(lambda found: from_labels(found + APEX_LABELS))
targets = st.one_of(owners, st.just(OUTSIDE))


def soa(serial: int) -> RRset:
    numbers = (serial, 7200, 900, 1209600, 60)
    data = from_labels([b"ns", *APEX_LABELS]) + OUTSIDE + b"".join(number.to_bytes(4, "big") for number in numbers)
    return RRset(APEX, SOA, 300, (data,))


def apex_ns() -> RRset:
    return RRset(APEX, NS, 300, (from_labels([b"a", *APEX_LABELS]), OUTSIDE))


@st.composite
def rrsets(draw: st.DrawFn) -> RRset:
    owner = draw(owners)
    rdtype = draw(st.sampled_from([A, A, AAAA, TXT, MX, CNAME, CNAME, NS, NS, DNAME, DS, 65280]))
    count = 1 if rdtype in (CNAME, DNAME) else draw(st.integers(1, 3))
    return RRset(owner, rdtype, draw(st.sampled_from([60, 300])), tuple(draw(_data(rdtype)) for _ in range(count)))


def _data(rdtype: int) -> st.SearchStrategy[bytes]:
    if rdtype == A:
        return st.integers(0, 9).map(lambda last: bytes((192, 0, 2, last)))
    if rdtype == AAAA:
        return st.integers(0, 9).map(lambda last: bytes(15) + bytes((last,)))
    if rdtype == MX:
        return targets.map(lambda name: b"\x00\x0a" + name)
    if rdtype in (CNAME, NS, DNAME):
        return targets
    if rdtype == DS:
        return st.integers(1, 9).map(lambda tag: bytes((0, tag, 13, 2)) + bytes(32))
    return st.binary(min_size=4, max_size=9).map(lambda text: bytes((len(text),)) + text)


def _zone(found: list[RRset], serial: int) -> ZoneData:
    """Keep what may stand together: the first of each owner and type, aliases alone, nothing below a DNAME."""
    sets: dict[tuple[WireName, int], RRset] = {(APEX, SOA): soa(serial), (APEX, NS): apex_ns()}
    for rrset in found:
        key = (rrset.owner, rrset.rdtype)
        candidate = ZoneData(APEX, (*sets.values(), rrset))
        if key not in sets and len(set(rrset.rdatas)) == len(rrset.rdatas) and _is_servable(candidate):
            sets[key] = rrset
    return ZoneData(APEX, tuple(sets.values()))


zones = st.builds(_zone, st.lists(rrsets(), max_size=12), st.integers(1, 2**32 - 1))


def names_around(zone: ZoneData) -> list[WireName]:
    """Every name that exists, and names that do not, below and beside each."""
    existing = set(ZoneIndex.of(zone).children)
    missing = {WireName(bytes((len(label),)) + label + name) for name in existing for label in (b"a", b"q", b"*")}
    deeper = {WireName(b"\x01x\x01y" + name) for name in existing}
    return sorted(existing | missing | deeper)


def edited(zone: ZoneData, edit: RRset) -> ZoneData | None:
    """Return the zone with the set put in, or taken out when the same owner and type is there; None when no zone can be so."""
    kept = [rrset for rrset in zone.rrsets if (rrset.owner, rrset.rdtype) != (edit.owner, edit.rdtype)]
    if len(kept) == len(zone.rrsets):
        kept.append(edit)
    elif edit.owner == APEX and edit.rdtype in (SOA, NS):
        return None
    later = ZoneData(zone.origin, tuple(kept))
    return later if _is_servable(later) and len(set(edit.rdatas)) == len(edit.rdatas) else None


def changes_between(zone: ZoneData, later: ZoneData) -> Changes:
    """Return what is to be done to a zone for a later one."""
    kept = {(rrset.owner, rrset.rdtype) for rrset in later.rrsets}
    gone = tuple(key for rrset in zone.rrsets if (key := (rrset.owner, rrset.rdtype)) not in kept)
    return Changes(tuple(rrset for rrset in later.rrsets if rrset not in zone.rrsets), gone)


def _is_servable(zone: ZoneData) -> bool:
    try:
        judge_zone(zone)
    except UnservableError:
        return False
    return True
