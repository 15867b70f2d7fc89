"""Zones from master files.

Owns reading them, at the start and again on demand: a broken file at the start is refused, later it keeps the old zone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

import structlog

from server.catalog import Catalog
from server.config import ZoneFile
from server.text import name_text
from server.zone.compile import Zone, compile_zone
from server.zone.judge import UnservableError, judge_zone
from zonemodel.name import WireName
from zonemodel.zonefile import ZoneFileError, read_zone_file

log = structlog.get_logger(__name__)


class ZoneFiles:
    """The master files of one server; `pulled` are zones that come from other servers."""

    def __init__(self, files: Sequence[ZoneFile], catalog: Catalog, pulled: Collection[WireName] = ()) -> None:
        self._files = files
        self._catalog = catalog
        self._pulled = pulled
        self._apexes: dict[ZoneFile, WireName] = {}
        self._broken: dict[ZoneFile, str] = {}
        self._reloading = asyncio.Lock()

    @property
    def broken(self) -> Mapping[ZoneFile, str]:
        """The files that could not be read when they were read again, each with the reason."""
        return self._broken

    def source_of(self, apex: WireName) -> str | None:
        """Say in words where a zone comes from, None when neither from a file nor from another server."""
        if apex in self._apexes.values():
            return "served from a master file"
        return "pulled from another name server" if apex in self._pulled else None

    async def load(self) -> None:
        """Read and serve every file; raises ZoneFileError or UnservableError for the first that is broken."""
        for file in self._files:
            self._serve(file, await asyncio.to_thread(self._read, file))

    async def reload(self) -> None:
        """Read every file again. A file that is broken now keeps its zone as it was, and the log says why."""
        async with self._reloading:
            for file in self._files:
                try:
                    self._serve(file, await asyncio.to_thread(self._read, file))
                    self._broken.pop(file, None)
                except (ZoneFileError, UnservableError) as error:
                    self._broken[file] = str(error)
                    log.error("master file is broken, the zone stays as it was", file=str(file.path), reason=str(error))
            broken = len(self._broken)
            if broken:
                log.warning("some master files could not be read again", files=len(self._files), broken=broken)
            else:
                log.info("master files read again", files=len(self._files))

    def _read(self, file: ZoneFile) -> Zone:
        zone = self._catalog.read(file.path, file.origin) or read_zone(file)
        self._catalog.prepare(zone)
        return zone

    def _serve(self, file: ZoneFile, zone: Zone) -> None:
        apex = zone.index.origin
        if apex in self._pulled:
            raise UnservableError(f"{file.path}: the zone {name_text(apex)} is pulled from another server already")
        for other, taken in self._apexes.items():
            if other != file and taken == apex:
                raise UnservableError(f"{file.path}: the zone {name_text(apex)} is served from {other.path} already")
        self._catalog.replace(zone)
        before = self._apexes.get(file)
        self._apexes[file] = apex
        if before is not None and before != apex:
            self._catalog.remove(before)


def read_zone(file: ZoneFile) -> Zone:
    """Read, judge and compile one file; raises ZoneFileError or UnservableError."""
    try:
        data = read_zone_file(file.path, file.origin)
        index = judge_zone(data)
    except ZoneFileError:
        raise
    except ValueError as error:  # what no line of the file is to blame for
        raise UnservableError(f"{file.path}: {error}") from error
    for warning in data.warnings:
        log.warning("master file was put right", reason=warning)
    return compile_zone(index)
