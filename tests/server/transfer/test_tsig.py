"""Transaction signatures (RFC 8945), held against dnspython's, which are another implementation."""

from __future__ import annotations

import time

import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.tsig
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.transfer.key import Algorithm, Key, key_name
from server.transfer.message_reader import read_message
from server.transfer.signature import Received, Signed, judge_signature
from server.transfer.verification import SignatureError, Verifier, sign_request
from server.wire import read_question, read_records

SECRET = bytes(range(32))
NAME = "transfer.test"


def key(algorithm: Algorithm = Algorithm.HMAC_SHA256, secret: bytes = SECRET) -> Key:
    return Key(key_name(NAME), algorithm, secret)


def their_key(algorithm: Algorithm = Algorithm.HMAC_SHA256, secret: bytes = SECRET) -> dns.tsig.Key:
    return dns.tsig.Key(NAME, secret, f"hmac-{algorithm.hash_name}")


def signed_query(their: dns.tsig.Key, **options: object) -> tuple[bytes, bytes]:
    """A query that dnspython signs, and its MAC."""
    query = dns.message.make_query("shop.example.", "SOA", flags=0)
    query.use_tsig(their, **options)  # type: ignore[arg-type]  # any of its options
    packet, mac = query.to_wire(), query.mac
    assert mac is not None
    return packet, mac


def judged(packet: bytes, ours: Key, now_s: float | None = None) -> Signed | bytes:
    question = read_question(packet)
    tsig_at = read_records(packet, question.end).tsig_at
    assert tsig_at is not None
    received = Received(packet, question.end, tsig_at)
    return judge_signature(received, {ours.name: ours}, time.time() if now_s is None else now_s)


def reply_to(packet: bytes) -> bytes:
    return packet[:2] + b"\x84\x00" + packet[4:6] + bytes(6) + packet[12 : read_question(packet).end]


@pytest.mark.parametrize("algorithm", Algorithm)
def test_requests_and_replies_are_believed_on_both_sides(algorithm: Algorithm) -> None:
    packet, mac = signed_query(their_key(algorithm))
    signed = judged(packet, key(algorithm))
    assert isinstance(signed, Signed)
    assert dns.message.from_wire(signed.plain).question[0].name == dns.name.from_text("shop.example.")
    reply = signed.sign(reply_to(signed.plain), read_question(packet).end, 512, time.time())
    parsed = dns.message.from_wire(reply, keyring=their_key(algorithm), request_mac=mac)
    assert parsed.had_tsig
    assert parsed.tsig_error == 0


@pytest.mark.parametrize("algorithm", Algorithm)
def test_a_stream_is_signed_as_others_read_it(algorithm: Algorithm) -> None:
    packet, mac = signed_query(their_key(algorithm))
    signed = judged(packet, key(algorithm))
    assert isinstance(signed, Signed)
    stream, context = signed.stream(), None
    for number in range(5):
        message = reply_to(packet)
        if number == 2:
            message = message[:6] + b"\0\1" + message[8:] + b"\xc0\x0c\0\x10\0\1\0\0\0\0" + (65460).to_bytes(2, "big")
            message += (b"\xff" + bytes(255)) * 255 + b"\xb3" + bytes(179)
            assert len(message) > 65460
        octets = stream.sign(message, time.time())
        parsed = dns.message.from_wire(
            octets, keyring=their_key(algorithm), request_mac=mac, multi=True, tsig_ctx=context
        )
        assert parsed.had_tsig is (number != 2)  # there is no room for a signature in the third
        context = parsed.tsig_ctx


@pytest.mark.parametrize("algorithm", Algorithm)
def test_our_requests_are_believed_and_their_replies(algorithm: Algorithm) -> None:
    plain = dns.message.make_query("shop.example.", "SOA", flags=0).to_wire()
    octets, verifier = sign_request(plain, key(algorithm), time.time())
    query = dns.message.from_wire(octets, keyring=their_key(algorithm))
    assert query.had_tsig
    reply = dns.message.make_response(query)
    packet = reply.to_wire()
    verifier.check(packet, read_message(packet).tsig_at, time.time())
    verifier.finish()


def fault(reply: Signed | bytes) -> tuple[str, int, bool, bytes]:
    """RCODE, TSIG error, whether it is signed, and the other data."""
    assert isinstance(reply, bytes)
    message = read_message(reply)
    if message.tsig_at is None:
        return dns.rcode.to_text(dns.rcode.Rcode.make(message.rcode)), 0, False, b""
    with_tsig = dns.message.from_wire(reply, keyring=False)  # keeps the record unjudged
    assert with_tsig.tsig is not None
    (tsig,) = with_tsig.tsig
    return dns.rcode.to_text(with_tsig.rcode()), int(tsig.error), bool(tsig.mac), tsig.other


