"""The provider's controllers as the manager runs them, and which keys a change of any object concerns.

Owns event mapping and registration only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Self

from controllers.core.providercontract.conversion.desk import ConversionDesk
from controllers.ledger.controllers import LedgerControllers
from controllers.ledger.registration import AttachedProvider
from controllers.ledger.surroundings import Surroundings
from controllers.providers.cloudflare.account import Accounts
from controllers.providers.cloudflare.binding import CloudflareConfig
from controllers.providers.cloudflare.class_rule import ClassRule
from controllers.providers.cloudflare.identity.controller import IdentityReconciler
from controllers.providers.cloudflare.identity.resource import CloudflareIdentity
from controllers.providers.cloudflare.pace import Paces
from controllers.providers.cloudflare.payload import Parameters
from controllers.providers.cloudflare.view import CLASSES_INDEX, IDENTITIES_INDEX, CloudflareInformers
from controllers.providers.cloudflare.zone_unit import ZoneUnitReconciler
from controllers.runtime.controller import Controller
from controllers.runtime.event_map import EventMap
from kube.object import ObjectKey, ObjectMeta
from kube.store import Change

NAME: Final = "cloudflare"


def attach(config: CloudflareConfig, surroundings: Surroundings) -> AttachedProvider:
    """Make the provider a part of a manager."""
    informers = CloudflareInformers.of(surroundings)
    return AttachedProvider(
        lambda: CloudflareProvider(surroundings, informers, config), (informers.identities, informers.secrets)
    )


class CloudflareProvider:
    """The three controllers of one leadership; an asynchronous context manager, at whose end connections are closed."""

    def __init__(self, surroundings: Surroundings, informers: CloudflareInformers, config: CloudflareConfig) -> None:
        self._classes = surroundings.informers.zone_classes
        self._informers = informers
        self._accounts = Accounts(self._look_at_identity_users)
        rule: ClassRule = ClassRule(informers.identities.get)
        self._ledgers: LedgerControllers[Parameters] = LedgerControllers(
            NAME,
            surroundings,
            config.binding,
            rule,
            lambda context: ZoneUnitReconciler(context, informers, self._accounts, config),
        )
        reconciler = IdentityReconciler(
            surroundings, informers.identities, self._accounts, Paces(config.pace, surroundings.clock), config
        )
        self.identities: Controller[ObjectKey] = Controller(f"{NAME}-identity", reconciler.reconcile, workers=2)
        self._reconciler = reconciler
        self._accounts.doubt = self._check_again
        self._events = EventMap()
        self._events.follow(informers.identities, self._identity, self.identities)
        self._events.follow(informers.secrets, self._identities_of_secret, self.identities)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._events.close()
        self._ledgers.close()
        await self._accounts.close()

    @property
    def controllers(self) -> Sequence[Controller[Any]]:
        return (self.identities, *self._ledgers.controllers)

    @property
    def conversions(self) -> ConversionDesk:
        return self._ledgers.conversions

    def _identity(self, change: Change[CloudflareIdentity]) -> Iterator[ObjectKey]:
        """The identity itself; the classes and zones that use it look again."""
        self._look_at_identity_users(change.key)
        yield change.key

    def _identities_of_secret(self, change: Change[ObjectMeta]) -> Iterator[ObjectKey]:
        """The identities that name the Secret."""
        yield from (each.key for each in self._informers.identities.by_index(IDENTITIES_INDEX, change.key))

    def _look_at_identity_users(self, identity: ObjectKey) -> None:
        for zone_class in self._classes.by_index(CLASSES_INDEX, identity):
            self._ledgers.look_at_class(zone_class.key)

    def _check_again(self, identity: ObjectKey) -> None:
        self._reconciler.forget_check(identity)
        self.identities.enqueue(identity)
