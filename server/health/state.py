"""What health and metrics read of a running name server.

Owns no state: the name server has these attributes, its observers know nothing else of it.
"""

from __future__ import annotations

from typing import Protocol

from server.catalog import Catalog
from server.counters import Counters
from server.listeners import Listeners
from server.transfer.service import Transfers
from server.zone_files import ZoneFiles


class ServerState(Protocol):
    """A name server as its observers see it."""

    @property
    def catalog(self) -> Catalog: ...
    @property
    def transfers(self) -> Transfers: ...
    @property
    def listeners(self) -> Listeners: ...
    @property
    def zone_files(self) -> ZoneFiles: ...
    @property
    def is_draining(self) -> bool: ...

    @property
    def counters(self) -> Counters:
        """What has been counted up to now."""

    @property
    def is_ready(self) -> bool:
        """Whether queries are answered from zones: all of them known once, or at least those of the cache."""

    def snapshot_age_s(self) -> float | None:
        """Return how old the view of the API server is, infinite before the first; None when there is no API server."""
