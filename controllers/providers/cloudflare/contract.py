"""The Provider object of the Cloudflare provider: what its claims may say, for admission, tools and people.

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
from controllers.api.provider_object import payload_schema, provider_object
from controllers.ledger.ownership import OWNERSHIP_RULE
from controllers.providers.cloudflare.binding import BINDING, GROUP
from controllers.providers.cloudflare.payload import (
    Options,
    Parameters,
    RecordAdoption,
    RecordSetData,
    ZoneAdoption,
    ZoneData,
)
from controllers.providers.cloudflare.payload_rule import MAX_TTL_S, MIN_TTL_S
from zonemodel.record import RecordType

_ABOUT: Final = "Zones and DNS records in an account at Cloudflare, reached with an API token."
_AUTO: Final = "(has(self.spec.options) && has(self.spec.options.ttl))"
_PROXIED: Final = "(has(self.spec.options) && has(self.spec.options.proxied) && self.spec.options.proxied)"
_TAGS: Final = "!has(self.spec.options) || !has(self.spec.options.tags) || self.spec.options.tags"
_SAME_TAG: Final = (
    "one.substring(0, one.indexOf(':')).lowerAscii() == other.substring(0, other.indexOf(':')).lowerAscii()"
    " && one.substring(one.indexOf(':')) == other.substring(other.indexOf(':'))"
)

RECORD_SET_RULES: Final = (
    Rule(rule=f"!{_AUTO} || !has(self.spec.ttl)", message="spec.ttl: nothing beside options.ttl: Auto"),
    Rule(
        rule=f"!has(self.spec.ttl) || (self.spec.ttl >= {MIN_TTL_S} && self.spec.ttl <= {MAX_TTL_S})",
        message=f"spec.ttl: {MIN_TTL_S} to {MAX_TTL_S} seconds, or options.ttl: Auto",
    ),
    Rule(
        rule=f"!{_PROXIED} || self.spec.type in ['A', 'AAAA', 'CNAME']",
        message="spec.options.proxied: true for A, AAAA and CNAME only",
    ),
    Rule(rule=f"!{_PROXIED} || {_AUTO}", message="spec.options.proxied: true with options.ttl: Auto only"),
    Rule(
        rule="!has(self.spec.mx) || self.spec.mx.records.all(each, each.exchange != '.')",
        message='spec.mx.records: names of hosts; Cloudflare has no null MX (".")',
    ),
    Rule(
        rule=f"{_TAGS}.all(each, !each.lowerAscii().startsWith('cf-'))",
        message="spec.options.tags: names that do not begin with cf-, which Cloudflare keeps for itself",
    ),
    Rule(
        rule=f"{_TAGS}.all(one, {_TAGS.rsplit(' || ', 1)[1]}.filter(other, {_SAME_TAG}).size() == 1)",
        message="spec.options.tags: each tag once; names have no case",
    ),
)


def provider_manifest() -> dict[str, Any]:
    """Return the Provider, ready to be applied."""
    version = ProviderVersion(
        name=BINDING.provider_version,
        served=True,
        storage=True,
        identity=Identity(resource=IdentityResource(group=GROUP, kind="CloudflareIdentity")),
        zone_class=ZoneClassContract(
            schemas=ZoneClassSchemas(parameters=payload_schema(Parameters, "Settings of a Cloudflare ZoneClass.")),
            validation_rules=(OWNERSHIP_RULE,),
        ),
        zone=ZoneContract(
            schemas=ZoneSchemas(
                adoption=payload_schema(ZoneAdoption, "An existing zone at Cloudflare to take over."),
                status_provider_data=payload_schema(ZoneData, "Public facts about a zone at Cloudflare."),
            )
        ),
        record_set=RecordSetContract(
            supported_types=tuple(RecordType),
            schemas=RecordSetSchemas(
                options=payload_schema(Options, "Settings of a RecordSet at Cloudflare."),
                adoption=payload_schema(RecordAdoption, "Existing records at Cloudflare to take over."),
                status_provider_data=payload_schema(RecordSetData, "Public facts about the records at Cloudflare."),
            ),
            validation_rules=RECORD_SET_RULES,
            disable_validations=(
                Toggle(name="require-ttl", when=_AUTO),
                Toggle(name="forbid-cname-apex", when="self.spec.type == 'CNAME'"),
            ),
        ),
        zone_unit=ZoneUnitContract(
            disable_validations=(
                Toggle(
                    name="forbid-cname-coexistence",
                    when="self.type == 'CNAME' && other.type in ['TXT', 'MX', 'CAA']",
                ),
            ),
            validation_rules=(
                Rule(
                    rule="self.type != 'NS' && other.type != 'NS'",
                    message="an NS record set cannot share its name with other records at Cloudflare",
                ),
            ),
        ),
    )
    spec = ProviderSpec(display=Display(name="Cloudflare", description=_ABOUT), versions=(version,))
    return provider_object(BINDING.provider_name, spec)
