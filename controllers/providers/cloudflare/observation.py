"""A zone's records as they were found, in the two orders in which they are looked for. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from controllers.providers.cloudflare.record import CloudflareRecord


class Observation:
    """All records of a zone as of `at`, by the clock of the API."""

    def __init__(self, records: Sequence[CloudflareRecord], at: datetime) -> None:
        self.at = at
        self._by_id = {each.id: each for each in records}
        self._by_name: dict[str, list[CloudflareRecord]] = defaultdict(list)
        for each in records:
            self._by_name[each.name].append(each)

    def with_ids(self, ids: Iterable[str]) -> list[CloudflareRecord]:
        """Return the records that have one of the identifiers."""
        return [self._by_id[each] for each in ids if each in self._by_id]

    def at_name(self, name: str) -> Sequence[CloudflareRecord]:
        """Return the records of a name, of any type."""
        return self._by_name.get(name, ())
