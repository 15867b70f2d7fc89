"""A zone in memory whose every call can be interleaved with others, cut off, or left without an answer."""

from __future__ import annotations

import contextlib
import types
from collections import defaultdict
from collections.abc import Callable, Collection, Coroutine, Generator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from ownership.backends.protocol import StoredText
from ownership.codec.envelope import VALUE_MAX_BYTES
from ownership.error import ConflictError, OutcomeUnknownError, UnavailableError
from ownership.naming import OwnerID, is_marker_name, owner_state_name, shared_state_name, state_hash
from zonemodel.name import Fqdn

T = TypeVar("T")
ZONE = Fqdn("example.com")


class Fate(Enum):
    """What becomes of a call."""

    DONE = "done"
    LOST = "done, and the answer is lost"
    UNSENT = "not done, and no answer comes"
    CONFLICT = "not done for a conflict that nobody has explained"
    LATE = "done some calls later, and no answer comes"


@types.coroutine
def turn() -> Generator[None, None, None]:
    """Let whoever drives the coroutine run something else, or end it here."""
    yield


@dataclass
class FakeZone:
    """What is stored, and how many calls there were."""

    texts: dict[Fqdn, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    calls: int = 0
    under_way: list[tuple[int, Callable[[], None]]] = field(default_factory=list)
    """Writes that happen by themselves once there have been so many calls."""

    def arrive(self) -> None:
        """Let those writes happen whose time has come."""
        for due in [each for each in self.under_way if each[0] <= self.calls]:
            self.under_way.remove(due)
            with contextlib.suppress(ConflictError):
                due[1]()

    def put(self, name: str, *values: bytes) -> None:
        self.texts[Fqdn(name)].update(values)

    def names(self) -> list[str]:
        return sorted(name for name, values in self.texts.items() if values)

    def copy(self) -> FakeZone:
        return FakeZone(defaultdict(set, {name: set(values) for name, values in self.texts.items()}))


@dataclass
class FakeBackend:
    """A backend of a fake zone; `fate` decides over the call of a number, which counts from 0."""

    content: FakeZone = field(default_factory=FakeZone)
    enumerates: bool = True
    conditional: bool = True
    txt_value_bytes: int = VALUE_MAX_BYTES
    zone: Fqdn = ZONE
    fate: Callable[[int], Fate] = lambda _: Fate.DONE
    delay: int = 3

    async def list_states(self, owners: Collection[OwnerID]) -> Sequence[StoredText]:
        names = {shared_state_name(self.zone), *(owner_state_name(self.zone, owner) for owner in owners)}
        if self.enumerates:
            names = {name for name in self.content.texts if state_hash(name, self.zone) is not None}
        return await self._read(lambda: self._texts(names))

    async def list_markers(self) -> Sequence[StoredText]:
        names = {name for name in self.content.texts if is_marker_name(name, self.zone)}
        return await self._read(lambda: self._texts(names))

    async def read_txt(self, name: Fqdn) -> Sequence[bytes]:
        return await self._read(lambda: sorted(self.content.texts.get(name, ())))

    async def add_txt(self, name: Fqdn, value: bytes, seen: Collection[bytes]) -> None:
        def add() -> None:
            there = self.content.texts[name]
            if self.conditional and value not in there and there != set(seen):
                raise ConflictError(f"{name} has other values")
            there.add(value)

        await self._write(add)

    async def delete_txt(self, name: Fqdn, value: bytes) -> None:
        await self._write(lambda: self.content.texts[name].discard(value))

    def _texts(self, names: Collection[Fqdn]) -> list[StoredText]:
        return [StoredText(name, value) for name in names for value in self.content.texts.get(name, ())]

    async def _read(self, read: Callable[[], T]) -> T:
        await turn()
        self.content.arrive()
        found = read()
        await turn()
        if self._next() is not Fate.DONE:
            raise UnavailableError("no answer to a read")
        return found

    async def _write(self, write: Callable[[], None]) -> None:
        await turn()
        fate = self._next()
        if fate is Fate.LATE:
            self.content.under_way.append((self.content.calls + self.delay, write))
        if fate in {Fate.DONE, Fate.LOST}:
            write()
        await turn()
        if fate is Fate.CONFLICT:
            raise ConflictError("nobody knows why")
        if fate is not Fate.DONE:
            raise OutcomeUnknownError("no answer to a write")

    def _next(self) -> Fate:
        self.content.arrive()
        self.content.calls += 1
        return self.fate(self.content.calls - 1)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end."""
    while True:
        try:
            coroutine.send(None)
        except StopIteration as end:
            value: T = end.value
            return value


def run_until(coroutine: Coroutine[Any, Any, object], turns: int) -> bool:
    """Run so many turns and then leave it where it is; returns whether it has ended before."""
    for _ in range(turns):
        try:
            coroutine.send(None)
        except StopIteration:
            return True
    return False
