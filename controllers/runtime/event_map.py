"""`EventMap`: which keys a change of any object concerns, for as long as the controllers run.

Owns the subscriptions of one leadership; closing it leaves the caches as they were before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from controllers.runtime.controller import Controller
from kube.informer import Informer
from kube.store import Change

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class EventMap:
    """Subscriptions that are ended together."""

    def __init__(self) -> None:
        self._endings: list[Callable[[], None]] = []

    def follow(
        self, informer: Informer[T], keys: Callable[[Change[T]], Iterable[K]], controller: Controller[K]
    ) -> None:
        """Have the controller look at `keys(change)` whenever an object of the cache changes."""

        def handle(change: Change[T]) -> None:
            for key in keys(change):
                controller.enqueue(key)

        self._endings.append(informer.subscribe(handle))

    def close(self) -> None:
        """End every subscription."""
        while self._endings:
            self._endings.pop()()
