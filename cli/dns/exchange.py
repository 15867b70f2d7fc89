"""One question sent to a name server, and what came back.

Owns transports and time. Never interprets a reply.
"""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import dns.edns
import dns.exception
import dns.flags
import dns.message
import dns.query

from cli.dns.question import Question

_PORTS = {"tls": 853}
_PORT = 53


class Carrier(StrEnum):
    """How a question travels."""

    UDP = "udp"
    TCP = "tcp"
    TLS = "tls"


class ExchangeError(Exception):
    """No reply; the message says whom was asked, how, and why there is none."""


@dataclass(frozen=True, slots=True)
class Server:
    """A name server; `text` is how the person wrote it."""

    host: str
    port: int
    text: str

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Manner:
    """How to ask. Over UDP a reply that is cut short is asked for again over TCP, unless told otherwise."""

    carrier: Carrier = Carrier.UDP
    timeout_s: float = 5.0
    tries: int = 2
    edns: bool = True
    payload_bytes: int = 1232
    dnssec: bool = False
    recursion: bool = False
    keep_truncated: bool = False
    trust: Path | None = None
    options: tuple[dns.edns.Option, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Exchange:
    """A reply, how it came and how long that took."""

    reply: dns.message.Message
    server: Server
    carrier: Carrier
    took_s: float


def find_server(text: str, carrier: Carrier) -> Server:
    """Return the server of HOST, HOST:PORT or [HOST]:PORT, a host name resolved; raises ExchangeError."""
    host, port = _split(text, _PORTS.get(carrier, _PORT))
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise ExchangeError(f"cannot find the server {text}: {error}") from error
    if family not in {socket.AF_INET, socket.AF_INET6}:
        raise ExchangeError(f"cannot ask the server {text}: it has no internet address")
    return Server(str(address[0]), port, text)


def ask(server: Server, question: Question, manner: Manner) -> Exchange:
    """Ask, again when nothing comes back, and return the reply; raises ExchangeError."""
    query = _query(question, manner)
    failure: Exception | None = None
    for _ in range(manner.tries):
        try:
            reply, carrier = _send(query, server, manner)
        except dns.exception.Timeout as error:
            failure = error
            continue
        except (OSError, EOFError, dns.exception.DNSException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ExchangeError(f"no reply from {server} over {manner.carrier.upper()}: {reason}") from error
        return Exchange(reply, server, carrier, reply.time)
    waited = f"{manner.tries} times {manner.timeout_s:g} s"
    raise ExchangeError(f"no reply from {server} over {manner.carrier.upper()} in {waited}") from failure


def _query(question: Question, manner: Manner) -> dns.message.Message:
    return dns.message.make_query(
        question.name,
        question.rdtype,
        question.rdclass,
        use_edns=0 if manner.edns else -1,
        want_dnssec=manner.dnssec,
        payload=manner.payload_bytes,
        options=list(manner.options) if manner.edns else None,
        flags=dns.flags.RD if manner.recursion else 0,
    )


def _send(query: dns.message.Message, server: Server, manner: Manner) -> tuple[dns.message.Message, Carrier]:
    where, timeout_s, port = server.host, manner.timeout_s, server.port
    if manner.carrier is Carrier.TLS:
        return dns.query.tls(query, where, timeout_s, port, ssl_context=_tls(manner.trust)), Carrier.TLS
    if manner.carrier is Carrier.UDP:
        reply = dns.query.udp(query, where, timeout_s, port)
        if manner.keep_truncated or not reply.flags & dns.flags.TC:
            return reply, Carrier.UDP
    return dns.query.tcp(query, where, timeout_s, port), Carrier.TCP


def _tls(trust: Path | None) -> ssl.SSLContext:
    """Return a client's context; without certificates to trust any is taken, as for a look from this side only."""
    context = ssl.create_default_context(cafile=None if trust is None else str(trust))
    context.check_hostname = False
    context.set_alpn_protocols(["dot"])
    if trust is None:
        context.verify_mode = ssl.CERT_NONE
    return context


def _split(text: str, default: int) -> tuple[str, int]:
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    else:
        host, port = text, ""
    if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ExchangeError(f"found the server {text!r}, allowed is HOST[:PORT], such as 127.0.0.1:5353 or [::1]:5353")
    return host, int(port) if port else default
