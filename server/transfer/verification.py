"""The signatures of replies that a peer gives to our own messages (RFC 8945 section 5.4).

Owns what is believed: every reply of a signed request is signed with the same key, a stream of messages at least at both ends.
"""

from __future__ import annotations

import hmac
from typing import Final

from server.transfer.key import Key
from server.transfer.tsig import MacChain, TsigRcode, append_tsig, new_tsig, read_tsig, without_tsig

_MOST_UNSIGNED: Final = 99
"""Messages of a stream that may follow one another without a MAC (RFC 8945 section 5.3.1)."""


class SignatureError(Exception):
    """A reply that cannot be believed; the message says why."""


def sign_request(message: bytes, key: Key, now_s: float) -> tuple[bytes, Verifier]:
    """Return the signed message, and what judges the replies to it."""
    tsig = new_tsig(key, message, now_s)
    chain = MacChain(key)
    mac = chain.mac(message, tsig)
    chain.advance(mac)
    signed = append_tsig(message, tsig.with_mac(mac))
    return signed, Verifier(key, mac)


class Verifier:
    """Judges the messages of one reply, one after the other."""

    def __init__(self, key: Key, request_mac: bytes) -> None:
        self._key = key
        self._chain = MacChain(key, request_mac)
        self._unsigned = 0
        self._is_first = True

    def check(self, message: bytes, tsig_at: int | None, now_s: float) -> None:
        """Take the next message; `tsig_at` is where its TSIG record begins. Raises SignatureError."""
        if tsig_at is None:
            self._count_unsigned(message)
            return
        try:
            tsig = read_tsig(message, tsig_at)
        except ValueError as error:
            raise SignatureError(str(error)) from error
        if (tsig.key_name, tsig.algorithm) != (self._key.name, self._key.algorithm.wire):
            raise SignatureError("the reply is signed with another key")
        if tsig.error in (TsigRcode.BADKEY, TsigRcode.BADSIG):
            raise SignatureError(f"the peer says {TsigRcode(tsig.error).name}")  # such a reply has no MAC
        mac = self._chain.mac(without_tsig(message, tsig_at, tsig.original_id), tsig)
        if not hmac.compare_digest(mac, tsig.mac):
            raise SignatureError("the signature of the reply is wrong")
        if tsig.error:
            known = {each.value: each.name for each in TsigRcode}
            raise SignatureError(f"the peer says {known.get(tsig.error, tsig.error)}")
        if abs(now_s - tsig.time_s) > tsig.fudge_s:
            raise SignatureError(f"the clocks differ by {abs(now_s - tsig.time_s):.0f} s, allowed are {tsig.fudge_s}")
        self._chain.advance(mac)
        self._unsigned, self._is_first = 0, False

    def finish(self) -> None:
        """Judge the end of the reply; raises SignatureError when its last message was not signed."""
        if self._unsigned or self._is_first:
            raise SignatureError("the last message of the reply is not signed")

    def _count_unsigned(self, message: bytes) -> None:
        self._unsigned += 1
        if self._is_first or self._unsigned > _MOST_UNSIGNED:
            raise SignatureError("the reply is not signed")
        self._chain.skip(message)
