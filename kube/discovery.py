"""Which resource a kind is: the server's own word, by API discovery. Never guesses a plural."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kube.client import Client
from kube.errors import ResourceNotServed
from kube.resource import ResourceRef


@dataclass(frozen=True, slots=True)
class Served:
    """A resource and the names that people call it by."""

    ref: ResourceRef
    singular: str
    short_names: tuple[str, ...]
    verbs: frozenset[str]

    def names(self) -> Iterator[str]:
        """Every name of the resource: plural, singular, kind in lower case, short names, and each with its group."""
        for name in (self.ref.plural, self.singular, self.ref.kind.lower(), *self.short_names):
            yield name
            if self.ref.group:
                yield f"{name}.{self.ref.group}"


class Discovery:
    """Asks each group version once and again when a kind was not among the answers."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[str, tuple[Served, ...]] = {}

    async def resource_of(self, api_version: str, kind: str) -> ResourceRef:
        """Return the resource of a kind. Raises ResourceNotServed when the server does not serve it."""
        for refresh in (False, True):
            if refresh or api_version not in self._known:
                self._known[api_version] = await self._ask(api_version)
            for served in self._known[api_version]:
                if served.ref.kind == kind:
                    return served.ref
        others = await self._versions_of(api_version.rpartition("/")[0], kind)
        hint = f"; it serves it in {', '.join(map(repr, others))}" if others else ""
        raise ResourceNotServed(f"the server does not serve kind {kind!r} in {api_version!r}{hint}")

    async def all_served(self) -> list[Served]:
        """Return every resource of the preferred versions, core first, groups by name."""
        groups = (await self._client.read("/apis"))["groups"]
        versions = ["v1", *sorted(group["preferredVersion"]["groupVersion"] for group in groups)]
        found = [await self._ask(version) for version in versions]
        return [served for group in found for served in group]

    async def _versions_of(self, group: str, kind: str) -> list[str]:
        """Return the versions of a group that have a kind, in the server's order; the group without a name has only one."""
        try:
            versions = (await self._client.read(f"/apis/{group}"))["versions"] if group else []
        except ResourceNotServed:
            return []
        names = [each["groupVersion"] for each in versions]
        return [name for name in names if any(served.ref.kind == kind for served in await self._ask(name))]

    async def _ask(self, api_version: str) -> tuple[Served, ...]:
        path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        try:
            answer = await self._client.read(path)
        except ResourceNotServed:  # nobody serves the group, or no longer that version
            return ()
        group, _, version = api_version.rpartition("/")
        return tuple(_parse(group, version, entry) for entry in answer["resources"] if "/" not in entry["name"])


def _parse(group: str, version: str, entry: dict[str, Any]) -> Served:
    ref = ResourceRef(group, version, entry["name"], entry["kind"], namespaced=entry["namespaced"])
    return Served(
        ref, entry.get("singularName", ""), tuple(entry.get("shortNames", ())), frozenset(entry.get("verbs", ()))
    )
