"""What can be wrong with a data directory or a write, each with a message that says what to do about it.

StoreError
|- DataDirError              the directory cannot be used; nothing was changed
|  |- DataDirUnusableError   missing permission, not a directory, not one of ours
|  |- DataDirInUseError      another process holds it
|  `- DataDirVersionError    written by another version of this program
|- CommitError               a commit did not reach the disk; nothing of it is visible
|- VersionTooOldError        the history no longer reaches back to the version asked for
`- ObjectTooLargeError       the encoded object is over the limit
"""

from __future__ import annotations

from typing import Final


class StoreError(Exception):
    """Anything the store refuses or fails at."""


class DataDirError(StoreError):
    """The data directory cannot be used."""


class DataDirUnusableError(DataDirError):
    """The directory cannot be created, written or read as a store."""


class DataDirInUseError(DataDirError):
    """Another process has the directory open."""


class DataDirVersionError(DataDirError):
    """The directory was written in a format this program does not read."""


_REMEDIES: Final = {
    "SQLITE_FULL": "make room on the disk of the data directory",
    "SQLITE_BUSY": "close the program that holds the file in the data directory",
    "SQLITE_READONLY": "make the data directory writable",
    "SQLITE_IOERR": "look after the disk of the data directory",
}


def remedy_of(error: Exception) -> str:
    """What is to be done about a failure of the disk; "" when nothing is known."""
    name = getattr(error, "sqlite_errorname", "")  # the module's own refusals have none
    return next((text for code, text in _REMEDIES.items() if name.startswith(code)), "")


class CommitError(StoreError):
    """The commit failed; no part of it is durable or visible."""

    @classmethod
    def of(cls, error: Exception) -> CommitError:
        """Return what a failed transaction means to whoever wanted the change."""
        remedy = remedy_of(error)
        return cls(f"the change could not be written to disk: {error}{remedy and f'; {remedy}'}")


class VersionTooOldError(StoreError):
    """A version older than the kept history was asked for; `oldest` is the first that can be continued from."""

    def __init__(self, requested: int, oldest: int) -> None:
        super().__init__(f"resource version {requested} is older than the kept history, which begins at {oldest}")
        self.requested = requested
        self.oldest = oldest


class ObjectTooLargeError(StoreError):
    """An encoded object exceeds the limit that etcd, and so Kubernetes, sets."""

    def __init__(self, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"object of {size_bytes} bytes is over the limit of {limit_bytes} bytes")
        self.size_bytes = size_bytes
        self.limit_bytes = limit_bytes
