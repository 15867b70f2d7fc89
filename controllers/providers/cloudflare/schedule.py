"""Which changes go into which request.

Pure. A request never holds a part of one item's change; those of one name stay together, so that a CNAME can make room for addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from controllers.providers.cloudflare.batch import Change, merge
from controllers.providers.cloudflare.plan import ItemPlan


@dataclass(frozen=True, slots=True)
class Request:
    """Changes that are made together or not at all."""

    plans: tuple[ItemPlan, ...]

    @property
    def change(self) -> Change:
        return merge(each.change for each in self.plans)

    @property
    def size(self) -> int:
        """How many records it touches."""
        return sum(each.change.size for each in self.plans)


def schedule(plans: Iterable[ItemPlan], limit: int, *, alone: Iterable[ItemPlan] = ()) -> Iterator[Request]:
    """Yield requests for plans that have a change of at most `limit` records each; those of `alone` come last, one by one."""
    pending: list[ItemPlan] = []
    size = 0
    for group in by_name(plans):
        for part in _within(group, limit):
            more = sum(each.change.size for each in part)
            if pending and size + more > limit:
                yield Request(tuple(pending))
                pending, size = [], 0
            pending += part
            size += more
    if pending:
        yield Request(tuple(pending))
    yield from (Request((each,)) for each in sorted(alone, key=_order))


def split(request: Request) -> tuple[Request, ...]:
    """Return a refused request in smaller ones, none when it is of one item alone; names stay together as long as possible."""
    groups = [tuple(group) for group in by_name(request.plans)]
    if len(groups) > 1:
        middle = len(groups) // 2
        return _joined(groups[:middle]), _joined(groups[middle:])
    if len(request.plans) > 1:
        return tuple(Request((each,)) for each in sorted(request.plans, key=_order))
    return ()


def _joined(groups: Iterable[Sequence[ItemPlan]]) -> Request:
    return Request(tuple(plan for group in groups for plan in group))


def _within(group: Sequence[ItemPlan], limit: int) -> Iterator[list[ItemPlan]]:
    """Yield a name's plans together when they fit in one request, else each by itself, deletions first."""
    if sum(each.change.size for each in group) <= limit:
        yield list(group)
    else:
        yield from ([each] for each in sorted(group, key=_order))


def by_name(plans: Iterable[ItemPlan]) -> Iterator[list[ItemPlan]]:
    """Yield the plans of each name, deletions first."""
    ordered = sorted(plans, key=lambda each: (each.item.name, *_order(each)))
    yield from (list(group) for _, group in groupby(ordered, key=lambda each: each.item.name))


def _order(plan: ItemPlan) -> tuple[bool, str, str]:
    return not plan.item.source.deletion_requested, *plan.item.key
