"""Which Zone a hostname belongs to. Whole labels count, never text endings. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from controllers.api.condition import Condition, ConditionStatus, ConditionType, find_condition
from controllers.api.zone import Zone


def suffixes(hostname: str) -> Iterator[str]:
    """Yield the names that a zone of the hostname may have, the longest first; a wildcard's own label is in none of them."""
    rest = hostname.removeprefix("*.")
    while rest:
        yield rest
        _, _, rest = rest.partition(".")


def candidates(hostname: str, zones_of: Callable[[str], Iterable[Zone]]) -> list[Zone]:
    """Return the zones of the longest domain that has any, best first: the oldest, then by namespace and name."""
    for domain in suffixes(hostname):
        found = sorted(zones_of(domain), key=_seniority)
        if found:
            return found
    return []


def choose(hostname: str, zones_of: Callable[[str], Iterable[Zone]]) -> Zone | None:
    """Return the zone of a hostname: the longest one by labels, of equal ones the oldest.

    One that is going or that is refused as it is now counts as gone. One that nobody has judged yet counts.
    """

    def usable(domain: str) -> list[Zone]:
        return [zone for zone in zones_of(domain) if not zone.deleting and refusal_of(zone) is None]

    return next(iter(candidates(hostname, usable)), None)


def refusal_of(zone: Zone) -> Condition | None:
    """Return the condition that refuses a zone in its current generation, None when there is none."""
    found = find_condition(zone.status.conditions, ConditionType.ACCEPTED)
    refused = found is not None and found.status is ConditionStatus.FALSE
    return found if refused and found is not None and found.observed_generation == zone.meta.generation else None


def _seniority(zone: Zone) -> tuple[str, str, str]:
    return zone.meta.creation_timestamp, zone.meta.namespace, zone.meta.name
