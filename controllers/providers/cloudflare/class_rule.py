"""Whether a ZoneClass of ours can be followed: its identity is accepted and its parameters have a meaning.

Owns the provider's own rule. Whether the identity's token works is no question of the class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from controllers.api.condition import MESSAGE_LIMIT
from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused
from controllers.api.zone_class import ZoneClass
from controllers.providers.cloudflare.identity.resource import CloudflareIdentity, judge_acceptance
from controllers.providers.cloudflare.payload import Parameters
from controllers.providers.cloudflare.payload_rule import parse_payload
from controllers.providers.cloudflare.view import identity_key
from kube.object import ObjectKey

FindIdentity = Callable[[ObjectKey], CloudflareIdentity | None]


@dataclass(frozen=True, slots=True)
class ClassRule:
    """The rule, with what it looks identities up in; call it with a class in the storage version."""

    find_identity: FindIdentity

    def __call__(self, zone_class: ZoneClass) -> Parameters | Verdict:
        """Return the parameters, or what stands against the class."""
        key = identity_key(zone_class)
        if key is None:
            message = (
                "spec.identityRef: found nothing, allowed: the name of a CloudflareIdentity in the class's namespace."
            )
            return refused(Reason.INVALID_IDENTITY_REF, message)
        accepted = judge_acceptance(key, self.find_identity(key))
        if not accepted.accepted:
            return accepted
        parameters = parse_payload(Parameters, zone_class.spec.parameters, "spec.parameters")
        if isinstance(parameters, str):
            return refused(Reason.INVALID_PARAMETERS, f"{parameters[: MESSAGE_LIMIT - 1]}.")
        if fault := parameters.ownership.fault:
            return refused(Reason.INVALID_PARAMETERS, f"spec.parameters.ownership.{fault}.")
        return parameters
