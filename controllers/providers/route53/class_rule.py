"""What a Route 53 ZoneClass has to say: parameters that can be followed, and an identity that is accepted.

Reads one cache and asks nobody else: hosted zones are no business of a class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from controllers.api.condition import ConditionStatus
from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused, waiting
from controllers.api.zone_class import ZoneClass
from controllers.ledger.identity import current
from controllers.providers.route53.identity.resource import ACCEPTED_TYPE, Route53Identity
from controllers.providers.route53.parameters import Parameters, class_parameters
from kube.object import ObjectKey

Identities = Callable[[ObjectKey], Route53Identity | None]


@dataclass(frozen=True, slots=True)
class Terms:
    """What the zones of a class are kept by."""

    parameters: Parameters
    identity: Route53Identity


class TermsRule:
    """The provider's own rule over ZoneClasses."""

    def __init__(self, identities: Identities) -> None:
        self._identities = identities

    def __call__(self, zone_class: ZoneClass) -> Terms | Verdict:
        """Return the terms of a class in the storage version, or the verdict against it."""
        parameters = class_parameters(zone_class)
        if isinstance(parameters, Verdict):
            return parameters
        identity = self._identity_of(zone_class)
        return identity if isinstance(identity, Verdict) else Terms(parameters, identity)

    def _identity_of(self, zone_class: ZoneClass) -> Route53Identity | Verdict:
        ref = zone_class.spec.identity_ref
        if ref is None:
            return refused(
                Reason.INVALID_IDENTITY_REF,
                "spec.identityRef: found nothing, allowed: the name of a Route53Identity in the namespace of the class.",
            )
        identity = self._identities(ObjectKey(zone_class.meta.namespace, ref.name))
        if identity is None:
            return waiting(Reason.IDENTITY_NOT_RESOLVED, f"Route53Identity {ref.name} does not exist.")
        accepted = current(identity, ACCEPTED_TYPE)
        if accepted is None:
            return waiting(Reason.IDENTITY_NOT_RESOLVED, f"Route53Identity {ref.name} has not been judged yet.")
        if accepted.status is not ConditionStatus.TRUE:
            return refused(
                Reason.INVALID_IDENTITY_REF, f"Route53Identity {ref.name} is not accepted: see its conditions."
            )
        return identity
