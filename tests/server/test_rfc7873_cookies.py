"""RFC 7873 and RFC 9018: cookies that prove the address of a client to any server that shares the secret."""

from __future__ import annotations

import secrets
import struct
from pathlib import Path

import dns.message
import dns.rcode
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.edns.cookie import Cookies, CookieSecretError, read_secrets
from server.edns.reply import OptionReplies
from server.transport import Transport
from tests.product.patience import until
from tests.server.beside import beside, config
from tests.server.edns import COOKIE, UNKNOWN, ask, options_of, with_options
from tests.server.question import Target

SECRET = bytes.fromhex("e5e973e5a6b2a43f48e7dc849e37bfcf")
LATER_SECRET = bytes.fromhex("445536bcd2513298075a5d379663c962")
CLIENT = b"\x01\x02\x03\x04\x05\x06\x07\x08"


class Clock:
    def __init__(self, now_s: int) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s


def test_a_client_learns_the_cookie_of_the_first_example() -> None:
    """RFC 9018 appendix A.1."""
    cookies = Cookies([SECRET], Clock(1559731985))
    answer = cookies.answer(bytes.fromhex("2464c4abcf10c957"), "198.51.100.100")
    assert answer == bytes.fromhex("2464c4abcf10c957010000005cf79f111f8130c3eee29480")


def test_the_cookie_of_the_second_example_is_made_later() -> None:
    """RFC 9018 appendix A.2."""
    theirs = bytes.fromhex("2464c4abcf10c957010000005cf79f111f8130c3eee29480")
    answer = Cookies([SECRET], Clock(1559734385)).answer(theirs, "198.51.100.100")
    assert answer == bytes.fromhex("2464c4abcf10c957010000005cf7a871d4a564a1442aca77")


def test_a_good_cookie_of_half_an_hour_comes_back_and_an_older_one_is_renewed() -> None:
    """RFC 9018 section 4.3: good for an hour, renewed after half of it."""
    clock = Clock(1559731985)
    cookies = Cookies([SECRET], clock)
    first = cookies.answer(CLIENT, "198.51.100.100")
    assert first is not None
    clock.now_s += 1800
    assert cookies.answer(first, "198.51.100.100") == first
    clock.now_s += 1
    renewed = cookies.answer(first, "198.51.100.100")
    assert renewed is not None
    assert renewed != first
    assert cookies.is_ours(first, "198.51.100.100")
    clock.now_s += 1800
    assert not cookies.is_ours(first, "198.51.100.100")
    assert cookies.is_ours(renewed, "198.51.100.100")


def test_reserved_octets_are_hashed_as_they_came() -> None:
    """RFC 9018 appendix A.3: the example cookie has others than zero, and is renewed when it is too old."""
    clock = Clock(1559728085)
    cookies = Cookies([SECRET], clock)
    theirs = bytes.fromhex("fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5")
    assert cookies.is_ours(theirs, "203.0.113.203")
    assert not cookies.is_ours(theirs, "203.0.113.204")
    clock.now_s = 1559734700
    assert not cookies.is_ours(theirs, "203.0.113.203")
    answer = cookies.answer(theirs, "203.0.113.203")
    assert answer == bytes.fromhex("fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e")


def test_an_address_of_ipv6_and_a_secret_that_is_rolled_over() -> None:
    """RFC 9018 appendix A.4 and section 5: the old secret is still taken, new cookies are made with the new one."""
    old = bytes.fromhex("dd3bdf9344b678b185a6f5cb60fca715")
    theirs = bytes.fromhex("22681ab97d52c298010000005cf7c57926556bd0934c72f8")
    client = "2001:db8:220:1:59de:d0f4:8769:82b8"
    cookies = Cookies([LATER_SECRET, old], Clock(1559741961))
    assert cookies.is_ours(theirs, client)
    assert cookies.answer(theirs, client) == bytes.fromhex("22681ab97d52c298010000005cf7c609a6bb79d16625507a")
    assert not Cookies([LATER_SECRET], Clock(1559741961)).is_ours(theirs, client)


