"""A TCP proxy that cuts every connection through it when told to, between a manager and its API."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType

CHUNK_OCTETS = 65536


class Cutter:
    """Listens while it is entered, and carries bytes to one port of this host."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.cuts = 0
        self.is_open = True
        """Whether connections are carried at all."""

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def __aenter__(self) -> Cutter:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """End every connection, whatever is on its way."""
        self.cuts += bool(self._tasks)
        for task in self._tasks:
            task.cancel()

    async def cut_every(self, pause_s: float) -> None:
        """Cut again and again until cancelled."""
        while True:
            await asyncio.sleep(pause_s)
            self.cut()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._carry(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with suppress(asyncio.CancelledError):
            await task

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back: asyncio.StreamWriter | None = None
        try:
            if not self.is_open:
                return
            forth, back = await asyncio.open_connection("127.0.0.1", self._target)
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_pump(reader, back))
                ways.create_task(_pump(forth, writer))
        except (OSError, ExceptionGroup):
            return
        finally:
            for each in (writer, back):
                if each is not None:
                    each.transport.abort()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while octets := await source.read(CHUNK_OCTETS):
        sink.write(octets)
        await sink.drain()
    raise ConnectionResetError
