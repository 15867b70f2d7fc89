"""Single writes that are proved by reading back.

Owns what a lost answer and a conflict mean: nothing until the zone has been read. Never writes twice.
"""

from __future__ import annotations

from collections.abc import Collection

from ownership.backends.protocol import Backend
from ownership.error import BackendError, ConflictError, OutcomeUnknownError
from zonemodel.name import Fqdn


async def put(backend: Backend, name: Fqdn, value: bytes, seen: Collection[bytes]) -> None:
    """Add a value to a name that has the values `seen`; returns only when a read shows it.

    Raises ConflictError when the name has others meanwhile and not this one, OutcomeUnknownError when it is not there though no
    answer said why, and other BackendErrors.
    """
    trouble: ConflictError | OutcomeUnknownError | None = None
    try:
        await backend.add_txt(name, value, seen)
    except (ConflictError, OutcomeUnknownError) as error:
        trouble = error
    if value in await _read_back(backend, name, trouble):
        return
    if trouble is not None:
        raise trouble
    raise OutcomeUnknownError(f"{name}: what was written is not there")


async def remove(backend: Backend, name: Fqdn, value: bytes) -> None:
    """Delete exactly this value; returns only when a read shows that it is gone.

    Raises OutcomeUnknownError when it is still there, and other BackendErrors.
    """
    trouble: ConflictError | OutcomeUnknownError | None = None
    try:
        await backend.delete_txt(name, value)
    except (ConflictError, OutcomeUnknownError) as error:
        trouble = error
    if value not in await _read_back(backend, name, trouble):
        return
    if trouble is not None:
        raise trouble
    raise OutcomeUnknownError(f"{name}: what was deleted is still there")


async def _read_back(backend: Backend, name: Fqdn, trouble: BackendError | None) -> Collection[bytes]:
    """Return what stands at a name after a write; a read that fails leaves open what the write did, whatever it fails of."""
    try:
        return await backend.read_txt(name)
    except BackendError as error:
        raise OutcomeUnknownError(f"{name}: written to, but not read back: {error}") from (trouble or error)