def test_time_stamps_are_serial_numbers() -> None:
    clock = Clock((1 << 32) - 10)
    cookies = Cookies([SECRET], clock)
    made = cookies.answer(CLIENT, "192.0.2.1")
    assert made is not None
    clock.now_s = (1 << 32) + 600
    assert cookies.is_ours(made, "192.0.2.1")
    clock.now_s = (1 << 32) - 10 - 301
    assert not cookies.is_ours(made, "192.0.2.1")
    clock.now_s += 1
    assert cookies.is_ours(made, "192.0.2.1")


@given(st.binary(max_size=50), st.sampled_from(["192.0.2.1", "2001:db8::1"]))
def test_only_cookies_of_an_allowed_length_are_answered_and_only_own_ones_are_ours(cookie: bytes, client: str) -> None:
    cookies = Cookies([SECRET])
    answer = cookies.answer(cookie, client)
    assert not cookies.is_ours(cookie, client)
    if len(cookie) != 8 and not 16 <= len(cookie) <= 40:
        assert answer is None
        return
    assert answer is not None
    assert (len(answer), answer[:8]) == (24, cookie[:8])
    assert cookies.is_ours(answer, client)
    assert not cookies.is_ours(answer, "192.0.2.2")


@given(st.lists(st.tuples(st.sampled_from([3, 8, 10, 11, 12, UNKNOWN]), st.binary(max_size=30)), max_size=5), st.data())
def test_any_options_are_answered_or_refused(options: list[tuple[int, bytes]], data: st.DataObject) -> None:
    octets = b"".join(struct.pack("!HH", code, len(value)) + value for code, value in options)
    cut = data.draw(st.integers(0, len(octets)))
    replies = OptionReplies(Cookies([SECRET]), b"me")
    for each in (octets, octets[:cut]):
        try:
            answer, _ = replies.reply(each, "192.0.2.1", data.draw(st.sampled_from(Transport)))
        except ValueError:
            continue
        assert answer.count(struct.pack("!HH", COOKIE, 24)) <= 1


def test_a_client_cookie_comes_back_with_a_server_part_over_any_transport(target: Target) -> None:
    for tcp in (False, True):
        cookie = ask(target, (COOKIE, CLIENT), tcp=tcp)[COOKIE]
        assert (len(cookie), cookie[:9]) == (24, CLIENT + b"\x01")
        assert ask(target, (COOKIE, cookie), tcp=tcp)[COOKIE] == cookie


def test_a_foreign_server_part_is_answered_with_ours(target: Target) -> None:
    """RFC 7873 section 5.2.4: a wrong one counts as none, and the answer comes all the same."""
    for length in (8, 16, 32):
        cookie = ask(target, (COOKIE, CLIENT + secrets.token_bytes(length)))[COOKIE]
        assert (len(cookie), cookie[:8]) == (24, CLIENT)


def test_of_several_cookies_the_first_counts(target: Target) -> None:
    assert ask(target, (UNKNOWN, b""), (COOKIE, CLIENT), (COOKIE, bytes(8)))[COOKIE][:8] == CLIENT


@pytest.mark.parametrize("length", [0, 1, 7, 9, 15, 41])
def test_a_cookie_of_a_wrong_length_is_formerr(length: int, target: Target) -> None:
    """RFC 7873 section 5.2.2."""
    reply = target.send(with_options((COOKIE, bytes(length))))
    assert reply.rcode() == dns.rcode.FORMERR
    assert not reply.answer
    assert COOKIE not in options_of(reply)


def test_without_a_cookie_there_is_none_in_the_reply(target: Target) -> None:
    assert COOKIE not in ask(target)


