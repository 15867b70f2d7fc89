"""Refusals: an RCODE, and for people the reason behind it.

Owns what they look like in a reply. Never decides who is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from server.edns.extended_error import ExtendedError
from server.zone.table import Answer, heads

_EXTENDED_RCODE_AT: Final = 5
_LENGTH_AT: Final = 9
_OPTIONS_AT: Final = 11


class Rcode(IntEnum):
    """RCODEs that the server gives of its own accord (IANA DNS parameters)."""

    NOERROR = 0
    FORMERR = 1
    SERVFAIL = 2
    NOTIMP = 4
    REFUSED = 5
    NOTAUTH = 9
    BADVERS = 16
    BADCOOKIE = 23


@dataclass(frozen=True, slots=True)
class Rejection:
    """One kind of refusal."""

    rcode: Rcode
    reason: ExtendedError | None = None

    def answer_to(self, opcode: int) -> Answer:
        """Return the reply's content, which is none."""
        return Answer(heads(opcode << 11 | self.rcode & 0xF, 0, 0, 0), b"")

    def explained(self, opt: bytes) -> bytes:
        """Return an OPT record, empty without EDNS, with the upper bits of the RCODE and the reason in it."""
        if not opt:
            return opt
        options = opt[_OPTIONS_AT:] + (b"" if self.reason is None else self.reason.option())
        head = opt[:_EXTENDED_RCODE_AT] + bytes((self.rcode >> 4,)) + opt[_EXTENDED_RCODE_AT + 1 : _LENGTH_AT]
        return head + len(options).to_bytes(2, "big") + options


FORMERR: Final = Rejection(Rcode.FORMERR)
NOTIMP: Final = Rejection(Rcode.NOTIMP, ExtendedError.NOT_SUPPORTED)
BADVERS: Final = Rejection(Rcode.BADVERS)
BADCOOKIE: Final = Rejection(Rcode.BADCOOKIE)
PROHIBITED: Final = Rejection(Rcode.REFUSED, ExtendedError.PROHIBITED)
NOT_OURS: Final = Rejection(Rcode.REFUSED, ExtendedError.NOT_AUTHORITATIVE)
NOT_READY: Final = Rejection(Rcode.SERVFAIL, ExtendedError.NOT_READY)
