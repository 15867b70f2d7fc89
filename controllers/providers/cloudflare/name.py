"""Domain names as Cloudflare's API writes them, and as we compare them.

The API keeps zones of internationalised names under their Unicode form (U-labels of RFC 5890) whichever form they were created with, and
takes either form for records. We compare A-labels, which are what a U-label encodes to by RFC 3492: nothing is mapped, since the API has
done that. Owns both directions.
"""

from __future__ import annotations

import unicodedata
from typing import Final

ACE_PREFIX: Final = "xn--"


def read_name(text: str) -> str:
    """Return a name of the API: lowercase, of A-labels, without the last dot."""
    return ".".join(map(_a_label, text.lower().rstrip(".").split(".")))


def spellings(name: str) -> tuple[str, ...]:
    """Return the forms that a name may be looked for by: as it is and, where it has another one, in Unicode."""
    return tuple(dict.fromkeys((name, ".".join(map(_u_label, name.split("."))))))


def _a_label(label: str) -> str:
    if label.isascii():
        return label
    return ACE_PREFIX + unicodedata.normalize("NFC", label).encode("punycode").decode("ascii")


def _u_label(label: str) -> str:
    if not label.startswith(ACE_PREFIX):
        return label
    try:
        text = label.removeprefix(ACE_PREFIX).encode("ascii").decode("punycode")
        text.encode()  # half of a surrogate pair can be written in Punycode and sent to nobody
    except UnicodeError:
        return label
    return text if read_name(text) == label else label
