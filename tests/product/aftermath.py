"""What has to hold after something was killed: at the first reply, in the API, and once all has settled."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import dns.exception
import dns.message
import dns.query
import dns.rcode

from controllers.api.group import RECORD_SETS
from tests.product.product import START_S
from tests.product.stage import Stage
from tests.product.writer import Slot
from tests.server.question import records

REPLY_S = 0.25


def first_serial(stage: Stage, newest: int) -> int:
    """Return the serial of the first reply after a start, which knows the zone and is not older than `newest`."""
    query = dns.message.make_query(stage.domain, "SOA", flags=0)
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            reply = dns.query.udp(query, stage.server.host, REPLY_S, stage.server.port)
        except (dns.exception.Timeout, ConnectionRefusedError):
            continue
        assert reply.rcode() == dns.rcode.NOERROR, reply
        serial = int(reply.answer[0][0].serial)
        assert serial >= newest
        return serial
    raise AssertionError("the name server did not answer")


def assert_answers_are_recent(stage: Stage, slots: Iterable[Slot]) -> None:
    """Hold each answer against everything that may have been served since all had settled."""
    for slot in slots:
        reply = stage.ask(slot.owner, slot.type)
        if reply.rcode() == dns.rcode.NXDOMAIN:
            assert None in slot.window, slot
        else:
            assert reply.rcode() == dns.rcode.NOERROR, reply
            possible = [each.records(stage.domain) for each in slot.window if each is not None]
            assert records(reply.answer) in possible, slot


async def assert_nothing_is_lost(stage: Stage, slots: Iterable[Slot]) -> None:
    """Hold what the API has against what it acknowledged."""
    listing = await stage.client.list(RECORD_SETS, namespace=stage.namespace)
    stored = {obj["metadata"]["name"]: obj for obj in listing.items}
    for slot in slots:
        slot.resolve(stored.pop(slot.name, None))
    assert stored == {}


async def until_settled(stage: Stage, slots: Sequence[Slot]) -> None:
    """Wait until the API says that every claim is served."""
    await stage.until_all_programmed(RECORD_SETS, {slot.name for slot in slots if slot.state is not None})
    for slot in slots:
        if slot.state is None:
            await stage.until_gone(RECORD_SETS, slot.name)


def assert_all_answered(stage: Stage, slots: Iterable[Slot]) -> None:
    """Hold every answer against its claim, and take all as settled."""
    for slot in slots:
        if slot.state is None:
            assert stage.rcode(slot.owner, slot.type) == "NXDOMAIN", slot
        else:
            stage.assert_answered([slot.state])
        slot.settle()
