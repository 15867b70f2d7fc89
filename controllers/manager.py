"""The manager: caches, controllers and leader election of one process.

Owns what runs together and in which order it starts. Knows no provider by name. Never decides anything about a zone. Admission is active
in every process as soon as its caches are complete, controllers only in the one that holds the Lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, closing, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import structlog

from controllers.api.group import (
    NAMESPACES,
    PROVIDERS,
    RECORD_SETS,
    ZONE_CLASSES,
    ZONE_UNITS,
    ZONES,
)
from controllers.api.provider import parse_provider
from controllers.api.record_set import parse_record_set
from controllers.api.zone import parse_zone
from controllers.api.zone_class import parse_zone_class
from controllers.api.zone_unit import ZoneUnitParser
from controllers.apps.endpoint.aggregation import Aggregation
from controllers.apps.endpoint.conversion_api import ConversionApi
from controllers.apps.endpoint.front_proxy import front_proxy_informer, trust
from controllers.apps.endpoint.kind import KINDS as ENDPOINT_KINDS
from controllers.apps.registry import AppsConfig, attach_apps
from controllers.apps.surroundings import AppSurroundings, AttachedApp
from controllers.core.admission.handler import Admission
from controllers.core.admission.server import WebhookConfig, WebhookServer
from controllers.core.controller import Composer
from controllers.core.grant import judge_granted
from controllers.core.inputs import CoreInformers
from controllers.core.unprogrammed import Unprogrammed
from controllers.core.withdrawal.informer import WithdrawalInformers
from controllers.ledger.registration import EnabledProvider
from controllers.ledger.surroundings import LedgerInformers, Surroundings
from controllers.lookup import InformerLookups
from controllers.runtime.controller import Controller
from controllers.runtime.recorder import EventRecorder
from kube.client import Client
from kube.informer import Informer
from kube.lease import LeaseElector
from kube.object import ObjectMeta

_log = structlog.get_logger(__name__)

LEASE_NAME: Final = "dns-api-manager"


@dataclass(frozen=True, slots=True)
class ManagerConfig:
    """What the manager runs and as whom; `identity` is unique to the process, `namespace` is where the Lease stands.

    Without `webhook` nothing listens: admission is then called in process, or not at all. Without `apps` nothing is published of what
    the cluster runs. The Lease is renewed three times in `lease_duration_s`; others take over when so long nobody has.
    """

    identity: str
    namespace: str = "dns-api-system"
    providers: tuple[EnabledProvider, ...] = ()
    webhook: WebhookConfig | None = None
    apps: AppsConfig | None = None
    lease_duration_s: float = 15.0


class Manager:
    """Runs the controllers on one API server until cancelled."""

    def __init__(self, client: Client, config: ManagerConfig) -> None:
        self._client = client
        self._config = config
        units = ZoneUnitParser()
        self._core = CoreInformers(
            providers=Informer(client, PROVIDERS, parse_provider),
            zone_classes=Informer(client, ZONE_CLASSES, parse_zone_class),
            zones=Informer(client, ZONES, parse_zone),
            record_sets=Informer(client, RECORD_SETS, parse_record_set),
            zone_units=Informer(client, ZONE_UNITS, units),
            namespaces=Informer(client, NAMESPACES, ObjectMeta.parse),
            withdrawals=WithdrawalInformers.over(client),
        )
        self._core.register_indexes()
        self._core.zone_units.subscribe(lambda change: units.forget(change.key) if change.new is None else None)
        self._recorder = EventRecorder(client, "dns-api", instance=config.identity)
        shared = LedgerInformers(self._core.providers, self._core.zone_classes, self._core.zone_units)
        shared.register_indexes()
        surroundings = Surroundings(client, shared, self._recorder)
        self._providers = [provider.attach(surroundings) for provider in config.providers]
        self._apps = self._attach_apps(config.apps) if config.apps is not None else []
        self.conversion_apis = tuple(
            ConversionApi(each.endpoint) for each in config.providers if each.endpoint is not None
        )
        """How the providers of this manager convert endpoints; whoever runs the manager serves them."""
        served = config.webhook is not None and self.conversion_apis
        self._front_proxy = front_proxy_informer(client) if served else None
        own_kinds = [*ENDPOINT_KINDS, *(kind for provider in config.providers for kind in provider.kinds)]
        self.admission = Admission(InformerLookups(client, self._core), own_kinds)
        self.synced = asyncio.Event()
        """Set once every cache is complete."""

    def _attach_apps(self, config: AppsConfig) -> list[AttachedApp]:
        core, withdrawals = self._core, self._core.withdrawals
        assert withdrawals is not None, "the manager follows withdrawals"
        surroundings = AppSurroundings(
            client=self._client,
            providers=core.providers,
            zones=core.zones,
            record_sets=core.record_sets,
            namespaces=core.namespaces,
            withdrawals=withdrawals.claims,
            withdrawals_of=lambda zone: len(withdrawals.of_zone(zone)),
            grant=judge_granted,
            recorder=self._recorder,
        )
        return list(attach_apps(config, surroundings))

    async def run(self) -> None:
        """Follow the API, answer webhooks, compete for the Lease, and run the controllers while leading.

        Raises ListenError, in an ExceptionGroup, when the webhooks' address cannot be taken.
        """
        elector = self._elector()
        async with asyncio.TaskGroup() as tasks:
            for informer in (*self._informers(), *self._optional_informers()):
                tasks.create_task(informer.run())
            tasks.create_task(self._recorder.run())
            for informer in self._informers():
                await informer.synced.wait()
            self.synced.set()
            _log.info("caches are complete")
            # Before the first write of a controller: an API server may ask this very process about it. And until after the
            # last one, with caches that still follow.
            async with self._webhook():
                await elector.run(self._lead)

    def _elector(self) -> LeaseElector:
        config = self._config
        return LeaseElector(
            self._client,
            config.namespace,
            LEASE_NAME,
            config.identity,
            lease_duration_s=config.lease_duration_s,
            renew_deadline_s=config.lease_duration_s * 2 / 3,
            renew_period_s=config.lease_duration_s / 3,
        )

    def _webhook(self) -> AbstractAsyncContextManager[object]:
        config = self._config.webhook
        if config is None:
            return nullcontext()
        mounts = []
        if self._front_proxy is not None:
            trust(self._front_proxy, config.certificate.ask_clients)
            mounts.append(Aggregation(self.conversion_apis, self._front_proxy).mount)
        return WebhookServer(
            self.admission.hooks(), config.certificate, host=config.host, port=config.port, mounts=mounts
        )

    async def _lead(self) -> None:
        """Run fresh controllers: what a former leadership remembered may be out of date."""
        composer = Composer(self._client, self._core, self._recorder)
        with closing(composer), closing(Unprogrammed()) as unprogrammed:
            unprogrammed.follow(self._core)
            async with AsyncExitStack() as stack:
                controllers: list[Controller[Any]] = [*composer.controllers]
                conversions = [composer.conversions]
                for provider in self._providers:
                    leading = await stack.enter_async_context(provider.lead())
                    controllers += leading.controllers
                    conversions.append(leading.conversions)
                for app in self._apps:
                    controllers += stack.enter_context(app.lead())
                async with asyncio.TaskGroup() as tasks:
                    for controller in controllers:
                        tasks.create_task(controller.run())
                    for desk in conversions:
                        tasks.create_task(desk.run())

    def _optional_informers(self) -> Iterator[Informer[Any]]:
        """Those that nothing waits for: a cluster may lack what they follow, or not let us read it."""
        for app in self._apps:
            yield from app.optional
        if self._front_proxy is not None:
            yield self._front_proxy

    def _informers(self) -> Iterator[Informer[Any]]:
        core = self._core
        yield from (core.providers, core.zone_classes, core.zones, core.record_sets, core.zone_units, core.namespaces)
        if core.withdrawals is not None:
            yield from (core.withdrawals.claims, core.withdrawals.waivers)
        for provider in self._providers:
            yield from provider.informers
        for app in self._apps:
            yield from app.informers
