"""Rules about times: those of the SOA, and those of signatures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from server import rdtype
from server.lint.content import Content
from server.lint.finding import Finding, error, warning
from server.text import name_text, type_text

_DAY_S: Final = 86400
_WEEK_S: Final = 7 * _DAY_S
_EXPIRATION_AT: Final = 8
_HALF: Final = 1 << 31


def soa_times_fit_together(content: Content) -> Iterator[Finding]:
    """RFC 1912 section 2.2, RFC 2308 section 5."""
    for record in content.of_type(rdtype.SOA):
        refresh_s, retry_s, expire_s, minimum_s = (
            int.from_bytes(record.rdata[at : at + 4 or None], "big") for at in (-16, -12, -8, -4)
        )
        if retry_s >= refresh_s:
            yield warning(record.place, f"SOA retry is {retry_s}, allowed is less than refresh, {refresh_s}")
        if expire_s < refresh_s + retry_s:
            yield warning(
                record.place,
                f"SOA expire is {expire_s}: secondaries drop the zone before a second try, at {refresh_s + retry_s}",
            )
        elif expire_s < _WEEK_S:
            yield warning(record.place, f"SOA expire is {expire_s}, a week ({_WEEK_S}) or more outlives an outage")
        if minimum_s > _DAY_S:
            yield warning(
                record.place,
                f"SOA minimum is {minimum_s}: that names are missing is remembered for that long, a day ({_DAY_S}) is much",
            )


def signatures_are_good_yet(content: Content) -> Iterator[Finding]:
    """RFC 4034 section 3.1.5: after its expiration a signature makes its set bogus."""
    now_s = int(time.time())
    told: set[int] = set()
    for record in content.of_type(rdtype.RRSIG):
        expires_s = int.from_bytes(record.rdata[_EXPIRATION_AT : _EXPIRATION_AT + 4], "big")
        age_s = (now_s - expires_s) % (1 << 32)
        if age_s < _HALF and expires_s not in told:
            told.add(expires_s)
            covered = type_text(int.from_bytes(record.rdata[:2], "big"))
            when = datetime.fromtimestamp(expires_s, UTC).isoformat()
            yield error(
                record.place,
                f"the signature of {name_text(record.owner)} {covered} has expired at {when}: sign the zone again",
            )
