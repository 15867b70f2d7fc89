"""Server cookies that servers of any make understand when they share the secret (RFC 7873, RFC 9018).

Owns how a cookie is made and whether one is ours. Never decides what becomes of a query without one.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from siphashc import siphash

from server.network import address_octets

SECRET_BYTES: Final = 16
CLIENT_BYTES: Final = 8

_VERSION: Final = b"\x01\x00\x00\x00"
"""Version 1 and three reserved octets (RFC 9018 section 4)."""

_SERVER_BYTES: Final = 16
_PAST_S: Final = 3600
_FUTURE_S: Final = 300
_RENEW_S: Final = 1800
_SECONDS: Final = 1 << 32


class CookieSecretError(Exception):
    """A file of cookie secrets that cannot be used; the message says why."""


class Cookies:
    """Makes cookies with the first secret and takes those of all: a secret that is to come, or to go, stands behind it.

    Without secrets one is drawn, which other servers and the next start do not know.
    """

    def __init__(self, keys: Sequence[bytes] = (), now_s: Callable[[], float] = time.time) -> None:
        self._now_s = now_s
        self._keys: tuple[bytes, ...] = ()
        self._followers: list[Callable[[tuple[bytes, ...]], None]] = []
        self.replace(keys)

    def replace(self, keys: Sequence[bytes]) -> None:
        """Go over to these secrets (RFC 9018 section 5)."""
        self._keys = tuple(keys) or (secrets.token_bytes(SECRET_BYTES),)
        for follower in self._followers:
            follower(self._keys)

    def follow(self, follower: Callable[[tuple[bytes, ...]], None]) -> None:
        """Have somebody else who answers cookies told of the secrets, now and whenever they are replaced."""
        self._followers.append(follower)
        follower(self._keys)

    def answer(self, cookie: bytes, client: str) -> bytes | None:
        """Return what the COOKIE option of a reply holds, for what that of the query held; None when its form is wrong.

        The client's own part comes back with a server part, the one received when that is good and young.
        """
        size = len(cookie)
        if size != CLIENT_BYTES and not 16 <= size <= 40:
            return None  # RFC 7873 section 5.2.2
        now = int(self._now_s())
        address = address_octets(client)
        if size == CLIENT_BYTES + _SERVER_BYTES and (now - _made_at(cookie)) % _SECONDS <= _RENEW_S:
            first = siphash(self._keys[0], cookie[:16] + address).to_bytes(8, "little")
            if secrets.compare_digest(first, cookie[16:]):
                return cookie
        head = cookie[:CLIENT_BYTES] + _VERSION + (now % _SECONDS).to_bytes(4, "big")
        return head + siphash(self._keys[0], head + address).to_bytes(8, "little")

    def is_ours(self, cookie: bytes, client: str) -> bool:
        """Say whether the query's cookie holds a server part that this address was given not long ago."""
        if len(cookie) != CLIENT_BYTES + _SERVER_BYTES or cookie[8] != _VERSION[0]:
            return False
        age_s = (int(self._now_s()) - _made_at(cookie) + _FUTURE_S) % _SECONDS  # serial arithmetic, as RFC 1982 has it
        if age_s > _PAST_S + _FUTURE_S:
            return False
        hashed = cookie[:16] + address_octets(client)
        return any(
            secrets.compare_digest(siphash(key, hashed).to_bytes(8, "little"), cookie[16:]) for key in self._keys
        )


def _made_at(cookie: bytes) -> int:
    return int.from_bytes(cookie[12:16], "big")


def read_secrets(path: Path) -> tuple[bytes, ...]:
    """Return the secrets of a file: 32 hexadecimal digits a line, the one to make cookies with first, # begins a comment.

    Raises CookieSecretError, which names the line.
    """
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise CookieSecretError(f"cannot read the cookie secrets in {path}: {error}") from error
    found = [_secret(path, number, line) for number, line in enumerate(text.splitlines(), 1) if _content(line)]
    if not found:
        raise CookieSecretError(f"{path} holds no cookie secret, one or more lines of 32 hexadecimal digits are needed")
    return tuple(found)


def _content(line: str) -> str:
    return line.partition("#")[0].strip()


def _secret(path: Path, number: int, line: str) -> bytes:
    digits = _content(line)
    try:
        secret = bytes.fromhex(digits)
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES or len(digits) != 2 * SECRET_BYTES:
        raise CookieSecretError(
            f"{path}:{number}: found {len(digits)} characters, allowed are 32 hexadecimal digits, such as from"
            " `openssl rand -hex 16`"
        )
    return secret
