"""Frame Streams, the framing that dnstap collectors speak, from the sending side.

Owns control frames and the handshake. Never looks into a data frame.
"""

from __future__ import annotations

import asyncio
from enum import IntEnum
from typing import Final

_LENGTH_BYTES: Final = 4
_CONTENT_TYPE: Final = 1
_LONGEST_CONTROL_BYTES: Final = 512


class Control(IntEnum):
    """The types of control frames."""

    ACCEPT = 1
    START = 2
    STOP = 3
    READY = 4
    FINISH = 5


class FrameStreamError(Exception):
    """The other side does not speak Frame Streams, or not with our content."""


class FrameSender:
    """One connection to a collector, over streams that are open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, content_type: bytes) -> None:
        self._reader = reader
        self._writer = writer
        self._content_type = content_type

    async def open(self) -> None:
        """Agree on the content type and begin; raises FrameStreamError, and OSError or EOFError when the connection ends."""
        self._writer.write(encode_control(Control.READY, self._content_type))
        kind, content_types = await self._read_control()
        if kind != Control.ACCEPT or self._content_type not in content_types:
            raise FrameStreamError(f"found control frame {kind} with {content_types}, allowed is ACCEPT of our content")
        self._writer.write(encode_control(Control.START, self._content_type))
        await self._writer.drain()

    async def send(self, frames: list[bytes]) -> None:
        """Send data frames; raises OSError when the connection is gone."""
        self._writer.write(b"".join(len(frame).to_bytes(_LENGTH_BYTES, "big") + frame for frame in frames))
        await self._writer.drain()

    async def close(self) -> None:
        """Say that this is all and wait until the other side has read it; raises as `open` does."""
        try:
            self._writer.write(encode_control(Control.STOP))
            await self._read_control()
        finally:
            self._writer.close()

    async def _read_control(self) -> tuple[int, list[bytes]]:
        """Return the type and the content types of the next frame, which must be a control frame."""
        escape = await self._read_number()
        size = await self._read_number()
        if escape or not _LENGTH_BYTES <= size <= _LONGEST_CONTROL_BYTES:
            raise FrameStreamError(f"found frame lengths {escape} and {size}, allowed is a control frame")
        return decode_control(await self._reader.readexactly(size))

    async def _read_number(self) -> int:
        return int.from_bytes(await self._reader.readexactly(_LENGTH_BYTES), "big")


def decode_control(body: bytes) -> tuple[int, list[bytes]]:
    """Return the type of a control frame and the content types it names."""
    position, content_types = 4, []
    while position + 8 <= len(body):
        field, size = (
            int.from_bytes(body[position : position + 4], "big"),
            int.from_bytes(body[position + 4 : position + 8], "big"),
        )
        position += 8
        if field == _CONTENT_TYPE:
            content_types.append(body[position : position + size])
        position += size
    return int.from_bytes(body[:4], "big"), content_types


def encode_control(kind: Control, content_type: bytes = b"") -> bytes:
    """Return a control frame: an empty data frame announces it."""
    body = int(kind).to_bytes(4, "big")
    if content_type:
        body += _CONTENT_TYPE.to_bytes(4, "big") + len(content_type).to_bytes(4, "big") + content_type
    return bytes(_LENGTH_BYTES) + len(body).to_bytes(_LENGTH_BYTES, "big") + body
