"""What has to come of claims, told without the product's code: who owns what, what stands in the ledger, what claims are told.

The claims of a model are few and alike: two zones, in one of which another namespace may be granted names. While a manager runs, it is
not known what it has seen of several writes in a row; so the model knows what may have become of them, and takes from what is seen which
of these it was. Whatever has been settled once is sure: owners stay owners.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

OWNER, TEAM = "owner", "team"
ONE, TWO = "one", "two"
HOMES = {ONE: OWNER, TWO: TEAM}

Status = tuple[str, str]
"""A condition's status and reason."""
GOOD: Status = ("True", "Accepted")
SERVED: Status = ("True", "Programmed")


class Key(NamedTuple):
    """A RecordSet: its name tells all of it but its value. `number` tells rivals apart."""

    namespace: str
    zone: str
    label: str
    type: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.zone}-{self.label}-{self.type.lower()}-{self.number}"

    def is_rival_of(self, other: Key) -> bool:
        """Say whether the two cannot both stand in a zone."""
        return (self.zone, self.label) == (other.zone, other.label) and (
            self.type == other.type or "CNAME" in (self.type, other.type)
        )


@dataclass(slots=True)
class ClaimState:
    """A claim as the API acknowledged it; `window` are all values that it had since all was settled."""

    value: int
    generation: int
    created: str
    deleting: bool = False
    window: set[int] = field(default_factory=set)


class SeenItem(NamedTuple):
    """An item of the ledger."""

    value: int
    generation: int
    allowed: bool
    deleting: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """What the API shows; conditions are those of the newest generation, by type."""

    zones: Mapping[str, Mapping[str, Status]]
    claims: Mapping[Key, Mapping[str, Status]]
    items: Mapping[Key, SeenItem]


