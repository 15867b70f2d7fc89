"""The ZoneUnit controller: gathers one zone, brings it and its records to what the ledger says, and writes what became of it.

Owns the order of things within one look at a zone and the waiting times between two looks. Before anything is created the provider's
finalizer stands on every part. Whatever cannot be known is told as unknown and changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from controllers.api.group import RECONCILE_REQUEST
from controllers.api.reason import Reason
from controllers.api.verdict import ACCEPTED, Verdict, refused, waiting
from controllers.api.zone_unit import ZoneUnit, ZoneUnitStatus
from controllers.ledger.context import LedgerContext
from controllers.ledger.reporter import Reporter
from controllers.ledger.result import Hold, ItemResult, ZoneResult
from controllers.ledger.standing import IDENTITY_REASONS, PASSED_ON, Stage, judge_class_of, stage_of
from controllers.providers.cloudflare.account import Account, Accounts
from controllers.providers.cloudflare.binding import CloudflareConfig
from controllers.providers.cloudflare.class_rule import ClassRule
from controllers.providers.cloudflare.clean_up import CleanUp, last_policy
from controllers.providers.cloudflare.desired import Items
from controllers.providers.cloudflare.failure import CloudflareError, TokenRefusedError, TurnError
from controllers.providers.cloudflare.identity.resource import is_ready
from controllers.providers.cloudflare.intent import Intents, parse_intents
from controllers.providers.cloudflare.memory import ZoneMemory, inputs_of
from controllers.providers.cloudflare.ownership.announcement import Announcer
from controllers.providers.cloudflare.ownership.desk import desk_of
from controllers.providers.cloudflare.payload import Parameters
from controllers.providers.cloudflare.record_step import GONE, RecordStep, RecordWork, recorded_ids
from controllers.providers.cloudflare.view import CloudflareInformers, CloudflareView, gather, identity_key
from controllers.providers.cloudflare.zone_step import ZoneStep, ensure_zone, managed_id, noted_account, zone_data
from controllers.runtime.controller import Requeue
from kube.backoff import Backoff
from kube.object import ObjectKey

UNFOLLOWED: Final = waiting(Reason.RECONCILING, "Nothing is changed at Cloudflare until the ZoneClass can be followed.")
SOON_S: Final = 0.05


class ZoneUnitReconciler:
    """Reconciles one zone by the key of its Zone, over all parts of its ledger."""

    def __init__(
        self, context: LedgerContext, informers: CloudflareInformers, accounts: Accounts, config: CloudflareConfig
    ) -> None:
        patience = config.patience
        self._context = context
        self._informers = informers
        self._accounts = accounts
        self._config = config
        self._rule = ClassRule(informers.identities.get)
        self._reporter = Reporter(context, {Hold.PENDING: 0.0, Hold.OUTAGE: patience.outage_s})
        self._announcer = Announcer(context.recorder)
        self._memories: dict[ObjectKey, ZoneMemory] = {}
        self._backoff = Backoff(patience.retry_s, patience.retry_s, patience.retry_at_most_s)

    def forget_unit(self, part: ObjectKey) -> None:
        """Note that a part of a ledger has gone."""
        self._reporter.forget_unit(part)

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        """Look at one zone, unless the last look was a moment ago and nothing has changed since."""
        view = gather(self._context, self._informers, self._accounts, key)
        stage = stage_of(view, self._config.binding)
        if stage is Stage.LEAVE:
            self._forget(key)
            return None
        if stage is Stage.WAIT:
            return Requeue(self._config.patience.resync_s)
        memory, inputs = self._memories.setdefault(key, ZoneMemory()), inputs_of(view)
        if (rest_s := memory.rest_s(inputs, self._context.now())) > 0:
            return Requeue(rest_s)
        memory.inputs = None
        main = view.main
        if main is not None:
            memory.heed(main.meta.annotations.get(RECONCILE_REQUEST))
        if stage is Stage.CLEAN_UP or main is None:
            due_s = await self._clean_up(view, memory)
            if due_s is None:
                self._forget(key)
                return None
        else:
            due_s = await self._maintain(view, main, memory)
            await self._reporter.release_spent(view.parts)
        again = self._reporter.look_again(key, due_s)
        memory.inputs, memory.due = inputs, self._context.now() + again.after_s
        return again

    async def _maintain(self, view: CloudflareView, main: ZoneUnit, memory: ZoneMemory) -> float:
        items = memory.items.items_of(view.parts)
        rule = judge_class_of(view, main, self._config.binding, self._rule, PASSED_ON | IDENTITY_REASONS)
        if rule.parameters is None:
            await self._report_blocked(view, items, ZoneResult(rule.verdict, UNFOLLOWED))
            return self._config.patience.resync_s
        if view.identity is None or not is_ready(view.identity):
            message = f"CloudflareIdentity {_identity_name(view)} is not ready."
            unready = refused(Reason.PROVIDER_IDENTITY_NOT_READY, message)
            await self._report_blocked(view, items, ZoneResult(ACCEPTED, unready))
            return self._config.patience.resync_s
        if view.account is None:
            return self._config.patience.resync_s  # its token is about to be checked, which is told of
        await self._reporter.hold(view.parts)
        return await self._work(view, main, memory, items, rule.parameters, view.account)

    async def _work(
        self,
        view: CloudflareView,
        main: ZoneUnit,
        memory: ZoneMemory,
        items: tuple[Items, ...],
        parameters: Parameters,
        account: Account,
    ) -> float:
        """Look at the zone, then at its records; returns when to look again."""
        status = self._reporter.status_of(main)
        known = managed_id(status)
        intents = parse_intents(status.provider.state if status.provider is not None else None)

        async def note(noted: Intents) -> None:
            await self._reporter.note(main, noted.dump())

        home = noted_account(status)
        zone = await ensure_zone(account, main.spec.zone, known, parameters, intents, note, home)
        if isinstance(zone.failure, TurnError):
            return zone.failure.retry_after_s  # nothing was asked, so nothing is told
        if zone.adopted and zone.fact is not None:
            self._announcer.zone_adopted(main, zone.fact.id)
        told = _zone_result(zone, parameters, home)
        if not zone.usable or zone.fact is None:
            unsure = zone.failure is not None or zone.intents.zone_since is not None
            nothing = zone.fact is None and not unsure and (known is None or zone.missing)
            await self._report_blocked(view, items, told, nothing_made=nothing, zone_missing=zone.missing)
            return self._next_s(view, memory, zone.failure, self._config.patience.refusal_s)
        if zone.created or zone.adopted:
            # The identifier has to be on record before anything is done in the zone.
            await self._report_blocked(view, items, told)
        work = RecordWork(
            account.client,
            view.key,
            zone.fact,
            memory,
            self._config.patience,
            self._announcer,
            note,
            self._context.now(),
            desk_of(account.client, zone.fact, parameters),
        )
        step = await work.run([item for part in items for item in part], self._statuses(view), zone.intents)
        if step.unlisted and isinstance(step.failure, TurnError):
            return step.failure.retry_after_s
        await self._report(view, items, replace(told, ledger_state=step.intents.dump()), step)
        return self._next_s(view, memory, step.failure, step.next_s)

    async def _clean_up(self, view: CloudflareView, memory: ZoneMemory) -> float | None:
        """Bring a deleting ledger to its end; returns when to look again, None when it is let go."""
        main = view.main
        if main is None:
            await self._reporter.let_go(view.key, view.parts)
            return None
        rule = judge_class_of(view, main, self._config.binding, self._rule)
        status = self._reporter.status_of(main)
        parameters = rule.parameters
        policy = parameters.zone_deletion_policy if parameters is not None else last_policy(status)
        items = memory.items.items_of(view.parts)

        async def note(noted: Intents) -> None:
            await self._reporter.note(main, noted.dump())

        clean_up = CleanUp(
            view, main, policy, memory, self._config.patience, self._announcer, note, self._context.now(), parameters
        )
        step = await clean_up.run([item for part in items for item in part], self._statuses(view), status)
        if step.done:
            await self._reporter.let_go(view.key, view.parts)
            return None
        results = [[step.results.get(item.key, ItemResult(step.programmed)) for item in part] for part in items]
        told = ZoneResult(ACCEPTED, step.programmed, data=step.data, ledger_state=step.intents.dump())
        await self._reporter.report(view.key, view.parts, told, items, results)
        return self._next_s(view, memory, step.failure, step.next_s)

    async def _report(self, view: CloudflareView, items: Sequence[Items], zone: ZoneResult, step: RecordStep) -> None:
        results = [[step.results[item.key] for item in part] for part in items]
        await self._reporter.report(view.key, view.parts, zone, items, results)

    async def _report_blocked(
        self,
        view: CloudflareView,
        items: Sequence[Items],
        zone: ZoneResult,
        *,
        nothing_made: bool = False,
        zone_missing: bool = False,
    ) -> None:
        """Report a zone whose records cannot be looked at; with `nothing_made` there are none of ours, so deletions are complete."""
        verdict = _carried(zone.programmed)
        entries = {entry.key: entry for status in self._statuses(view) for entry in status.record_sets}
        results = [
            [
                GONE
                if nothing_made
                and item.source.deletion_requested
                and (zone_missing or not recorded_ids(entries.get(item.key)))
                else ItemResult(verdict)
                for item in part
            ]
            for part in items
        ]
        await self._reporter.report(view.key, view.parts, zone, items, results)

    def _statuses(self, view: CloudflareView) -> list[ZoneUnitStatus]:
        return [self._reporter.status_of(part) for part in view.parts]

    def _next_s(
        self, view: CloudflareView, memory: ZoneMemory, failure: CloudflareError | None, next_s: float | None
    ) -> float:
        """Return when to look again: after a failure later and later, else when something is expected, at last anyway."""
        patience = self._config.patience
        if failure is not None:
            memory.failures += 1
            if isinstance(failure, TokenRefusedError) and view.zone_class is not None:
                identity = identity_key(view.zone_class)
                if identity is not None:
                    self._accounts.doubt(identity)
            return max(self._backoff.delay_s(memory.failures - 1), failure.retry_after_s)
        memory.failures = 0
        resync_s = patience.resync_s * random.uniform(0.9, 1.1)
        return max(min(next_s, resync_s), SOON_S) if next_s is not None else resync_s

    def _forget(self, key: ObjectKey) -> None:
        self._memories.pop(key, None)
        self._reporter.forget_zone(key)


def _zone_result(zone: ZoneStep, parameters: Parameters, home: str | None) -> ZoneResult:
    state = {"zoneDeletionPolicy": parameters.zone_deletion_policy.value}
    account = zone.fact.account_id if zone.fact is not None else home
    return ZoneResult(
        accepted=zone.accepted,
        programmed=zone.programmed,
        name_servers=zone.fact.name_servers if zone.fact is not None else None,
        data=zone_data(zone.fact) if zone.fact is not None else None,
        state=state if account is None else {**state, "account": account},
        ledger_state=zone.intents.dump(),
    )


def _carried(zone: Verdict) -> Verdict:
    """Return what an item is told when the zone itself is what keeps it from being looked at."""
    if zone.accepted:
        return refused(Reason.PROVIDER_CHANGE_PENDING, "The zone is there; its records come next.")
    return Verdict(zone.status, zone.reason, "The zone cannot be worked on, see the Zone's conditions.")


def _identity_name(view: CloudflareView) -> ObjectKey | None:
    return identity_key(view.zone_class) if view.zone_class is not None else None
