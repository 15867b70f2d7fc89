"""`Bound`: how large a value can be at most, as an expression meets it.

Pure arithmetic over upper bounds. Knows neither syntax nor what anything costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from controllers.core.cel.shape import INPUT_LIMIT_OCTETS, ITEM_LIMIT, TEXT_LIMIT_OCTETS, Kind, Shape

LEAF_OCTETS: Final = 16
"""Weight of any value beside the octets of its text."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Upper bounds of a value: octets if it is a text, items if it is a list or map, and the weight of it with all it holds.

    `element` bounds each item of a list and each value of a map, `fields` those of an object; where neither says anything the
    value may be anything that input can hold. `keyed` is true for what a loop visits by its keys.
    """

    octets: int = 0
    items: int = 0
    weight: int = LEAF_OCTETS
    element: Bound | None = None
    fields: Mapping[str, Bound] = field(default_factory=dict)
    keyed: bool = False

    def select(self, name: str) -> Bound:
        """Bound of the field of that name."""
        return self.fields.get(name) or self.item

    @property
    def item(self) -> Bound:
        """Bound of what an index gives."""
        return self.element or (ANYTHING if self.items else SCALAR)

    @property
    def visited(self) -> Bound:
        """Bound of what a loop variable holds."""
        return KEY if self.keyed else self.item

    @property
    def grain_octets(self) -> int:
        """Octets that a value of texts takes at least when one of its texts is as long as it may be; 0 when that is unknown."""
        inner = list(self.fields.values())
        if self.items or any(each.items or each.fields for each in inner):
            return 0
        return min((octets for octets in (self.octets, *(each.octets for each in inner)) if octets), default=0)

    def emptied(self) -> Bound:
        """The same value with every text and list in it empty."""
        return Bound(fields={name: each.emptied() for name, each in self.fields.items()}, keyed=self.keyed)


def bound_of(shape: Shape) -> Bound:
    """Return the bound of any input that has a shape."""
    match shape.kind:
        case Kind.TEXT:
            return text_bound(shape.limit_octets)
        case Kind.LIST | Kind.MAP if shape.element is not None:
            element = bound_of(shape.element)
            each = element.weight + (KEY.weight if shape.kind is Kind.MAP else 0)
            weight = _at_most(LEAF_OCTETS + shape.limit_items * each)
            return Bound(0, shape.limit_items, weight, element, keyed=shape.kind is Kind.MAP)
        case Kind.OBJECT:
            fields = {name: bound_of(each) for name, each in shape.fields.items()}
            return Bound(weight=_at_most(LEAF_OCTETS + sum(each.weight for each in fields.values())), fields=fields)
        case Kind.ANY:
            return ANYTHING
        case _:
            return SCALAR


def text_bound(octets: int) -> Bound:
    """Return the bound of a text of so many octets."""
    return Bound(octets, 0, LEAF_OCTETS + octets)


def either(first: Bound, second: Bound) -> Bound:
    """Return what bounds a value that is one of the two."""
    if first is second:
        return first
    fields = {
        name: either(each, second.fields[name]) if name in second.fields else each
        for name, each in first.fields.items()
    } | {name: each for name, each in second.fields.items() if name not in first.fields}
    elements = [each for each in (first.element, second.element) if each is not None]
    element = either(elements[0], elements[-1]) if elements else None
    open_ended = any(each.items and each.element is None for each in (first, second))
    return Bound(
        max(first.octets, second.octets),
        max(first.items, second.items),
        max(first.weight, second.weight),
        None if open_ended else element,
        fields,
        first.keyed or second.keyed,
    )


def together(first: Bound, second: Bound) -> Bound:
    """Return the bound of two texts or lists put together."""
    widest = either(first, second)
    return Bound(
        first.octets + second.octets,
        first.items + second.items,
        first.weight + second.weight,
        widest.element,
        keyed=widest.keyed,
    )


def _at_most(weight: int) -> int:
    return min(weight, INPUT_LIMIT_OCTETS)


SCALAR: Final = Bound()
KEY: Final = text_bound(TEXT_LIMIT_OCTETS)
ANYTHING: Final = Bound(TEXT_LIMIT_OCTETS, ITEM_LIMIT, INPUT_LIMIT_OCTETS)
