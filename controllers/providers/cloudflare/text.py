"""TXT contents as Cloudflare's API writes them: quoted character strings, one or several, or the bare text.

Pure. Owns both directions. What was declared is compared by its octets, so quotes, escapes and the places where a text is split are
no difference (RFC 1035 section 5.1 for the quoted form).
"""

from __future__ import annotations

import re
from typing import Final

from zonemodel.record import MAX_STRING_OCTETS

_STRING: Final = re.compile(r'\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(\d{3}|.)", re.DOTALL)


def quote(text: str) -> str:
    """Return a declared text as content: quoted strings of at most 255 octets."""
    octets = text.encode()
    chunks = [octets[at : at + MAX_STRING_OCTETS] for at in range(0, len(octets), MAX_STRING_OCTETS)] or [b""]
    return " ".join(f'"{_escape(chunk)}"' for chunk in chunks)


def readings(content: str) -> tuple[bytes, ...]:
    """Return what a content may say, likeliest first: its quoted strings together, and the content as it stands."""
    bare = content.encode()
    quoted = _unquote(content)
    return (bare,) if quoted is None or quoted == bare else (quoted, bare)


def _unquote(content: str) -> bytes | None:
    """Return the octets of a sequence of quoted strings, None when the content is not wholly one."""
    said, position = bytearray(), 0
    end = len(content.rstrip())
    while position < end:
        match = _STRING.match(content, position)
        if match is None:
            return None
        said += _unescape(match.group(1))
        position = match.end()
    return bytes(said) if position else None


def _unescape(text: str) -> bytes:
    said, position = bytearray(), 0
    for match in _ESCAPE.finditer(text):
        said += text[position : match.start()].encode()
        escaped = match.group(1)
        said += (
            bytes((int(escaped),))
            if escaped.isdecimal() and len(escaped) == 3 and int(escaped) < 256
            else escaped.encode()
        )
        position = match.end()
    return bytes(said + text[position:].encode())


def _escape(octets: bytes) -> str:
    said = []
    for octet in octets:
        if octet in b'"\\':
            said.append("\\" + chr(octet))
        elif 0x20 <= octet < 0x7F:
            said.append(chr(octet))
        else:
            said.append(f"\\{octet:03d}")
    return "".join(said)
