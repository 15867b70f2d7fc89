"""Which name servers are live, and where they listen: the ready endpoints of the server Service.

Owns how an endpoint becomes a server's name. Never decides what a server serves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from controllers.probe.address import Address
from controllers.probe.round import Server
from kube.object import ObjectMeta

SERVICE_LABEL: Final = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class ServerSlice:
    """The live servers of one EndpointSlice."""

    meta: ObjectMeta
    servers: tuple[str, ...]
    endpoints: tuple[tuple[str, Address], ...] = ()
    """Names of the servers with every address that they answer UDP on."""


def parse_server_slice(obj: Mapping[str, Any]) -> ServerSlice:
    """Parse a discovery.k8s.io/v1 EndpointSlice."""
    ready = list(_ready(obj.get("endpoints") or ()))
    port = _port(obj.get("ports") or ())
    sockets = [(name, Address(host, port)) for name, hosts in ready for host in hosts] if port is not None else []
    return ServerSlice(ObjectMeta.parse(obj), tuple(name for name, _ in ready), tuple(sockets))


def live_servers(slices: Iterable[ServerSlice]) -> tuple[str, ...]:
    """Return the names of all live servers, sorted, each once: a server has a slice for each address family."""
    return tuple(sorted({name for each in slices for name in each.servers}))


def live_endpoints(slices: Iterable[ServerSlice]) -> tuple[Server, ...]:
    """Return every live server with its addresses, sorted by name; one without a known port has none."""
    slices = list(slices)
    found: dict[str, set[Address]] = {name: set() for name in live_servers(slices)}
    for each in slices:
        for name, address in each.endpoints:
            found[name].add(address)
    return tuple(Server(name, tuple(sorted(addresses))) for name, addresses in sorted(found.items()))


def _port(ports: Iterable[Mapping[str, Any]]) -> int | None:
    """Return the port for DNS over UDP, None when the slice has none or several without a telling name."""
    udp = [each for each in ports if each.get("protocol") == "UDP" and isinstance(each.get("port"), int)]
    named = [each for each in udp if str(each.get("name") or "").startswith("dns")]
    chosen = named if len(udp) > 1 else udp
    return int(chosen[0]["port"]) if len(chosen) == 1 else None


def _ready(endpoints: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for endpoint in endpoints:
        # The API says of a missing condition that it is to be read as true.
        if (endpoint.get("conditions") or {}).get("ready") is False:
            continue
        target = endpoint.get("targetRef") or {}
        # A server without a name cannot be matched with a report; its address says at least which one is waited for.
        hosts = tuple(str(each) for each in endpoint.get("addresses") or ())
        yield str(target.get("name") or endpoint.get("hostname") or hosts[0]), hosts
