"""Whether a waiver releases a claim. Pure.

A waiver counts for one claim, known by its UID and by the digest of its spec, in its own namespace. What it reserves the address with is
for people to read and is never looked up.
"""

from __future__ import annotations

from collections.abc import Iterable

from controllers.api.record_withdrawal import RecordWithdrawal, is_canonical_address
from controllers.api.record_withdrawal_item import WaiverBinding
from controllers.api.record_withdrawal_waiver import RecordWithdrawalWaiver
from controllers.core.withdrawal.digest import spec_digest


def object_to_waiver(waiver: RecordWithdrawalWaiver, claim: RecordWithdrawal | None) -> str | None:
    """Say why the waiver does not release the claim that it names, or None when it does; `claim` is None when there is none."""
    spec = waiver.spec
    name = f"{waiver.meta.namespace}/{spec.claim_ref.name}"
    if claim is None or claim.meta.namespace != waiver.meta.namespace or claim.meta.name != spec.claim_ref.name:
        return f"RecordWithdrawal {name} does not exist."
    if claim.meta.uid != spec.claim_ref.uid:
        return f"spec.claimRef.uid: found {spec.claim_ref.uid}, but RecordWithdrawal {name} has {claim.meta.uid}."
    if spec.spec_digest != (digest := spec_digest(claim)):
        return f"spec.specDigest: found {spec.spec_digest}, but the spec of RecordWithdrawal {name} has {digest}."
    if not is_canonical_address(spec.address) or spec.address != claim.spec.address:
        return f"spec.address: found {spec.address}, but RecordWithdrawal {name} has {claim.spec.address}."
    return None


def first_waiver(claim: RecordWithdrawal, waivers: Iterable[RecordWithdrawalWaiver]) -> WaiverBinding | None:
    """Return the first waiver, by namespace and name, that releases the claim; one that is being deleted releases nothing."""
    for waiver in sorted(waivers, key=lambda each: each.key):
        if not waiver.deleting and object_to_waiver(waiver, claim) is None:
            return WaiverBinding(
                namespace=waiver.meta.namespace,
                name=waiver.meta.name,
                uid=waiver.meta.uid,
                spec_digest=waiver.spec.spec_digest,
                reservation_ref=waiver.spec.reservation_ref,
            )
    return None
