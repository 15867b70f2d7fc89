"""A part's status as a patch of what has changed in it.

Pure. Entries are patched where they stand, each after a test that it still stands there, so that the composer's writes to the same
object never get in the way and a stale view never hits the wrong entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

from controllers.api.patch import Operation, diff
from controllers.api.record_withdrawal_item import UnitWithdrawalStatus
from controllers.api.zone_unit import UnitRecordSetStatus, ZoneUnitStatus
from kube.object import ObjectKey

EntryT = TypeVar("EntryT", UnitRecordSetStatus, UnitWithdrawalStatus)

ENTRIES: Final = "/status/recordSets"
WITHDRAWALS: Final = "/status/withdrawals"
EMPTY: Final = ZoneUnitStatus()


def status_patch(old: ZoneUnitStatus, new: ZoneUnitStatus) -> list[Operation]:
    """Return the operations on the status subresource that turn `old` into `new`, none when they are equal."""
    if old == new:
        return []
    if old == EMPTY:
        return [{"op": "add", "path": "/status", "value": new.dump()}]
    without_entries: dict[str, Any] = {"record_sets": (), "withdrawals": ()}
    operations = diff(old.model_copy(update=without_entries), new.model_copy(update=without_entries), "/status")
    operations += _entry_operations(ENTRIES, old.record_sets, new.record_sets, _record_set_tests)
    operations += _entry_operations(WITHDRAWALS, old.withdrawals, new.withdrawals, _withdrawal_tests)
    return operations


def _entry_operations(
    entries: str,
    old: Sequence[EntryT],
    new: Sequence[EntryT],
    tests: Callable[[str, EntryT], Iterator[Operation]],
) -> Iterator[Operation]:
    if old is new or (not old and not new):
        return
    if not old:
        yield {"op": "add", "path": entries, "value": [entry.dump() for entry in new]}
        return
    wanted: dict[ObjectKey, EntryT] = {entry.key: entry for entry in new}
    removed = []
    for index, entry in enumerate(old):
        successor = wanted.pop(entry.key, None)
        if successor is None:
            removed.append(index)
        elif successor is not entry and successor != entry:
            yield from tests(f"{entries}/{index}", entry)
            yield {"op": "replace", "path": f"{entries}/{index}", "value": successor.dump()}
    for index in reversed(removed):  # from the back, so that positions stay what they are
        yield from tests(f"{entries}/{index}", old[index])
        yield {"op": "remove", "path": f"{entries}/{index}"}
    for entry in wanted.values():
        yield {"op": "add", "path": f"{entries}/-", "value": entry.dump()}


def _record_set_tests(at: str, entry: UnitRecordSetStatus) -> Iterator[Operation]:
    yield {"op": "test", "path": f"{at}/recordSetName", "value": entry.record_set_name}
    yield {"op": "test", "path": f"{at}/recordSetNamespace", "value": entry.record_set_namespace}


def _withdrawal_tests(at: str, entry: UnitWithdrawalStatus) -> Iterator[Operation]:
    yield {"op": "test", "path": f"{at}/claimName", "value": entry.claim_name}
    yield {"op": "test", "path": f"{at}/claimNamespace", "value": entry.claim_namespace}
