"""`LedgerContext`: what the two reconcilers of a provider have in common, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from controllers.api.provider import Provider
from controllers.core.providercontract.conversion.zone_class import StoredClasses
from controllers.ledger.binding import Binding
from controllers.ledger.surroundings import LedgerInformers, Surroundings
from controllers.runtime.recorder import EventRecorder
from kube.object import ObjectKey
from kube.timestamp import time_text


@dataclass(frozen=True, slots=True)
class LedgerContext:
    """Whose ledgers are looked after, and with what; `stored` gives classes in the storage version."""

    surroundings: Surroundings
    binding: Binding
    stored: StoredClasses

    @property
    def informers(self) -> LedgerInformers:
        return self.surroundings.informers

    @property
    def recorder(self) -> EventRecorder:
        return self.surroundings.recorder

    def provider(self) -> Provider | None:
        """Return the Provider of the binding, None while it does not exist."""
        return self.informers.providers.get(ObjectKey("", self.binding.provider_name))

    def now(self) -> float:
        """Return the moment on the clock that waiting times are measured with, in seconds."""
        return self.surroundings.clock()

    def now_text(self) -> str:
        """Return the time of day for conditions (RFC 3339)."""
        return time_text(self.surroundings.wall_clock())
