"""The errors of ownership: broken input, snapshots that cannot be, and backends in trouble.

OwnershipError
├── FormatError           octets that are no value of the format
├── SnapshotTooLargeError claims that no snapshot can hold
├── UnknownOwnerError     an owner of whom the zone tells nothing
├── AmbiguousError        the zone does not say who owns what
├── HistoryChangedError   somebody else wrote as this owner meanwhile
└── BackendError          the zone could not be read or written
    ├── UnavailableError    nothing was read, or certainly nothing was written
    ├── RefusedError        the zone's server said no, and will again
    ├── ConflictError       the zone is not as the writer saw it
    └── OutcomeUnknownError a write was sent and no answer came
"""

from __future__ import annotations


class OwnershipError(Exception):
    """Anything that keeps ownership from being told or changed; the message is for the person who runs the program."""


class FormatError(OwnershipError):
    """Input that the format does not allow; the message names what was found and what is allowed."""


class SnapshotTooLargeError(OwnershipError):
    """More claims, or longer ones, than a snapshot holds; nothing was written."""


class UnknownOwnerError(OwnershipError):
    """The zone tells nothing of this owner, so that there is nothing to end."""


class AmbiguousError(OwnershipError):
    """The zone's ownership cannot be told; nothing was written and nothing may be deleted."""


class HistoryChangedError(OwnershipError):
    """The owner's manifests changed while a new one was prepared; reading again and trying again is safe."""


class BackendError(OwnershipError):
    """A zone that cannot be worked with now."""


class UnavailableError(BackendError):
    """A read that brought nothing, or a write that certainly changed nothing."""


class RefusedError(BackendError):
    """The server of the zone refuses, for want of permission for instance; nothing changed."""


class ConflictError(BackendError):
    """The zone is not what the write was conditional on; nothing changed, and it is no evidence of who changed what."""


class OutcomeUnknownError(BackendError):
    """A write whose answer did not come: only reading back tells whether it happened."""
