"""The CloudflareIdentity controller: reads the token, has it checked, and says what came of it.

Owns `CloudflareIdentity.status` and which accounts can be operated on. The token goes from the Secret into a client and nowhere else. An
outage of the API takes no working identity away: what is known of a token stays known until the API says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from controllers.api.condition import (
    Condition,
    ConditionStatus,
    ConditionType,
    changed_conditions,
    headline,
    merge_conditions,
)
from controllers.api.patch import guard
from controllers.core.providercontract.fault import tell
from controllers.ledger.identity import READY
from controllers.ledger.surroundings import Surroundings
from controllers.providers.cloudflare.account import Accounts
from controllers.providers.cloudflare.binding import CloudflareConfig
from controllers.providers.cloudflare.client import CloudflareClient
from controllers.providers.cloudflare.identity.check import CheckResult, check_token
from controllers.providers.cloudflare.identity.resource import (
    CLOUDFLARE_IDENTITIES,
    CloudflareIdentity,
    CloudflareIdentityStatus,
    IdentityReason,
)
from controllers.providers.cloudflare.identity.rule import judge_spec
from controllers.providers.cloudflare.pace import Paces
from controllers.providers.cloudflare.secret import NoToken, Token, read_token
from controllers.runtime.controller import Requeue
from controllers.runtime.recorder import EventType
from kube.backoff import Backoff
from kube.errors import NotFound
from kube.informer import Informer
from kube.object import ObjectKey, ObjectReference
from kube.timestamp import time_text

SOON_S: Final = 1.0


@dataclass(slots=True)
class _Check:
    """The last check of one identity; `inputs` is the state of identity and Secret that it was made for.

    `made` and `due` are on the clock of waiting times; `at` and `following` are times of day for people.
    """

    inputs: tuple[str, int, str]
    result: CheckResult
    made: float
    due: float
    failures: int
    at: str
    following: str


class IdentityReconciler:
    """Reconciles one identity by key."""

    def __init__(
        self,
        surroundings: Surroundings,
        identities: Informer[CloudflareIdentity],
        accounts: Accounts,
        paces: Paces,
        config: CloudflareConfig,
    ) -> None:
        self._surroundings = surroundings
        self._identities = identities
        self._accounts = accounts
        self._paces = paces
        self._config = config
        self._checks: dict[ObjectKey, _Check] = {}
        patience = config.patience
        self._backoff = Backoff(patience.retry_s, patience.retry_s, patience.retry_at_most_s)

    def forget_check(self, key: ObjectKey) -> None:
        """Have the identity checked at the next look, unless that was done a moment ago.

        The API may refuse a token for one request that it calls active for another: the two do not chase each other.
        """
        check, now = self._checks.get(key), self._surroundings.clock()
        if check is not None and now - check.made >= self._config.patience.refusal_s:
            check.due = now

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Bring one identity's status, and whether its account can be operated on, to what the API says."""
        identity = self._identities.get(key)
        if identity is None or identity.deleting:
            self._forget(key)
            return None
        faults = judge_spec({"spec": identity.spec.dump()}, None)
        if faults:
            self._forget(key)
            refusal = _condition(ConditionType.ACCEPTED, False, IdentityReason.INVALID_SECRET_REF, f"{tell(faults)}.")
            await self._write(identity, self._status(identity, [refusal], None))
            return None
        token = await read_token(self._surroundings.client, key.namespace, identity.spec.access_token.secret_ref)
        if isinstance(token, NoToken):
            self._forget(key)
            unready = _condition(READY, False, token.reason, token.message)
            await self._write(identity, self._status(identity, [*_accepted(), unready], None))
            return None
        check = await self._checked(identity, token)
        ready = _condition(
            READY, check.result.status is ConditionStatus.TRUE, check.result.reason, check.result.message
        )
        await self._write(identity, self._status(identity, [*_accepted(), ready], check))
        return Requeue(max(check.due - self._surroundings.clock(), SOON_S))

    async def _checked(self, identity: CloudflareIdentity, token: Token) -> _Check:
        """Return the check of the present token, made anew when it is due."""
        key, clock = identity.key, self._surroundings.clock
        inputs = (identity.meta.uid, identity.meta.generation, token.version)
        before = self._checks.get(key)
        same = before is not None and before.inputs == inputs
        if before is not None and same and clock() < before.due:
            return before
        account = self._accounts.get(key) if same else None
        client = account.client if account is not None else self._client(key, token)
        result = await check_token(client, self._surroundings.wall_clock())
        failures = before.failures + 1 if before is not None and same and result.transient else int(result.transient)
        if before is not None and same and result.transient and before.result.status is ConditionStatus.TRUE:
            result = before.result
        check = self._checks[key] = self._noted(inputs, result, failures)
        if result.account is None:
            self._accounts.drop(key)
        if account is None:
            if result.account is not None:
                client.pace = self._paces.of(result.account.id)
                self._accounts.put(key, result.account.id, client)
            else:
                self._accounts.retire(client)
        return check

    def _noted(self, inputs: tuple[str, int, str], result: CheckResult, failures: int) -> _Check:
        now, due_s = self._surroundings.wall_clock(), self._due_s(result, failures)
        following = time_text(now + timedelta(seconds=due_s))
        made = self._surroundings.clock()
        return _Check(inputs, result, made, made + due_s, failures, time_text(now), following)

    def _client(self, key: ObjectKey, token: Token) -> CloudflareClient:
        return CloudflareClient(token.text, self._config.address, self._paces.of(f"identity {key}"))

    def _due_s(self, result: CheckResult, failures: int) -> float:
        patience = self._config.patience
        if failures:
            return max(self._backoff.delay_s(failures), result.retry_after_s)
        due_s = patience.check_s if result.reason is IdentityReason.READY else patience.recheck_s
        if result.expires is not None:
            left_s = (result.expires - self._surroundings.wall_clock()).total_seconds()
            due_s = min(due_s, max(left_s, SOON_S))
        return due_s

    def _forget(self, key: ObjectKey) -> None:
        self._checks.pop(key, None)
        self._accounts.drop(key)

    def _status(
        self, identity: CloudflareIdentity, wanted: list[Condition], check: _Check | None
    ) -> CloudflareIdentityStatus:
        """Return the status to have."""
        old, generation = identity.status, identity.meta.generation
        conditions = [each.model_copy(update={"observed_generation": generation}) for each in wanted]
        types = {each.type for each in conditions}
        kept = [each for each in old.conditions if each.type in types]
        return CloudflareIdentityStatus(
            observed_generation=generation,
            account=check.result.account if check is not None else None,
            access_token=check.result.token if check is not None else None,
            conditions=merge_conditions(kept, conditions, time_text(self._surroundings.wall_clock())),
            last_credential_check_time=check.at if check is not None else old.last_credential_check_time,
            next_credential_check_time=check.following if check is not None else None,
        )

    async def _write(self, identity: CloudflareIdentity, status: CloudflareIdentityStatus) -> None:
        if status == identity.status:
            return
        meta = identity.meta
        whole = [guard(meta.resource_version), {"op": "add", "path": "/status", "value": status.dump()}]
        try:
            await self._surroundings.client.patch_json(
                CLOUDFLARE_IDENTITIES, whole, name=meta.name, namespace=meta.namespace, subresource="status"
            )
        except NotFound:
            return
        about = ObjectReference.of(CLOUDFLARE_IDENTITIES, meta)
        for each in changed_conditions(identity.status.conditions, status.conditions):
            kind = EventType.NORMAL if each.status is ConditionStatus.TRUE else EventType.WARNING
            self._surroundings.recorder.event(about, kind, each.reason, headline(each))


def _accepted() -> Iterator[Condition]:
    yield _condition(ConditionType.ACCEPTED, True, IdentityReason.ACCEPTED, "")


def _condition(kind: str, holds: bool, reason: IdentityReason, message: str) -> Condition:
    status = ConditionStatus.TRUE if holds else ConditionStatus.FALSE
    return Condition(type=str(kind), status=status, reason=reason.value, message=message)
