"""What admission asks about other objects: a small protocol that the manager backs by its informers.

Owns no cache. An answer of None means that the object is known not to exist; whoever cannot tell raises LookupUnavailableError.
"""

from __future__ import annotations

from typing import Protocol

from controllers.api.provider import Provider
from controllers.api.zone import Zone
from kube.object import ObjectKey


class LookupUnavailableError(Exception):
    """The object cannot be read at the moment; the request is refused as one to repeat."""


class Lookups(Protocol):
    """Reads of single objects. Implementations confirm a miss of their cache at the API server before they answer None."""

    async def provider(self, name: str) -> Provider | None:
        """Return the Provider of that name. Raises LookupUnavailableError."""

    async def zone(self, key: ObjectKey) -> Zone | None:
        """Return the Zone of that key. Raises LookupUnavailableError."""


class NoLookups:
    """Reads nothing: for whoever wants to know where admission stands and never asks it to judge."""

    async def provider(self, name: str) -> Provider | None:
        """Raises LookupUnavailableError."""
        raise LookupUnavailableError(f"Provider {name} is not read here")

    async def zone(self, key: ObjectKey) -> Zone | None:
        """Raises LookupUnavailableError."""
        raise LookupUnavailableError(f"Zone {key} is not read here")
