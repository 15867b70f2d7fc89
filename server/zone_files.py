"""Zones from master files.

Owns reading them, at the start and again on demand: a broken file at the start is refused, later it keeps the old zone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import structlog

from server.catalog import Catalog
from server.config import ZoneFile
from server.zone.compile import Zone, compile_zone
from server.zone.judge import object_to_zone
from zonemodel.name import WireName
from zonemodel.zonefile import ZoneFileError, read_zone_file

log = structlog.get_logger(__name__)


class UnservableZoneError(ValueError):
    """A master file that reads well and whose zone cannot be served; the message names file and record set."""


class ZoneFiles:
    """The master files of one server."""

    def __init__(self, files: Sequence[ZoneFile], catalog: Catalog) -> None:
        self._files = files
        self._catalog = catalog
        self._apexes: dict[ZoneFile, WireName] = {}

    @property
    def apexes(self) -> Collection[WireName]:
        """A live view of the apexes that master files have."""
        return self._apexes.values()

    def load(self) -> None:
        """Read and serve every file; raises ZoneFileError or UnservableZoneError for the first that is broken."""
        for file in self._files:
            self._serve(file, read_zone(file))

    def reload(self) -> None:
        """Read every file again. A file that is broken now keeps its zone as it was, and the log says why."""
        for file in self._files:
            try:
                zone = read_zone(file)
            except (ZoneFileError, UnservableZoneError) as error:
                log.error("master file is broken, the zone stays as it was", file=str(file.path), reason=str(error))
                continue
            self._serve(file, zone)
        log.info("master files read again", files=len(self._files))

    def _serve(self, file: ZoneFile, zone: Zone) -> None:
        apex = zone.index.origin
        before = self._apexes.get(file)
        if before is not None and before != apex:
            self._catalog.remove(before)
        self._apexes[file] = apex
        self._catalog.replace(zone)


def read_zone(file: ZoneFile) -> Zone:
    """Read, judge and compile one file; raises ZoneFileError or UnservableZoneError."""
    data = read_zone_file(file.path, file.origin)
    for warning in data.warnings:
        log.warning("master file was put right", reason=warning)
    if objection := object_to_zone(data):
        raise UnservableZoneError(f"{file.path}: {objection}")
    return compile_zone(data)
