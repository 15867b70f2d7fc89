"""Names inside record sets: owners, and the hosts that records point at.

Seed of the rules: RFC 1035 section 2.3.1 for host names, RFC 8552 for names with underscores. Nothing is normalised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Final

from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import Field, require_text
from zonemodel.name import object_to_domain, object_to_owner
from zonemodel.record import RecordType

OWNER: Final = (
    'a name relative to the zone: "@" for the apex, "*", "*.rel" or "rel" in lowercase ASCII without a trailing dot'
)
HOST: Final = "a lowercase ASCII DNS name without a trailing dot"
WITH_UNDERSCORES: Final = frozenset({RecordType.TXT, RecordType.CNAME})

_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def judge_owner(name: Field, record_type: str | None) -> Iterator[Fault]:
    """Object to a name that is no owner of that type; labels of TXT and CNAME owners may begin with an underscore."""
    if not name.text:
        return
    if objection := object_to_owner(name.text, underscore=record_type in WITH_UNDERSCORES):
        yield _objected(name, OWNER, objection)


def judge_delegation(name: Field) -> Iterator[Fault]:
    """Object to an owner that cannot be delegated to a child zone: the apex and wildcards."""
    if name.text == "@":
        yield name.fault(
            "the name of a child zone; the provider owns the NS records of the apex", FaultReason.FORBIDDEN
        )
    elif name.text == "*" or (name.text or "").startswith("*."):
        yield name.fault("the name of a child zone; a wildcard cannot be delegated", FaultReason.FORBIDDEN)


def require_host(host: Field, object_to: Callable[[str], str | None] = object_to_domain) -> Iterator[Fault]:
    """Object to a field that is absent or no canonical name of a host; `object_to` states the label rules."""
    yield from require_text(host, HOST)
    yield from judge_host(host, object_to)


def judge_host(host: Field, object_to: Callable[[str], str | None] = object_to_domain) -> Iterator[Fault]:
    """Object to a text that is no canonical name of a host."""
    if not host.text:
        return
    if is_address(host.text):
        yield host.fault(f"{HOST}, not an IP address")
    elif _URI.match(host.text):
        yield host.fault(f"{HOST}, not a URL or URI")
    elif objection := object_to(host.text):
        yield _objected(host, HOST, objection)


def is_address(text: str) -> bool:
    """Say whether a text is an IPv4 or IPv6 address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _objected(field: Field, allowed: str, objection: str) -> Fault:
    return field.fault(f"{allowed}; this one {objection}")
