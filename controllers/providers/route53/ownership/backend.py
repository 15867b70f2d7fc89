"""A hosted zone as a place where ownership is kept: TXT values read, added and deleted one at a time.

Owns what makes a write conditional: Route 53 deletes only what is named exactly, so that deleting the old record set and creating the new
one in one batch does nothing when somebody was faster. Never decides what is written, never retries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from controllers.providers.route53.change import Action, Change
from controllers.providers.route53.client import Account
from controllers.providers.route53.failure import BatchRejected, Failure, Fault, Unavailable
from controllers.providers.route53.record import Observed, Record, RecordKey, values_record
from controllers.providers.route53.value import quote_octets, read_value
from kube.object import ObjectKey
from ownership.backends.protocol import StoredText
from ownership.error import ConflictError, OutcomeUnknownError, RefusedError, UnavailableError
from ownership.naming import OwnerID, is_marker_name, state_hash
from zonemodel.name import Fqdn

TEXT: Final = "TXT"
TTL_S: Final = 300
VALUE_LIMIT_OCTETS: Final = 3800
"""Route 53 takes 4,000 characters a value, with the quotes and spaces between its strings."""
NOBODY: Final = ObjectKey("", "ownership")


class HostedZoneOwnership:
    """`Backend` of the ownership package over one hosted zone."""

    def __init__(self, account: Account, zone_id: str, zone: Fqdn, observed: Observed | None = None) -> None:
        """`observed` is a listing that was made just now, if there is one: it serves as the first."""
        self._account = account
        self._zone_id = zone_id
        self._fresh = observed
        self._listed: Observed | None = None
        self.zone = zone

    @property
    def txt_value_bytes(self) -> int:
        return VALUE_LIMIT_OCTETS

    @property
    def enumerates(self) -> bool:
        return True

    async def list_states(self, owners: Collection[OwnerID]) -> Sequence[StoredText]:
        """Return every TXT value at every name of manifests, whoever's they are, from a listing of its own each time."""
        self._listed, self._fresh = self._fresh, None
        return await self._list(lambda name: state_hash(name, self.zone) is not None)

    async def list_markers(self) -> Sequence[StoredText]:
        """Return every TXT value at every name of markers."""
        return await self._list(lambda name: is_marker_name(name, self.zone))

    async def read_txt(self, name: Fqdn) -> Sequence[bytes]:
        """Return the TXT values of a name, out of the last listing where nothing was written since."""
        if self._listed is not None:
            return [octets for record in self._listed.get(RecordKey(name, TEXT), ()) for octets, _ in _values(record)]
        record = await self._record(name)
        return [octets for octets, _ in _values(record)] if record is not None else []

    async def add_txt(self, name: Fqdn, value: bytes, seen: Collection[bytes]) -> None:
        """Add a value beside those that were seen."""
        record = await self._record(name)
        there = [octets for octets, _ in _values(record)] if record is not None else []
        if value in there:
            return
        if not set(there) <= set(seen):
            raise ConflictError(f"{name} has TXT values that were not there before")
        await self._replace(name, record, [*_texts(record), quote_octets(value)])

    async def delete_txt(self, name: Fqdn, value: bytes) -> None:
        """Delete a value and leave those beside it."""
        record = await self._record(name)
        if record is None or value not in {octets for octets, _ in _values(record)}:
            return
        await self._replace(name, record, [text for octets, text in _values(record) if octets != value])

    async def _replace(self, name: Fqdn, record: Record | None, texts: list[str]) -> None:
        key = RecordKey(name, TEXT)
        self._listed = self._fresh = None
        changes = [Change(Action.DELETE, record, NOBODY)] if record is not None else []
        if texts:
            ttl_s = int(record.wire.get("TTL", TTL_S)) if record is not None else TTL_S
            changes.append(Change(Action.CREATE, values_record(key, ttl_s, texts), NOBODY))
        try:
            await self._account.change(self._zone_id, changes)
        except BatchRejected as refusal:
            if refusal.fault in {Fault.STALE, Fault.TAKEN}:
                raise ConflictError(f"{name} has other TXT values meanwhile") from refusal
            raise RefusedError(f"{name}: {refusal.message}") from refusal
        except Unavailable as failure:
            if failure.outcome_unknown:
                raise OutcomeUnknownError(f"{name}: {failure.message}") from failure
            raise UnavailableError(f"{name}: {failure.message}") from failure
        except Failure as failure:
            raise RefusedError(f"{name}: {failure.message}") from failure

    async def _record(self, name: Fqdn) -> Record | None:
        with reading():
            found = await self._account.record(self._zone_id, RecordKey(name, TEXT))
        if len(found) > 1 or any("SetIdentifier" in record.wire for record in found):
            raise RefusedError(f"{name} has TXT record sets with a routing policy, which ownership cannot share")
        return found[0] if found else None

    async def _list(self, wanted: Callable[[Fqdn], bool]) -> list[StoredText]:
        if self._listed is None:
            with reading():
                self._listed = await self._account.records(self._zone_id)
        return texts_of(self._listed, wanted)


def texts_of(observed: Observed, wanted: Callable[[Fqdn], bool]) -> list[StoredText]:
    """Return the TXT values at some names of a listing."""
    return [
        StoredText(Fqdn(key.name), octets)
        for key, records in observed.items()
        if key.type == TEXT and wanted(Fqdn(key.name))
        for record in records
        for octets, _ in _values(record)
    ]


class ListedOwnership:
    """A listing as a `Backend` that can only be read: what it tells holds for the moment of the listing."""

    txt_value_bytes: Final = VALUE_LIMIT_OCTETS
    enumerates: Final = True

    def __init__(self, zone: Fqdn, observed: Observed) -> None:
        self._observed = observed
        self.zone = zone

    async def list_states(self, owners: Collection[OwnerID]) -> Sequence[StoredText]:
        """Return every TXT value at every name of manifests."""
        return texts_of(self._observed, lambda name: state_hash(name, self.zone) is not None)

    async def list_markers(self) -> Sequence[StoredText]:
        """Return every TXT value at every name of markers."""
        return texts_of(self._observed, lambda name: is_marker_name(name, self.zone))

    async def read_txt(self, name: Fqdn) -> Sequence[bytes]:
        """Return the TXT values of a name."""
        return [octets for record in self._observed.get(RecordKey(name, TEXT), ()) for octets, _ in _values(record)]

    async def add_txt(self, name: Fqdn, value: bytes, seen: Collection[bytes]) -> None:
        """Raises RefusedError."""
        raise RefusedError(f"{name}: a listing cannot be written")

    async def delete_txt(self, name: Fqdn, value: bytes) -> None:
        """Raises RefusedError."""
        raise RefusedError(f"{name}: a listing cannot be written")


@contextmanager
def reading() -> Iterator[None]:
    """Have a read that failed be one: nothing is known, nothing was written."""
    try:
        yield
    except Unavailable as failure:
        raise UnavailableError(failure.message) from failure
    except Failure as failure:
        raise RefusedError(failure.message) from failure


def _texts(record: Record | None) -> list[str]:
    """Return the values as Route 53 writes them: others' stay spelled as they are."""
    return [str(each["Value"]) for each in record.wire.get("ResourceRecords", ())] if record is not None else []


def _values(record: Record) -> Iterator[tuple[bytes, str]]:
    """Yield each value in octets and as it is written."""
    for text in _texts(record):
        meaning = read_value(TEXT, text)
        yield (meaning, text) if isinstance(meaning, bytes) else (text.encode(), text)
