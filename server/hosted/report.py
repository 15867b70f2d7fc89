"""This server's entry in HostedZone status: what it serves of each manifest, or why it does not.

Owns one list item, applied with a field manager of its own, and only when it says something new; and the removal of entries that
servers left behind. Never writes spec or another live server's entry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import structlog

from kube.client import Client
from kube.errors import BadRequest, Conflict, Invalid, NotFound
from kube.object import ObjectKey
from kube.timestamp import time_text
from server.hosted.object import HOSTED_ZONES, Manifest
from server.work import Work
from zonemodel.hosted_zone import ServerState, ServerStatus

MOST_ENTRIES: Final = 32
ABANDONED_AFTER: Final = timedelta(minutes=10)
_WORKERS: Final = 8
_LONGEST_MANAGER: Final = 128
_LONGEST_MESSAGE: Final = 2048

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Report:
    """What there is to say about one manifest: the serial and digest that are answered from, and the state of the newest one."""

    generation: int
    serial: int
    digest: str
    state: ServerState
    message: str = ""


class Reporter:
    """Keeps this server's entries true. `manifest_at` finds the manifest as the API last showed it."""

    def __init__(
        self,
        client: Client,
        name: str,
        manifest_at: Callable[[ObjectKey], Manifest | None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._client = client
        self._name = name
        self._manager = field_manager(name)
        self._manifest_at = manifest_at
        self._now = now
        self._reports: dict[ObjectKey, Report] = {}
        self._written: dict[ObjectKey, str] = {}
        self._work = Work("report", self._submit)

    def report(self, key: ObjectKey, report: Report) -> bool:
        """Say this about the manifest from now on, and see to it that the entry says so; return whether it is news.

        A long message is cut.
        """
        said = replace(report, message=report.message[:_LONGEST_MESSAGE])
        is_news = self._reports.get(key) != said
        self._reports[key] = said
        self._work.add(key)
        return is_news

    def forget(self, key: ObjectKey) -> None:
        """The manifest is gone."""
        self._reports.pop(key, None)
        self._written.pop(key, None)

    async def run(self) -> None:
        """Write entries until cancelled."""
        await self._work.run(_WORKERS)

    async def _submit(self, key: ObjectKey) -> None:
        manifest, report = self._manifest_at(key), self._reports.get(key)
        if manifest is None or report is None or not _is_current(manifest.resource_version, self._written.get(key)):
            return  # gone, or our last entry has not come back yet: the event that brings it leads here again
        own = next((entry for entry in manifest.servers if entry.name == self._name), None)
        if own is not None and _said(own) == report:
            return
        try:
            obj = await self._client.apply(
                HOSTED_ZONES, self._manifest_with(key, report), manager=self._manager, force=True, subresource="status"
            )
        except NotFound:
            return
        put_back = own is None and key in self._written
        self._written[key] = str(obj["metadata"]["resourceVersion"])
        if not put_back and (own is None or own.digest != report.digest):
            await self._prune(key, obj, report.digest)

    def _manifest_with(self, key: ObjectKey, report: Report) -> dict[str, Any]:
        entry = ServerStatus(
            name=self._name,
            observed_generation=report.generation,
            serial=report.serial,
            digest=report.digest,
            state=report.state,
            message=report.message,
            last_transition_time=time_text(self._now()),
        )
        return {
            "apiVersion": HOSTED_ZONES.api_version,
            "kind": HOSTED_ZONES.kind,
            "metadata": {"namespace": key.namespace, "name": key.name},
            "status": {"servers": [entry.dump()]},
        }

    async def _prune(self, key: ObjectKey, obj: dict[str, Any], digest: str) -> None:
        entries = (obj.get("status") or {}).get("servers") or []
        try:
            servers = [ServerStatus.model_validate(entry) for entry in entries]
        except ValueError:
            return  # an entry that cannot be read cannot be judged either
        if not (places := abandoned(servers, self._name, digest, self._now())):
            return
        try:
            operations = _removal(entries, places)
            pruned = await self._client.patch_json(
                HOSTED_ZONES, operations, name=key.name, namespace=key.namespace, subresource="status"
            )
        except (Invalid, Conflict, BadRequest, NotFound):
            return  # somebody changed the list meanwhile; the next new entry looks again
        self._written[key] = str(pruned["metadata"]["resourceVersion"])
        log.info(
            "status entries of gone servers removed", key=str(key), servers=[servers[place].name for place in places]
        )


def abandoned(servers: Sequence[ServerStatus], own: str, digest: str, now: datetime) -> list[int]:
    """Return the places of entries that servers left behind.

    Those are entries with another digest that have not changed for ABANDONED_AFTER, and the oldest beyond MOST_ENTRIES. A server
    that lives and is hit puts its entry back, and prunes nothing when it does so: more live servers than MOST_ENTRIES come to rest.
    """
    others = [(place, entry) for place, entry in enumerate(servers) if entry.name != own]
    since = {place: _moment(entry.last_transition_time) for place, entry in others}
    gone = {place for place, entry in others if entry.digest != digest and now - since[place] > ABANDONED_AFTER}
    surplus = len(servers) - len(gone) - MOST_ENTRIES
    if surplus > 0:
        gone.update(sorted(since.keys() - gone, key=since.__getitem__)[:surplus])
    return sorted(gone)


def field_manager(name: str) -> str:
    """Return the field manager of a server; names too long for one keep their beginning and a digest of the whole."""
    manager = f"dns-api-server-{name}"
    if len(manager) <= _LONGEST_MANAGER:
        return manager
    return f"{manager[: _LONGEST_MANAGER - 17]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _removal(servers: Sequence[Mapping[str, Any]], places: Sequence[int]) -> list[dict[str, Any]]:
    """Return a JSON patch that removes the entries as they were seen, from the last, so that places stay right."""
    operations: list[dict[str, Any]] = []
    for place in sorted(places, reverse=True):
        path = f"/status/servers/{place}"
        operations.append({"op": "test", "path": path, "value": servers[place]})
        operations.append({"op": "remove", "path": path})
    return operations


def _said(entry: ServerStatus) -> Report:
    return Report(entry.observed_generation, entry.serial, entry.digest, entry.state, entry.message)


def _is_current(seen: str, written: str | None) -> bool:
    """Say whether an object as it was seen includes our last write; versions are compared as numbers where they are ones."""
    if written is None or not seen.isdecimal() or not written.isdecimal():
        return True
    return int(seen) >= int(written)


def _moment(text: str) -> datetime:
    """Return an entry's time; one that cannot be read counts as very old."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
