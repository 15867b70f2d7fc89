"""Snapshots put together by hand: a few lines of the standard library, nothing of the codec that they test."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from typing import Any

ZONE = "example.com"
Pair = tuple[str, str]


def b64(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().replace("=", "")


def sha(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


def gzip(
    content: bytes, *, flags: int = 0, mtime: int = 0, system: int = 255, rest: bytes = b"", crc: int = 0
) -> bytes:
    """A gzip member; `crc` spoils the checksum, `rest` follows the member."""
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = bytes([0x1F, 0x8B, 8, flags]) + mtime.to_bytes(4, "little") + bytes([2, system])
    tail = (zlib.crc32(content) ^ crc).to_bytes(4, "little") + (len(content) % 2**32).to_bytes(4, "little")
    return head + stream.compress(content) + stream.flush() + tail + rest


def marker(owner: str, kind: str, target: str, **more: str) -> str:
    fields = {"record-version": "2", "record-type": kind, "record-target": b64(target.encode()), **more}
    start = "heritage=dnsweaver" + (f",instance={owner}" if owner else "")
    return start + "".join(f",{key}={fields[key]}" for key in sorted(fields))


def page_of(content: bytes, **changes: Any) -> bytes:
    return ("dnsweaver-page=v1:" + b64(gzip(content, **changes))).encode()


def page(pairs: Sequence[Pair], **changes: Any) -> bytes:
    return page_of(json.dumps([{"name": name, "value": value} for name, value in pairs]).encode(), **changes)


def manifest(
    owner: str, revision: int, previous: bytes, pages: Sequence[bytes], entries: int, /, **changes: Any
) -> bytes:
    """`changes` replaces fields, or adds some; None leaves one out."""
    content = {
        "version": 1,
        "owner": owner,
        "revision": revision,
        "previous": sha(previous) if previous else "",
        "pages": [sha(each) for each in pages],
        "entries": entries,
        **changes,
    }
    return manifest_of(json.dumps({key: value for key, value in content.items() if value is not None}).encode())


def manifest_of(content: bytes) -> bytes:
    return ("dnsweaver-state=v1:" + b64(content)).encode()


def page_at(owner: str, value: bytes) -> str:
    return f"_dw-p.{sha(owner.encode())[:16]}.{sha(value)[:32]}.{ZONE}"


def state_at(owner: str) -> str:
    return f"_dnsweaver-state.{sha(owner.encode())[:16]}.{ZONE}"


SHARED_STATE = f"_dnsweaver-state.{ZONE}"
EMPTY = manifest("prod", 1, b"", [], 0)

WWW = (f"_dnsweaver.www.{ZONE}", marker("prod", "A", "192.0.2.1"))
MAIL = (f"_dnsweaver.{ZONE}", marker("prod", "MX", "10 mail.example.com"))
ONE_PAGE = page([WWW])
ONE = manifest("prod", 1, b"", [ONE_PAGE], 1)

MANY_PAIRS = sorted(
    (f"_dnsweaver.h{number}.{ZONE}", marker("prod", "A", f"198.51.100.{number}")) for number in range(90)
)
MANY_PAGES = [page(MANY_PAIRS[at : at + 5]) for at in range(0, 90, 5)]
MANY = manifest("prod", 1, b"", MANY_PAGES, 90)

LEGACY_PAGE = page([(WWW[0], marker("", "A", "192.0.2.1"))])
LEGACY = manifest("", 1, b"", [LEGACY_PAGE], 1)

SECOND_PAGE = page([MAIL])
SECOND = manifest("prod", 2, ONE, [SECOND_PAGE, ONE_PAGE], 2)
THIRD = manifest("prod", 3, SECOND, [SECOND_PAGE], 1)
CHAIN = (ONE, SECOND, THIRD)
