"""Connections over TLS."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import threading
import warnings
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from controllers.api.group import ZONES
from kube.access import Access
from kube.client import Client
from tests.controllers.core.admission.authority import Authority, ServingPair

EVENT = b'{"type":"ADDED","object":{"metadata":{"name":"zone","resourceVersion":"2"}}}\n'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (
    len(EVENT),
    EVENT,
)


@pytest.fixture
def stubborn(tmp_path: Path) -> Iterator[Access]:
    """A server that answers with one event and then does not care for what a client says."""
    authority, pair = Authority(), ServingPair(tmp_path)
    authority.write(pair, 2, "127.0.0.1")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            plain, _ = listener.accept()
            with context.wrap_socket(plain, server_side=True) as connection:
                connection.recv(65536)
                connection.sendall(ANSWER)
                ended.wait(30)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield Access(f"https://127.0.0.1:{listener.getsockname()[1]}", authority.client_context())
        ended.set()
        thread.join(30)


def test_a_watch_that_nobody_follows_any_more_leaves_no_connection_behind(stubborn: Access) -> None:
    async def see_one() -> str:
        async with Client(stubborn) as client, aclosing(client.watch(ZONES, resource_version="1")) as events:
            return str((await anext(events)).object["metadata"]["name"])

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ResourceWarning)
        assert asyncio.run(see_one()) == "zone"
        gc.collect()
    assert [str(each.message) for each in told] == []
