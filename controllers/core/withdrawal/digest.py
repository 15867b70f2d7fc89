"""The digest that a waiver names its claim by. Pure."""

from __future__ import annotations

import hashlib

from controllers.api.record_withdrawal import RecordWithdrawal
from zonemodel.canonical import encode_canonical


def spec_digest(claim: RecordWithdrawal) -> str:
    """Return `sha256:` and the hex digest over the claim's spec as canonical JSON: sorted keys, no spaces, UTF-8."""
    return f"sha256:{hashlib.sha256(encode_canonical(claim.spec.dump())).hexdigest()}"
