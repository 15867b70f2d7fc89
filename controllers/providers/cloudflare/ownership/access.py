"""The way to a zone's ownership at Cloudflare for a person at a terminal: with a token from the environment, and no cluster.

Owns the making and the closing. What is read and written goes the way of the controllers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from controllers.providers.cloudflare.binding import ApiAddress
from controllers.providers.cloudflare.client import CloudflareClient
from controllers.providers.cloudflare.ownership.backend import CloudflareBackend, reading
from controllers.providers.cloudflare.pace import Pace, PacePolicy
from zonemodel.name import Fqdn


@asynccontextmanager
async def open_zone(zone_id: str, token: str, url: str | None) -> AsyncIterator[CloudflareBackend]:
    """Have a zone as a backend; `url` is the API's where it is not Cloudflare's own.

    Raises UnavailableError and RefusedError when it cannot be looked at.
    """
    client = CloudflareClient(token, ApiAddress(url), Pace(PacePolicy()))
    try:
        with reading():
            zone = await client.zone(zone_id)
        yield CloudflareBackend(client, zone.id, Fqdn(zone.name))
    finally:
        await client.close()
