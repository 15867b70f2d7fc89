"""$GENERATE: one line of a master file for many records, an extension of BIND that others took over.

Owns the range and what $ stands for in the line. Never reads records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

MAX_GENERATED: Final = 65536
"""Records of one line: those of an IPv4 /16."""

_RANGE: Final = re.compile(r"(\d{1,10})-(\d{1,10})(?:/(\d{1,10}))?")
_DOLLAR: Final = re.compile(r"\\.|\$\$|\$(?:\{([^}]*)\})?", re.DOTALL)
_MODIFIERS: Final = re.compile(r"([+-]?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?")

FORM: Final = (
    "$GENERATE FIRST-LAST[/STEP] NAME [TTL] [IN] TYPE DATA, with $ or ${OFFSET[,WIDTH[,d|o|x|X|n|N]]} for the number"
)


class GenerateError(ValueError):
    """A line that cannot be; the message says what was found and what is allowed."""


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers of one line."""

    first: int
    last: int
    step: int

    @classmethod
    def parse(cls, text: str) -> Range:
        """Raises GenerateError."""
        found = _RANGE.fullmatch(text)
        if found is None:
            raise GenerateError(f"found the range {text!r}, allowed is FIRST-LAST or FIRST-LAST/STEP")
        first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
        if first > last or not step:
            raise GenerateError(f"found the range {text!r}, allowed is one that rises, by steps of 1 or more")
        if (last - first) // step >= MAX_GENERATED:
            raise GenerateError(f"found the range {text!r}, allowed are {MAX_GENERATED} records a line")
        return cls(first, last, step)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last + 1, self.step))


def expand(line: str, number: int) -> str:
    """Return the line with the number in it: $$ and an escaped $ stay one. Raises GenerateError."""

    def replaced(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        if found[0].startswith("\\"):
            return "$" if found[0] == "\\$" else found[0]
        return str(number) if found[1] is None else _formatted(number, found[1])

    return _DOLLAR.sub(replaced, line)


def _formatted(number: int, modifiers: str) -> str:
    found = _MODIFIERS.fullmatch(modifiers)
    if found is None:
        raise GenerateError(f"found ${{{modifiers}}}, allowed is ${{OFFSET[,WIDTH[,d|o|x|X|n|N]]}}")
    shifted, width, base = number + int(found[1]), int(found[2] or 0), found[3] or "d"
    if shifted < 0:
        raise GenerateError(f"found ${{{modifiers}}}, which makes {number} less than 0")
    return _nibbles(shifted, width, base) if base in "nN" else f"{shifted:0{width}{base}}"


def _nibbles(number: int, width: int, base: str) -> str:
    """The hexadecimal digits backwards, as names below ip6.arpa have them; an even width, of digits and dots, makes a dot the last."""
    digits = f"{number:{'x' if base == 'n' else 'X'}}".rjust((width + 1) // 2, "0")
    return ".".join(reversed(digits)) + "." * (2 * len(digits) == width)
