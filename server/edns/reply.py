"""What the OPT record of a reply says back to the options of a query.

Owns which options are known: NSID (RFC 5001), COOKIE (RFC 7873), edns-tcp-keepalive (RFC 7828) and Padding (RFC 7830). All others are
ignored. Works in place, without objects, since resolvers send cookies with every query.
"""

from __future__ import annotations

from typing import Final

from server.edns.cookie import Cookies
from server.edns.option import (
    COOKIE,
    HEADER_BYTES,
    KEEPALIVE,
    NSID,
    PADDING,
    decode_options,
    encode_option,
)
from server.transport import Transport

PADDING_BLOCK_BYTES: Final = 468
"""What the length of a padded reply is a multiple of (RFC 8467 section 4.1)."""

_NSID: Final = NSID.to_bytes(2, "big")
_COOKIE: Final = COOKIE.to_bytes(2, "big")
_COOKIE_HEAD: Final = encode_option(COOKIE, bytes(24))[:HEADER_BYTES]
_KEEPALIVE: Final = KEEPALIVE.to_bytes(2, "big")
_PADDING: Final = PADDING.to_bytes(2, "big")
_KEEPALIVE_UNITS_PER_S: Final = 10
_LONGEST_KEEPALIVE: Final = 0xFFFF


class OptionReplies:
    """The options of one server's replies; `nsid` is empty where it has none, `idle_s` is how long a silent stream is kept."""

    def __init__(self, cookies: Cookies | None = None, nsid: bytes = b"", idle_s: float = 10.0) -> None:
        self.cookies = cookies or Cookies()
        self._nsid = encode_option(NSID, nsid) if nsid else b""
        self._keepalive = _keepalive_option(idle_s)

    def end_streams(self) -> None:
        """Ask clients from now on to close their connections (RFC 7828 section 3.3.2)."""
        self._keepalive = _keepalive_option(0)

    def reply(self, options: bytes, client: str, transport: Transport) -> tuple[bytes, bool]:
        """Return the reply's options, and whether it is to be padded.

        Raises ValueError for options that are cut short and for a cookie of a wrong form: both are FORMERR.
        """
        found, padded, cookie = b"", False, False
        position, most = 0, len(options)
        while position < most:
            code, data_at = options[position : position + 2], position + HEADER_BYTES
            position = data_at + int.from_bytes(options[position + 2 : data_at], "big")
            if code == _COOKIE and not cookie:  # of several the first counts (RFC 7873 section 5.2)
                answer = self.cookies.answer(options[data_at:position], client)
                if answer is None:
                    raise ValueError("a cookie has a wrong length")
                cookie = True
                found += _COOKIE_HEAD + answer
            elif code == _NSID and self._nsid not in found:
                found += self._nsid
            elif code == _KEEPALIVE and transport and self._keepalive not in found:
                found += self._keepalive
            elif code == _PADDING:
                padded = transport is Transport.TLS  # in the clear it would only cost octets (RFC 7830 section 6)
        if position != most:
            raise ValueError("an EDNS option is cut short")
        return found, padded

    def trusts(self, options: bytes, client: str) -> bool:
        """Say whether the options prove that the client gets what is sent to its address."""
        cookie = next((data for code, data in decode_options(options) if code == COOKIE), b"")
        return self.cookies.is_ours(cookie, client)


def _keepalive_option(idle_s: float) -> bytes:
    units = min(int(idle_s * _KEEPALIVE_UNITS_PER_S), _LONGEST_KEEPALIVE)
    return encode_option(KEEPALIVE, units.to_bytes(2, "big"))


def has_cookie(options: bytes) -> bool:
    """Say whether the options, which are whole, hold a cookie."""
    return any(code == COOKIE for code, _ in decode_options(options))


def padding_for(size_bytes: int) -> bytes:
    """Return the option that makes a reply of this size, its OPT record included, end at a block's end."""
    return encode_option(PADDING, bytes(-(size_bytes + HEADER_BYTES) % PADDING_BLOCK_BYTES))
