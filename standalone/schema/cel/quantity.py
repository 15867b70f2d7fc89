"""Kubernetes quantities (`100m`, `1.5Gi`, `2e3`) as exact decimals.

Owns parsing and a canonical text by which equal quantities compare equal.
"""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from typing import Final

_SHAPE: Final = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?"
)
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_LONGEST: Final = 128


def parse(text: str) -> Decimal:
    """Return the value; raise ValueError when the text is no quantity."""
    match = _SHAPE.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    number, suffix = Decimal(match["number"]), match["suffix"] or ""
    with localcontext() as exact:
        exact.prec = 2 * _LONGEST
        if suffix in _BINARY:
            return number * (1 << _BINARY[suffix])
        exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
        return number.scaleb(exponent)


def canonical(value: Decimal) -> str:
    """Return the value as a plain decimal without trailing zeros."""
    text = f"{value.normalize():f}"
    return "0" if text == "-0" else text
