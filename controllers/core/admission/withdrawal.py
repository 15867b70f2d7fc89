"""Validation of RecordWithdrawals and RecordWithdrawalWaivers.

Judges what the object and its declared Provider tell by themselves; who grants what, and whether a waiver fits its claim, is the
composer's. Nothing may hold such an object up or take it along with another one: it is archived by a person, so it has neither
finalizers nor owners.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from controllers.api.record_withdrawal import ADDRESS_LABEL, address_label, is_canonical_address
from controllers.api.record_withdrawal_waiver import DIGEST_PATTERN, REASON_LIMIT_CHARS
from controllers.core.admission.claim import Manifest, Resolution, judge_resolution, require_provider
from controllers.core.admission.record_name import OWNER, judge_owner
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    NAMESPACE_NAME,
    Field,
    judge_immutable,
    judge_reference,
    require_object,
    require_object_name,
    require_text,
)
from zonemodel.record import RecordType

ADDRESS: Final = "an IPv4 or IPv6 address in canonical form (RFC 5952 for IPv6), without a zone"
DIGEST: Final = "sha256: and 64 hex digits, the digest of the claim's spec as JSON with sorted keys and no spaces"
UID_LIMIT_CHARS: Final = 128
KIND_LIMIT_CHARS: Final = 63
WITHDRAWAL_FIELDS: Final = ("zoneRef", "provider", "name", "address")
WAIVER_FIELDS: Final = ("claimRef", "specDigest", "address", "reason", "reservationRef")

_DIGEST: Final = re.compile(DIGEST_PATTERN)
_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]*\Z")


def validate_withdrawal(new: Manifest, old: Manifest | None, resolution: Resolution) -> list[Fault]:
    """Return everything that is wrong with a RecordWithdrawal; `resolution` is None when its spec was judged before."""
    root = Field("", new)
    spec, metadata = root.child("spec"), root.child("metadata")
    faults = list(_judge_freedom(metadata))
    faults += judge_reference(spec.child("zoneRef"), "the Zone that the name belongs to")
    faults += require_provider(spec)
    faults += require_text(spec.child("name"), OWNER)
    faults += judge_owner(spec.child("name"), RecordType.A)
    faults += _require_address(spec.child("address"))
    faults += _judge_label(metadata.child("labels"), spec.child("address"))
    if old is not None:
        faults += judge_immutable(spec, Field("spec", old.get("spec")), WITHDRAWAL_FIELDS)
    faults += judge_resolution(spec, resolution)
    return faults


def validate_waiver(new: Manifest, old: Manifest | None) -> list[Fault]:
    """Return everything that is wrong with a RecordWithdrawalWaiver."""
    root = Field("", new)
    spec = root.child("spec")
    faults = list(_judge_freedom(root.child("metadata")))
    claim = spec.child("claimRef")
    absent = list(require_object(claim, "name and uid of a RecordWithdrawal in the same namespace"))
    faults += absent
    if not absent:
        faults += require_object_name(claim.child("name"))
        faults += _require_bounded(claim.child("uid"), "the UID of the RecordWithdrawal", UID_LIMIT_CHARS)
    faults += _require_digest(spec.child("specDigest"))
    faults += _require_address(spec.child("address"))
    words = f"why the address is released, 1 to {REASON_LIMIT_CHARS} characters"
    faults += _require_bounded(spec.child("reason"), words, REASON_LIMIT_CHARS)
    faults += require_reservation(spec.child("reservationRef"))
    if old is not None:
        faults += judge_immutable(spec, Field("spec", old.get("spec")), WAIVER_FIELDS)
    return faults


def require_reservation(ref: Field) -> Iterator[Fault]:
    """Object to a reference to a reservation that has not the shape of one; what it names is nobody's business here."""
    absent = list(
        require_object(ref, "group, kind, name and uid of what holds the address, and its namespace if it has one")
    )
    yield from absent
    if absent:
        return
    group, namespace, kind = ref.child("group"), ref.child("namespace"), ref.child("kind")
    if not group.present or group.text is None:
        reason = FaultReason.TYPE_INVALID if group.present else FaultReason.REQUIRED
        yield group.fault("an API group, empty for the core group", reason)
    elif group.text:
        yield from require_object_name(group)
    yield from require_text(kind, "a kind in CamelCase")
    if kind.text and (len(kind.text) > KIND_LIMIT_CHARS or not _KIND.match(kind.text)):
        yield kind.fault(f"a kind in CamelCase, at most {KIND_LIMIT_CHARS} characters")
    if namespace.present and (namespace.text is None or "." in namespace.text or list(require_object_name(namespace))):
        yield namespace.fault(NAMESPACE_NAME)
    yield from require_object_name(ref.child("name"))
    yield from _require_bounded(ref.child("uid"), "the UID of the object", UID_LIMIT_CHARS)


def _judge_freedom(metadata: Field) -> Iterator[Fault]:
    for name in ("ownerReferences", "finalizers"):
        if metadata.child(name).size:
            yield metadata.child(name).fault(
                "nothing; the object is kept and deleted by people alone", FaultReason.FORBIDDEN
            )


def _require_address(address: Field) -> Iterator[Fault]:
    yield from require_text(address, ADDRESS)
    if address.text and not is_canonical_address(address.text):
        yield address.fault(ADDRESS)


def _judge_label(labels: Field, address: Field) -> Iterator[Fault]:
    if not address.text or not is_canonical_address(address.text):
        return
    found = labels.value.get(ADDRESS_LABEL) if isinstance(labels.value, dict) else None
    label, wanted = Field(f"{labels.path}[{ADDRESS_LABEL}]", found), address_label(address.text)
    if found != wanted:
        reason = FaultReason.INVALID if label.present else FaultReason.REQUIRED
        yield label.fault(f'"{wanted}", the hex of the packed address', reason)


def _require_digest(digest: Field) -> Iterator[Fault]:
    yield from require_text(digest, DIGEST)
    if digest.text and not _DIGEST.match(digest.text):
        yield digest.fault(DIGEST)


def _require_bounded(field: Field, allowed: str, limit_chars: int) -> Iterator[Fault]:
    yield from require_text(field, allowed)
    if field.text and len(field.text) > limit_chars:
        yield field.fault(allowed, FaultReason.TOO_LONG)
