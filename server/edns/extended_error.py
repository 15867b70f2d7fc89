"""Extended DNS errors (RFC 8914): the reason behind an RCODE, for people who debug.

Owns the codes that this server gives. Never changes what a reply means.
"""

from __future__ import annotations

from enum import IntEnum

from server.edns.option import EXTENDED_ERROR, encode_option


class ExtendedError(IntEnum):
    """INFO-CODEs (IANA DNS parameters)."""

    NOT_READY = 14
    PROHIBITED = 18
    NOT_AUTHORITATIVE = 20
    NOT_SUPPORTED = 21

    def option(self) -> bytes:
        """Return the option, without text: the code says it all."""
        return encode_option(EXTENDED_ERROR, self.to_bytes(2, "big"))
