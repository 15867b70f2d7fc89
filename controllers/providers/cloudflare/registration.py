"""The provider as a part of the product."""

from __future__ import annotations

from functools import partial
from typing import Final

from controllers.ledger.registration import AttachedProvider, Choice, EnabledProvider, Registration, Setting
from controllers.ledger.surroundings import Surroundings
from controllers.providers.cloudflare.binding import BINDING, ApiAddress, CloudflareConfig
from controllers.providers.cloudflare.contract import provider_manifest
from controllers.providers.cloudflare.endpoint import ENDPOINT
from controllers.providers.cloudflare.identity.rule import KINDS


def cloudflare(config: CloudflareConfig) -> EnabledProvider:
    """Return the provider with a configuration."""
    return EnabledProvider(partial(_attach, config), KINDS)


def _attach(config: CloudflareConfig, surroundings: Surroundings) -> AttachedProvider:
    from controllers.providers.cloudflare.controller import (
        attach,
    )  # the SDK is there where the provider is enabled only

    return attach(config, surroundings)


def _configure(choice: Choice) -> EnabledProvider:
    url = str(choice.settings.get("api_url", "")) or None
    return cloudflare(CloudflareConfig(binding=choice.binding, address=ApiAddress(url)))


CLOUDFLARE: Final = Registration(
    name="cloudflare",
    title="Cloudflare",
    binding=BINDING,
    provider_manifest=provider_manifest,
    configure=_configure,
    endpoint=ENDPOINT,
    kinds=KINDS,
    settings=(Setting("api_url", "", "Base URL of the API, when it is not Cloudflare's own."),),
    enabled=True,
    libraries=("cloudflare",),
)
