"""The signature of a request judged (RFC 8945 section 5.2), and the signing of what is replied to it.

Owns which fault is told in which way: key and MAC faults unsigned, those of time and length signed.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace
from typing import Final

from server.answer.rejection import Rcode
from server.transfer.key import Key, Keyring
from server.transfer.tsig import (
    MacChain,
    Tsig,
    TsigRcode,
    append_tsig,
    new_tsig,
    read_tsig,
    tsig_bytes,
    without_tsig,
)

_SHORTEST_MAC_BYTES: Final = 10
_TIME_BYTES: Final = 6
_MESSAGE_BYTES: Final = 65535
_TRUNCATED: Final = 0x02
_HEADER_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Signed:
    """A request whose signature holds; `plain` is the request without it."""

    key: Key
    mac: bytes
    plain: bytes

    def sign(self, reply: bytes, question_end: int, limit_bytes: int, now_s: float) -> bytes:
        """Return the signed reply; one that becomes too long is cut to its question, with TC set (RFC 8945 section 5.3)."""
        if len(reply) + tsig_bytes(self.key) > limit_bytes:
            flags = bytes((reply[2] | _TRUNCATED, reply[3] & 0xF0))
            reply = reply[:2] + flags + reply[4:6] + bytes(6) + reply[_HEADER_BYTES:question_end]
        return MacChain(self.key, self.mac).sign(reply, new_tsig(self.key, reply, now_s))

    def stream(self) -> StreamSigner:
        """Return what signs the messages of a reply that is a stream."""
        return StreamSigner(self)


class StreamSigner:
    """Signs the messages of one transfer, all of them but those that a signature makes too long (RFC 8945 section 5.3.1)."""

    def __init__(self, request: Signed) -> None:
        self._key = request.key
        self._chain = MacChain(request.key, request.mac)

    def sign(self, message: bytes, now_s: float) -> bytes:
        if len(message) + tsig_bytes(self._key) > _MESSAGE_BYTES:
            self._chain.skip(message)
            return message
        return self._chain.sign(message, new_tsig(self._key, message, now_s))


@dataclass(frozen=True, slots=True)
class Received:
    """A packet that is signed: where its question ends and its TSIG record begins, and the OPT record of replies, or nothing."""

    packet: bytes
    question_end: int
    tsig_at: int
    opt: bytes = b""


def judge_signature(received: Received, keys: Keyring, now_s: float) -> Signed | bytes:
    """Return the request when its signature holds, else the reply that says why it does not."""
    packet = received.packet
    try:
        tsig = read_tsig(packet, received.tsig_at)
    except ValueError:
        return _bare(received, Rcode.FORMERR)
    key = keys.get(tsig.key_name)
    if key is None or key.algorithm.wire != tsig.algorithm:
        return _unsigned(received, tsig, TsigRcode.BADKEY)
    whole_bytes = key.algorithm.mac_bytes
    if not max(_SHORTEST_MAC_BYTES, whole_bytes // 2) <= len(tsig.mac) <= whole_bytes:
        return _bare(received, Rcode.FORMERR)
    plain = without_tsig(packet, received.tsig_at, tsig.original_id)
    mac = MacChain(key).mac(plain, tsig)
    if not hmac.compare_digest(mac[: len(tsig.mac)], tsig.mac):
        return _unsigned(received, tsig, TsigRcode.BADSIG)
    signed = Signed(key, tsig.mac, packet[:2] + plain[2:])
    if abs(now_s - tsig.time_s) > tsig.fudge_s:
        return _signed(signed, received, tsig, TsigRcode.BADTIME, int(now_s).to_bytes(_TIME_BYTES, "big"))
    if len(tsig.mac) < whole_bytes:
        return _signed(signed, received, tsig, TsigRcode.BADTRUNC)
    return signed


def bare_reply(packet: bytes, question_end: int, opt: bytes, rcode: Rcode) -> bytes:
    """Return a reply of header, question and OPT record."""
    opcode_bits = packet[2] & 0x78
    flags = bytes((0x80 | opcode_bits | (0 if opcode_bits else packet[2] & 1), rcode))
    counts = packet[4:6] + bytes(5) + bytes((bool(opt),))
    return packet[:2] + flags + counts + packet[_HEADER_BYTES:question_end] + opt


def _bare(received: Received, rcode: Rcode) -> bytes:
    return bare_reply(received.packet, received.question_end, received.opt, rcode)


def _fault(received: Received, tsig: Tsig, error: TsigRcode, other: bytes = b"") -> Tsig:
    return replace(tsig, mac=b"", original_id=received.packet[:2], error=error, other=other)


def _unsigned(received: Received, tsig: Tsig, error: TsigRcode) -> bytes:
    return append_tsig(_bare(received, Rcode.NOTAUTH), _fault(received, tsig, error))


def _signed(signed: Signed, received: Received, tsig: Tsig, error: TsigRcode, other: bytes = b"") -> bytes:
    """Return a fault that is signed; BADTIME repeats the time of the request (RFC 8945 section 5.2.3)."""
    reply = _bare(received, Rcode.NOTAUTH)
    return MacChain(signed.key, signed.mac).sign(reply, _fault(received, tsig, error, other))
