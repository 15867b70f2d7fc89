"""The name server as a process of its own: signals in, exit status out.

Owns SIGHUP (read master files, keys, certificate and cookie secrets again), SIGTERM and SIGINT (answer what was asked, then end).
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import sys
from contextlib import nullcontext
from typing import Any, Final

import structlog
import uvloop

from kube.errors import KubeError
from server.app import NameServer
from server.config import ServerConfig
from server.edns.cookie import CookieSecretError
from server.hosted.cache import CacheError
from server.listening.listen import ListenError
from server.listening.tls import CertificateError
from server.observe.dnstap import DnstapMissingError
from server.transfer.key import KeyFileError
from server.zone.judge import UnservableError
from zonemodel.zonefile import ZoneFileError

_REASONS: Final = (
    CacheError,
    CertificateError,
    CookieSecretError,
    DnstapMissingError,
    KeyFileError,
    KubeError,
    ListenError,
    ZoneFileError,
    UnservableError,
)
"""What can keep a server from starting and is no fault of the program."""

log = structlog.get_logger(__name__)


def run(config: ServerConfig, *, ready_fd: int | None = None) -> int:
    """Serve until SIGTERM or SIGINT; return the exit status. What keeps the server from starting goes to standard error.

    The client, if there is one, is opened and closed here.
    Once the server answers, its addresses are written to `ready_fd`, one a line, those for TLS behind the word `tls`, and the
    descriptor is closed.
    """
    allow_many_connections()
    try:
        uvloop.run(_open_and_serve(config, ready_fd))
    except _REASONS as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def allow_many_connections() -> None:
    """Take all the file descriptors that the system lets this process have: each TCP client needs one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _open_and_serve(config: ServerConfig, ready_fd: int | None) -> None:
    async with config.client or nullcontext():
        await _serve(config, ready_fd)


async def _serve(config: ServerConfig, ready_fd: int | None) -> None:
    server = NameServer(config)
    loop = asyncio.get_running_loop()
    told_to_end = asyncio.Event()
    told_to_reload = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told_to_end.set)
    # before the first answer, which may bring the first signal
    loop.add_signal_handler(signal.SIGHUP, told_to_reload.set)
    await server.start()
    gc.collect()
    gc.freeze()  # zones stay: walking them again and again would only delay replies
    ending: asyncio.Future[Any] = asyncio.create_task(told_to_end.wait())
    reloading = asyncio.create_task(_reload_when_told(server, told_to_reload))
    try:
        _announce(server, ready_fd)
        await asyncio.wait([ending, server.failed], return_when=asyncio.FIRST_COMPLETED)
    finally:
        ending.cancel()
        reloading.cancel()
        await asyncio.wait([reloading])
        await server.stop()
    if server.failed.done():
        server.failed.result()


async def _reload_when_told(server: NameServer, told: asyncio.Event) -> None:
    """Reload once for all the signals that came since the last time: each sees what was on disk when it was sent, or newer."""
    while True:
        await told.wait()
        told.clear()
        await _reload(server)


async def _reload(server: NameServer) -> None:
    try:
        await server.reload()
    except Exception:  # the process edge: a fault in reading must not end the answering
        log.exception("reading files again failed")


def _announce(server: NameServer, ready_fd: int | None) -> None:
    if ready_fd is not None:
        lines = [*(f"{address}\n" for address in server.addresses), *(f"tls {each}\n" for each in server.tls_addresses)]
        os.write(ready_fd, "".join(lines).encode())
        os.close(ready_fd)
