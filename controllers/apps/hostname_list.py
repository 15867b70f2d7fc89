"""Hostnames: what one is, and lists of them as annotations have them. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from controllers.api.endpoint import HOSTNAMES_LIMIT, EndpointReason
from controllers.apps.left_out import LeftOut
from zonemodel.name import object_to_domain


@dataclass(frozen=True, slots=True)
class Hostnames:
    """What can be published, sorted and each once, and what cannot."""

    published: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()


def object_to_hostname(text: str) -> str | None:
    """Return what keeps a text from being a canonical hostname, None when it is one. Its first label may be *, which counts, too."""
    parent = text.removeprefix("*.")
    return object_to_domain(parent) or (object_to_domain(f"w.{parent}") if parent != text else None)


def split_list(text: str) -> Iterator[str]:
    """Yield the items of a list with commas, without the spaces around them and without empty ones."""
    yield from (item for each in text.split(",") if (item := each.strip()))


def sort_out(
    found: Iterable[str], left_out: Iterable[LeftOut] = (), published: Container[str] = frozenset()
) -> Hostnames:
    """Return the canonical hostnames among those found, as many as one EndpointRecordSet holds; the others are told as left out.

    Those that are `published` come first, so that nobody's new hostnames take the place of what is there.
    """
    good, bad = [], {each.hostname: each for each in left_out}
    for hostname in sorted(set(found)):
        fault = object_to_hostname(hostname)
        if fault is not None:
            shown = hostname[:253]
            bad[shown] = LeftOut(
                hostname=shown, reason=EndpointReason.INVALID_HOSTNAME, message=f"The hostname {fault}."
            )
        else:
            good.append(hostname)
    good.sort(key=lambda each: (each not in published, each))
    for hostname in good[HOSTNAMES_LIMIT:]:
        message = f"One EndpointRecordSet has at most {HOSTNAMES_LIMIT} hostnames."
        bad[hostname] = LeftOut(hostname=hostname, reason=EndpointReason.TOO_MANY_HOSTNAMES, message=message)
    return Hostnames(tuple(sorted(good[:HOSTNAMES_LIMIT])), tuple(bad[name] for name in sorted(bad)))
