"""The TSIG keys in use: read at the start, and again whenever their files change, as mounted Secrets do.

Owns which keys hold now. A change that cannot be read keeps the keys as they were.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import structlog

from server.transfer.key import Key, KeyFileError, Keyring, key_files, read_keys
from zonemodel.name import WireName

_PERIOD_S: Final = 10.0

log = structlog.get_logger(__name__)


class KeyStore:
    """The keys of files and folders."""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        self._paths = tuple(paths)
        self._seen: object = None
        self.ring: Keyring = {}

    def load(self) -> None:
        """Read all keys; raises KeyFileError, and the keys stay as they were."""
        seen = self._state()
        self.ring = read_keys(self._paths)
        self._seen = seen

    def get(self, name: WireName) -> Key | None:
        return self.ring.get(name)

    def reload(self) -> None:
        """Read all keys again where that is possible."""
        if not self._paths:
            return
        try:
            self.load()
        except KeyFileError as error:
            log.error("keys stay as they were", reason=str(error))
        else:
            log.info("keys were read again", keys=len(self.ring))

    async def run(self) -> None:
        """Notice changes until cancelled."""
        while self._paths:
            await asyncio.sleep(_PERIOD_S)
            if await asyncio.to_thread(self._state) != self._seen:
                self.reload()
                self._seen = self._state()  # what is broken is told once

    def _state(self) -> object:
        try:
            return [(path, path.stat().st_mtime_ns, path.stat().st_size) for path in key_files(self._paths)]
        except (OSError, KeyFileError):
            return None
