"""`RecordSet`: the claim to the records of one name and type in a zone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field, PrivateAttr, ValidationError

from controllers.api.condition import Conditions
from controllers.api.object import ApiObject, parser
from controllers.api.reference import FullRef, NamespacedRef, ProviderRef
from controllers.api.zone import ProviderData
from zonemodel.model import Model
from zonemodel.record import TTL_MAX_S, RecordBodies, RecordType


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A field of a spec that was left out since it holds what its type cannot; `path` is below the spec, `found` the JSON value."""

    path: str
    found: Any
    why: str

    @property
    def field(self) -> str:
        """The field of the spec that was left out."""
        return self.path.partition(".")[0]


class RecordSetSpec(RecordBodies):
    """What a RecordSet claims: identity, TTL and exactly one body."""

    zone_ref: Annotated[NamespacedRef, Field(description="Zone that the records belong to; immutable.")]
    provider: Annotated[
        ProviderRef,
        Field(description="Provider and version that this claim is written for, as in its zone; immutable."),
    ]
    type: Annotated[RecordType, Field(description="Record type: A, AAAA, TXT, CNAME, MX, CAA or NS; immutable.")]
    name: Annotated[
        str, Field(description="Name relative to the zone: @ for the apex, *, *.rel or rel; lowercase; immutable.")
    ]
    ttl: Annotated[int | None, Field(ge=1, le=TTL_MAX_S, description="Time to live in seconds.")] = None
    options: Annotated[
        dict[str, Any] | None, Field(description="Settings of the provider; their schema stands in the Provider.")
    ] = None
    adoption: Annotated[
        dict[str, Any] | None,
        Field(description="Existing records of the provider to take over; its schema stands in the Provider."),
    ] = None
    _unreadable: tuple[Unreadable, ...] = PrivateAttr(default=())

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What was left out when the claim was parsed."""
        return self._unreadable


class RecordSetZoneStatus(Model):
    """The zone that the record set was composed into."""

    ref: Annotated[FullRef, Field(description="The Zone.")]


class RecordSetStatus(Model):
    """What is so with the records."""

    observed_generation: Annotated[int | None, Field(ge=0, description="Generation that the conditions speak of.")] = (
        None
    )
    zone: Annotated[RecordSetZoneStatus | None, Field(description="Zone that the record set belongs to.")] = None
    provider: Annotated[ProviderData | None, Field(description="Provider's public facts about the records.")] = None
    conditions: Conditions = ()


RecordSet = ApiObject[RecordSetSpec, RecordSetStatus]
_parse_strictly = parser(RecordSetSpec, RecordSetStatus)
NAMED_LIMIT: Final = 50
"""So many faults of a field are kept: somebody may have made thousands, and a condition has no room for them."""
_LEFT_OUT: Final = frozenset({"ttl", *(each.field for each in RecordType)})


def parse_record_set(obj: Mapping[str, Any]) -> RecordSet:
    """Parse API JSON; raises ValueError on a shape that a RecordSet cannot have.

    A TTL or a body with values that their types cannot hold is left out and told in `spec.unreadable`, so that the claim is there to be
    refused, and to be deleted: a Provider may take such a body at admission, and claims come around admission.
    """
    try:
        return _parse_strictly(obj)
    except ValidationError as error:
        faults = [_unreadable(each["loc"], each["input"], each["msg"]) for each in error.errors(include_url=False)]
        spec = obj.get("spec") or {}
        if not all(fault.field in _LEFT_OUT and fault.field in spec for fault in faults):
            raise
        left = {fault.field for fault in faults}
        found = _parse_strictly({**obj, "spec": {name: each for name, each in spec.items() if name not in left}})
        found.spec._unreadable = tuple(_named(faults))
        return found


def _named(faults: Sequence[Unreadable]) -> Iterator[Unreadable]:
    """Yield what is to be told: the first faults of each field, without lists of which items are at fault, which are told to be short
    of them, too.
    """
    lists = {fault.path[:at] for fault in faults for at, character in enumerate(fault.path) if character == "["}
    told: Counter[str] = Counter()
    for fault in faults:
        if fault.path not in lists and told[fault.field] < NAMED_LIMIT:
            told[fault.field] += 1
            yield fault


def _unreadable(place: tuple[int | str, ...], found: Any, why: str) -> Unreadable:
    path = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in place)
    words = why.replace("Tuple", "List")
    return Unreadable(path.lstrip("."), found, f"{words[:1].lower()}{words[1:]}")
