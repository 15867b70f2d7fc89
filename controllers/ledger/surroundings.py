"""What every provider's controllers work with: the client, the caches they share, the event recorder and the clocks.

Owns the shared caches and their indexes. Decides nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from controllers.api.provider import Provider
from controllers.api.zone_class import ZoneClass
from controllers.api.zone_unit import ZoneUnit
from controllers.runtime.recorder import EventRecorder
from kube.client import Client
from kube.informer import Informer
from kube.timestamp import utc_now

ZONE_INDEX: Final = "ledger/zone"
"""Parts of a ledger by the key of their Zone."""
CLASS_INDEX: Final = "ledger/class"
"""Parts 0 by the key of their ZoneClass."""


@dataclass(frozen=True, slots=True)
class LedgerInformers:
    """The caches that all providers share with core; the manager runs them."""

    providers: Informer[Provider]
    zone_classes: Informer[ZoneClass]
    zone_units: Informer[ZoneUnit]

    def register_indexes(self) -> None:
        """Add the indexes that gathering and event mapping need; call once, before the informers run."""
        self.zone_units.add_index(ZONE_INDEX, lambda unit: (unit.spec.zone.ref.key,))
        self.zone_units.add_index(
            CLASS_INDEX, lambda unit: (unit.spec.zone.zone_class_ref.key,) if unit.spec.part == 0 else ()
        )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Given to a provider when it is attached to a manager."""

    client: Client
    informers: LedgerInformers
    recorder: EventRecorder
    wall_clock: Callable[[], datetime] = utc_now
    clock: Callable[[], float] = time.monotonic
