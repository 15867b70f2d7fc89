"""What field tracking needs to know of a schema: which values are units, and how list items are told apart.

Owns shapes and their derivation from structural schemas. Shapes of built-in kinds are in `builtin`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from standalone.schema.node import ABSENT, ListType, Node
from standalone.schema.structural import StructuralSchema


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """How values at one position are owned.

    A position may take several forms (a deduced one takes all); the form of the value at hand decides. `open` maps
    take members that are not named fields and have no `element` shape: those are deduced.
    """

    scalar: str = ""
    """The scalars taken: `string`, `numeric`, `boolean`, `untyped`, or none when empty."""
    takes_map: bool = False
    fields: Mapping[str, Shape] = field(default_factory=dict)
    element: Shape | None = None
    open: bool = False
    atomic_map: bool = False
    takes_list: bool = False
    items: Shape | None = None
    list_type: ListType = ListType.ATOMIC
    keys: tuple[str, ...] = ()
    key_defaults: Mapping[str, Any] = field(default_factory=dict)

    def member(self, name: str) -> Shape | None:
        """Return the shape of a map's member; None when the schema does not declare it."""
        named = self.fields.get(name, self.element)
        return DEDUCED if named is None and self.open else named

    @property
    def item(self) -> Shape:
        return self.items or DEDUCED


DEDUCED: Final = Shape(scalar="untyped", takes_map=True, open=True, takes_list=True)
"""Nothing is known: maps are owned member by member, lists as units."""
STRING: Final = Shape(scalar="string")
NUMERIC: Final = Shape(scalar="numeric")
BOOLEAN: Final = Shape(scalar="boolean")
UNTYPED: Final = Shape(scalar="untyped")
STRING_MAP: Final = Shape(takes_map=True, element=STRING)
ATOMIC_STRING_MAP: Final = Shape(takes_map=True, element=STRING, atomic_map=True)
ATOMIC_LIST: Final = Shape(takes_list=True)
STRING_SET: Final = Shape(takes_list=True, items=STRING, list_type=ListType.SET)


def struct(fields: Mapping[str, Shape], *, atomic: bool = False) -> Shape:
    """A map with named fields and no others."""
    return Shape(takes_map=True, fields=fields, atomic_map=atomic)


def keyed_list(items: Shape, *keys: str, defaults: Mapping[str, Any] | None = None) -> Shape:
    """A list whose items are told apart by `keys`."""
    return Shape(takes_list=True, items=items, list_type=ListType.MAP, keys=keys, key_defaults=defaults or {})


OBJECT_META: Final = struct(
    {
        "annotations": STRING_MAP,
        "creationTimestamp": UNTYPED,
        "deletionGracePeriodSeconds": NUMERIC,
        "deletionTimestamp": UNTYPED,
        "finalizers": STRING_SET,
        "generateName": STRING,
        "generation": NUMERIC,
        "labels": STRING_MAP,
        "managedFields": ATOMIC_LIST,
        "name": STRING,
        "namespace": STRING,
        "ownerReferences": keyed_list(
            struct(
                {
                    "apiVersion": STRING,
                    "blockOwnerDeletion": BOOLEAN,
                    "controller": BOOLEAN,
                    "kind": STRING,
                    "name": STRING,
                    "uid": STRING,
                },
                atomic=True,
            ),
            "uid",
        ),
        "resourceVersion": STRING,
        "selfLink": STRING,
        "uid": STRING,
    }
)
_RESOURCE_FIELDS: Final = {"apiVersion": STRING, "kind": STRING, "metadata": OBJECT_META}
_SCALARS: Final = {"string": "string", "integer": "numeric", "number": "numeric", "boolean": "boolean"}


@lru_cache(maxsize=512)
def shape_of(schema: StructuralSchema) -> Shape:
    """Return the shape of a custom resource version; made once for each schema."""
    return _derive(schema.root, preserve=False, is_resource=True)


def resource_shape(fields: Mapping[str, Shape]) -> Shape:
    """The shape of a whole object with the given fields beside apiVersion, kind and metadata."""
    return struct({**fields, **_RESOURCE_FIELDS})


def _derive(node: Node, *, preserve: bool, is_resource: bool = False) -> Shape:
    preserve = preserve or node.preserve_unknown
    kind = node.types[0] if len(node.types) == 1 else ""
    if kind in _SCALARS:
        return Shape(scalar="untyped" if kind == "string" and node.format not in ("", "byte") else _SCALARS[kind])
    fields = {name: _derive(child, preserve=preserve) for name, child in node.properties.items()}
    if is_resource or node.embedded:
        fields |= _RESOURCE_FIELDS
    takes_map, takes_list = kind != "array", kind != "object"
    return Shape(
        scalar="" if kind else "untyped",
        takes_map=takes_map,
        fields=fields if takes_map else {},
        element=_derive(node.additional, preserve=preserve) if node.additional is not None else None,
        open=takes_map and not node.additional_forbidden and (preserve or not fields or node.additional_declared),
        atomic_map=node.atomic_map,
        takes_list=takes_list,
        items=_derive(node.items, preserve=preserve) if node.items is not None else None,
        list_type=node.list_type,
        keys=node.list_map_keys,
        key_defaults=_key_defaults(node),
    )


def _key_defaults(node: Node) -> Mapping[str, Any]:
    if node.items is None:
        return {}
    items = node.items.properties
    return {key: items[key].default for key in node.list_map_keys if key in items and items[key].default is not ABSENT}
