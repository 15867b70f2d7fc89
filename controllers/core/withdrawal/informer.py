"""The caches of withdrawals and waivers, and what is looked up in them.

Owns the indexes. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from controllers.api.record_withdrawal import RECORD_WITHDRAWALS, RecordWithdrawal, parse_record_withdrawal
from controllers.api.record_withdrawal_waiver import (
    RECORD_WITHDRAWAL_WAIVERS,
    RecordWithdrawalWaiver,
    parse_record_withdrawal_waiver,
)
from kube.client import Client
from kube.informer import Informer
from kube.object import ObjectKey

ZONE_INDEX: Final = "withdrawal/zone"
NAMESPACE_INDEX: Final = "withdrawal/namespace"
CLAIM_INDEX: Final = "withdrawal/claim"


@dataclass(frozen=True, slots=True)
class WithdrawalInformers:
    """The two caches; the manager runs them."""

    claims: Informer[RecordWithdrawal]
    waivers: Informer[RecordWithdrawalWaiver]

    @classmethod
    def over(cls, client: Client) -> WithdrawalInformers:
        """Return caches that follow the API through one client."""
        return cls(
            claims=Informer(client, RECORD_WITHDRAWALS, parse_record_withdrawal),
            waivers=Informer(client, RECORD_WITHDRAWAL_WAIVERS, parse_record_withdrawal_waiver),
        )

    def register_indexes(self) -> None:
        """Add the indexes that lookups need; call before the informers run."""
        self.claims.add_index(ZONE_INDEX, lambda claim: (zone_key_of(claim),))
        self.waivers.add_index(NAMESPACE_INDEX, lambda waiver: (waiver.meta.namespace,))
        self.waivers.add_index(CLAIM_INDEX, lambda waiver: (claim_key_of(waiver),))

    def of_zone(self, zone: ObjectKey) -> tuple[RecordWithdrawal, ...]:
        """Return every withdrawal that names the Zone."""
        return tuple(self.claims.by_index(ZONE_INDEX, zone))

    def waivers_for(self, claims: Iterable[RecordWithdrawal]) -> Mapping[str, tuple[RecordWithdrawalWaiver, ...]]:
        """Return the waivers in the namespaces of the claims, by namespace."""
        namespaces = {claim.meta.namespace for claim in claims}
        return {each: tuple(self.waivers.by_index(NAMESPACE_INDEX, each)) for each in namespaces}


def zone_key_of(claim: RecordWithdrawal) -> ObjectKey:
    """Return the key of the Zone that a withdrawal names."""
    return claim.spec.zone_ref.key_from(claim.meta.namespace)


def claim_key_of(waiver: RecordWithdrawalWaiver) -> ObjectKey:
    """Return the key of the withdrawal that a waiver names."""
    return ObjectKey(waiver.meta.namespace, waiver.spec.claim_ref.name)
