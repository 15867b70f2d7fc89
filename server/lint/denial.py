"""Rules about what proves that names do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from server import rdtype
from server.lint.content import Content
from server.lint.finding import Finding, error, warning
from server.text import name_text
from server.zone.judge import MOST_ITERATIONS


def few_iterations(content: Content) -> Iterator[Finding]:
    """RFC 9276 section 3.1, RFC 5155 section 10.3."""
    for record in content.of_type(rdtype.NSEC3PARAM):
        iterations = int.from_bytes(record.rdata[2:4], "big")
        what = f"{name_text(record.owner)} has {iterations} NSEC3 iterations"
        if iterations > MOST_ITERATIONS:
            yield error(record.place, f"{what}, allowed are {MOST_ITERATIONS} (RFC 5155 section 10.3)")
        elif iterations:
            yield warning(
                record.place, f"{what}: resolvers may take the zone for unsigned; 0 is right (RFC 9276 section 3.1)"
            )
