"""Which hostnames a route and a listener have in common (Gateway API, "Hostname matching"). Pure."""

from __future__ import annotations

from collections.abc import Iterable


def in_common(routes: Iterable[str], listener: str) -> set[str]:
    """Return the names that both have; a side that names none stands for all names, and both together for nothing."""
    listed = set(routes)
    if not listed:
        return {listener} if listener else set()
    if not listener:
        return listed
    return {found for each in listed if (found := _narrower(each, listener)) is not None}


def _narrower(one: str, other: str) -> str | None:
    """Return the more specific of two names where one covers the other."""
    if one == other or _covers(other, one):
        return one
    return other if _covers(one, other) else None


def _covers(wildcard: str, name: str) -> bool:
    """A wildcard stands for one label or more, and covers wildcards below it."""
    return wildcard.startswith("*.") and name != wildcard and name.removeprefix("*").endswith(wildcard[1:])
