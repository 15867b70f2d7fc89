"""Validation of the status of withdrawals and waivers: a closed table of reasons, short messages, public evidence only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controllers.api.record_withdrawal_reason import WAIVER_REASONS, WITHDRAWAL_REASONS
from controllers.core.admission.claim import Manifest
from controllers.core.admission.condition import Reasons, judge_conditions
from controllers.core.admission.status import Storage, generation_of
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import Field, require_integer

MESSAGE_LIMIT_BYTES: Final = 2048


def validate_withdrawal_status(new: Manifest, old: Manifest | None, storage: Storage) -> list[Fault]:
    """Return everything that is wrong with the status of a RecordWithdrawal; `old` is the stored object."""
    status, before = Field("", new).child("status"), Field("", old).child("status")
    faults = list(_judge_generation(status, new))
    faults += judge_closed_conditions(status.child("conditions"), WITHDRAWAL_REASONS, generation_of(new))
    data = status.at("provider.data")
    if data.value != before.at("provider.data").value:
        faults += judge_evidence(data, storage)
    provider = status.child("provider")
    for name in provider.names():
        if name != "data":
            allowed = "only data; private state stands in the ZoneUnit"
            faults.append(provider.child(name).fault(allowed, FaultReason.FORBIDDEN))
    return faults


def validate_waiver_status(new: Manifest) -> list[Fault]:
    """Return everything that is wrong with the status of a RecordWithdrawalWaiver."""
    status = Field("", new).child("status")
    faults = list(_judge_generation(status, new))
    faults += judge_closed_conditions(status.child("conditions"), WAIVER_REASONS, generation_of(new))
    return faults


def judge_closed_conditions(conditions: Field, reasons: Reasons, limit_generation: int) -> Iterator[Fault]:
    """Object to conditions outside a table that no Provider adds to, and to long messages."""
    yield from judge_conditions(conditions, reasons, lambda *_: False, limit_generation)
    for item in conditions.items():
        message = item.child("message")
        if message.text is not None and len(message.text.encode(errors="replace")) > MESSAGE_LIMIT_BYTES:
            yield message.fault(f"at most {MESSAGE_LIMIT_BYTES} bytes", FaultReason.TOO_LONG)


def judge_evidence(data: Field, storage: Storage) -> Iterator[Fault]:
    """Object to evidence that the storage version of the Provider does not describe."""
    if isinstance(storage, Contract):
        yield from storage.judge_withdrawal_data(data)
    elif data.present and data.value != {}:
        yield data.fault("nothing, since the Provider's storage version cannot be told", FaultReason.INVALID_PROVIDER)


def _judge_generation(status: Field, manifest: Manifest) -> Iterator[Fault]:
    observed = status.child("observedGeneration")
    if observed.present:
        yield from require_integer(observed, 0, generation_of(manifest))
