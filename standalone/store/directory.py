"""The data directory: that it can be written, and that this process alone uses it.

Owns the lock file. Never touches the database inside.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from standalone.store.failure import DataDirInUseError, DataDirUnusableError

LOCK_NAME = "lock"


class DataDir:
    """A directory held for this process from `open` to `close`. The kernel releases it when the process dies."""

    def __init__(self, path: Path, lock_fd: int) -> None:
        self.path = path
        self._lock_fd = lock_fd

    @classmethod
    def open(cls, path: Path) -> DataDir:
        """Create the directory when missing and lock it. Raises DataDirUnusableError or DataDirInUseError."""
        lock_path = path / LOCK_NAME
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock_fd = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DataDirUnusableError(
                f"data directory {path} cannot be used: {error.strerror}; choose a writable directory with --data-dir"
            ) from error
        try:
            fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(lock_fd, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(lock_fd)
            raise DataDirInUseError(
                f"data directory {path} is in use by process {holder}; stop it or choose another --data-dir"
            ) from error
        with suppress(OSError):  # it is only for a message, and a full disk can still be read
            os.ftruncate(lock_fd, 0)
            os.pwrite(lock_fd, f"{os.getpid()}\n".encode(), 0)
        return cls(path, lock_fd)

    def close(self) -> None:
        """Give the directory back."""
        os.close(self._lock_fd)
