"""`dns-api doctor` on name servers and delegations."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import dns.flags
import dns.message
import dns.rrset
import pytest

from cli.doctor.finding import Finding, Result
from cli.doctor.zone import examine_servers, judge_delegation
from controllers.probe.address import Address
from controllers.probe.apex import Delegation
from controllers.probe.round import Server
from kube.access import Access
from kube.client import Client
from tests.helm.place import NAMESPACE
from tests.kube.fake_api import FakeApi
from tests.kube.fake_api_fixtures import api

__all__ = ["api"]

DOMAIN = "shop.example"
ZONES = "/apis/dns.appthrust.io/v1alpha1/zones"
SLICES = "/apis/discovery.k8s.io/v1/endpointslices"
OURS = {"ns1.shop.example", "ns2.shop.example"}


class OverUdp(asyncio.DatagramProtocol):
    """Answers every question over UDP with an SOA record, as a server whose TCP a firewall swallows."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        reply = dns.message.make_response(dns.message.from_wire(data))
        reply.flags |= dns.flags.AA
        name = reply.question[0].name
        reply.answer.append(dns.rrset.from_text(name, 60, "IN", "SOA", "ns1.shop.example. h.shop.example. 1 2 3 4 5"))
        self._transport.sendto(reply.to_wire(), addr)


@contextmanager
def port_without_tcp() -> Iterator[socket.socket]:
    """A UDP socket on a port whose TCP nobody answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        yield udp


async def test_a_server_that_answers_over_udp_alone_is_told(api: FakeApi) -> None:
    condition = {"type": "Programmed", "status": "True", "reason": "Programmed", "observedGeneration": 1}
    api.put(
        ZONES,
        {
            "metadata": {"namespace": "default", "name": "zone", "generation": 1},
            "spec": {"domainName": DOMAIN, "provider": {"name": "hosted.dns.appthrust.io"}},
            "status": {"conditions": [{**condition, "type": "Accepted"}, condition]},
        },
    )
    with port_without_tcp() as udp:
        port = udp.getsockname()[1]
        api.put(
            SLICES,
            {
                "metadata": {
                    "namespace": NAMESPACE,
                    "name": "servers",
                    "labels": {"kubernetes.io/service-name": "dns-api-server"},
                },
                "ports": [{"name": "dns", "port": port, "protocol": "UDP"}],
                "endpoints": [{"addresses": ["127.0.0.1"], "targetRef": {"kind": "Pod", "name": "server-0"}}],
            },
        )
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(OverUdp, sock=udp.dup())
        async with Client(Access(api.url), field_manager="tester") as client:
            (finding,) = [each async for each in examine_servers(client, NAMESPACE)]
        transport.close()
    assert finding.result is Result.FAILED
    assert finding.message.startswith("it answers over UDP, and not over TCP: ")
    assert "let TCP through" in finding.remedy


def delegation(names: set[str], *faults: str) -> Finding:
    servers = tuple(Server(each, (Address("192.0.2.1"),)) for each in sorted(names))
    return judge_delegation(DOMAIN, OURS, Delegation(servers, faults))


def test_a_way_that_leads_to_our_name_servers_is_well() -> None:
    found = delegation(OURS)
    assert (found.result, found.message) == (Result.OK, "the zone above names ns1.shop.example, ns2.shop.example")


@pytest.mark.parametrize(
    ("names", "faults", "told", "remedy"),
    [
        (
            set(),
            ("no name server of example delegates shop.example",),
            "no name server of example delegates",
            "have who",
        ),
        ({"ns1.shop.example"}, (), "the zone above does not name ns2.shop.example", "as name servers (NS) of shop.ex"),
        (OURS | {"old.example"}, (), "old.example are named as well", "have whoever runs the zone above name"),
        (OURS, ("the apex names ns2.shop.example, which the zone above does not delegate to",), "the apex", "the same"),
        (OURS, ("the name servers at the apex are not told by 192.0.2.1 REFUSED",), "REFUSED", "each of them answers"),
    ],
    ids=["no way", "one is missing", "one is strange", "the apex differs", "lame"],
)
def test_a_way_that_does_not_is_told(names: set[str], faults: tuple[str, ...], told: str, remedy: str) -> None:
    found = delegation(names, *faults)
    assert found.result is Result.WARNING
    assert told in found.message
    assert remedy in found.remedy


def test_where_nobody_can_be_asked_nothing_is_claimed() -> None:
    assert delegation(set(), "no resolver tells the name servers above shop.example").result is Result.SKIPPED
