"""The Provider object of the Route 53 provider: what its claims may say, for admission, tools and people.

Made from the same types that the controllers parse with. Reconciled by nobody.
"""

from __future__ import annotations

from typing import Any, Final

from controllers.api.provider import (
    Display,
    Identity,
    IdentityResource,
    ProviderSpec,
    ProviderVersion,
    RecordSetContract,
    RecordSetSchemas,
    Rule,
    Toggle,
    ZoneClassContract,
    ZoneClassSchemas,
    ZoneContract,
    ZoneSchemas,
    ZoneUnitContract,
)
from controllers.api.provider_object import empty_payload, payload_schema, provider_object
from controllers.ledger.binding import VERSION
from controllers.ledger.ownership import OWNERSHIP_RULE
from controllers.providers.route53.binding import PROVIDER_NAME
from controllers.providers.route53.identity.resource import ROUTE53_IDENTITIES
from controllers.providers.route53.parameters import Parameters
from controllers.providers.route53.payload import Options, RecordAdoption, ZoneAdoption, ZoneData
from zonemodel.record import RecordType

_ABOUT: Final = "Public hosted zones and record sets in Amazon Route 53."
_HAS_ALIAS: Final = "has(self.spec.options) && has(self.spec.options.alias)"
_BODIES: Final = ("ttl", *(each.field for each in RecordType))

RULES: Final = (
    Rule(
        rule=f"!({_HAS_ALIAS}) || self.spec.type == 'A' || self.spec.type == 'AAAA'",
        message="spec.options.alias is for RecordSets of type A and AAAA only.",
    ),
    *(
        Rule(
            rule=f"!({_HAS_ALIAS}) || !has(self.spec.{field})",
            message=f"spec.{field} must be left out beside spec.options.alias: an alias takes TTL and values from its target.",
        )
        for field in _BODIES
    ),
)


def provider_manifest() -> dict[str, Any]:
    """Return the Provider, ready to be applied."""
    version = ProviderVersion(
        name=VERSION,
        served=True,
        storage=True,
        identity=Identity(resource=IdentityResource(group=ROUTE53_IDENTITIES.group, kind=ROUTE53_IDENTITIES.kind)),
        zone_class=ZoneClassContract(
            schemas=ZoneClassSchemas(parameters=payload_schema(Parameters, "Settings of a Route 53 ZoneClass.")),
            validation_rules=(OWNERSHIP_RULE,),
        ),
        zone=ZoneContract(
            schemas=ZoneSchemas(
                adoption=payload_schema(ZoneAdoption, "Existing hosted zone to take over."),
                status_provider_data=payload_schema(ZoneData, "Public facts about the hosted zone."),
            )
        ),
        record_set=RecordSetContract(
            supported_types=tuple(RecordType),
            schemas=RecordSetSchemas(
                options=payload_schema(Options, "Route 53 settings of the record set."),
                adoption=payload_schema(RecordAdoption, "Whether an existing record set may be taken over."),
                status_provider_data=empty_payload("Nothing: a record set is identified by its Zone, name and type."),
            ),
            validation_rules=RULES,
            disable_validations=tuple(
                Toggle(name=name, when=when)
                for name, when in (
                    ("require-ttl", _HAS_ALIAS),
                    ("require-a-addresses", _HAS_ALIAS),
                    ("require-aaaa-addresses", _HAS_ALIAS),
                )
            ),
        ),
        zone_unit=ZoneUnitContract(
            # A record set that leaves and the CNAME that comes in its place, or the other way round, go in one batch.
            disable_validations=(Toggle(name="forbid-cname-coexistence", when="self.deletionRequested"),)
        ),
    )
    spec = ProviderSpec(display=Display(name="Amazon Route 53", description=_ABOUT), versions=(version,))
    return provider_object(PROVIDER_NAME, spec)
