"""The provider as a part of the product."""

from __future__ import annotations

from functools import partial
from typing import Final

from controllers.core.providercontract.own_kind import OwnKind
from controllers.ledger.registration import AttachedProvider, Choice, EnabledProvider, Registration, Setting
from controllers.ledger.surroundings import Surroundings
from controllers.probe.address import DNS_PORT
from controllers.probe.exchange import NetworkExchange
from controllers.probe.prober import Prober
from controllers.providers.hosted.binding import BINDING, SERVER_SERVICE, HostedConfig
from controllers.providers.hosted.contract import provider_manifest
from controllers.providers.hosted.controller import HostedProvider
from controllers.providers.hosted.definition import HOSTED_ZONE
from controllers.providers.hosted.endpoint import ENDPOINT
from controllers.providers.hosted.view import HostedInformers

KINDS: Final = (OwnKind(HOSTED_ZONE),)


def hosted(config: HostedConfig) -> EnabledProvider:
    """Return the provider with a configuration."""
    return EnabledProvider(partial(_attach, config), KINDS)


def _attach(config: HostedConfig, surroundings: Surroundings) -> AttachedProvider:
    """The prober outlives a leadership, and its clock with it: half a proof of a withdrawal is lost with the process only."""
    informers = HostedInformers.of(surroundings.client, config, surroundings.informers)
    prober = Prober(NetworkExchange(), DNS_PORT, surroundings.wall_clock)
    return AttachedProvider(lambda: HostedProvider(surroundings, informers, prober, config), informers.all)


def _configure(choice: Choice) -> EnabledProvider:
    service = str(choice.settings.get("server_service", SERVER_SERVICE))
    return hosted(HostedConfig(choice.namespace, service, choice.binding))


HOSTED: Final = Registration(
    name="hosted",
    title="hosted",
    binding=BINDING,
    provider_manifest=provider_manifest,
    configure=_configure,
    endpoint=ENDPOINT,
    kinds=KINDS,
    settings=(
        Setting(
            "server_service",
            SERVER_SERVICE,
            "Service whose ready endpoints are the name servers.",
            fixed_in_up=True,
        ),
    ),
    enabled=False,
)
