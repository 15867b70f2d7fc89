"""TSIG keys (RFC 8945 section 6) from files, as an operator or a mounted Secret provides them.

Owns the two spellings of a key and the errors for files that hold none. Never shows a secret, neither in errors nor in logs.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from server.text import name_text
from zonemodel.name import WireName, to_wire

_FORMS: Final = 'lines of ALGORITHM:NAME:BASE64 or statements of key "NAME" { algorithm ALGORITHM; secret "BASE64"; };'
_STATEMENT: Final = re.compile(r'key\s+"?([^\s"{;]+)"?\s*\{([^}]*)\}\s*;?')
_COMMENT: Final = re.compile(r"/\*.*?\*/|(?:(?<![^\s;{}])//|#)[^\n]*", re.DOTALL)
"""Two slashes within a word are Base64."""
_WORDS: Final = re.compile(r'(algorithm|secret)\s+"?([^\s";]+)"?\s*;')


class KeyFileError(Exception):
    """A key file that cannot be used; the message names it and what is allowed, never what a secret is."""


class Algorithm(Enum):
    """The algorithms of our keys: name on the wire, and the hash function."""

    HMAC_SHA256 = (to_wire("hmac-sha256"), "sha256", 32)
    HMAC_SHA384 = (to_wire("hmac-sha384"), "sha384", 48)
    HMAC_SHA512 = (to_wire("hmac-sha512"), "sha512", 64)

    def __init__(self, wire: WireName, hash_name: str, mac_bytes: int) -> None:
        self.wire = wire
        self.hash_name = hash_name
        self.mac_bytes = mac_bytes


_ALGORITHMS: Final = {f"hmac-{each.hash_name}": each for each in Algorithm}


@dataclass(frozen=True, slots=True)
class Key:
    """One shared secret; `name` is lowercase."""

    name: WireName
    algorithm: Algorithm
    secret: bytes = field(repr=False)


Keyring = Mapping[WireName, Key]


def read_keys(paths: Sequence[Path]) -> Keyring:
    """Return the keys of all files, and of the files in all folders, by name; raises KeyFileError."""
    found: dict[WireName, Key] = {}
    origin: dict[WireName, Path] = {}
    for path in key_files(paths):
        for key in parse_keys(_text(path), str(path)):
            if found.setdefault(key.name, key) != key:
                other = f"differs from that in {origin[key.name]}, allowed is one"
                raise KeyFileError(f"{path}: the key {name_text(key.name)} {other}")
            origin.setdefault(key.name, path)
    return found


def parse_keys(text: str, source: str) -> Iterator[Key]:
    """Yield the keys of a file; raises KeyFileError when it holds none, or something beside them."""
    plain = _COMMENT.sub(" ", text)
    number = 0
    for match in _STATEMENT.finditer(plain):
        words = dict(_WORDS.findall(match[2]))
        number += 1
        yield _key(match[1], words.get("algorithm", ""), words.get("secret", ""), f"{source}: key {number}")
    for line in _STATEMENT.sub(" ", plain).split():
        number += 1
        algorithm, first, rest = line.partition(":")
        name, second, secret = rest.partition(":")
        if not first or not second:
            raise KeyFileError(f"{source}: key {number} has another form, allowed are {_FORMS}")
        yield _key(name, algorithm, secret, f"{source}: key {number}")
    if not number:
        raise KeyFileError(f"{source}: found no key, allowed are {_FORMS}")


def _key(name: str, algorithm: str, secret: str, place: str) -> Key:
    found = _ALGORITHMS.get(algorithm.lower().removesuffix("."))
    if found is None:
        raise KeyFileError(f"{place} has the algorithm {algorithm!r}, allowed are {', '.join(_ALGORITHMS)}")
    try:
        octets = base64.b64decode(secret, validate=True)
    except binascii.Error as error:
        raise KeyFileError(f"{place} has a secret that is not Base64: {error}") from error
    if not octets:
        raise KeyFileError(f"{place} has an empty secret, at least one octet is needed")
    try:
        return Key(key_name(name), found, octets)
    except ValueError as error:
        raise KeyFileError(f"{place} has a name that is none: {error}") from error


def key_name(text: str) -> WireName:
    """Return the octets of a key's name, which is a domain name other than the root; raises ValueError."""
    name = to_wire(text.lower())
    if len(name) == 1:
        raise ValueError("the name is empty")
    return name


def key_files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield files; of a folder all but hidden ones, among which Kubernetes keeps earlier versions of a mount.

    Raises KeyFileError for a folder that cannot be read.
    """
    for path in paths:
        if path.is_dir():
            try:
                found = sorted(each for each in path.iterdir() if not each.name.startswith(".") and each.is_file())
            except OSError as error:
                raise KeyFileError(f"cannot read the key folder {path}: {error.strerror}") from error
            yield from found
        else:
            yield path


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise KeyFileError(f"cannot read the key file {path}: {reason}") from error
