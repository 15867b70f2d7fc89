"""Sockets for UDP: replies come from the address that was asked, several sockets share an address, none is closed on a query."""

from __future__ import annotations

import socket
import threading

import dns.message
import pytest

from server.config import Address
from server.listening.listen import ListenError, open_pair
from tests.server.beside import beside, config
from tests.server.question import Target

QUERY = dns.message.make_query("short.ent.test.", "A", flags=0).to_wire()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "127.9.9.9"])
def test_a_reply_comes_from_the_address_that_was_asked(host: str) -> None:
    """A connected client takes datagrams from that address only."""
    with beside(config(listen=(Address("0.0.0.0", 0),))) as server:
        port = server.target.port
        assert Target(host, port).ask("short.ent.test.", "A").answer
        assert Target(host, port).exchange(QUERY) is not None
        assert Target(host, port).ask("short.ent.test.", "A", tcp=True).answer


def test_both_families_have_a_socket_for_all_addresses() -> None:
    with beside(config(listen=(Address("0.0.0.0", 0), Address("::", 0)))) as server:
        four, six = server.server.ports
        assert Target("127.0.0.3", four).exchange(QUERY) is not None
        assert Target("::1", six).exchange(QUERY) is not None
        assert Target("::1", six).ask("short.ent.test.", "A", tcp=True).answer


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1"])
def test_several_sockets_share_the_clients_of_an_address(host: str) -> None:
    with beside(config(listen=(Address(host, 0),), udp_sockets=4)) as server:
        for _ in range(40):
            assert server.target.exchange(QUERY) is not None
        assert server.read(lambda: server.server.counters.udp[0]) == 40


@pytest.mark.parametrize("sockets", [1, 3])
def test_an_address_that_a_stranger_has_is_noticed(sockets: int) -> None:
    """Also one that would share it: answers of two servers must not mix by accident."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        stranger.bind(("127.0.0.1", 0))
        with pytest.raises(ListenError, match="Address already in use"):
            open_pair(Address("127.0.0.1", stranger.getsockname()[1]), sockets)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1", "::"])
@pytest.mark.parametrize("sockets", [1, 3])
def test_every_query_that_was_taken_is_answered_at_the_end(host: str, sockets: int) -> None:
    """Clients ask on while the server stops: those told that nobody listens know, and no other one waits in vain."""
    with beside(config(listen=(Address(host, 0),), udp_sockets=sockets)) as server:
        target = server.target
        family = socket.AF_INET6 if ":" in target.host else socket.AF_INET
        asking = threading.Event()
        results: list[tuple[int, int]] = []

        def ask_until_refused() -> None:
            sent = received = 0
            with socket.socket(family, socket.SOCK_DGRAM) as client:
                client.connect((target.host, target.port))
                client.settimeout(60)
                try:
                    while True:
                        client.send(QUERY)
                        sent += 1
                        asking.set()
                        client.recv(4096)
                        received += 1
                except ConnectionRefusedError:
                    pass
            results.append((sent, received))

        clients = [threading.Thread(target=ask_until_refused) for _ in range(4)]
        for client in clients:
            client.start()
        asking.wait(60)
        server.wait_until(lambda: server.server.counters.udp[0] > 500, "a stream of queries")
        server.loop.call_soon_threadsafe(server.ending.set)
        for client in clients:
            client.join(20)
    assert len(results) == len(clients)
    assert all(sent - received <= 1 for sent, received in results)
