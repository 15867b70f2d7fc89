"""A zone in a master file (RFC 1035 section 5), for looking at one and for zones that no server changes meanwhile.

Owns the rewriting of the file: as a whole, under a lock, with the next serial. Comments and $INCLUDE do not survive a write. A signed
zone is read, never written.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import dns.name

from ownership.backends import text
from ownership.backends.protocol import StoredText
from ownership.codec.envelope import VALUE_MAX_BYTES
from ownership.error import ConflictError, RefusedError, UnavailableError
from ownership.naming import OwnerID, is_marker_name, state_hash
from zonemodel.name import Fqdn, WireName, to_wire
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import ZoneFileError, read_zone_file, write_zone_file

_SOA: Final = 6
_TXT: Final = 16
_RRSIG: Final = 46
_SERIAL: Final = slice(-20, -16)

_Edit = Callable[[list[bytes]], list[bytes]]


@dataclass(frozen=True, slots=True)
class ZoneFileBackend:
    """The zone of a file; `open_zone_file` makes one. `ttl_s` is that of new sets; one that is there keeps its own."""

    path: Path
    zone: Fqdn
    ttl_s: int = 300
    txt_value_bytes: int = VALUE_MAX_BYTES

    @property
    def enumerates(self) -> bool:
        return True

    async def list_states(self, owners: Collection[OwnerID]) -> Sequence[StoredText]:
        """The file tells all owners, whichever are asked for."""
        return await self._texts(lambda name: state_hash(name, self.zone) is not None)

    async def list_markers(self) -> Sequence[StoredText]:
        return await self._texts(lambda name: is_marker_name(name, self.zone))

    async def read_txt(self, name: Fqdn) -> Sequence[bytes]:
        owner = to_wire(name)
        zone = await asyncio.to_thread(_load, self.path, self.zone)
        found = _txt_set(zone, owner)
        return [text.join(rdata) for rdata in found.rdatas] if found is not None else []

    async def add_txt(self, name: Fqdn, value: bytes, seen: Collection[bytes]) -> None:
        def add(rdatas: list[bytes]) -> list[bytes]:
            values = {text.join(rdata) for rdata in rdatas}
            if value in values:
                return rdatas
            if values != set(seen):
                raise ConflictError(f"{name}: the values changed since they were read")
            return [*rdatas, text.encode(value)]

        await asyncio.to_thread(self._edit, name, add)

    async def delete_txt(self, name: Fqdn, value: bytes) -> None:
        await asyncio.to_thread(self._edit, name, lambda rdatas: [each for each in rdatas if text.join(each) != value])

    async def _texts(self, wanted: Callable[[Fqdn], bool]) -> list[StoredText]:
        zone = await asyncio.to_thread(_load, self.path, self.zone)
        named = [(_plain(rrset.owner), rrset) for rrset in zone.rrsets if rrset.rdtype == _TXT]
        return [StoredText(name, text.join(rdata)) for name, rrset in named if wanted(name) for rdata in rrset.rdatas]

    def _edit(self, name: Fqdn, edit: _Edit) -> None:
        owner = to_wire(name)
        with _locked(self.path):
            zone = _load(self.path, self.zone)
            there = _txt_set(zone, owner) or RRset(owner, _TXT, self.ttl_s, ())
            after = tuple(edit(list(there.rdatas)))
            if after == there.rdatas:
                return
            if any(rrset.rdtype == _RRSIG for rrset in zone.rrsets):
                raise RefusedError(
                    f"{self.path}: the zone is signed, and a change here would leave it with wrong signatures"
                )
            rrsets = [_advanced(each) for each in zone.rrsets if (each.owner, each.rdtype) != (owner, _TXT)]
            if after:
                rrsets.append(replace(there, rdatas=after))
            _store(self.path, write_zone_file(replace(zone, rrsets=tuple(rrsets))))


def open_zone_file(path: Path, origin: str | None = None) -> ZoneFileBackend:
    """Return the backend of a master file; raises UnavailableError when it cannot be read."""
    return ZoneFileBackend(path, _plain(_load(path, origin).origin))


def _load(path: Path, origin: str | None) -> ZoneData:
    """Return the zone of the file as it is now; one that has not changed is not parsed again."""
    try:
        now = path.stat()
        return _parsed(path, origin, (now.st_ino, now.st_mtime_ns, now.st_size))
    except ZoneFileError as error:
        raise UnavailableError(str(error)) from error
    except OSError as error:
        raise UnavailableError(f"cannot read {path}: {error.strerror or error}") from error


@lru_cache(maxsize=1)
def _parsed(path: Path, origin: str | None, _version: tuple[int, int, int]) -> ZoneData:
    return read_zone_file(path, origin)


def _store(path: Path, content: str) -> None:
    """Put a new file in the place of the old one, so that readers see one or the other."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, file.name)
        Path(file.name).replace(path)
    except OSError as error:
        raise UnavailableError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes that take the same lock, on the folder, from writing at once."""
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise UnavailableError(f"cannot open {path.parent}: {error.strerror or error}") from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _txt_set(zone: ZoneData, owner: WireName) -> RRset | None:
    return next((each for each in zone.rrsets if (each.owner, each.rdtype) == (owner, _TXT)), None)


def _advanced(rrset: RRset) -> RRset:
    """Return the SOA with the next serial (RFC 1982), other sets as they are."""
    if rrset.rdtype != _SOA:
        return rrset
    (rdata,) = rrset.rdatas
    serial = (int.from_bytes(rdata[_SERIAL], "big") + 1) % 2**32
    return replace(rrset, rdatas=(rdata[:-20] + serial.to_bytes(4, "big") + rdata[-16:],))


def _plain(owner: WireName) -> Fqdn:
    return Fqdn(dns.name.from_wire(owner, 0)[0].to_text(omit_final_dot=True))
