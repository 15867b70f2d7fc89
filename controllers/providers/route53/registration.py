"""The provider as a part of the product."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from controllers.ledger.binding import Binding
from controllers.ledger.registration import (
    AttachedProvider,
    Choice,
    EnabledProvider,
    Registration,
    Setting,
    SettingError,
)
from controllers.ledger.surroundings import Surroundings
from controllers.providers.route53.binding import PROVIDER_NAME, REQUESTS_PER_S, Patience, Route53Config
from controllers.providers.route53.contract import provider_manifest
from controllers.providers.route53.endpoint import ENDPOINT
from controllers.providers.route53.identity.admission import IDENTITY
from controllers.providers.route53.identity.resource import ROUTE53_IDENTITIES, parse_identity
from kube.informer import Informer

KINDS: Final = (IDENTITY,)
PATIENCE: Final = Patience()

_ACCOUNTS: Final = re.compile(r"[0-9]{12}(,[0-9]{12})*")


def route53(config: Route53Config) -> EnabledProvider:
    """Return the provider with a configuration."""
    return EnabledProvider(partial(_attach, config), KINDS)


def _attach(config: Route53Config, surroundings: Surroundings) -> AttachedProvider:
    from controllers.providers.route53.controller import (
        Route53Provider,
    )  # the AWS SDK need not be installed before this

    identities = Informer(surroundings.client, ROUTE53_IDENTITIES, parse_identity)
    return AttachedProvider(lambda: Route53Provider(surroundings, identities, config), (identities,))


def _configure(choice: Choice) -> EnabledProvider:
    settings = choice.settings
    accounts = str(settings.get("allowed_accounts", "")).replace(" ", "")
    if accounts and not _ACCOUNTS.fullmatch(accounts):
        raise SettingError(
            "allowed_accounts", "found a text that is no list; allowed: AWS account IDs of 12 digits, with commas"
        )
    numbers = {
        name: float(settings.get(name, default))
        for name, default in (
            ("requests_per_second", REQUESTS_PER_S),
            ("reobserve_seconds", PATIENCE.observe_s),
            ("change_check_seconds", PATIENCE.change_s),
            ("retry_seconds", PATIENCE.retry_s),
        )
    }
    for name, value in numbers.items():
        if not 0 < value < float("inf"):
            raise SettingError(name, f"found {value:g}, allowed: a number over 0")
    patience = Patience(
        observe_s=numbers["reobserve_seconds"],
        change_s=numbers["change_check_seconds"],
        retry_s=numbers["retry_seconds"],
    )
    return route53(
        Route53Config(
            binding=choice.binding,
            allowed_accounts=frozenset(accounts.split(",")) if accounts else frozenset(),
            requests_per_s=numbers["requests_per_second"],
            patience=patience,
        )
    )


ROUTE53: Final = Registration(
    name="route53",
    title="Route 53",
    binding=Binding.of(PROVIDER_NAME),
    provider_manifest=provider_manifest,
    configure=_configure,
    endpoint=ENDPOINT,
    kinds=KINDS,
    settings=(
        Setting("allowed_accounts", "", "AWS account IDs, with commas, that identities may name; all when empty."),
        Setting("requests_per_second", REQUESTS_PER_S, "Requests a second to Route 53, for each AWS account."),
        Setting(
            "reobserve_seconds", PATIENCE.observe_s, "Seconds between two looks at a hosted zone in a stable state."
        ),
        Setting("change_check_seconds", PATIENCE.change_s, "Seconds between two questions about a change under way."),
        Setting("retry_seconds", PATIENCE.retry_s, "Seconds before the first retry of what failed for the time being."),
    ),
    libraries=("boto3",),
)
