"""Validation of withdrawals in ledgers: what part 0 says is to be observed, and what was observed.

Only what an update changes is judged, as with the rest of a ledger. Who the claim is and what it is about never changes for a UID: a
result made for one thing must not be read for another.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final

from controllers.api.record_withdrawal import address_type, is_canonical_address
from controllers.api.record_withdrawal_item import WITHDRAWAL_LIMIT, AddressType
from controllers.api.record_withdrawal_reason import PROVIDER_REASONS
from controllers.api.record_withdrawal_waiver import DIGEST_PATTERN
from controllers.core.admission.record_name import OWNER, judge_owner
from controllers.core.admission.status import Storage
from controllers.core.admission.withdrawal import ADDRESS, DIGEST, UID_LIMIT_CHARS, require_reservation
from controllers.core.admission.withdrawal_status import judge_closed_conditions, judge_evidence
from controllers.core.providercontract.fault import Fault, FaultReason, describe
from controllers.core.providercontract.field import (
    Field,
    judge_choice,
    judge_duplicates,
    require_integer,
    require_list,
    require_object,
    require_object_name,
    require_text,
)

GENERATION_LIMIT: Final = 2**63 - 1
SHAPE: Final = ("name", "type", "address")

_DIGEST: Final = re.compile(DIGEST_PATTERN)


def judge_withdrawals(spec: Field, before: Field) -> Iterator[Fault]:
    """Object to withdrawals in the spec of a part."""
    items = spec.child("withdrawals")
    if items.value in (None, []):
        return
    if spec.child("part").integer:
        yield items.fault("nothing on a part other than 0", FaultReason.FORBIDDEN)
    faults = list(require_list(items, "a list of withdrawals", WITHDRAWAL_LIMIT))
    yield from faults
    if faults:
        return
    known = _by_key(before.child("withdrawals"))
    for item in items.items():
        was = known.get(_key(item.value))
        if item.value != was:
            yield from _judge_item(item, Field(item.path, was))
    yield from judge_duplicates(list(items.items()), lambda item: _key(item.value), "RecordWithdrawal")


def judge_withdrawal_results(status: Field, before: Field, storage: Storage) -> Iterator[Fault]:
    """Object to results of withdrawals in the status of a part."""
    results = status.child("withdrawals")
    if results.value in (None, []):
        return
    faults = list(require_list(results, "a list of results", WITHDRAWAL_LIMIT))
    yield from faults
    if faults:
        return
    known = _by_key(before.child("withdrawals"))
    for result in results.items():
        was = Field(result.path, known.get(_key(result.value)))
        if result.value != was.value:
            yield from _judge_result(result, was, storage)
    yield from judge_duplicates(list(results.items()), lambda item: _key(item.value), "RecordWithdrawal")


def _judge_item(item: Field, was: Field) -> Iterator[Fault]:
    yield from _require_claim(item)
    name, kind, address = (item.child(each) for each in SHAPE)
    yield from require_text(name, OWNER)
    yield from judge_owner(name, kind.text)
    yield from require_text(kind, f"one of {', '.join(AddressType)}")
    yield from judge_choice(kind, list(AddressType)) if kind.text else ()
    yield from require_text(address, ADDRESS)
    if address.text and not is_canonical_address(address.text):
        yield address.fault(ADDRESS)
    elif address.text and kind.text in list(AddressType) and kind.text != address_type(address.text):
        yield kind.fault(f"{address_type(address.text)}, the type of such an address")
    if was.present and was.child("claimUID").value == item.child("claimUID").value:
        for each in SHAPE:
            if was.child(each).value != item.child(each).value:
                allowed = f"{describe(was.child(each).value)}, since the claim is still the same"
                yield item.child(each).fault(allowed, FaultReason.FORBIDDEN)
    yield from _judge_waiver(item, may_be_there=item.child("allowed").value is not False)


def _judge_result(result: Field, was: Field, storage: Storage) -> Iterator[Fault]:
    yield from _require_claim(result)
    zone_class = result.child("zoneClass")
    absent = list(require_object(zone_class, "uid and generation of the ZoneClass that was observed under"))
    yield from absent
    if not absent:
        yield from _require_uid(zone_class.child("uid"))
        yield from require_integer(zone_class.child("generation"), 0, GENERATION_LIMIT)
    generation = result.child("claimGeneration").integer
    limit = GENERATION_LIMIT if generation is None else generation
    yield from judge_closed_conditions(result.child("conditions"), PROVIDER_REASONS, limit)
    yield from _judge_waiver(result, may_be_there=True)
    data, state = result.at("provider.data"), result.at("provider.state")
    if data.value != was.at("provider.data").value:
        yield from judge_evidence(data, storage)
    if state.present:
        yield from require_object(state, "an object")


def _require_claim(item: Field) -> Iterator[Fault]:
    yield from require_object_name(item.child("claimNamespace"))
    yield from require_object_name(item.child("claimName"))
    yield from _require_uid(item.child("claimUID"))
    yield from require_integer(item.child("claimGeneration"), 0, GENERATION_LIMIT)


def _require_uid(uid: Field) -> Iterator[Fault]:
    yield from require_text(uid, "a UID")
    if uid.text and len(uid.text) > UID_LIMIT_CHARS:
        yield uid.fault(f"a UID of at most {UID_LIMIT_CHARS} characters", FaultReason.TOO_LONG)


def _judge_waiver(item: Field, *, may_be_there: bool) -> Iterator[Fault]:
    waiver = item.child("waiver")
    if not waiver.present:
        return
    if not may_be_there:
        yield waiver.fault("nothing on a withdrawal that is not allowed", FaultReason.FORBIDDEN)
        return
    yield from require_object_name(waiver.child("name"))
    yield from _require_uid(waiver.child("uid"))
    if waiver.child("namespace").value != item.child("claimNamespace").value:
        yield waiver.child("namespace").fault(f"{describe(item.child('claimNamespace').value)}, the claim's namespace")
    digest = waiver.child("specDigest")
    yield from require_text(digest, DIGEST)
    if digest.text and not _DIGEST.match(digest.text):
        yield digest.fault(DIGEST)
    yield from require_reservation(waiver.child("reservationRef"))


def _by_key(items: Field) -> Mapping[Hashable, Any]:
    return {_key(each): each for each in items.value} if isinstance(items.value, list) else {}


def _key(item: Any) -> Hashable | None:
    if not isinstance(item, dict):
        return None
    namespace, name = item.get("claimNamespace"), item.get("claimName")
    return (namespace, name) if isinstance(namespace, str) and isinstance(name, str) else None
