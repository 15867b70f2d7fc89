"""Record sets as claims to their records, and what an owner's claims say of a record set.

Pure. An alias has no records of its own: it is claimed as the name that it points to, with a word on its type, so that those of A and of
AAAA are told apart. Never reads a zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from controllers.providers.route53.record import Alias, Record, RecordKey, Values
from controllers.providers.route53.value import Meaning, Unreadable
from ownership.entry import Entry, claim
from ownership.member import Member, MemberType
from ownership.naming import OwnerID
from ownership.view import Ownership, ZoneOwnership
from zonemodel.name import Fqdn

ALIAS: Final = "route53-alias"
"""Name of the metadata that tells the type of an alias."""

Claimed = tuple[Member, str]
"""A record in its canonical spelling and, where it stands for an alias, the type of that."""


def members_of_record(record: Record) -> frozenset[Member] | None:
    """Return the records of a record set; None when it holds something that no claim can be about."""
    match record.content:
        case Alias(dns_name):
            return frozenset({Member(MemberType.CNAME, dns_name).identity})
        case Values(_, values):
            members = [_member(record.key.type, each) for each in values]
            known = [each for each in members if each is not None]
            return frozenset(known) if len(known) == len(members) else None
    return None


def claimable(record: Record) -> frozenset[Claimed]:
    """Return what there is to claim of a record set that is to be written."""
    alias = record.key.type if isinstance(record.content, Alias) else ""
    return frozenset((member, alias) for member in members_of_record(record) or ())


def claimed(entry: Entry) -> Claimed:
    """Return what an entry claims."""
    return entry.marker.member.identity, dict(entry.marker.metadata).get(ALIAS, "")


def claims_to(owner: OwnerID, name: Fqdn, wanted: Iterable[Claimed]) -> frozenset[Entry]:
    """Return the claims to some records of a name. Raises FormatError for what the format cannot carry."""
    return frozenset(claim(owner, name, member, {ALIAS: alias} if alias else None) for member, alias in wanted)


def held_claims(zone: ZoneOwnership, key: RecordKey) -> tuple[Entry, ...]:
    """Return the owner's own claims to a record set of that name and type, an alias or not."""
    return tuple(_held(zone, key))


def ownership_of(zone: ZoneOwnership, record: Record) -> Ownership:
    """Return who owns a record set that is there."""
    kind = MemberType.CNAME if isinstance(record.content, Alias) else MemberType(record.key.type)
    return zone.of(Fqdn(record.key.name), kind)


def _held(zone: ZoneOwnership, key: RecordKey) -> Iterator[Entry]:
    name = Fqdn(key.name)
    for entry in zone.claims(name, MemberType.CNAME):
        if dict(entry.marker.metadata).get(ALIAS, MemberType.CNAME) == key.type:
            yield entry
    if key.type != MemberType.CNAME:
        yield from zone.claims(name, MemberType(key.type))


def _member(kind: str, meaning: Meaning) -> Member | None:
    match meaning:
        case Unreadable():
            return None
        case IPv4Address() | IPv6Address():
            target = str(meaning)
        case bytes():
            text = _text(meaning)
            if text is None:
                return None
            target = text
        case (int(preference), str(exchange)):
            target = f"{preference} {exchange}"
        case (int(flags), str(tag), bytes(value)):
            text = _text(value)
            if text is None:
                return None
            target = f"{flags} {tag} {text}"
        case _:
            target = str(meaning)
    return Member(MemberType(kind), target).identity


def _text(octets: bytes) -> str | None:
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return None