@dataclass(slots=True)
class Model:
    """What was written, and what was settled the last time."""

    zone_class: str | None = None
    """None without the class, else the namespaces that it lets in: Same or All."""
    zones: dict[str, bool] = field(default_factory=dict)
    """The zones that are there, and whether each is being deleted."""
    grants: frozenset[str] = frozenset()
    labelled: bool = False
    """Whether the other namespace has the labels that grants ask for."""
    claims: dict[Key, ClaimState] = field(default_factory=dict)
    owned: dict[Key, int] = field(default_factory=dict)
    """What stood in the ledger when all was settled the last time, by owner."""
    opened: set[str] = field(default_factory=set)
    granted: set[str] = field(default_factory=set)
    been_labelled: bool = False
    """These three have been so at some moment since all was settled, not all at the same one: nobody sees all things at once."""
    unattended: bool = False
    """No manager has run since all was settled the last time, until the moment at which everything had been written."""

    def note(self) -> None:
        """Remember what may have been seen at this moment."""
        self.opened.update(zone for zone in self.zones if self.is_open(zone))
        self.granted |= self.grants
        self.been_labelled |= self.labelled
        for state in self.claims.values():
            state.window.add(state.value)

    def settle(self, seen: Seen) -> None:
        """Take what is seen, which nothing speaks against, as settled."""
        self.claims = {key: state for key, state in self.claims.items() if not state.deleting}
        self.zones = {zone: deleting for zone, deleting in self.zones.items() if zone in seen.zones}
        self.owned = {key: item.value for key, item in seen.items.items()}
        self.opened.clear()
        self.granted.clear()
        self.been_labelled = False
        for state in self.claims.values():
            state.window.clear()
        self.note()

    def forget_zone(self, zone: str) -> None:
        """A zone that was made anew starts with an empty ledger."""
        self.owned = {key: value for key, value in self.owned.items() if key.zone != zone}

    def is_open(self, zone: str) -> bool:
        """Say whether core accepts the zone."""
        return zone in self.zones and not self.zones[zone] and self.zone_verdict(zone) == GOOD

    def zone_verdict(self, zone: str) -> Status:
        if self.zone_class is None:
            return "Unknown", "ZoneClassNotResolved"
        if HOMES[zone] != OWNER and self.zone_class != "All":
            return "False", "NotAllowedByZoneClass"
        return GOOD

    def is_granted(self, key: Key) -> bool:
        return key.namespace == HOMES[key.zone] or (self.labelled and key.label in self.grants)

    def differences(self, seen: Seen) -> Iterator[str]:
        """Tell what is seen that should not be, and what is not seen that should be."""
        yield from self._of_claims(seen)
        yield from self._of_zones(seen)
        for key, item in seen.items.items():
            yield from self._of_item(key, item, seen)
        for key in self.owned.keys() - seen.items.keys():
            if not self.claims[key].deleting:
                yield f"{key} has lost what it owned"
        if self.unattended:
            wanted = set(self._successors())
            if wanted != seen.items.keys():
                yield f"the owners are {sorted(seen.items)}, they should be {sorted(wanted)}"

    def _of_claims(self, seen: Seen) -> Iterator[str]:
        living = {key for key, state in self.claims.items() if not state.deleting}
        if living != seen.claims.keys():
            yield f"the claims are {sorted(seen.claims)}, they should be {sorted(living)}"
        for key in living & seen.claims.keys():
            told = seen.claims[key]
            accepted, programmed = self._accepted(key, seen), self._programmed(key, seen)
            if told.get("Accepted") != accepted:
                yield f"{key} is told {told.get('Accepted')}, it should be {accepted}"
            if programmed is not ANY and told.get("Programmed") != programmed:
                yield f"{key} is told {told.get('Programmed')}, it should be {programmed}"

    def _of_zones(self, seen: Seen) -> Iterator[str]:
        waiting = {key.zone for key in seen.items}
        wanted = {zone for zone, deleting in self.zones.items() if not deleting or zone in waiting}
        if wanted != seen.zones.keys():
            yield f"the zones are {sorted(seen.zones)}, they should be {sorted(wanted)}"
        for zone in wanted & seen.zones.keys():
            told = seen.zones[zone]
            if self.zones[zone]:
                if told.get("Programmed") != ("False", "ProviderChangePending"):
                    yield f"zone {zone}, which waits for its records, is told {told}"
            elif told.get("Accepted") != self.zone_verdict(zone):
                yield f"zone {zone} is told {told}, it should be {self.zone_verdict(zone)}"
            elif self.is_open(zone) and told.get("Programmed") != SERVED:
                yield f"zone {zone} is told {told}, it should be {SERVED}"

    def _of_item(self, key: Key, item: SeenItem, seen: Seen) -> Iterator[str]:
        state = self.claims.get(key)
        if state is None or state.deleting or item.deleting:
            yield f"{key} is still in the ledger"
            return
        if key not in self.owned and not self._may_have_come(key):
            yield f"{key} has come into the ledger, which nothing let it into"
        if self.is_open(key.zone) and self.is_granted(key):
            if (item.value, item.generation, item.allowed) != (state.value, state.generation, True):
                yield f"{key} is {item} in the ledger, it should be {state}"
        elif item.value not in self.possible_values(key):
            yield f"{key} is {item} in the ledger, it should be one of {self.possible_values(key)}"
        if self.is_open(key.zone) and not self.is_granted(key) and item.allowed:
            yield f"{key} is not marked as shut out"
        for other in seen.items:
            if other != key and other.is_rival_of(key):
                yield f"{key} and {other} are both in the ledger"

    def possible_values(self, key: Key) -> set[int]:
        return self.claims[key].window | ({self.owned[key]} if key in self.owned else set())

    def _may_have_come(self, key: Key) -> bool:
        let_in = self.been_labelled and key.label in self.granted
        return key.zone in self.opened and (key.namespace == HOMES[key.zone] or let_in)

    def _successors(self) -> list[Key]:
        """The owners after a manager's look at all claims: those who are, and of the others whoever was there first.

        Who is leaving is in the way at the first look and gone at the second one.
        """
        leaving = {key for key in self.owned if self.claims[key].deleting}
        owners = self._joined(list(self.owned))
        return self._joined([key for key in owners if key not in leaving])

    def _joined(self, owners: list[Key]) -> list[Key]:
        newcomers = sorted(
            (state.created, key.namespace, key.name, key)
            for key, state in self.claims.items()
            if not state.deleting and key not in owners and self.is_open(key.zone) and self.is_granted(key)
        )
        for *_, key in newcomers:
            if not any(key.is_rival_of(other) for other in owners):
                owners = [*owners, key]
        return owners

    def _accepted(self, key: Key, seen: Seen) -> Status:
        item = seen.items.get(key)
        if key.zone not in seen.zones:
            return "Unknown", "ZoneNotResolved"
        fresh = item is not None and item.generation == self.claims[key].generation
        told_by_provider = GOOD if fresh else ("Unknown", "Reconciling")
        if self.zones.get(key.zone):
            return GOOD if fresh else ("False", "ZoneNotAccepted")
        status, reason = self.zone_verdict(key.zone)
        if status != "True":
            return (status, reason) if status == "Unknown" else ("False", "ZoneNotAccepted")
        if not self.is_granted(key):
            return "False", "NotAllowedByZone"
        if item is None:
            rivals = [other for other in seen.items if other.is_rival_of(key)]
            return ("False", "RecordSetConflict") if rivals else ("False", "nothing, since nobody is in its way")
        return told_by_provider

    def _programmed(self, key: Key, seen: Seen) -> Status | None:
        item = seen.items.get(key)
        if item is None:
            return None
        if self.is_open(key.zone) and self.is_granted(key):
            return SERVED
        return ("Unknown", "Reconciling") if item.generation != self.claims[key].generation else ANY


ANY: Status = ("", "whatever was so when the ledger was frozen")
