"""Sockets to listen on, opened or refused with words that say what to do.

Owns the one error for addresses that cannot be had. Never reads from a socket.
"""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from server.config import Address

_RECEIVE_BUFFER_BYTES: Final = 4 * 1024 * 1024
_BACKLOG: Final = 1024
_PORT_TRIES: Final = 32


class ListenError(Exception):
    """An address that the server cannot listen on; the message names it and what to do."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One DNS address: both transports on the same port, as clients that are told to retry over TCP expect."""

    address: Address
    udp: socket.socket
    tcp: socket.socket


def open_pair(address: Address) -> Pair:
    """Bind UDP and TCP on one address; port 0 takes a port that is free for both. Raises ListenError."""
    for _ in range(_PORT_TRIES):
        udp = _open(address, socket.SOCK_DGRAM)
        bound = Address(address.host, udp.getsockname()[1])
        try:
            return Pair(bound, udp, _open(bound, socket.SOCK_STREAM))
        except ListenError:
            udp.close()
            if address.port:
                raise
    raise ListenError(
        f"cannot listen on {address}: found no port that is free for both UDP and TCP in {_PORT_TRIES} tries"
    )


def open_tcp(address: Address) -> socket.socket:
    """Bind a TCP socket alone; raises ListenError."""
    return _open(address, socket.SOCK_STREAM)


def _open(address: Address, kind: socket.SocketKind) -> socket.socket:
    family = _family(address)
    opened = socket.socket(family, kind)
    try:
        opened.setblocking(False)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if kind == socket.SOCK_STREAM:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        else:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER_BYTES)
        opened.bind(tuple(address))
        if kind == socket.SOCK_STREAM:
            opened.listen(_BACKLOG)
    except OSError as error:
        opened.close()
        transport = "TCP" if kind == socket.SOCK_STREAM else "UDP"
        raise ListenError(f"cannot listen on {address} ({transport}): {_advice(error, address, transport)}") from error
    return opened


def _family(address: Address) -> socket.AddressFamily:
    try:
        version = ip_address(address.host.partition("%")[0]).version
    except ValueError as error:
        raise ListenError(f"cannot listen on {address}: the host must be an IPv4 or IPv6 address") from error
    return socket.AF_INET6 if version == 6 else socket.AF_INET


def _advice(error: OSError, address: Address, transport: str) -> str:
    reason = error.strerror or str(error)
    if error.errno == errno.EADDRINUSE:
        option = "-lntp" if transport == "TCP" else "-lnup"
        return f"{reason}; find the program that has it with `ss {option} 'sport = :{address.port}'`, or listen on another port"
    if error.errno == errno.EACCES:
        return f"{reason}; ports below 1024 need the capability CAP_NET_BIND_SERVICE, or listen on a higher port"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{reason}; this machine does not have that address"
    return reason
