"""The provider as a part of the product. Off unless it is switched on."""

from __future__ import annotations

from functools import partial
from typing import Final

from controllers.ledger.registration import AttachedProvider, Choice, EnabledProvider, Registration
from controllers.ledger.surroundings import Surroundings
from controllers.probe.exchange import NetworkExchange
from controllers.probe.pace import Pace
from controllers.probe.prober import Prober
from controllers.providers.external.binding import BINDING, ExternalConfig
from controllers.providers.external.contract import provider_manifest
from controllers.providers.external.controller import ExternalProvider
from controllers.providers.external.endpoint import ENDPOINT


def external(config: ExternalConfig) -> EnabledProvider:
    """Return the provider with a configuration."""
    return EnabledProvider(partial(_attach, config))


def _attach(config: ExternalConfig, surroundings: Surroundings) -> AttachedProvider:
    """The pace outlives a leadership: servers do not care who of us asks."""
    prober = Prober(NetworkExchange(Pace(config.queries_per_s)), config.port, surroundings.wall_clock)
    return AttachedProvider(lambda: ExternalProvider(surroundings, prober, config))


def _configure(choice: Choice) -> EnabledProvider:
    return external(ExternalConfig(choice.binding))


EXTERNAL: Final = Registration(
    name="external",
    title="external",
    binding=BINDING,
    provider_manifest=provider_manifest,
    configure=_configure,
    endpoint=ENDPOINT,
    enabled=False,
)
