"""Admission's view of other objects: the manager's caches, with a miss confirmed at the API server.

A cache lags a little behind; without the second look a manifest applied right after the one it needs would be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from controllers.api.group import PROVIDERS, ZONES
from controllers.api.provider import Provider, parse_provider
from controllers.api.zone import Zone, parse_zone
from controllers.core.admission.lookup import LookupUnavailableError
from controllers.core.inputs import CoreInformers
from kube.client import Client
from kube.errors import KubeError, NotFound
from kube.informer import Informer
from kube.object import ObjectKey
from kube.resource import ResourceRef

T = TypeVar("T")


class InformerLookups:
    """Reads single objects for admission."""

    def __init__(self, client: Client, informers: CoreInformers) -> None:
        self._client = client
        self._informers = informers

    async def provider(self, name: str) -> Provider | None:
        """Return the Provider of that name. Raises LookupUnavailableError."""
        return await self._read(self._informers.providers, PROVIDERS, ObjectKey("", name), parse_provider)

    async def zone(self, key: ObjectKey) -> Zone | None:
        """Return the Zone of that key. Raises LookupUnavailableError."""
        return await self._read(self._informers.zones, ZONES, key, parse_zone)

    async def _read(
        self, informer: Informer[T], ref: ResourceRef, key: ObjectKey, parse: Callable[[Mapping[str, Any]], T]
    ) -> T | None:
        found = informer.get(key)
        if found is not None:
            return found
        try:
            return parse(await self._client.get(ref, name=key.name, namespace=key.namespace))
        except NotFound:
            return None
        except (KubeError, ValueError) as error:
            raise LookupUnavailableError(f"{ref.kind} {key} cannot be read: {error}") from error
