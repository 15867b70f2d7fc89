"""What `dns-api ownership verify` finds: ambiguities, and what is only worth knowing.

Pure. Owns the judging of a zone's state as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from cli.ownership.report import Finding, owner_text
from ownership.entry import Entry
from ownership.legacy import LegacyMarker, fits_zone
from ownership.member import MemberType
from ownership.naming import OwnerID, quoted
from ownership.state import ZoneState
from zonemodel.name import Fqdn

SUPERSEDED: Final = "Superseded"
NOT_MIGRATED: Final = "NotMigrated"
UNCLEAR_MARKER: Final = "UnclearMarker"
UNCLEAR_CLAIM: Final = "UnclearClaim"
OUTSIDE: Final = "OutsideZone"
SHARED: Final = "Shared"


def findings(state: ZoneState, markers: Iterable[LegacyMarker]) -> Iterator[Finding]:
    """Yield everything that is not as it should be, ambiguities first."""
    for fault in state.faults:
        yield Finding(True, fault.reason, fault.owner, fault.detail)
    clear = []
    for marker in markers:
        if isinstance(marker.claim, Entry):
            clear.append(marker.claim)
        else:
            yield Finding(True, UNCLEAR_MARKER, marker.owner, f"{marker.text.name}: {marker.claim.reason}")
    for claim in sorted((*clear, *(entry for each in state.owners.values() for entry in each.snapshot.entries))):
        member = claim.marker.member
        if not member.tells_a_record:
            detail = f"{claim.fqdn} {claim.type} is claimed to be {quoted(member.target)}, which no such record can be"
            yield Finding(True, UNCLEAR_CLAIM, claim.owner, detail)
    for owner, each in sorted(state.owners.items()):
        if each.chain.predecessors:
            revisions = ", ".join(str(sealed.manifest.revision) for sealed in each.chain.predecessors)
            yield Finding(False, SUPERSEDED, owner, f"revisions still to be cleaned up: {revisions}")
        for entry in each.snapshot.entries:
            if not fits_zone(Fqdn(entry.name), state.zone):
                yield Finding(False, OUTSIDE, owner, f"{entry.fqdn} has no room for a marker in {state.zone}")
    for claim in sorted(clear):
        yield Finding(False, NOT_MIGRATED, claim.owner, f"{claim.name} marks {claim.type} in a record of its own")
    yield from _shared(state)


def _shared(state: ZoneState) -> Iterator[Finding]:
    owners: dict[tuple[Fqdn, MemberType], set[OwnerID]] = defaultdict(set)
    for owner, each in state.owners.items():
        for entry in each.snapshot.entries:
            owners[entry.fqdn, entry.type].add(owner)
    for (fqdn, kind), found in sorted(owners.items()):
        if len(found) > 1:
            first, *others = sorted(found)
            yield Finding(False, SHARED, first, f"{fqdn} {kind} is claimed by {', '.join(map(owner_text, others))} too")
