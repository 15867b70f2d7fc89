"""The log of a process as a stream that nothing waits for.

Owns that lines which are not taken at once are left out, and counted. Never knows what they say.
"""

from __future__ import annotations

import os
import select
import sys
import time
from typing import Final, TextIO, cast

_PIECE_BYTES: Final = select.PIPE_BUF
"""What a pipe that is not full takes at once."""

_PATIENCE_S: Final = 0.05
"""What a reader that was there until now gets to catch up, in one or several waits."""

_SHARE: Final = 0.05
"""How much patience comes back with time: more than this part of it nobody waits for a slow reader."""


class UnhurriedStream:
    """Lines for a descriptor whose reader may stand still or be gone: then they are left out, and how many is told later."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._readiness = select.poll()
        self._readiness.register(descriptor, select.POLLOUT)
        self._patience_s = _PATIENCE_S
        self._waited_s = 0.0
        self._left_out = 0
        self._is_cut = False

    def write(self, line: str) -> int:
        """Write a line, or nothing of it; of a long one perhaps its beginning only."""
        before = "\n" if self._is_cut else ""
        if self._left_out:
            before += f"{self._left_out} lines of the log were left out\n"
        if self._put((before + line).encode(errors="backslashreplace")):
            self._left_out = 0
        else:
            self._left_out += 1
        return len(line)

    def flush(self) -> None:
        """Nothing is held."""

    def _put(self, octets: bytes) -> bool:
        rest = memoryview(octets)
        try:
            while rest and self._takes_more():
                rest = rest[os.write(self._descriptor, rest[:_PIECE_BYTES]) :]
        except OSError:  # the reader is gone: no reason to stop working
            pass
        is_begun = len(rest) < len(octets)
        self._is_cut = bool(rest) if is_begun else self._is_cut
        return is_begun

    def _takes_more(self) -> bool:
        return bool(self._readiness.poll(0)) or (not self._left_out and self._catches_up())

    def _catches_up(self) -> bool:
        """Wait as long as there is patience."""
        began_s = time.monotonic()
        self._patience_s = min(self._patience_s + (began_s - self._waited_s) * _SHARE, _PATIENCE_S)
        is_ready = bool(self._readiness.poll(max(self._patience_s, 0.0) * 1000))
        self._waited_s = time.monotonic()
        self._patience_s -= self._waited_s - began_s
        return is_ready


def standard_error() -> TextIO:
    """Return the stream to log to."""
    try:
        descriptor = sys.stderr.fileno()
    except OSError:  # what stands for it in a test
        return sys.stderr
    return cast(TextIO, UnhurriedStream(descriptor))
