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
BACKLOG: Final = 4096
_PORT_TRIES: Final = 32

IP_PKTINFO: Final = 8
"""Not in the socket module of every Python that we run on (ip(7))."""
_PACKET_INFO: Final = {
    socket.AF_INET: (socket.IPPROTO_IP, IP_PKTINFO),
    socket.AF_INET6: (socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO),
}
"""The option that makes a socket tell which of the machine's addresses a datagram was sent to."""


_WILDCARDS: Final = ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"))


class ListenError(Exception):
    """An address that the server cannot listen on; the message names it and what to do."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One DNS address: both transports on the same port, as clients that are told to retry over TCP expect.

    Several UDP sockets share the datagrams, each client's going to one of them.
    """

    address: Address
    udp: tuple[socket.socket, ...]
    tcp: socket.socket

    def close(self) -> None:
        """Give the address back."""
        for each in (*self.udp, self.tcp):
            each.close()


@dataclass(frozen=True, slots=True)
class Bound:
    """One address of DNS over TLS."""

    address: Address
    tcp: socket.socket

    def close(self) -> None:
        """Give the address back."""
        self.tcp.close()


def open_pair(address: Address, udp_sockets: int = 1) -> Pair:
    """Bind UDP and TCP on one address; port 0 takes a port that is free for both. Raises ListenError."""
    for _ in range(_PORT_TRIES):
        udp = _open_udp(address, udp_sockets)
        bound = Address(address.host, udp[0].getsockname()[1])
        try:
            return Pair(bound, udp, _open(bound, socket.SOCK_STREAM))
        except ListenError:
            for each in udp:
                each.close()
            if address.port:
                raise
    raise ListenError(
        f"cannot listen on {address}: found no port that is free for both UDP and TCP in {_PORT_TRIES} tries"
    )


def open_tls(address: Address) -> Bound:
    """Bind an address of DNS over TLS; raises ListenError."""
    tcp = open_tcp(address)
    return Bound(Address(address.host, tcp.getsockname()[1]), tcp)


def everywhere(port: int) -> tuple[Address, ...]:
    """Return what stands for all addresses of this machine on a port: one for each version of IP that its kernel knows.

    They are two sockets, not one for both, so that clients keep addresses of the form that limits and lists of networks go by.
    """
    return tuple(Address(host, port) for family, host in _WILDCARDS if _is_known(family))


def open_tcp(address: Address) -> socket.socket:
    """Bind a TCP socket alone; raises ListenError."""
    return _open(address, socket.SOCK_STREAM)


def is_wildcard(address: Address) -> bool:
    """Say whether the address stands for all addresses of the machine."""
    return ip_address(address.host.partition("%")[0]).is_unspecified


def _open_udp(address: Address, sockets: int) -> tuple[socket.socket, ...]:
    """Bind the sockets that share an address: the first one alone, so that a stranger's is noticed, then the others beside it."""
    first = _open(address, socket.SOCK_DGRAM)
    opened = [first]
    if sockets > 1:
        first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound = Address(address.host, first.getsockname()[1])
        try:
            opened += (_open(bound, socket.SOCK_DGRAM, shared=True) for _ in range(sockets - 1))
        except ListenError:
            for each in opened:
                each.close()
            raise
    return tuple(opened)


def _open(address: Address, kind: socket.SocketKind, *, shared: bool = False) -> socket.socket:
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
            if shared:
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            if is_wildcard(address):
                opened.setsockopt(*_PACKET_INFO[family], 1)
        opened.bind(tuple(address))
        if kind == socket.SOCK_STREAM:
            opened.listen(BACKLOG)
    except OSError as error:
        opened.close()
        transport = "TCP" if kind == socket.SOCK_STREAM else "UDP"
        raise ListenError(f"cannot listen on {address} ({transport}): {_advice(error, address, transport)}") from error
    return opened


def _is_known(family: socket.AddressFamily) -> bool:
    try:
        socket.socket(family, socket.SOCK_DGRAM).close()
    except OSError as error:
        if error.errno == errno.EAFNOSUPPORT:
            return False
        raise
    return True


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
