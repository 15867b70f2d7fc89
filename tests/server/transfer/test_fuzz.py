"""No request for a transfer, notice or signature makes the server raise, answer a reply, or say more than the transport takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import dns.message
import dns.opcode
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.app import NameServer
from server.config import Address, ServerConfig, ZoneFile
from server.transfer.config import SecondaryZone, TransferConfig
from server.transfer.key import Algorithm, Key, key_name
from server.transfer.target import Target
from server.transfer.verification import sign_request
from server.transport import Later, Streamed, Transport
from tests.server.transfer.daemon import HOST
from tests.server.transfer.serving import ZONE, query
from tests.server.transfer.zone import EditedZone
from zonemodel.hosted_zone import Transfer
from zonemodel.name import to_wire

KEY = Key(key_name("k"), Algorithm.HMAC_SHA256, b"secret of this test")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NameServer]:
    """A server with a zone of its own and one that was never pulled; its loop stands still."""
    folder: Path = tmp_path_factory.mktemp("fuzz")
    (folder / "keys").write_text("hmac-sha256:k:c2VjcmV0IG9mIHRoaXMgdGVzdA==\n")
    EditedZone().fill(30).write(folder / "zone")
    transfer = TransferConfig(
        key_files=(folder / "keys",),
        every_zone=Transfer(allow=(HOST,)),
        secondaries=(SecondaryZone(to_wire("pulled.test"), (Target(Address(HOST, 9)),)),),
    )
    loop = asyncio.new_event_loop()
    config = ServerConfig((Address(HOST, 0),), zone_files=(ZoneFile(folder / "zone"),), transfer=transfer)

    async def make() -> NameServer:
        made = NameServer(config)
        await made.start()
        return made

    made = loop.run_until_complete(make())
    yield made
    loop.run_until_complete(made.stop())
    loop.close()


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """Nearly right: any kind and zone, signed or not, then some octets changed, gone or added."""
    name = draw(st.sampled_from([ZONE, "pulled.test", "elsewhere.test", "www.edit.test", "."]))
    kind = draw(st.sampled_from(["AXFR", "IXFR", "SOA", "TXT", "ANY"]))
    message = query(kind, "edit.test" if name == "." else name, serial=draw(st.sampled_from([None, 0, 1, 2**31])))
    message.id = draw(st.integers(0, 65535))
    message.set_opcode(draw(st.sampled_from([dns.opcode.QUERY, dns.opcode.NOTIFY, dns.opcode.STATUS])))
    if draw(st.booleans()):
        message.use_edns(draw(st.sampled_from([0, 0, 1])), payload=draw(st.integers(0, 65535)))
    octets = message.to_wire()
    if draw(st.booleans()):
        octets = sign_request(octets, KEY, time.time() + draw(st.sampled_from([0, 0, 1000])))[0]
    changed = bytearray(octets)
    for _ in range(draw(st.integers(0, 3))):
        changed[draw(st.integers(0, len(changed) - 1))] = draw(st.integers(0, 255))
    end = draw(st.one_of(st.just(len(changed)), st.integers(0, len(changed))))
    return bytes(changed[:end]) + draw(st.sampled_from([b"", b"", b"\0"]))


@given(requests(), st.sampled_from(Transport))
def test_requests_that_were_changed_on_the_way(server: NameServer, packet: bytes, transport: Transport) -> None:
    reply = server.listeners.matcher.answer(packet, HOST, transport)
    if isinstance(reply, Streamed):
        assert transport is not Transport.UDP
        return
    assert not isinstance(reply, Later)  # the zone holds nothing that is long
    if len(packet) < 12 or packet[2] & 0x80:
        assert reply is None
        return
    assert reply is not None
    assert reply[:2] == packet[:2]
    assert reply[2] & 0x80
    assert len(reply) <= (1232 if transport is Transport.UDP else 65535)
    if reply[2] >> 3 & 0xF in (dns.opcode.QUERY, dns.opcode.NOTIFY):  # others have another form
        dns.message.from_wire(reply, keyring=False)
