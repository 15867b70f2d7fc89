"""Forgets Events an hour after they last happened, as kube-apiserver does by default.

Owns that hour.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from standalone.apiserver.api import Api
from standalone.apiserver.kinds.builtin import EVENT
from standalone.apiserver.turn import Turn
from standalone.store.failure import StoreError
from standalone.store.record import Event

log = structlog.get_logger()

EVENT_TTL = timedelta(hours=1)
SWEEP_INTERVAL_S = 60.0


class EventExpiry:
    """Looks through the Events once a minute."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def start(self) -> None:
        """Nothing is pending."""

    def follow(self, event: Event) -> None:
        """Expiry goes by the clock, not by events."""

    async def run(self) -> None:
        while True:
            try:
                await self.sweep()
            except StoreError as error:
                log.info("clean-up will be tried again", work="event expiry", why=str(error))
            await asyncio.sleep(SWEEP_INTERVAL_S)

    async def sweep(self) -> None:
        """Remove the Events whose hour is over."""
        oldest = datetime.fromisoformat(self._api.now().replace("Z", "+00:00")) - EVENT_TTL
        store, turn = self._api.store, Turn()
        for record in store.records(*EVENT.storage_key):
            await turn.pause()
            if last_seen(record.object()) >= oldest:
                continue
            async with store.locked(record.key) as current:
                if current is not None and current.version == record.version:
                    await store.remove(record.key, current.object())


def last_seen(event: Mapping[str, Any]) -> datetime:
    """The newest time that an Event carries."""
    times = (
        event["metadata"]["creationTimestamp"],
        event.get("lastTimestamp"),
        event.get("eventTime"),
        (event.get("series") or {}).get("lastObservedTime"),
    )
    return max(_parsed(time) for time in times if time)


def _parsed(time: str) -> datetime:
    try:
        return datetime.fromisoformat(time.replace("Z", "+00:00")).astimezone(UTC)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
