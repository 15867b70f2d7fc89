"""The Provider object of the hosted provider: what its claims may say, for admission, tools and people.

Made from the same types that the controllers parse with. Reconciled by nobody.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from controllers.api.provider import (
    Display,
    ProviderSpec,
    ProviderVersion,
    RecordSetContract,
    RecordSetSchemas,
    RecordWithdrawalContract,
    RecordWithdrawalSchemas,
    ZoneClassContract,
    ZoneClassSchemas,
    ZoneContract,
    ZoneSchemas,
)
from controllers.api.provider_object import empty_payload, payload_schema, provider_object
from controllers.ledger.withdrawal import Evidence
from controllers.providers.hosted.binding import PROVIDER_NAME, PROVIDER_VERSION
from controllers.providers.hosted.parameters import Parameters
from zonemodel.model import Model
from zonemodel.record import RecordType

_ABOUT: Final = "Zones served by the product's own authoritative name servers, without an account anywhere."


class ZoneData(Model):
    """Public facts about a hosted zone."""

    hosted_zone: Annotated[
        str,
        Field(description="HostedZone in the Zone's namespace that holds the snapshot which the name servers serve."),
    ]


def provider_manifest() -> dict[str, Any]:
    """Return the Provider, ready to be applied."""
    version = ProviderVersion(
        name=PROVIDER_VERSION,
        served=True,
        storage=True,
        zone_class=ZoneClassContract(
            schemas=ZoneClassSchemas(parameters=payload_schema(Parameters, "Settings of a hosted ZoneClass."))
        ),
        zone=ZoneContract(
            schemas=ZoneSchemas(
                adoption=empty_payload("Hosted zones are made by the provider, so there is nothing to take over."),
                status_provider_data=payload_schema(ZoneData, "Public facts about a hosted zone."),
            )
        ),
        record_set=RecordSetContract(
            supported_types=tuple(RecordType),
            schemas=RecordSetSchemas(
                options=empty_payload("Hosted record sets have no settings beyond the core ones."),
                adoption=empty_payload("Hosted records are made by the provider, so there is nothing to take over."),
                status_provider_data=empty_payload(
                    "Nothing is to be told of a hosted record set beyond its conditions."
                ),
            ),
        ),
        record_withdrawal=RecordWithdrawalContract(
            schemas=RecordWithdrawalSchemas(status_provider_data=payload_schema(Evidence, "Evidence of a withdrawal."))
        ),
    )
    spec = ProviderSpec(display=Display(name="Hosted", description=_ABOUT), versions=(version,))
    return provider_object(PROVIDER_NAME, spec)
