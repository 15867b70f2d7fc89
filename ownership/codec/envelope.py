"""What manifests and pages have in common: a prefix, base64url without padding, a bound and a digest of all of it.

Owns the outermost layer only. Never looks at what is inside.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Final, NewType

from ownership.error import FormatError
from ownership.naming import quoted

Digest = NewType("Digest", str)
"""SHA-256 of a whole TXT value, prefix and all, in lowercase hexadecimal digits."""

VALUE_MAX_BYTES: Final = 3500
DIGEST_DIGITS: Final = 64

_ALPHABET: Final = re.compile(rb"[A-Za-z0-9_-]*\Z")


def digest_of(value: bytes) -> Digest:
    """Return the digest of a TXT value."""
    return Digest(hashlib.sha256(value).hexdigest())


def wrap(prefix: bytes, content: bytes) -> bytes:
    """Return the TXT value that holds `content`."""
    return prefix + base64.urlsafe_b64encode(content).rstrip(b"=")


def wrapped_bytes(prefix: bytes, content_bytes: int) -> int:
    """Return how long the TXT value of a content of this length is."""
    return len(prefix) + (4 * content_bytes + 2) // 3


def unwrap(prefix: bytes, value: bytes, what: str) -> bytes:
    """Return the content of a TXT value; raises FormatError, which calls it `what`."""
    if len(value) > VALUE_MAX_BYTES:
        raise FormatError(f"{what}: found {len(value)} octets, allowed are {VALUE_MAX_BYTES}")
    if not value.startswith(prefix):
        found = quoted(value[: len(prefix)].decode("ascii", "backslashreplace"))
        raise FormatError(f"{what}: found a value that begins with {found}, allowed is {prefix.decode()}")
    text = value[len(prefix) :]
    if not _ALPHABET.match(text):
        raise FormatError(f"{what}: found characters outside of base64url, allowed is base64url without padding")
    try:
        content = base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"{what}: found base64url of an impossible length") from error
    if base64.urlsafe_b64encode(content).rstrip(b"=") != text:
        raise FormatError(f"{what}: found base64url whose last character has bits that mean nothing")
    return content
