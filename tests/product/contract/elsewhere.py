"""Reasons that neither core nor the hosted provider gives by itself: why, and the steps by which another provider gives them.

The test plays that provider, as any controller would: it writes the status of its ZoneClass, and results into the ledger, which core
has to put onto the claims as they are.
"""

from __future__ import annotations

from tests.product.contract.other_provider import OtherProvider
from tests.product.contract.row import WWW, Combination, Row
from tests.product.stage import Stage

_POLICY = "no policy stands above the classes of hosted zones"
_IDENTITY = "hosted zones are made without an account, so there is no identity to wait for or to be refused"
_ADOPTION = "hosted zones and records are made, never adopted"
_EXTERNAL = "a hosted zone is no resource of somebody else's that could be missing or be another one"
_ACCESS = "the embedded API lets the manager write every HostedZone; in a cluster without the role it is given"
_CONTROLLER = "the hosted controllers decide from caches; whatever fails is tried again before anything is told"
_CERTAIN = "the hosted provider asks its own API, so that it knows what is served and says False"
_ZONES_ONLY = "core has judged the Zone by it already, and its RecordSets get ZoneNotAccepted"

ONLY_ELSEWHERE: dict[Combination, str] = {
    ("ZoneClass", "Accepted", "False", "DeniedByPolicy"): _POLICY,
    ("ZoneClass", "Accepted", "Unknown", "IdentityNotResolved"): _IDENTITY,
    ("ZoneClass", "Accepted", "Unknown", "ReconcileError"): _CONTROLLER,
    ("Zone", "Accepted", "False", "DeniedByPolicy"): _POLICY,
    ("Zone", "Accepted", "False", "InvalidAdoption"): _ADOPTION,
    ("Zone", "Accepted", "Unknown", "ReconcileError"): _CONTROLLER,
    ("Zone", "Programmed", "False", "ExternalResourceMismatch"): _EXTERNAL,
    ("Zone", "Programmed", "False", "ExternalResourceNotFound"): _EXTERNAL,
    ("Zone", "Programmed", "False", "ProviderAccessDenied"): _ACCESS,
    ("Zone", "Programmed", "False", "ProviderIdentityNotReady"): _IDENTITY,
    ("Zone", "Programmed", "Unknown", "ProviderChangePending"): _CERTAIN,
    ("Zone", "Programmed", "Unknown", "ProviderUnavailable"): _CERTAIN,
    ("Zone", "Programmed", "Unknown", "ReconcileError"): _CERTAIN,
    ("RecordSet", "Accepted", "False", "DeniedByPolicy"): _POLICY,
    ("RecordSet", "Accepted", "False", "InvalidAdoption"): _ADOPTION,
    ("RecordSet", "Accepted", "False", "InvalidIdentityRef"): _ZONES_ONLY,
    ("RecordSet", "Accepted", "False", "ManagedResourceMismatch"): _ZONES_ONLY,
    ("RecordSet", "Programmed", "False", "ExternalResourceMismatch"): _EXTERNAL,
    ("RecordSet", "Programmed", "False", "ExternalResourceNotFound"): _EXTERNAL,
    ("RecordSet", "Programmed", "False", "ProviderAccessDenied"): _ACCESS,
    ("RecordSet", "Programmed", "False", "ProviderIdentityNotReady"): _IDENTITY,
    ("RecordSet", "Programmed", "Unknown", "ProviderChangeDeferred"): _CERTAIN,
    ("RecordSet", "Programmed", "Unknown", "ProviderChangePending"): _CERTAIN,
    ("RecordSet", "Programmed", "Unknown", "ProviderUnavailable"): _CERTAIN,
    ("RecordSet", "Programmed", "Unknown", "ReconcileError"): _CERTAIN,
}
"""What a row by core or the hosted provider is missing for, and why there can be none."""


def _told(combination: Combination) -> Row:
    kind, condition, status, reason = combination

    async def by_another_provider(stage: Stage) -> None:
        other = OtherProvider(stage)
        if kind == "ZoneClass":
            await other.install()
            await other.apply_class()
            await other.judge_class(status, reason)
            return
        await other.set_up(WWW)
        told = [("Accepted", "True", "Accepted"), ("Programmed", "True", "Programmed")]
        own = [(condition, status, reason) if each[0] == condition else each for each in told]
        await other.say(zone=own if kind == "Zone" else told, records=own if kind == "RecordSet" else told)

    return Row(by_another_provider, (combination,))


ELSEWHERE = [_told(each) for each in ONLY_ELSEWHERE]
