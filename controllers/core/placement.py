"""Which part of a large zone's ledger holds which item: sticky first-fit by size.

An item never moves, so no step ever has an owner in two parts or in none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from controllers.api.zone_unit import UnitRecordSet
from kube.object import ObjectKey

PART_LIMIT_BYTES: Final = 700 * 1024

# What an item takes beside the texts that vary: keys and punctuation of its spec, its result with two conditions, and the
# managedFields of both, which are more than half of the object.
_SPEC_BYTES: Final = 160
_RESULT_BYTES: Final = 420
_MANAGED_FIELDS_BYTES: Final = 760
_FIXED_BYTES: Final = _SPEC_BYTES + _RESULT_BYTES + _MANAGED_FIELDS_BYTES


def place(items: Iterable[UnitRecordSet], current: Mapping[ObjectKey, int]) -> dict[int, list[UnitRecordSet]]:
    """Return the items by part number; `current` says where items stand now.

    Part 0 is always there. A new item goes to the first part with room, a part that has become empty is left out.
    """
    parts: dict[int, list[UnitRecordSet]] = {0: []}
    newcomers = []
    for item in items:
        if (part := current.get(item.key)) is not None:
            parts.setdefault(part, []).append(item)
        else:
            newcomers.append(item)
    if newcomers:
        _first_fit(newcomers, parts)
    return {part: sorted(parts[part], key=lambda item: item.key) for part in sorted(parts)}


def size_bytes(item: UnitRecordSet) -> int:
    """Return about how many octets an item adds to its object as JSON, its result and managedFields included."""
    body = getattr(item, item.type.field)
    payload = len(body.model_dump_json()) if body is not None else 0
    opaque = sum(len(str(each)) for each in (item.options, item.adoption) if each)
    return _FIXED_BYTES + len(item.record_set_namespace) + len(item.record_set_name) + len(item.name) + payload + opaque


def _first_fit(newcomers: Iterable[UnitRecordSet], parts: dict[int, list[UnitRecordSet]]) -> None:
    used = {part: sum(map(size_bytes, items)) for part, items in parts.items()}
    for item in newcomers:
        size = size_bytes(item)
        part = next((part for part in sorted(used) if used[part] + size <= PART_LIMIT_BYTES), None)
        if part is None:
            part = next(number for number in range(len(used) + 1) if number not in used)
        parts.setdefault(part, []).append(item)
        used[part] = used.get(part, 0) + size
