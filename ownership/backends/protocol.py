"""What ownership needs of a zone: TXT values read, added and deleted one at a time.

Owns the contract only. A backend never decides anything, never retries a write and never takes a failed read for an empty one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from ownership.entry import Entry
from ownership.naming import OwnerID
from zonemodel.name import Fqdn


class StoredText(NamedTuple):
    """One TXT value and its name; the character-strings of the value are joined (RFC 1035 section 3.3.14)."""

    name: Fqdn
    value: bytes


class Backend(Protocol):
    """One zone. Every method may raise a BackendError; names are lowercase and without the trailing dot."""

    @property
    def zone(self) -> Fqdn:
        """The apex of the zone."""

    @property
    def txt_value_bytes(self) -> int:
        """The longest TXT value that may be written here; longer ones may be read."""

    @property
    def enumerates(self) -> bool:
        """Whether all names of the zone can be listed; each owner then has manifests at a name of its own."""

    async def list_states(self, owners: Collection[OwnerID]) -> Sequence[StoredText]:
        """Return every TXT value at every name of manifests, in any order.

        A backend that cannot enumerate looks at the shared name and at those of `owners`.
        """

    async def list_markers(self) -> Sequence[StoredText]:
        """Return every TXT value at every name of markers.

        Called for migration, and before that by backends that enumerate for everything. Raises RefusedError where the zone does
        not tell its names.
        """

    async def read_txt(self, name: Fqdn) -> Sequence[bytes]:
        """Return the TXT values of a name, none when there are none."""

    async def add_txt(self, name: Fqdn, value: bytes, seen: Collection[bytes]) -> None:
        """Add a value to a name that has the values `seen`, where the zone can make that a condition.

        Adding what is there already is no error. Raises ConflictError when the name has others meanwhile, and
        OutcomeUnknownError when no answer came.
        """

    async def delete_txt(self, name: Fqdn, value: bytes) -> None:
        """Delete exactly this value; deleting what is not there is no error. Raises OutcomeUnknownError."""


@runtime_checkable
class LegacyDiscovery(Protocol):
    """A backend whose readers of markers find them through something else than the markers, such as a catalogue."""

    async def restore_legacy_discovery(self, entries: Collection[Entry]) -> None:
        """Have these markers found, and return only after reading back that they will be; raises BackendError."""
