"""How large a record set may be: one that no DNS message can hold could never be asked for.

Reads a body that has no other fault. Knows neither Providers nor zones.
"""

from __future__ import annotations

from collections.abc import Iterator

from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import Field
from zonemodel.record import RecordBodies, RecordType, encode_bodies
from zonemodel.rrset import ANSWER_MAX_OCTETS, answer_octets


def judge_size(record: Field) -> Iterator[Fault]:
    """Object to the body of a record set that does not fit in an answer over any transport (RFC 1035 section 4.2.2)."""
    name = record.child("type").text
    if name not in set(RecordType):
        return
    body = record.child(RecordType(name).field)
    try:
        octets = answer_octets(encode_bodies(RecordBodies.model_validate({RecordType(name).field: body.value})))
    except ValueError:  # the Provider takes bodies that core would have refused, and judges them itself
        return
    if octets > ANSWER_MAX_OCTETS:
        allowed = f"a set that takes at most {ANSWER_MAX_OCTETS} octets in a DNS message; this one takes {octets}"
        yield body.fault(allowed, FaultReason.TOO_LONG)
