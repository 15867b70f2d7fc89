"""The name server as a process of its own: signals in, exit status out.

Owns SIGHUP (read the master files again), SIGTERM and SIGINT (answer what was asked, then end).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

import uvloop

from server.app import NameServer
from server.config import ServerConfig
from server.hosted.cache import CacheError
from server.listen import ListenError
from server.zone_files import UnservableZoneError
from zonemodel.zonefile import ZoneFileError


def run(config: ServerConfig, *, ready_fd: int | None = None) -> int:
    """Serve until SIGTERM or SIGINT; return the exit status. What keeps the server from starting goes to standard error.

    Once the server answers, its addresses are written to `ready_fd`, one a line, and the descriptor is closed.
    """
    try:
        uvloop.run(_serve(config, ready_fd))
    except (CacheError, ListenError, ZoneFileError, UnservableZoneError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


async def _serve(config: ServerConfig, ready_fd: int | None) -> None:
    server = NameServer(config)
    loop = asyncio.get_running_loop()
    told_to_end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told_to_end.set)
    await server.start()
    loop.add_signal_handler(signal.SIGHUP, server.reload)
    if ready_fd is not None:
        os.write(ready_fd, "".join(f"{address}\n" for address in server.addresses).encode())
        os.close(ready_fd)
    ending: asyncio.Future[Any] = asyncio.create_task(told_to_end.wait())
    try:
        await asyncio.wait([ending, server.failed], return_when=asyncio.FIRST_COMPLETED)
    finally:
        ending.cancel()
        await server.stop()
    if server.failed.done():
        server.failed.result()
