"""Text in the form Go prints it, because API clients and people read these exact messages.

Owns the renderings of values inside messages (`%v`, `%q` and encoding/json). Never decides what a message says.
"""

from __future__ import annotations

import math
from typing import Any

import orjson

_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}
_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
_INT64_LIMIT = 1 << 63
_LARGEST_PLAIN_EXPONENT = 5


def quote(text: str) -> str:
    """Return `text` as Go's `%q` prints it: double quotes, unprintable characters escaped."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_quoted(char) for char in text) + '"'


def _quoted(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def number(value: float) -> str:
    """Return a number as Go's `%v` prints it: `5`, `0.5`, and `1e+06` for a float of a million."""
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN")
    shortest = next(text for digits in range(18) if float(text := f"{value:.{digits}e}") == value)
    mantissa, _, exponent_text = shortest.partition("e")
    exponent = int(exponent_text)
    if exponent < -4 or exponent > _LARGEST_PLAIN_EXPONENT:
        return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    places = max(0, len(mantissa.lstrip("-").replace(".", "")) - 1 - exponent)
    return f"{value:.{places}f}"


def json_text(value: Any) -> str:
    """Return compact JSON with sorted keys and HTML characters escaped, as Go's json.Marshal writes it."""
    return orjson.dumps(_integral(value), option=orjson.OPT_SORT_KEYS).decode().translate(_HTML)


def _integral(value: Any) -> Any:
    """Write whole floats without a fraction, as Go does, and integers past 64 bits as the floats Go holds them in."""
    if isinstance(value, dict):
        return {key: _integral(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_integral(item) for item in value]
    if type(value) is float and value.is_integer() and abs(value) < _INT64_LIMIT:
        return int(value)
    if type(value) is int and not -_INT64_LIMIT <= value < _INT64_LIMIT:
        return float(value)
    return value
