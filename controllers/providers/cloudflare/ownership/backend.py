"""A zone at Cloudflare as ownership needs it: TXT values added and deleted one at a time.

Owns the translation into requests, and of their failures into ownership's. Values are records of their own here, so that adding one never
touches another; one is deleted by its identifier after it was read. Never decides anything and never retries a write.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from controllers.providers.cloudflare.batch import Change
from controllers.providers.cloudflare.client import CloudflareClient
from controllers.providers.cloudflare.failure import (
    AlreadyExistsError,
    CloudflareError,
    NotFoundError,
    ThrottledError,
)
from controllers.providers.cloudflare.failure import UnavailableError as NoAnswerError
from controllers.providers.cloudflare.record import AUTO_TTL, CloudflareRecord
from controllers.providers.cloudflare.text import quote
from ownership.backends.protocol import StoredText
from ownership.error import BackendError, OutcomeUnknownError, RefusedError, UnavailableError
from ownership.naming import OwnerID, is_marker_name, state_hash
from zonemodel.name import Fqdn
from zonemodel.record import RecordType

VALUE_BYTES: Final = 2000


class CloudflareBackend:
    """One zone of an account, as `ownership.backends.protocol.Backend` describes it."""

    enumerates: Final = True
    txt_value_bytes: Final = VALUE_BYTES

    def __init__(self, client: CloudflareClient, zone_id: str, zone: Fqdn) -> None:
        self._client = client
        self._zone_id = zone_id
        self._listed: tuple[StoredText, ...] | None = None
        self.zone = zone

    async def list_states(self, owners: Collection[OwnerID]) -> Sequence[StoredText]:
        """Return the values at every name of manifests, from a listing made now."""
        self._listed = None
        return [text for text in await self._texts() if state_hash(text.name, self.zone) is not None]

    async def list_markers(self) -> Sequence[StoredText]:
        """Return the values at every name of markers."""
        return [text for text in await self._texts() if is_marker_name(text.name, self.zone)]

    async def read_txt(self, name: Fqdn) -> Sequence[bytes]:
        """Return the values of a name."""
        if self._listed is not None:
            return [text.value for text in self._listed if text.name == name]
        return [text.value for text in _texts_of(await self._at(name))]

    async def add_txt(self, name: Fqdn, value: bytes, seen: Collection[bytes]) -> None:
        """Add a value beside those that are there."""
        self._listed = None
        body = {"type": "TXT", "name": name, "content": quote(value.decode()), "ttl": AUTO_TTL}
        with _writing():
            try:
                await self._client.batch(self._zone_id, Change(posts=(body,)))
            except AlreadyExistsError:
                return

    async def delete_txt(self, name: Fqdn, value: bytes) -> None:
        """Delete the record that holds this value."""
        found = tuple(each.id for each in await self._at(name) if each.values and each.values[0] == value)
        self._listed = None
        if not found:
            return
        with _writing():
            try:
                await self._client.batch(self._zone_id, Change(deletes=found))
            except NotFoundError:
                return

    async def _at(self, name: Fqdn) -> Iterable[CloudflareRecord]:
        with reading():
            return (await self._client.texts_at(self._zone_id, name)).records

    async def _texts(self) -> tuple[StoredText, ...]:
        if self._listed is None:
            with reading():
                listing = await self._client.records(self._zone_id)
            self._listed = tuple(_texts_of(listing.records))
        return self._listed


def _texts_of(records: Iterable[CloudflareRecord]) -> Iterator[StoredText]:
    for record in records:
        if record.type == RecordType.TXT and record.values:
            yield StoredText(Fqdn(record.name), record.values[0])


@contextmanager
def reading() -> Iterator[None]:
    """Have a read that failed be one: nothing is known, nothing was written."""
    try:
        yield
    except CloudflareError as error:
        raise _translated(error, UnavailableError) from error


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except CloudflareError as error:
        raise _translated(error, OutcomeUnknownError) from error


def _translated(error: CloudflareError, unanswered: type[BackendError]) -> BackendError:
    if isinstance(error, ThrottledError):
        return UnavailableError(error.message)
    if isinstance(error, NoAnswerError):
        return unanswered(error.message)
    return RefusedError(error.message)
