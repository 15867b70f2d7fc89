"""Response rate limiting: what goes to one network over UDP is bounded by kind, and honest clients get through."""

from __future__ import annotations

from functools import partial

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.answer.rate_limit import Kind, RateLimiter, Verdict, kind_of
from server.config import RateLimit
from server.network import Networks
from tests.server.beside import Beside, beside, config
from tests.server.edns import COOKIE, options_of, with_options

NOBODY = Networks()
LOW = RateLimit(responses_per_s=5, slip=2, exempt=NOBODY)


looked_up_and_worked_out = pytest.mark.parametrize("rdtype", ["A", "ANY"])


def limiter_of(server: Beside) -> RateLimiter:
    limiter = server.server.listeners.limiter
    assert limiter is not None
    return limiter


def hold(server: Beside) -> None:
    """Begin a second that lasts for the whole test."""
    limiter = limiter_of(server)

    def step() -> None:
        limiter.tick()
        limiter.tick = lambda: None  # type: ignore[method-assign]  # time stands still

    server.read(step)


def replies(server: Beside, query: dns.message.Message, times: int) -> list[dns.message.Message | None]:
    octets = query.to_wire()
    assert octets is not None
    found = (server.target.exchange(octets) for _ in range(times))
    return [None if each is None else dns.message.from_wire(each) for each in found]


@looked_up_and_worked_out
def test_past_the_limit_one_reply_in_slip_is_short_and_the_others_are_dropped(rdtype: str) -> None:
    with beside(config(rate_limit=LOW)) as server:
        hold(server)
        found = replies(server, dns.message.make_query("short.ent.test.", rdtype, flags=0), 11)
        assert all(each is not None and each.answer for each in found[:5])
        rest = found[5:]
        assert sum(each is None for each in rest) == 3
        for each in rest:
            if each is not None:
                assert each.flags & dns.flags.TC
                assert not each.answer
        assert server.read(lambda: (limiter_of(server).dropped, limiter_of(server).held_back)) == (3, 3)


def test_other_kinds_of_replies_and_tcp_are_not_touched() -> None:
    with beside(config(rate_limit=LOW)) as server:
        hold(server)
        replies(server, dns.message.make_query("short.ent.test.", "A", flags=0), 8)
        for name, rdtype, rcode in (
            ("no.ent.test.", "A", dns.rcode.NXDOMAIN),
            ("short.ent.test.", "MX", dns.rcode.NOERROR),
            ("nobody.invalid.", "A", dns.rcode.REFUSED),
            ("x.inside.cut.test.", "A", dns.rcode.NOERROR),
        ):
            reply = server.target.ask(name, rdtype)
            assert (reply.rcode(), reply.flags & dns.flags.TC) == (rcode, 0)
        for _ in range(20):
            assert server.target.ask("short.ent.test.", "A", tcp=True).answer


@looked_up_and_worked_out
def test_a_client_that_sends_its_cookie_back_has_no_limit(rdtype: str) -> None:
    with beside(config(rate_limit=RateLimit(responses_per_s=5, slip=1, exempt=NOBODY))) as server:
        hold(server)
        query = partial(with_options, rdtype=rdtype)
        first = query((COOKIE, b"12345678"))
        found = replies(server, first, 8)
        assert all(each is not None for each in found)
        last = found[-1]
        assert last is not None
        assert last.rcode() == dns.rcode.BADCOOKIE
        assert not last.answer
        cookie = options_of(last)[COOKIE]
        for each in replies(server, query((COOKIE, cookie)), 20):
            assert each is not None
            assert each.answer
        stolen = cookie[:-1] + bytes((cookie[-1] ^ 1,))
        assert all(each is not None and not each.answer for each in replies(server, query((COOKIE, stolen)), 3))


def test_a_slip_of_0_drops_them_all() -> None:
    with beside(config(rate_limit=RateLimit(responses_per_s=2, slip=0, exempt=NOBODY))) as server:
        hold(server)
        found = replies(server, dns.message.make_query("no.ent.test.", "A", flags=0), 5)
        assert [each is None for each in found] == [False, False, True, True, True]


