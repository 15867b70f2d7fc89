"""Who owns a record set: the question that a controller asks before it writes or deletes.

Pure. `ME` is a claim of one's own, whether others share it or not; whether a record set may be deleted is a stricter question.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from ownership.backends.protocol import Backend
from ownership.entry import Entry, sorted_entries
from ownership.legacy import LegacyMarker, markers_of, read_markers
from ownership.member import Member, MemberType
from ownership.naming import OwnerID, marker_name, quoted
from ownership.state import ZoneState, read_state
from zonemodel.name import Fqdn


class Holder(StrEnum):
    """Who claims a record set."""

    ME = "Me"
    OTHER = "Other"
    NOBODY = "Nobody"
    AMBIGUOUS = "Ambiguous"


@dataclass(frozen=True, slots=True)
class Ownership:
    """The answer for one record set.

    `others` are the other owners that claim it, sorted. `members` are the records that I claim, `others_members` those that they
    claim, which have to survive what I withdraw; both are spelled canonically. `reason` is for people: why it is ambiguous, or
    why it may not be deleted; else empty. `doubt` is why somebody may claim it without its being told, else empty.
    """

    holder: Holder
    others: tuple[OwnerID, ...] = ()
    members: frozenset[Member] = frozenset()
    others_members: frozenset[Member] = frozenset()
    may_delete: bool = False
    reason: str = ""
    doubt: str = ""


class ZoneOwnership:
    """Who owns what in a zone, as one owner sees it; `may_delete` is False while anybody's claims cannot be told."""

    def __init__(self, state: ZoneState, me: OwnerID, markers: Iterable[LegacyMarker] = ()) -> None:
        """`markers` are those of the names that will be asked about, in zones that have any."""
        self.state = state
        self.me = me
        self._claims: dict[tuple[Fqdn, MemberType], list[Entry]] = defaultdict(list)
        self._unclear: dict[str, list[LegacyMarker]] = defaultdict(list)
        for owner in state.owners.values():
            for entry in owner.snapshot.entries:
                self._claims[entry.fqdn, entry.type].append(entry)
        for marker in markers:
            if isinstance(marker.claim, Entry):
                self._claims[marker.claim.fqdn, marker.claim.type].append(marker.claim)
            else:
                self._unclear[marker.text.name].append(marker)

    @property
    def may_delete(self) -> bool:
        """Whether anything may be deleted in the zone."""
        return self.state.may_delete

    def of(self, fqdn: Fqdn, kind: MemberType) -> Ownership:
        """Return who owns a record set."""
        entries = self._claims.get((fqdn, kind), ())
        others = tuple(sorted({entry.owner for entry in entries if entry.owner != self.me}))
        members = frozenset(entry.marker.member.identity for entry in entries if entry.owner == self.me)
        theirs = frozenset(entry.marker.member.identity for entry in entries if entry.owner != self.me)
        doubt = self._doubt(fqdn, entries)
        if members:
            shared = f"it is claimed by {', '.join(map(quoted, others))} too" if others else ""
            reason = doubt or shared
            return Ownership(Holder.ME, others, members, theirs, not reason, reason, doubt)
        if others:
            reason = f"it is claimed by {', '.join(map(quoted, others))}"
            return Ownership(Holder.OTHER, others, others_members=theirs, reason=reason, doubt=doubt)
        if doubt:
            return Ownership(Holder.AMBIGUOUS, reason=doubt, doubt=doubt)
        return Ownership(Holder.NOBODY, reason="nobody claims it")

    def claims(self, fqdn: Fqdn, kind: MemberType) -> tuple[Entry, ...]:
        """Return my claims to a record set, sorted: what to withdraw once it is gone.

        Those that markers of the zone tell are among them; withdrawing does not delete markers, migrating does.
        """
        return sorted_entries(entry for entry in self._claims.get((fqdn, kind), ()) if entry.owner == self.me)

    def mine(self) -> frozenset[tuple[Fqdn, MemberType]]:
        """Return the record sets that I claim."""
        return frozenset(which for which, found in self._claims.items() if any(each.owner == self.me for each in found))

    def others(self) -> tuple[OwnerID, ...]:
        """Return the other owners that claim anything in the zone, sorted."""
        return tuple(sorted({each.owner for found in self._claims.values() for each in found} - {self.me}))

    def _doubt(self, fqdn: Fqdn, entries: Iterable[Entry]) -> str:
        """Return why somebody may claim this record set without its being told which record, or nothing."""
        if self.state.faults:
            return "; ".join(map(str, self.state.faults))
        if markers := self._unclear.get(marker_name(fqdn)):
            owner = quoted(markers[0].owner)
            return f"{markers[0].text.name}: a marker of {owner} does not tell which record is claimed"
        for entry in entries:
            if not entry.marker.member.tells_a_record:
                found = f"found {quoted(entry.marker.member.target)} claimed by {quoted(entry.owner)}"
                return f"{entry.fqdn} {entry.type}: {found}, which no such record can be"
        return ""


async def read_ownership(backend: Backend, me: OwnerID, names: Collection[Fqdn] = ()) -> ZoneOwnership:
    """Return who owns what in a zone; raises BackendError when it cannot be read.

    `names` are those that will be asked about: where the zone cannot be enumerated, only their markers are looked at.
    """
    state = await read_state(backend, (me,))
    markers = read_markers(await backend.list_markers()) if backend.enumerates else await markers_of(backend, names)
    return ZoneOwnership(state, me, markers)
