"""The provider's controllers as the manager runs them, and which classes and zones a change of an identity concerns.

Owns event mapping, worker threads and sessions of one leadership.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Self

from controllers.core.providercontract.conversion.desk import ConversionDesk, Converter
from controllers.ledger.context import LedgerContext
from controllers.ledger.controllers import LedgerControllers
from controllers.ledger.identity import READY, current
from controllers.ledger.surroundings import Surroundings
from controllers.providers.route53.binding import Route53Config
from controllers.providers.route53.class_rule import TermsRule
from controllers.providers.route53.identity.controller import IdentityReconciler
from controllers.providers.route53.identity.resource import ACCEPTED_TYPE, Route53Identity
from controllers.providers.route53.operation import Means
from controllers.providers.route53.session import Sessions
from controllers.providers.route53.throttle import Throttles
from controllers.providers.route53.zone_unit import ZoneUnitReconciler
from controllers.runtime.controller import Controller
from controllers.runtime.event_map import EventMap
from kube.informer import Informer
from kube.object import ObjectKey
from kube.store import Change

THREADS: Final = 16
UNIT_WORKERS: Final = 8
IDENTITY_WORKERS: Final = 4


class Route53Provider:
    """All three controllers; `controllers` and `conversions` are what the manager runs while it leads."""

    def __init__(
        self,
        surroundings: Surroundings,
        identities: Informer[Route53Identity],
        config: Route53Config,
        *,
        converter: Converter | None = None,
    ) -> None:
        self._shared = surroundings.informers
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="route53")
        sessions = Sessions(config.endpoint_url, surroundings.wall_clock)
        self._means = Means(sessions, Throttles(config.requests_per_s, surroundings.clock), self._threads)
        self._config = config
        self._rule = TermsRule(identities.get)
        self._ledger = LedgerControllers(
            "route53",
            surroundings,
            config.binding,
            self._rule,
            self._zone_units,
            converter=converter,
            workers=UNIT_WORKERS,
        )
        checks = IdentityReconciler(surroundings, identities, config, sessions, self._threads)
        self.identities: Controller[ObjectKey] = Controller(
            "route53-identity", checks.reconcile, workers=IDENTITY_WORKERS
        )
        self._events = EventMap()
        self._events.follow(identities, self._identity_changed, self.identities)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._events.close()
        self._ledger.close()
        # A request that hangs in a thread ends by its own time limit; leadership does not wait for it.
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def controllers(self) -> Sequence[Controller[Any]]:
        return (self.identities, *self._ledger.controllers)

    @property
    def conversions(self) -> ConversionDesk:
        return self._ledger.conversions

    def _identity_changed(self, change: Change[Route53Identity]) -> Iterator[ObjectKey]:
        """The identity itself; its classes and their zones too, when it means something else to them."""
        if change.old is None or change.new is None or _meaning(change.old) != _meaning(change.new):
            for key, zone_class in self._shared.zone_classes.items():
                ref = zone_class.spec.identity_ref
                if ref is not None and ObjectKey(key.namespace, ref.name) == change.key:
                    self._ledger.look_at_class(key)
        yield change.key

    def _zone_units(self, context: LedgerContext) -> ZoneUnitReconciler:
        return ZoneUnitReconciler(context, self._rule, self._means, self._config.patience)


def _meaning(identity: Route53Identity) -> tuple[object, ...]:
    accepted, ready = current(identity, ACCEPTED_TYPE), current(identity, READY)
    return (
        identity.meta.generation,
        accepted.status if accepted is not None else None,
        ready.status if ready is not None else None,
    )