def test_an_unknown_key_is_badkey_unsigned() -> None:
    packet, _ = signed_query(dns.tsig.Key("other.test", SECRET, "hmac-sha256"))
    assert fault(judged(packet, key())) == ("NOTAUTH", 17, False, b"")


def test_another_algorithm_of_a_known_key_is_badkey() -> None:
    packet, _ = signed_query(their_key(Algorithm.HMAC_SHA512))
    assert fault(judged(packet, key())) == ("NOTAUTH", 17, False, b"")


def test_a_wrong_secret_is_badsig_unsigned() -> None:
    packet, _ = signed_query(their_key(secret=b"guess"))
    assert fault(judged(packet, key())) == ("NOTAUTH", 16, False, b"")


def test_clocks_too_far_apart_are_badtime_signed_with_our_time() -> None:
    packet, mac = signed_query(their_key())
    now_s = time.time() + 301
    reply = judged(packet, key(), now_s)
    assert fault(reply) == ("NOTAUTH", 18, True, int(now_s).to_bytes(6, "big"))
    assert isinstance(reply, bytes)
    with pytest.raises(dns.tsig.PeerBadTime):
        dns.message.from_wire(reply, keyring=their_key(), request_mac=mac)


def test_a_short_mac_is_badtrunc_when_it_is_long_enough_to_be_one() -> None:
    packet, _ = signed_query(their_key())
    assert fault(judged(shortened(packet, 16), key())) == ("NOTAUTH", 22, True, b"")
    assert fault(judged(shortened(packet, 15), key())) == ("FORMERR", 0, False, b"")
    assert fault(judged(shortened(packet, 0), key())) == ("FORMERR", 0, False, b"")


def shortened(packet: bytes, mac_bytes: int) -> bytes:
    """Cut the MAC of a signed query, whose record ends in MAC, original ID, error and length of other data."""
    tail, mac = packet[-6:], packet[-38:-6]
    length_at = len(packet) - 38 - 2 - 8 - len(key().algorithm.wire) - 2
    size = int.from_bytes(packet[length_at : length_at + 2], "big") - 32 + mac_bytes
    head = packet[:length_at] + size.to_bytes(2, "big") + packet[length_at + 2 : -40]
    return head + mac_bytes.to_bytes(2, "big") + mac[:mac_bytes] + tail


def test_a_signed_reply_that_does_not_fit_is_cut_to_its_question() -> None:
    packet, mac = signed_query(their_key())
    signed = judged(packet, key())
    assert isinstance(signed, Signed)
    end = read_question(packet).end
    long = reply_to(packet)[:6] + b"\0\1" + reply_to(packet)[8:] + b"\xc0\x0c\0\x10\0\1\0\0\0\0\1\0\xff" + bytes(255)
    parsed = dns.message.from_wire(signed.sign(long, end, 300, time.time()), keyring=their_key(), request_mac=mac)
    assert parsed.flags & dns.flags.TC
    assert not parsed.answer
    assert parsed.question
    assert parsed.had_tsig


def test_replies_that_are_not_signed_are_not_believed() -> None:
    plain = dns.message.make_query("shop.example.", "SOA", flags=0).to_wire()
    _, verifier = sign_request(plain, key(), time.time())
    with pytest.raises(SignatureError, match="not signed"):
        verifier.check(reply_to(plain), None, time.time())


def test_a_stream_may_leave_out_99_signatures_and_must_end_with_one() -> None:
    packet, mac = signed_query(their_key())
    signed = judged(packet, key())
    assert isinstance(signed, Signed)
    message, stream = reply_to(packet), signed.stream()
    first = stream.sign(message, time.time())
    verifier = Verifier(key(), mac)
    verifier.check(first, read_message(first).tsig_at, time.time())
    for _ in range(99):
        verifier.check(message, None, time.time())
    with pytest.raises(SignatureError, match="last message"):
        verifier.finish()
    with pytest.raises(SignatureError, match="not signed"):
        verifier.check(message, None, time.time())


@given(st.data())
def test_no_changed_octet_is_believed(data: st.DataObject) -> None:
    packet, _ = signed_query(their_key())
    position = data.draw(st.integers(0, len(packet) - 1))
    changed = bytearray(packet)
    changed[position] ^= data.draw(st.integers(1, 255))
    try:
        question = read_question(bytes(changed))
        tsig_at = read_records(bytes(changed), question.end).tsig_at
    except Exception:  # noqa: BLE001 - a packet that is malformed as a whole never comes to signatures
        return
    if tsig_at is None:
        return
    reply = judge_signature(Received(bytes(changed), question.end, tsig_at), {key().name: key()}, time.time())
    if isinstance(reply, Signed):  # the ID in the header is not signed, and the case of names is not
        assert position < 2 or bytes(changed).lower() == packet.lower()
