"""The Route53Identity controller: says of each identity whether it is accepted as it is written, and whether its credential works.

Owns `Route53Identity.status` and the events of its conditions.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from controllers.api.condition import Condition, ConditionStatus, changed_conditions, headline, merge_conditions
from controllers.ledger.identity import READY
from controllers.ledger.surroundings import Surroundings
from controllers.providers.route53.binding import Patience, Route53Config
from controllers.providers.route53.identity.check import Check, check_identity
from controllers.providers.route53.identity.resource import (
    ACCEPTED_TYPE,
    ROUTE53_IDENTITIES,
    IdentityReason,
    Route53Identity,
    Route53IdentityStatus,
)
from controllers.providers.route53.identity.rule import IdentityFault, static_faults, tell
from controllers.providers.route53.session import Chain, Sessions, is_region
from controllers.runtime.controller import Requeue
from controllers.runtime.recorder import EventType
from kube.backoff import Backoff
from kube.errors import NotFound
from kube.informer import Informer
from kube.object import ObjectKey, ObjectReference
from kube.timestamp import time_text

SHORTEST_S: Final = 0.05
BORNE_FAILURES: Final = 2


@dataclass(slots=True)
class _Checked:
    """The last check of one state of an identity; `due` is the moment of the next one, None for none.

    `at` and `next_at` are both as times of day.
    """

    generation: int
    check: Check
    due: float | None
    failures: int
    at: str
    next_at: str | None


class IdentityReconciler:
    """Reconciles one identity by key."""

    def __init__(
        self,
        surroundings: Surroundings,
        identities: Informer[Route53Identity],
        config: Route53Config,
        sessions: Sessions,
        threads: Executor,
    ) -> None:
        self._surroundings = surroundings
        self._identities = identities
        self._config = config
        self._sessions = sessions
        self._threads = threads
        self._checked: dict[ObjectKey, _Checked] = {}
        patience = config.patience
        self._retry = Backoff(patience.retry_s, 2 * patience.retry_s, patience.retry_limit_s)

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Judge an identity, check its credential when that is due, and write what is new."""
        identity = self._identities.get(key)
        if identity is None or identity.deleting:
            self._checked.pop(key, None)
            self._sessions.forget(key)
            return None
        faults = list(static_faults(identity.spec, self._config.allowed_accounts, is_region))
        if faults:
            self._checked.pop(key, None)
            self._sessions.forget(key)
            await self._write(identity, _refused(identity, faults, time_text(self._surroundings.wall_clock())))
            return None
        known, now = self._checked.get(key), self._surroundings.clock()
        if (
            known is None
            or known.generation != identity.meta.generation
            or (known.due is not None and known.due <= now)
        ):
            known = await self._check(key, identity, known)
        await self._write(identity, self._status(identity, known))
        return Requeue(max(known.due - self._surroundings.clock(), SHORTEST_S)) if known.due is not None else None

    async def _check(self, key: ObjectKey, identity: Route53Identity, before: _Checked | None) -> _Checked:
        check = await check_identity(Chain(key, identity.spec), self._sessions, self._threads)
        former = before if before is not None and before.generation == identity.meta.generation else None
        failures = 0 if check.ready else (former.failures if former is not None else 0) + 1
        wait_s = self._wait_s(check, failures, self._config.patience)
        moment, due, next_at = self._surroundings.wall_clock(), None, None
        if wait_s is not None:
            due, next_at = self._surroundings.clock() + wait_s, time_text(moment + timedelta(seconds=wait_s))
        if former is not None and former.check.ready and _may_be_nothing(check, failures):
            check = former.check
        known = _Checked(identity.meta.generation, check, due, failures, time_text(moment), next_at)
        self._checked[key] = known
        return known

    def _wait_s(self, check: Check, failures: int, patience: Patience) -> float | None:
        if check.ready:
            return patience.credential_s
        if not check.passes:
            return None
        return max(self._retry.delay_s(failures - 1), check.retry_after_s or 0.0)

    def _status(self, identity: Route53Identity, known: _Checked) -> Route53IdentityStatus:
        check = known.check
        status = ConditionStatus.TRUE if check.ready else ConditionStatus.FALSE
        wanted = (
            _condition(identity, ACCEPTED_TYPE, ConditionStatus.TRUE, IdentityReason.ACCEPTED, ""),
            _condition(identity, READY, status, check.reason, check.message),
        )
        return Route53IdentityStatus(
            observed_generation=identity.meta.generation,
            account_id=check.account,
            conditions=merge_conditions(identity.status.conditions, wanted, known.at),
            last_credential_check_time=known.at,
            next_credential_check_time=known.next_at,
        )

    async def _write(self, identity: Route53Identity, status: Route53IdentityStatus) -> None:
        old = identity.status
        if status == old:
            return
        meta = identity.meta
        dumped = status.dump()
        cleared = {name: None for name in old.dump() if name not in dumped}  # a merge patch drops what is null
        patch = {"metadata": {"resourceVersion": meta.resource_version}, "status": {**cleared, **dumped}}
        try:
            await self._surroundings.client.patch_merge(
                ROUTE53_IDENTITIES, patch, name=meta.name, namespace=meta.namespace, subresource="status"
            )
        except NotFound:
            return
        about = ObjectReference.of(ROUTE53_IDENTITIES, meta)
        for each in changed_conditions(old.conditions, status.conditions):
            kind = EventType.NORMAL if each.status is ConditionStatus.TRUE else EventType.WARNING
            self._surroundings.recorder.event(about, kind, each.reason, headline(each))


def _may_be_nothing(check: Check, failures: int) -> bool:
    """Say whether an identity that was ready stays so for now: every zone of it would be told otherwise, and a moment later again."""
    return check.reason is IdentityReason.PROVIDER_UNAVAILABLE and failures <= BORNE_FAILURES


def _refused(identity: Route53Identity, faults: list[IdentityFault], now: str) -> Route53IdentityStatus:
    """Return the status of an identity that is not accepted: nothing is known of its credential then."""
    wanted = _condition(identity, ACCEPTED_TYPE, ConditionStatus.FALSE, faults[0].reason, tell(faults))
    before = [each for each in identity.status.conditions if each.type != READY]
    return Route53IdentityStatus(
        observed_generation=identity.meta.generation,
        conditions=merge_conditions(before, [wanted], now),
        last_credential_check_time=identity.status.last_credential_check_time,
    )


def _condition(
    identity: Route53Identity, kind: str, status: ConditionStatus, reason: IdentityReason, message: str
) -> Condition:
    return Condition(
        type=kind,
        status=status,
        observed_generation=identity.meta.generation,
        reason=reason,
        message=message,
    )
