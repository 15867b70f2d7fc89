"""Small builders of withdrawals, waivers and what a provider reports of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from controllers.api.provider import Provider
from controllers.api.record_withdrawal import ADDRESS_LABEL, RecordWithdrawal, address_label, parse_record_withdrawal
from controllers.api.record_withdrawal_item import UnitWithdrawal
from controllers.api.record_withdrawal_waiver import RecordWithdrawalWaiver, parse_record_withdrawal_waiver
from controllers.api.reference import ProviderRef
from controllers.api.zone_unit import ZoneUnit, ZoneUnitSpec, parse_zone_unit
from controllers.core.inputs import ZoneInputs
from controllers.core.withdrawal.digest import spec_digest
from tests.controllers.core import build

ADDRESS = "192.0.2.1"
RESERVATION = {"group": "ipam.example.com", "kind": "IPReservation", "name": "edge-1", "uid": "r-1"}
SUPPORTED = {"schemas": {"statusProviderData": build.schema(serial={"type": "integer"})}}


def provider(**version: Any) -> Provider:
    """The Provider of the other builders, with withdrawals."""
    return build.provider(recordWithdrawal=SUPPORTED, **version)


def withdrawal(
    name: str = "old-ip", owner: str = "www", address: str = ADDRESS, *, namespace: str = "team", **more: Any
) -> RecordWithdrawal:
    """A withdrawal of zone team/example; `metadata` and `status` go over, all else is of the spec."""
    metadata = build.meta(namespace, name, **more.pop("metadata", {}))
    metadata.setdefault("labels", {ADDRESS_LABEL: address_label(address)})
    return parse_record_withdrawal(
        {
            "metadata": metadata,
            "status": more.pop("status", {}),
            "spec": {
                "zoneRef": {"namespace": "team", "name": "example"},
                "provider": build.PROVIDER,
                "name": owner,
                "address": address,
                **more,
            },
        }
    )


def waiver(
    claim: RecordWithdrawal, name: str = "release", *, metadata: Mapping[str, Any] | None = None, **spec: Any
) -> RecordWithdrawalWaiver:
    """A waiver that releases the claim, unless the spec says otherwise."""
    return parse_record_withdrawal_waiver(
        {
            "metadata": {**build.meta(claim.meta.namespace, name), **(metadata or {})},
            "spec": {
                "claimRef": {"name": claim.meta.name, "uid": claim.meta.uid},
                "specDigest": spec_digest(claim),
                "address": claim.spec.address,
                "reason": "The customer has gone.",
                "reservationRef": RESERVATION,
                **spec,
            },
        }
    )


def inputs(
    *claims: RecordWithdrawal,
    waivers: Iterable[RecordWithdrawalWaiver] = (),
    labels: Mapping[str, Mapping[str, str]] | None = None,
    **more: Any,
) -> ZoneInputs:
    """Inputs of zone team/example with withdrawals."""
    more.setdefault("provider", provider())
    known = {"team": {}, **{claim.meta.namespace: {} for claim in claims}} if labels is None else labels
    base = build.inputs(labels=known, **more)
    of_namespace: dict[str, tuple[RecordWithdrawalWaiver, ...]] = {}
    for each in waivers:
        of_namespace[each.meta.namespace] = (*of_namespace.get(each.meta.namespace, ()), each)
    versions = {
        claim.spec.provider.version: build.CONTRACTS.resolve(
            base.provider, ProviderRef(name=build.PROVIDER["name"], version=claim.spec.provider.version)
        )
        for claim in claims
    }
    return replace(base, withdrawals=claims, waivers=of_namespace, withdrawal_versions=versions)


def observed(
    spec: ZoneUnitSpec,
    *conditions: tuple[str, str, str],
    metadata: Mapping[str, Any] | None = None,
    generation: int = 1,
    **result: Any,
) -> ZoneUnit:
    """Part 0 with the provider's result for its first withdrawal; the zone's class is that of the builders."""
    item: UnitWithdrawal = spec.withdrawals[0]
    told = conditions or (("Withdrawn", "True", "Verified"), ("Ready", "True", "Withdrawn"))
    entry = {
        "claimNamespace": item.claim_namespace,
        "claimName": item.claim_name,
        "claimUID": item.claim_uid,
        "claimGeneration": item.claim_generation,
        "zoneClass": {"uid": "uid-team-hosted", "generation": 1},
        "conditions": [build.condition(kind, status, reason, "Seen.") for kind, status, reason in told],
        "provider": {"data": {"serial": 7}, "state": {"secret": "note"}},
        **result,
    }
    if item.waiver is not None and "waiver" not in result:
        entry["waiver"] = item.waiver.dump()
    return parse_zone_unit(
        {
            "metadata": build.meta("team", "example", **(metadata or {})),
            "spec": spec.dump(),
            "status": {"observedGeneration": generation, "withdrawals": [entry]},
        }
    )
