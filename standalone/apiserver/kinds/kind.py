"""The hooks a built-in kind may have on its way into the store.

Owns the hook signatures and the default of each, which is to do nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from standalone.registry import Registry
from standalone.schema.fault import Fault

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Writing:
    """A write as a kind's hooks see it: the object, the stored state on an update, the served resources, when and to what."""

    obj: JsonObject
    old: JsonObject | None
    registry: Registry
    now: str
    subresource: str = ""


def _leave(writing: Writing) -> None:
    del writing


def _accept(writing: Writing) -> list[Fault]:
    del writing
    return []


@dataclass(frozen=True, slots=True)
class Kind:
    """What is special about one kind when it is created or updated."""

    prepare: Callable[[Writing], None] = _leave
    """Completes `writing.obj`; may replace its direct members, but changes nothing inside them."""
    judge: Callable[[Writing], list[Fault]] = _accept
    """Every fault of the completed object beside those its schema finds."""
    unconditional_update: bool = True
    """Whether a PUT may omit the resourceVersion."""
    immortal: frozenset[str] = frozenset()
    """The names of objects that may not be deleted."""


PLAIN = Kind()
CUSTOM = Kind(unconditional_update=False)
