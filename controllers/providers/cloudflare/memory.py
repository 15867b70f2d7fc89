"""What is remembered of a zone between two looks at it.

Losing it costs requests and patience, never correctness: everything here can be found out again.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from controllers.api.group import RECONCILE_REQUEST
from controllers.api.verdict import Verdict
from controllers.ledger.item_cache import ItemCache
from controllers.providers.cloudflare.batch import Change
from controllers.providers.cloudflare.desired import Item, convert
from controllers.providers.cloudflare.view import CloudflareView
from kube.object import ObjectKey


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that the API refused, or took and does not show: not to be tried again before `until`, which is `wait_s` after it was."""

    change: Change
    verdict: Verdict
    wait_s: float
    until: float


@dataclass(slots=True)
class ZoneMemory:
    """One zone's memory. `inputs` are what the last look was made for; it need not be repeated for the same before `due`.

    `request` is the last one that somebody made for a look.
    """

    items: ItemCache[Item] = field(default_factory=lambda: ItemCache(convert))
    refusals: dict[ObjectKey, Refusal] = field(default_factory=dict)
    request: str | None = None
    inputs: Hashable = None
    due: float = 0.0
    failures: int = 0

    def heed(self, request: str | None) -> None:
        """Have nothing wait that was refused before a new request for a look."""
        if request != self.request:
            self.request = request
            self.refusals = {key: replace(each, until=0.0) for key, each in self.refusals.items()}

    def rest_s(self, inputs: Hashable, now: float) -> float:
        """Return how long a look can wait that nothing new asks for, 0 when it cannot."""
        return max(self.due - now, 0.0) if inputs == self.inputs else 0.0


def inputs_of(view: CloudflareView) -> Hashable:
    """Return everything that a look at a zone depends on beside the API; statuses of its ledger are not among it."""
    parts = tuple((part.meta.uid, part.meta.generation, part.deleting) for part in view.parts)
    main, zone_class, identity = view.main, view.zone_class, view.identity
    request = main.meta.annotations.get(RECONCILE_REQUEST) if main is not None else None
    followed = (zone_class.meta.uid, zone_class.meta.generation) if zone_class is not None else None
    provider = view.provider.meta.generation if view.provider is not None else None
    judged = None
    if identity is not None:
        conditions = tuple((each.type, each.status, each.observed_generation) for each in identity.status.conditions)
        judged = identity.meta.uid, identity.meta.generation, conditions
    account = view.account.serial if view.account is not None else None
    return parts, request, followed, provider, judged, account
