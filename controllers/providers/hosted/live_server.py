"""Which name servers are live: the ready endpoints of the server Service.

Owns how an endpoint becomes a server's name. Never decides what a server serves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kube.object import ObjectMeta

SERVICE_LABEL: Final = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True)
class ServerSlice:
    """The live servers of one EndpointSlice."""

    meta: ObjectMeta
    servers: tuple[str, ...]


def parse_server_slice(obj: Mapping[str, Any]) -> ServerSlice:
    """Parse a discovery.k8s.io/v1 EndpointSlice."""
    return ServerSlice(ObjectMeta.parse(obj), tuple(_ready(obj.get("endpoints") or ())))


def live_servers(slices: Iterable[ServerSlice]) -> tuple[str, ...]:
    """Return the names of all live servers, sorted, each once: a server has a slice for each address family."""
    return tuple(sorted({name for each in slices for name in each.servers}))


def _ready(endpoints: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for endpoint in endpoints:
        # The API says of a missing condition that it is to be read as true.
        if (endpoint.get("conditions") or {}).get("ready") is False:
            continue
        target = endpoint.get("targetRef") or {}
        # A server without a name cannot be matched with a report; its address says at least which one is waited for.
        yield str(target.get("name") or endpoint.get("hostname") or endpoint["addresses"][0])
