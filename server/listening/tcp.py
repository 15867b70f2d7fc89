"""DNS over TCP (RFC 7766) and over TLS (RFC 7858): sockets that connections are accepted on.

Owns accepting and the end of all connections of a socket. Never looks into a message.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Final

from server.config import Address
from server.listening.connection import Connection
from server.listening.listen import BACKLOG
from server.listening.service import Service
from server.listening.tls import Certificate, TlsChannel

_ACCEPT_TURNS: Final = 3
_CLOSING_S: Final = 0.2
"""How long clients that ask on at the end may take for what has been written to them."""


class TcpListener:
    """Answers on one bound, listening socket, in TLS when there is a certificate."""

    def __init__(
        self, sock: socket.socket, address: Address, service: Service, certificate: Certificate | None = None
    ) -> None:
        self._socket = sock
        self._address = (address.host, address.port)
        self._service = service
        self._certificate = certificate
        self.connections: set[Connection] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accept, sock=self._socket, backlog=BACKLOG)

    async def stop(self) -> None:
        """Take no new connections, let the open ones take the replies to what they asked, then close them."""
        if self._server is None:
            self._socket.close()
            return
        for _ in range(_ACCEPT_TURNS):
            await asyncio.sleep(0)  # those that the kernel has accepted already have their turn
        self._server.close()
        for connection in list(self.connections):
            connection.finish()
        gone = [connection.gone for connection in self.connections]
        if gone:
            await asyncio.wait(gone, timeout=self._service.limits.drain_s)
        for connection in list(self.connections):
            connection.close()
        await asyncio.sleep(_CLOSING_S if self.connections else 0)
        for connection in list(self.connections):
            connection.evict()

    def _accept(self) -> Connection:
        channel = None if self._certificate is None else TlsChannel(self._certificate.context)
        connection = Connection(self._service, self._address, channel)
        self.connections.add(connection)
        connection.gone.add_done_callback(lambda _: self.connections.discard(connection))
        return connection
