"""The waiver controller: keeps Accepted of every waiver, whatever has become of its claim or of the Zone.

Owns the status of waivers. Whether a waiver takes effect is the composition's to say; both go by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from controllers.api.condition import Condition, ConditionStatus, changed_conditions, headline, merge_conditions
from controllers.api.record_withdrawal import RecordWithdrawal
from controllers.api.record_withdrawal_reason import WithdrawalCondition, WithdrawalReason
from controllers.api.record_withdrawal_waiver import (
    RECORD_WITHDRAWAL_WAIVERS,
    RecordWithdrawalWaiver,
    RecordWithdrawalWaiverStatus,
)
from controllers.core.withdrawal.informer import CLAIM_INDEX, WithdrawalInformers, claim_key_of
from controllers.core.withdrawal.projector import write_status_of
from controllers.core.withdrawal.waiver import object_to_waiver
from controllers.runtime.controller import Controller
from controllers.runtime.event_map import EventMap
from controllers.runtime.recorder import EventRecorder, EventType
from kube.client import Client
from kube.object import ObjectKey, ObjectReference
from kube.store import Change
from kube.timestamp import time_text, utc_now


class WaiverReconciler:
    """Keeps the status of waivers; `controller` is what the manager runs."""

    def __init__(
        self,
        client: Client,
        informers: WithdrawalInformers,
        recorder: EventRecorder,
        wall_clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._client = client
        self._informers = informers
        self._recorder = recorder
        self._wall_clock = wall_clock
        self.controller: Controller[ObjectKey] = Controller("withdrawal-waiver", self.reconcile, workers=1)
        self._events = EventMap()
        self._events.follow(informers.waivers, keys_for_waiver, self.controller)
        self._events.follow(informers.claims, self._keys_for_claim, self.controller)

    def close(self) -> None:
        """Stop following the caches."""
        self._events.close()

    async def reconcile(self, key: ObjectKey) -> None:
        """Bring the status of one waiver to what its claim says now."""
        waiver = self._informers.waivers.get(key)
        if waiver is None:
            return
        status = judged_status(waiver, self._informers.claims.get(claim_key_of(waiver)), time_text(self._wall_clock()))
        if status == waiver.status:
            return
        await write_status_of(self._client, RECORD_WITHDRAWAL_WAIVERS, waiver.meta, status)
        about = ObjectReference.of(RECORD_WITHDRAWAL_WAIVERS, waiver.meta)
        for each in changed_conditions(waiver.status.conditions, status.conditions):
            kind = EventType.WARNING if each.status is ConditionStatus.FALSE else EventType.NORMAL
            self._recorder.event(about, kind, each.reason, headline(each), None)

    def _keys_for_claim(self, change: Change[RecordWithdrawal]) -> Iterator[ObjectKey]:
        """The waivers that name the claim; a change of its status concerns none."""
        old, new = change.old, change.new
        if old is not None and new is not None and (old.meta.uid, old.spec) == (new.meta.uid, new.spec):
            return
        yield from self._informers.waivers.keys_by_index(CLAIM_INDEX, change.key)


def judged_status(
    waiver: RecordWithdrawalWaiver, claim: RecordWithdrawal | None, now: str
) -> RecordWithdrawalWaiverStatus:
    """Return the status that a waiver has to have; `claim` is the one of the name that it gives."""
    objection = object_to_waiver(waiver, claim)
    accepted = Condition(
        type=WithdrawalCondition.ACCEPTED,
        status=ConditionStatus.TRUE if objection is None else ConditionStatus.FALSE,
        observed_generation=waiver.meta.generation,
        reason=WithdrawalReason.ACCEPTED if objection is None else WithdrawalReason.INVALID_WAIVER,
        message=objection or "",
    )
    return RecordWithdrawalWaiverStatus(
        observed_generation=waiver.meta.generation,
        conditions=merge_conditions(waiver.status.conditions, [accepted], now),
    )


def keys_for_waiver(change: Change[RecordWithdrawalWaiver]) -> Iterator[ObjectKey]:
    """The waiver itself."""
    yield change.key
