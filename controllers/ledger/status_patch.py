"""A part's status as a patch of what has changed in it.

Pure. Entries are patched where they stand, each after a test that it still stands there, so that the composer's writes to the same
object never get in the way and a stale view never hits the wrong entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from controllers.api.patch import Operation, diff
from controllers.api.zone_unit import UnitRecordSetStatus, ZoneUnitStatus
from kube.object import ObjectKey

ENTRIES: Final = "/status/recordSets"
EMPTY: Final = ZoneUnitStatus()


def status_patch(old: ZoneUnitStatus, new: ZoneUnitStatus) -> list[Operation]:
    """Return the operations on the status subresource that turn `old` into `new`, none when they are equal."""
    if old == new:
        return []
    if old == EMPTY:
        return [{"op": "add", "path": "/status", "value": new.dump()}]
    without_entries: dict[str, Any] = {"record_sets": ()}
    operations = diff(old.model_copy(update=without_entries), new.model_copy(update=without_entries), "/status")
    return operations + list(_entry_operations(old.record_sets, new.record_sets))


def _entry_operations(
    old: tuple[UnitRecordSetStatus, ...], new: tuple[UnitRecordSetStatus, ...]
) -> Iterator[Operation]:
    if old is new:
        return
    if not old:
        yield {"op": "add", "path": ENTRIES, "value": [entry.dump() for entry in new]}
        return
    wanted: dict[ObjectKey, UnitRecordSetStatus] = {entry.key: entry for entry in new}
    removed = []
    for index, entry in enumerate(old):
        successor = wanted.pop(entry.key, None)
        if successor is None:
            removed.append(index)
        elif successor is not entry and successor != entry:
            yield from _tests(index, entry)
            yield {"op": "replace", "path": f"{ENTRIES}/{index}", "value": successor.dump()}
    for index in reversed(removed):  # from the back, so that positions stay what they are
        yield from _tests(index, old[index])
        yield {"op": "remove", "path": f"{ENTRIES}/{index}"}
    for entry in wanted.values():
        yield {"op": "add", "path": f"{ENTRIES}/-", "value": entry.dump()}


def _tests(index: int, entry: UnitRecordSetStatus) -> Iterator[Operation]:
    at = f"{ENTRIES}/{index}"
    yield {"op": "test", "path": f"{at}/recordSetName", "value": entry.record_set_name}
    yield {"op": "test", "path": f"{at}/recordSetNamespace", "value": entry.record_set_namespace}
