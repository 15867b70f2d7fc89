"""One zone that is pulled: refreshed in time or when there is news, kept, and served until it expires.

Owns the state of the zone: what came last, and when a primary last said that it is the newest.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

import structlog

from server.catalog import Catalog
from server.text import name_text
from server.transfer.archive import Archive
from server.transfer.config import SecondaryZone
from server.transfer.counters import TransferCounters
from server.transfer.exchange import Sources
from server.transfer.key_store import KeyStore
from server.transfer.record import Record
from server.transfer.secondary.assembly import Outcome, Steps, UpToDate
from server.transfer.secondary.pull import Primary
from server.transfer.secondary.stream import PrimaryError
from server.transfer.secondary.timing import left_s, wait_s
from server.transfer.secondary.version import Kept, kept_zone, stepped_zone, whole_zone
from server.transfer.serial import Soa, apex_soa, read_soa, serial_of
from server.transfer.slots import Slots
from server.zone.compile import Zone
from server.zone.judge import UnservableError
from zonemodel.name import WireName

_PAUSE_S: Final = 0.1
"""Between two refreshes, however much news there is."""

_STILL_SERVED_S: Final = 1.0
"""When an expired zone is withheld again that could not be."""

_LONGEST_S: Final = 7200.0
"""How long a refresh may take in all."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the zones of one server that are pulled have in common.

    `asking` has turns for the question whether there is news, `slots` for transfers: neither the zones of a primary that is away nor
    those of a slow one hold up those of others.
    """

    catalog: Catalog
    archive: Archive | None
    asking: Slots
    slots: Slots
    keys: KeyStore
    sources: Sources
    counters: TransferCounters


class Secondary:
    """Call `load` before anything is served, then `run`."""

    def __init__(self, config: SecondaryZone, surroundings: Surroundings) -> None:
        self.apex: WireName = config.origin
        self._around = surroundings
        self._primaries = [
            Primary(target, surroundings.sources, surroundings.keys) for target in dict.fromkeys(config.primaries)
        ]
        self._zone: Zone | None = None
        self._refreshed_s = 0.0
        self._failures = 0
        self._news = asyncio.Event()
        self._expiry: asyncio.TimerHandle | None = None

    def hint(self) -> None:
        """Have the primaries asked soon: one of them says that there is news."""
        self._news.set()

    def hears(self, client: str, key: WireName | None) -> bool:
        """Say whether a notice comes from a primary: from its address, or signed with its key."""
        targets = [primary.target for primary in self._primaries]
        if key is not None and any(target.key == key for target in targets):
            return True
        with suppress(ValueError):
            return any(_address(target.host) == _address(client) for target in targets)
        return False

    async def load(self) -> None:
        """Serve what was kept unless it has expired; without that, nothing is said but SERVFAIL."""
        self._around.catalog.withhold(self.apex)
        if self._around.archive is None:
            return
        try:
            kept = await asyncio.to_thread(kept_zone, self.apex, self._around.archive)
        except (OSError, ValueError) as error:
            log.warning("kept zone is left out", zone=name_text(self.apex), reason=str(error))
            return
        if kept is not None:
            self._take_kept(kept)

    async def run(self) -> None:
        """Refresh until cancelled."""
        try:
            while True:
                self._news.clear()
                if await self._refresh():
                    self._failures = 0
                else:
                    self._failures += 1
                    self._around.counters.refresh_failures += 1
                await asyncio.sleep(_PAUSE_S)
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_s(self._soa, self._failures)):
                        await self._news.wait()
        except asyncio.CancelledError:
            if self._expiry is not None:
                self._expiry.cancel()
            raise

    @property
    def _soa(self) -> Soa | None:
        return None if self._zone is None else read_soa(apex_soa(self._zone.index).rdatas[0])

    def _expire_in_time(self) -> None:
        """Serve the zone no longer once its time is over, whatever is being waited for then."""
        if self._expiry is not None:
            self._expiry.cancel()
        soa = self._soa
        if soa is None or self.apex not in self._around.catalog.zones:
            return
        delay_s = left_s(soa, time.monotonic() - self._refreshed_s)
        if delay_s > 0:
            self._expiry = asyncio.get_running_loop().call_later(delay_s, self._expire_in_time)
            return
        log.error("zone has expired, no primary could be asked", zone=name_text(self.apex), serial=soa.serial)
        try:
            self._around.catalog.withhold(self.apex)
        except UnservableError as error:  # a fault of native code
            log.error("expired zone is still served", zone=name_text(self.apex), reason=str(error))
            self._expiry = asyncio.get_running_loop().call_later(_STILL_SERVED_S, self._expire_in_time)

    def _take_kept(self, kept: Kept) -> None:
        self._zone = kept.zone
        self._refreshed_s = time.monotonic() - max(time.time() - kept.refreshed_s, 0.0)
        serial = serial_of(kept.zone.index)
        self._around.catalog.replace(kept.zone)
        log.info("zone is served as it was kept", zone=name_text(self.apex), serial=serial)
        self._expire_in_time()

    async def _refresh(self) -> bool:
        """Ask one primary after the other until one of them could be asked, beginning with the one that answered last."""
        for primary in list(self._primaries):
            try:
                async with asyncio.timeout(_LONGEST_S):
                    await self._refresh_from(primary)
            except (PrimaryError, UnservableError, TimeoutError) as error:
                log.warning(
                    "primary could not be asked",
                    zone=name_text(self.apex),
                    primary=str(primary.target),
                    reason=str(error) or type(error).__name__,
                )
                continue
            self._primaries.sort(key=lambda each: each is not primary)
            return True
        return False

    async def _refresh_from(self, primary: Primary) -> None:
        """Raises PrimaryError, or UnservableError for what is no zone."""
        around, host = self._around, primary.target.host
        async with around.asking.one(host):
            began_s = time.monotonic()
            serial = await primary.serial(self.apex)
        if self._zone is not None and serial == serial_of(self._zone.index):
            await self._serve(self._zone)
        else:
            async with around.slots.one(host):
                began_s = time.monotonic()  # the turn may have come late, and what comes now is as new
                await self._transfer_from(primary, serial)
        self._refreshed_s = began_s
        self._expire_in_time()
        if around.archive is not None:
            try:
                await asyncio.to_thread(around.archive.note_refresh, self.apex, time.time())
            except OSError as error:
                log.warning("time of a refresh cannot be kept", zone=name_text(self.apex), error=str(error))

    async def _transfer_from(self, primary: Primary, serial: int) -> None:
        """Serve what a primary that has this serial has; raises as `_refresh_from` does."""
        began_s = time.monotonic()
        has_expired = self.apex not in self._around.catalog.zones
        outcome = await primary.news(
            self.apex, None if self._zone is None else self._zone.index, serial, has_expired=has_expired
        )
        if isinstance(outcome, Steps) and self._zone is not None:
            try:
                zone = await asyncio.to_thread(self._stepped, self._zone, outcome)
            except ValueError as error:
                log.warning("differences do not fit, asking for the zone", zone=name_text(self.apex), reason=str(error))
                outcome = await primary.whole(self.apex)
                zone = await self._compiled(outcome)
        else:
            zone = await self._compiled(outcome)
        is_new = zone is not self._zone
        await self._serve(zone)
        if is_new:
            self._around.counters.received["IXFR" if isinstance(outcome, Steps) else "AXFR"] += 1
            log.info(
                "zone was transferred",
                zone=name_text(self.apex),
                primary=str(primary.target),
                serial=serial_of(zone.index),
                duration_s=round(time.monotonic() - began_s, 3),
            )

    async def _compiled(self, outcome: Outcome) -> Zone:
        """Return the zone that an outcome other than differences stands for."""
        if isinstance(outcome, UpToDate) and self._zone is not None:
            return self._zone
        if isinstance(outcome, UpToDate | Steps):
            raise PrimaryError("it sent differences where the zone was asked for")
        return await asyncio.to_thread(self._whole, outcome.records)

    def _whole(self, records: list[Record]) -> Zone:
        catalog = self._around.catalog
        zone = catalog.collect(self.apex, records) or whole_zone(self.apex, records)
        catalog.prepare(zone)
        return zone

    def _stepped(self, before: Zone, steps: Steps) -> Zone:
        zone = stepped_zone(before, steps.differences)
        self._around.catalog.prepare(zone)
        return zone

    async def _serve(self, zone: Zone) -> None:
        catalog = self._around.catalog
        is_served = self.apex in catalog.zones
        if zone is self._zone and is_served:
            return
        if not is_served:
            await asyncio.to_thread(catalog.prepare, zone)  # what there was of it went when it expired
        catalog.replace(zone)
        self._zone = zone


def _address(text: str) -> object:
    return ip_address(text.partition("%")[0])
