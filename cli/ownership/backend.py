"""Where `dns-api ownership` finds a zone: at a name server that takes updates, in a master file, or with a provider.

Owns the options and the making of backends. Reads no zone's ownership.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeVar

import dns.tsig
import typer

from cli.dns.exchange import Carrier, ExchangeError, find_server
from ownership.backends.protocol import Backend
from ownership.backends.rfc2136 import Rfc2136Backend
from ownership.backends.zone_file import open_zone_file
from server.text import name_text
from server.transfer.key import Key, KeyFileError, read_keys
from zonemodel.name import Fqdn, object_to_domain

T = TypeVar("T")

TOKEN_VARIABLE: Final = "CLOUDFLARE_API_TOKEN"
ADDRESS_VARIABLE: Final = "CLOUDFLARE_BASE_URL"
PLACES: Final = "--server, --zone-file, --route53, --cloudflare"


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """One zone, and the way to it."""

    zone: Annotated[
        str | None,
        typer.Option(help="Name of the zone; a master file tells its own.", metavar="NAME", show_default=False),
    ] = None
    server: Annotated[
        str | None,
        typer.Option(
            "--server", "-s", help="Primary server that takes updates of the zone (RFC 2136).", metavar="HOST[:PORT]"
        ),
    ] = None
    tsig_keys: Annotated[
        Path | None, typer.Option(help="File with the TSIG key that the server expects.", metavar="FILE")
    ] = None
    tsig_key: Annotated[
        str | None, typer.Option(help="Name of the key, where the file has several.", metavar="NAME")
    ] = None
    zone_file: Annotated[
        Path | None, typer.Option(help="Master file that holds the zone, instead of a server.", metavar="FILE")
    ] = None
    route53: Annotated[
        str | None,
        typer.Option(
            help="Hosted zone of Route 53; the credential is the one that the AWS SDK finds.", metavar="HOSTED-ZONE-ID"
        ),
    ] = None
    cloudflare: Annotated[
        str | None,
        typer.Option(help=f"Zone at Cloudflare; the token is in {TOKEN_VARIABLE}.", metavar="ZONE-ID"),
    ] = None
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds to wait for each answer of a server.")] = 5.0


def with_backend(options: BackendOptions, work: Callable[[Backend], Awaitable[T]]) -> T:
    """Return what `work` does with the zone's backend, which lives as long as the work.

    Raises typer.BadParameter, UnavailableError for a file that cannot be read, and whatever `work` raises.
    """

    async def run() -> T:
        async with _opened(options) as backend:
            return await work(backend)

    return asyncio.run(run())


@asynccontextmanager
async def _opened(options: BackendOptions) -> AsyncIterator[Backend]:
    """Have a backend; those that keep connections close them at the end."""
    places = (options.zone_file, options.server, options.route53, options.cloudflare)
    if sum(place is not None for place in places) != 1:
        raise typer.BadParameter("give one of them: where the zone is", param_hint=PLACES)
    if options.route53 is not None:
        async with _route53(options.route53) as backend:
            yield _of_that_name(backend, options)
    elif options.cloudflare is not None:
        async with _cloudflare(options.cloudflare) as backend:
            yield _of_that_name(backend, options)
    else:
        yield _backend(options)


def _route53(zone_id: str) -> AbstractAsyncContextManager[Backend]:
    # Other commands and other places need no SDK of a provider.
    from controllers.providers.route53.ownership.access import open_hosted_zone

    return open_hosted_zone(zone_id)


def _cloudflare(zone_id: str) -> AbstractAsyncContextManager[Backend]:
    from controllers.providers.cloudflare.ownership.access import open_zone

    token = os.environ.get(TOKEN_VARIABLE)
    if not token:
        raise typer.BadParameter(f"the environment variable {TOKEN_VARIABLE} holds no token", param_hint="--cloudflare")
    return open_zone(zone_id, token, os.environ.get(ADDRESS_VARIABLE))


def _of_that_name(backend: Backend, options: BackendOptions) -> Backend:
    if options.zone is not None and options.zone.lower().rstrip(".") != backend.zone:
        raise typer.BadParameter(f"found {options.zone!r}, the zone there is {backend.zone}", param_hint="--zone")
    return backend


def _backend(options: BackendOptions) -> Backend:
    if options.zone is not None and (fault := object_to_domain(options.zone)) is not None:
        raise typer.BadParameter(f"found {options.zone!r}: {fault}", param_hint="--zone")
    if options.zone_file is not None:
        return open_zone_file(options.zone_file, options.zone)
    if options.server is None or options.zone is None:
        raise typer.BadParameter("a server needs to be told which zone", param_hint="--zone")
    try:
        server = find_server(options.server, Carrier.TCP)
    except ExchangeError as error:
        raise typer.BadParameter(str(error), param_hint="--server") from error
    return Rfc2136Backend(Fqdn(options.zone), server.host, server.port, _key(options), options.timeout)


def _key(options: BackendOptions) -> dns.tsig.Key | None:
    if options.tsig_keys is None:
        return None
    try:
        keys = list(read_keys((options.tsig_keys,)).values())
    except KeyFileError as error:
        raise typer.BadParameter(str(error), param_hint="--tsig-keys") from error
    if options.tsig_key is not None:
        wanted = options.tsig_key.lower().rstrip(".")
        keys = [key for key in keys if _name(key) == wanted]
    if len(keys) != 1:
        found = f"found {len(keys)} keys that may be meant in {options.tsig_keys}"
        raise typer.BadParameter(f"{found}, allowed is one", param_hint="--tsig-key")
    return dns.tsig.Key(_name(keys[0]), keys[0].secret, f"hmac-{keys[0].algorithm.hash_name}")


def _name(key: Key) -> str:
    return name_text(key.name).rstrip(".")