@pytest.mark.parametrize(
    ("name", "rdtype", "rcode"),
    [("no.ent.test.", "A", "NXDOMAIN"), ("nobody.invalid.", "A", "REFUSED"), ("ent.test.", "ANY", "NOERROR")],
)
def test_refusals_and_slow_answers_carry_cookies_too(name: str, rdtype: str, rcode: str, target: Target) -> None:
    reply = target.send(with_options((COOKIE, CLIENT), name=name, rdtype=rdtype))
    assert dns.rcode.to_text(reply.rcode()) == rcode
    assert len(options_of(reply)[COOKIE]) == 24


def test_a_question_is_not_needed_to_learn_a_cookie(target: Target) -> None:
    """RFC 7873 section 5.4."""
    opt = b"\x00" + struct.pack("!HHIH", 41, 1232, 0, 12) + struct.pack("!HH", COOKIE, 8) + CLIENT
    reply = target.exchange(struct.pack("!6H", 0x1234, 0, 0, 0, 0, 1) + opt)
    assert reply is not None
    message = dns.message.from_wire(reply)
    assert (message.id, message.rcode(), message.question) == (0x1234, dns.rcode.NOERROR, [])
    assert options_of(message)[COOKIE][:8] == CLIENT


def test_no_question_and_no_cookie_is_formerr(target: Target) -> None:
    opt = b"\x00" + struct.pack("!HHIH", 41, 1232, 0, 0)
    reply = target.exchange(struct.pack("!6H", 0x1234, 0, 0, 0, 0, 1) + opt)
    assert reply is not None
    assert reply[3] & 0xF == dns.rcode.FORMERR


def test_servers_that_share_a_file_of_secrets_take_one_anothers_cookies(tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    file.write_text(f"# in use\n{SECRET.hex()}\n\n{LATER_SECRET.hex()} # to come\n")
    with beside(config(cookie_secrets=file)) as one, beside(config(cookie_secrets=file)) as other:
        cookie = ask(one.target, (COOKIE, CLIENT))[COOKIE]
        assert ask(other.target, (COOKIE, cookie))[COOKIE] == cookie
        file.write_text(f"{LATER_SECRET.hex()}\n{SECRET.hex()}\n")
        other.reload()
        later = ask(other.target, (COOKIE, cookie))[COOKIE]
        assert later != cookie
        assert Cookies([SECRET]).is_ours(cookie, "127.0.0.1")
        assert Cookies([LATER_SECRET]).is_ours(later, "127.0.0.1")
        file.write_text("nonsense\n")
        other.reload()
        assert ask(other.target, (COOKIE, later))[COOKIE] == later


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "holds no cookie secret"),
        ("# none\n", "holds no cookie secret"),
        (SECRET.hex() + "\nabc\n", ":2: found 3 characters"),
        ("zz" * 16, ":1: found 32 characters, allowed are 32 hexadecimal digits"),
        (SECRET.hex()[:-2], "found 30 characters"),
        ("\N{SNOWMAN}", "cannot read"),
    ],
)
def test_a_file_of_secrets_is_checked(text: str, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    file.write_text(text)
    with pytest.raises(CookieSecretError, match=complaint):
        read_secrets(file)
    with pytest.raises(CookieSecretError, match="cannot read"):
        read_secrets(tmp_path / "absent")


def test_secrets_that_are_replaced_are_found_without_a_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a Secret is that a pod has mounted: another file stands there under the same name."""
    monkeypatch.setattr("server.listeners._SECOND_S", 0.01)
    monkeypatch.setattr("server.listeners._FILES_PERIOD_S", 0.01)
    file, next_file = tmp_path / "secrets", tmp_path / "next"
    file.write_text(f"{SECRET.hex()}\n")
    with beside(config(cookie_secrets=file)) as server:
        assert Cookies([SECRET]).is_ours(ask(server.target, (COOKIE, CLIENT))[COOKIE], "127.0.0.1")
        next_file.write_text(f"{LATER_SECRET.hex()}\n")
        next_file.replace(file)
        later = Cookies([LATER_SECRET])
        until(lambda: later.is_ours(ask(server.target, (COOKIE, CLIENT))[COOKIE], "127.0.0.1"), "the new secret")
