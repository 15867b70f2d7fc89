"""The messages of a transfer that goes out (RFC 5936 section 2.2): as many records in each as fit well.

Owns packing and compression. Names are compressed only where the very same octets stand before, so that their case survives
(RFC 5936 section 3.4). Never signs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from struct import Struct
from typing import Final

from server.transfer.record import Record, soa_record, zone_records
from server.zone.encode import NAMES_AFTER
from server.zone.index import ZoneIndex

HEADER_BYTES: Final = 12
TARGET_BYTES: Final = 16 * 1024
"""Where a message is full: pointers reach no further (RFC 1035 section 4.1.4)."""

_FIXED: Final = Struct("!HHIH")
_REACH: Final = 0x3FFF
_POINTER: Final = 0xC000
_CLASS_IN: Final = 1


class Packer:
    """The records of one message, behind a header and a question that is empty in all messages but the first."""

    def __init__(self, question: bytes = b"") -> None:
        self.count = 0
        self._body = bytearray(HEADER_BYTES) + question
        self._offsets: dict[bytes, bytes] = {}
        if question:
            self._note_suffixes(question[:-4])
        self._empty_bytes = len(self._body)
        self._owner = b""
        self._owner_pointer = b""

    def __len__(self) -> int:
        return len(self._body)

    def takes(self, record: Record) -> bool:
        """Say whether the record belongs in this message; an empty one takes any."""
        body_bytes = len(self._body)
        return (
            body_bytes == self._empty_bytes or body_bytes + len(record.owner) + len(record.rdata) + 10 <= TARGET_BYTES
        )

    def add(self, record: Record) -> None:
        owner, rdtype, ttl_s, rdata = record
        body = self._body
        self.count += 1
        if owner == self._owner and self._owner_pointer:
            body += self._owner_pointer
        else:
            self._name(owner)
            self._owner, self._owner_pointer = owner, self._offsets.get(owner, b"")
        layout = NAMES_AFTER.get(rdtype)
        if layout is None:
            body += _FIXED.pack(rdtype, _CLASS_IN, ttl_s, len(rdata)) + rdata
            return
        body += _FIXED.pack(rdtype, _CLASS_IN, ttl_s, 0)
        data_at = len(body)
        before, names = layout
        body += rdata[:before]
        position = before
        for _ in range(names):
            end = position
            while length := rdata[end]:
                end += length + 1
            self._name(rdata[position : end + 1])
            position = end + 1
        body += rdata[position:]
        body[data_at - 2 : data_at] = (len(body) - data_at).to_bytes(2, "big")

    def message(self, head: bytes, opt: bytes = b"") -> bytes:
        """Return the message; `head` are ID and flags, `opt` an OPT record or nothing."""
        questions = self._empty_bytes > HEADER_BYTES
        counts = (int(questions), self.count, 0, int(bool(opt)))
        self._body[:HEADER_BYTES] = head + b"".join(number.to_bytes(2, "big") for number in counts)
        return bytes(self._body) + opt

    def _name(self, name: bytes) -> None:
        offsets, body = self._offsets, self._body
        while len(name) > 1:
            pointer = offsets.get(name)
            if pointer is not None:
                body += pointer
                return
            here = len(body)
            if here <= _REACH:
                offsets[name] = (_POINTER + here).to_bytes(2, "big")
            label = name[0] + 1
            body += name[:label]
            name = name[label:]
        body.append(0)

    def _note_suffixes(self, name: bytes) -> None:
        position = HEADER_BYTES
        while len(name) > 1:
            self._offsets[name] = (_POINTER + position).to_bytes(2, "big")
            position += name[0] + 1
            name = name[name[0] + 1 :]


def pack(records: Iterable[Record], head: bytes, question: bytes, opt: bytes = b"") -> Iterator[bytes]:
    """Yield the messages that carry the records; the question and `opt` stand in the first alone."""
    packer = Packer(question)
    for record in records:
        if not packer.takes(record):
            yield packer.message(head, opt)
            opt = b""
            packer = Packer()
        packer.add(record)
    yield packer.message(head, opt)


class Packing:
    """How the messages of transfers are made; head, question and OPT record are those of `pack`."""

    def records(self, records: Iterable[Record], head: bytes, question: bytes, opt: bytes) -> Iterator[bytes]:
        """Yield the messages that carry the records."""
        return pack(records, head, question, opt)

    def zone(self, index: ZoneIndex, head: bytes, question: bytes, opt: bytes) -> Iterator[bytes]:
        """Yield the messages that carry a whole zone (RFC 5936 section 2.2), its SOA first and last."""
        soa = soa_record(index)
        return pack(chain((soa,), zone_records(index), (soa,)), head, question, opt)
