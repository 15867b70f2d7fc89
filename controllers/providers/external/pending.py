"""The lines that a person has yet to put into the zone, or to take out of it.

Pure. Lines are those of a zone file (RFC 1035 section 5.1), ready to be pasted; what is to go stands in comments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from controllers.probe.answer import Answer, Outcome
from controllers.providers.external.wanted import LINE_LIMIT, Wanted
from zonemodel.record import RecordType

REMOVE: Final = "; remove: "
SHOWN_LIMIT_CHARS: Final = 256
SURPLUS_LIMIT: Final = 16


def lines_to_set(wanted: Wanted, answers: Iterable[Answer]) -> tuple[str, ...]:
    """Return the lines of the whole record set, and comments about what stands in its place."""
    found = list(answers)
    lines = [*wanted.lines]
    aliases = {answer.chain[0] for answer in found if answer.outcome is Outcome.ALIAS}
    lines += (f"{REMOVE}{wanted.owner}. CNAME {target}." for target in sorted(aliases))
    surplus = sorted(_surplus(wanted, found))
    lines += (f"{REMOVE}{each[:SHOWN_LIMIT_CHARS]}" for each in surplus[:SURPLUS_LIMIT])
    if len(surplus) > SURPLUS_LIMIT:
        lines.append(f"{REMOVE}{len(surplus) - SURPLUS_LIMIT} more records of {wanted.type} at {wanted.owner}.")
    return tuple(lines[: 2 * LINE_LIMIT])


def lines_to_remove(wanted: Wanted) -> tuple[str, ...]:
    """Return comments that name the records to take out."""
    return tuple(f"{REMOVE}{line}" for line in wanted.lines)


def _surplus(wanted: Wanted, answers: Sequence[Answer]) -> set[str]:
    served = {value for answer in answers if answer.outcome is Outcome.DATA for value in answer.values}
    return {f"{wanted.owner}. {wanted.type} {_shown(wanted.type, value)}" for value in served - wanted.values}


def _shown(kind: RecordType, value: str) -> str:
    if kind is RecordType.TXT:
        quoted = value.replace('"', '\\"')
        return f'"{quoted}"'
    return (
        f"{value}." if kind in (RecordType.CNAME, RecordType.NS, RecordType.MX) and not value.endswith(".") else value
    )
