"""Objects as they change: a listing, then every change to it, across ended watches, lost connections and restarts of the server.

Never gives up by itself: the caller has the deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from kube.client import Client
from kube.errors import Gone, RetryableError
from kube.object import ObjectKey
from kube.resource import ResourceRef
from kube.watch import WatchEvent, WatchType

_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Scope:
    """Which objects: of one namespace or, when empty, of all; of one name and of a label selector when given."""

    ref: ResourceRef
    namespace: str = ""
    name: str = ""
    label_selector: str | None = None
    field_selector: str | None = None

    @property
    def fields(self) -> str | None:
        return f"metadata.name={self.name}" if self.name else self.field_selector


class Change(NamedTuple):
    """What an object has become, None when it is gone."""

    key: ObjectKey
    obj: dict[str, Any] | None


async def follow(
    client: Client, scope: Scope, trouble: Callable[[str], None] = lambda _: None
) -> AsyncGenerator[list[Change]]:
    """Yield all objects first, then the changes one by one; after lost connections only what differs.

    Raises the KubeError of the first listing; `trouble` is told of later ones that may pass.
    """
    known: dict[ObjectKey, str] = {}
    version, changes = await _list(client, scope, known)
    yield changes
    pause_s = _FIRST_PAUSE_S
    while True:
        try:
            async with aclosing(changes_after(client, scope, version)) as events:
                async for event in events:
                    pause_s = _FIRST_PAUSE_S
                    yield [_apply(event, known)]
        except Gone:
            pass
        except RetryableError as error:
            trouble(error.message)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        try:
            version, changes = await _list(client, scope, known)
        except RetryableError as error:
            trouble(error.message)
        else:
            yield changes


async def changes_after(
    client: Client, scope: Scope, version: str, *, as_table: bool = False
) -> AsyncGenerator[WatchEvent]:
    """Yield every change after `version`; a watch that the server ends in time goes on in the next one.

    Raises KubeError: Gone when the version has left the history.
    """
    while True:
        async with aclosing(
            client.watch(
                scope.ref,
                resource_version=version,
                namespace=scope.namespace,
                label_selector=scope.label_selector,
                field_selector=scope.fields,
                as_table=as_table,
            )
        ) as events:
            async for event in events:
                version = event.resource_version
                if event.type is not WatchType.BOOKMARK:
                    yield event


async def _list(client: Client, scope: Scope, known: dict[ObjectKey, str]) -> tuple[str, list[Change]]:
    """Return where a watch goes on and what differs from `known`, which is brought up to date."""
    found = await client.list(
        scope.ref,
        namespace=scope.namespace,
        label_selector=scope.label_selector,
        field_selector=scope.fields,
    )
    changes: list[Change] = []
    versions = {}
    for obj in found.items:
        key, version = ObjectKey.parse(obj), obj["metadata"]["resourceVersion"]
        versions[key] = version
        if known.get(key) != version:
            changes.append(Change(key, obj))
    changes += [Change(key, None) for key in known.keys() - versions.keys()]
    known.clear()
    known |= versions
    return found.resource_version, changes


def _apply(event: WatchEvent, known: dict[ObjectKey, str]) -> Change:
    key = ObjectKey.parse(event.object)
    if event.type is WatchType.DELETED:
        known.pop(key, None)
        return Change(key, None)
    known[key] = event.resource_version
    return Change(key, event.object)
