"""What refusals of transfers and notices look like: the RCODE, and for people the reason (RFC 8914).

Owns the reason of each RCODE. Never decides who is refused.
"""

from __future__ import annotations

from typing import Final

from server.answer.rejection import FORMERR, NOT_READY, NOTIMP, PROHIBITED, Rcode, Rejection
from server.edns.extended_error import ExtendedError
from server.transfer.signature import bare_reply

NOTAUTH: Final = Rejection(Rcode.NOTAUTH, ExtendedError.NOT_AUTHORITATIVE)

_BY_RCODE: Final = {each.rcode: each for each in (FORMERR, NOTAUTH, NOTIMP, NOT_READY, PROHIBITED)}


def refusal(packet: bytes, question_end: int, opt: bytes, rcode: Rcode) -> bytes:
    """Return a reply of header, question and OPT record, which tells the reason."""
    return bare_reply(packet, question_end, _BY_RCODE[rcode].explained(opt), rcode)
