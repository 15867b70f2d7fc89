"""A folder of files that one server keeps for itself across restarts.

Owns taking it, and the words for a folder that cannot be had. Never knows what lies in it.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Final

import structlog

from server.durable import write_whole

_LOCK: Final = "lock"
_UNWRITABLE: Final = frozenset({errno.EROFS, errno.ENOSPC, errno.EDQUOT})
"""What a disk says that gives what it has and takes nothing more."""

log = structlog.get_logger(__name__)


class CacheError(Exception):
    """The cache folder cannot be used; the message says why and what to do."""


class CacheFolder:
    """One folder, used by one server at a time. Blocking: the caller takes it off the event loop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def open(self) -> None:
        """Make the folder and take it; raises CacheError when it cannot be made or written, or when another server has it.

        One that was in use before is taken also on a disk that is read-only or full by now: what it holds may be all there is to serve.
        """
        try:
            was_used = (self.path / _LOCK).exists()
            try:
                self._take_to_write()
            except OSError as error:
                if error.errno not in _UNWRITABLE or not was_used:
                    raise
                self._take(os.O_RDONLY)
                log.error("cache directory cannot be written", path=str(self.path), error=error.strerror)
        except BlockingIOError as error:
            raise CacheError(
                f"the cache directory {self.path} is in use by another server; give each server its own"
            ) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise CacheError(
                f"cannot use {self.path} as cache directory: {reason}; make it writable or choose another"
            ) from error

    def _take_to_write(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        self._take(os.O_RDWR | os.O_CREAT)
        for left_over in self.path.glob("*.new"):
            left_over.unlink()
        write_whole(self.path / "probe", b"")
        (self.path / "probe").unlink()

    def _take(self, flags: int) -> None:
        self.close()
        self._lock = os.open(self.path / _LOCK, flags | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        """Let another server have the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