def test_a_new_second_begins_anew() -> None:
    with beside(config(rate_limit=LOW)) as server:
        query = dns.message.make_query("short.ent.test.", "A", flags=0)
        replies(server, query, 6)
        limiter = limiter_of(server)
        server.wait_until(lambda: not limiter.over, "a new second")
        (found,) = replies(server, query, 1)
        assert found is not None
        assert found.answer


@pytest.mark.parametrize("limit", [RateLimit(), RateLimit(responses_per_s=0)])
def test_this_machine_is_exempt_by_default_and_the_limit_can_be_turned_off(limit: RateLimit) -> None:
    with beside(config(rate_limit=limit)) as server:
        for _ in range(3000):
            assert server.target.ask("short.ent.test.", "A").answer


ANSWER = b"\0\0\x84\0\0\1\0\1\0\0\0\0"
NODATA = b"\0\0\x84\0\0\1\0\0\0\1\0\0"
REFERRAL = b"\0\0\x80\0\0\1\0\0\0\2\0\0"
NXDOMAIN = b"\0\0\x84\3\0\1\0\0\0\1\0\0"
REFUSED = b"\0\0\x80\5\0\1\0\0\0\0\0\0"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (ANSWER, Kind.ANSWER),
        (NODATA, Kind.NODATA),
        (REFERRAL, Kind.REFERRAL),
        (NXDOMAIN, Kind.NXDOMAIN),
        (NXDOMAIN[:7] + b"\1" + NXDOMAIN[8:], Kind.NXDOMAIN),
        (REFUSED, Kind.ERROR),
    ],
)
def test_kinds_are_told_apart_by_the_header(reply: bytes, kind: Kind) -> None:
    assert kind_of(reply) is kind


def test_a_network_shares_one_limit_and_another_has_its_own() -> None:
    limiter = RateLimiter(LOW)
    for number in range(6):
        limiter.count(f"192.0.2.{number}", ANSWER)
    assert limiter.is_over("192.0.2.200", ANSWER)
    assert not limiter.is_over("192.0.3.1", ANSWER)
    assert not limiter.is_over("192.0.2.1", NODATA)
    for number in range(6):
        limiter.count(f"2001:db8:0:{number:x}::1", ANSWER)
    assert limiter.is_over("2001:db8:0:ff::9", ANSWER)
    assert not limiter.is_over("2001:db8:0:100::9", ANSWER)


def test_an_exempt_client_is_not_counted_and_does_not_open_the_door_to_its_network() -> None:
    limiter = RateLimiter(RateLimit(responses_per_s=5, exempt=Networks.parse(["192.0.2.1"])))
    for _ in range(100):
        limiter.count("192.0.2.1", ANSWER)
    assert not limiter.over
    for _ in range(6):
        limiter.count("192.0.2.2", ANSWER)
    assert limiter.is_over("192.0.2.2", ANSWER)
    assert not limiter.is_over("192.0.2.1", ANSWER)


@given(st.integers(0, 5), st.integers(1, 60))
def test_slip_shares_out_exactly(slip: int, times: int) -> None:
    limiter = RateLimiter(RateLimit(slip=slip))
    verdicts = [limiter.verdict() for _ in range(times)]
    assert verdicts.count(Verdict.HOLD_BACK) == (times // slip if slip else 0)
    assert (limiter.held_back, limiter.dropped) == (
        times // slip if slip else 0,
        times - (times // slip if slip else 0),
    )


@pytest.mark.parametrize(("ipv4", "ipv6"), [(33, 56), (20, 56), (24, 0), (24, 129)])
def test_prefixes_are_whole_octets(ipv4: int, ipv6: int) -> None:
    with pytest.raises(ValueError, match="allowed are multiples of 8"):
        RateLimit(ipv4_prefix=ipv4, ipv6_prefix=ipv6)
