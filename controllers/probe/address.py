"""Where a name server listens, as people write it and as it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from zonemodel.name import Fqdn, object_to_domain

DNS_PORT: Final = 53
ALLOWED: Final = "an address or a name, with :port if it is not 53; an IPv6 address with a port stands in brackets"


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """One socket that a name server answers on; `host` is the canonical text of an IPv4 or IPv6 address."""

    host: str
    port: int = DNS_PORT

    def __str__(self) -> str:
        if self.port == DNS_PORT:
            return self.host
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ServerName:
    """A name server that is known by its name; its addresses have to be looked up. `port` is None where none was given."""

    name: Fqdn
    port: int | None = None

    def __str__(self) -> str:
        return self.name if self.port is None else f"{self.name}:{self.port}"


def parse_server(text: str, default_port: int | None = None) -> Address | ServerName:
    """Read `host[:port]`, an address or a name. Raises ValueError, whose text says what is allowed."""
    host, port = _split(text)
    if "%" in host:
        raise ValueError(f"found {text!r}, allowed: {ALLOWED}; a scope means something on one host only")
    try:
        return Address(str(ip_address(host)), port if port is not None else default_port or DNS_PORT)
    except ValueError:
        pass
    name = host.removesuffix(".")
    if text.startswith("[") or object_to_domain(name) is not None or name.rpartition(".")[2].isdecimal():
        raise ValueError(f"found {text!r}, allowed: {ALLOWED}")
    return ServerName(Fqdn(name), port if port is not None else default_port)


def _split(text: str) -> tuple[str, int | None]:
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError(f"found {text!r}, allowed: {ALLOWED}")
        return host, _port(rest[1:], text) if rest else None
    if text.count(":") == 1:
        host, _, port = text.partition(":")
        return host, _port(port, text)
    return text, None


def _port(digits: str, text: str) -> int:
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 5 and 1 <= int(digits) <= 65535):
        raise ValueError(f"found {text!r}, allowed: {ALLOWED}, where a port is 1 to 65535")
    return int(digits)
