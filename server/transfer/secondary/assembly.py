"""The records of a transfer that comes in, put together in the order in which they arrive (RFC 5936 section 2.2, RFC 1995 section 4).

Owns which sequences of records are a transfer. Pure; never judges whether the result is a zone that can be served.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from server import rdtype
from server.text import name_text
from server.transfer.difference import Difference
from server.transfer.record import Record
from server.transfer.record_data import canonical
from server.transfer.serial import is_newer, read_soa
from zonemodel.name import WireName


class SequenceError(ValueError):
    """Records that are no transfer; the message says at which point."""


@dataclass(frozen=True, slots=True)
class UpToDate:
    """The primary has nothing newer."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole zone, its SOA first and once."""

    records: list[Record]


@dataclass(frozen=True, slots=True)
class Steps:
    """Differences that follow one another, from the version asked about to the primary's."""

    differences: list[Difference]


Outcome = UpToDate | Whole | Steps


class _State(Enum):
    FIRST = auto()
    SECOND = auto()
    WHOLE = auto()
    REMOVED = auto()
    ADDED = auto()
    COMPLETE = auto()


@dataclass(slots=True)
class _Open:
    """A difference in the making."""

    old_soa: Record
    new_soa: Record | None = None
    removed: list[Record] = field(default_factory=list)
    added: list[Record] = field(default_factory=list)


class Assembly:
    """Takes the records of one transfer; `have` is the serial that differences were asked from, None where the zone was."""

    def __init__(self, apex: WireName, have: int | None) -> None:
        self._apex = apex
        self._have = have
        self._state = _State.FIRST
        self._soa: Record
        self._records: list[Record] = []
        self._open: _Open
        self._differences: list[Difference] = []
        self._outcome: Outcome | None = None

    @property
    def outcome(self) -> Outcome | None:
        """What the records make, None as long as more are to come."""
        return self._outcome

    def take(self, records: Iterable[Record]) -> None:
        """Take the records of the next message; raises SequenceError."""
        for record in records:
            if record.rdtype == rdtype.SOA:
                if record.owner != self._apex:
                    raise SequenceError(f"a SOA record of {name_text(record.owner)} is in the transfer of another zone")
                self._take_soa(record)
            else:
                self._take_data(record)

    def _take_soa(self, record: Record) -> None:
        serial = read_soa(record.rdata).serial
        match self._state:
            case _State.FIRST:
                self._begin(record, serial)
            case _State.SECOND if self._have is not None and serial == self._have:
                self._open, self._state = _Open(record), _State.REMOVED
            case _State.SECOND | _State.WHOLE:
                if canonical(rdtype.SOA, record.rdata) != canonical(
                    rdtype.SOA, self._soa.rdata
                ):  # pointers may change case
                    raise SequenceError("the zone ends with another SOA record than it began with")
                self._finish(Whole([self._soa, *self._records]))
            case _State.REMOVED:
                self._open.new_soa, self._state = record, _State.ADDED
            case _State.ADDED:
                self._close(serial)
                if serial == read_soa(self._soa.rdata).serial:
                    self._finish(Steps(self._differences))
                else:
                    self._open, self._state = _Open(record), _State.REMOVED
            case _State.COMPLETE:
                raise SequenceError("records follow the end of the transfer")

    def _begin(self, record: Record, serial: int) -> None:
        self._soa, self._state = record, _State.SECOND
        if self._have is not None and not is_newer(serial, self._have):
            self._finish(UpToDate())

    def _take_data(self, record: Record) -> None:
        match self._state:
            case _State.FIRST:
                raise SequenceError("the transfer does not begin with a SOA record")
            case _State.SECOND | _State.WHOLE:
                self._state = _State.WHOLE
                self._records.append(record)
            case _State.REMOVED:
                self._open.removed.append(record)
            case _State.ADDED:
                self._open.added.append(record)
            case _State.COMPLETE:
                raise SequenceError("records follow the end of the transfer")

    def _close(self, serial: int) -> None:
        """End a difference; the SOA after it has to be the one that it leads to."""
        last, new_soa = self._open, self._open.new_soa
        assert new_soa is not None  # REMOVED goes before ADDED
        if read_soa(new_soa.rdata).serial != serial:
            raise SequenceError("a difference does not start where the one before it ended")
        self._differences.append(Difference(last.old_soa, new_soa, tuple(last.removed), tuple(last.added)))

    def _finish(self, outcome: Outcome) -> None:
        self._outcome, self._state = outcome, _State.COMPLETE
