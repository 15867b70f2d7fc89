"""The Provider object of the external provider: what its claims may say, for admission, tools and people.

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
from controllers.providers.external.binding import BINDING
from controllers.providers.external.parameters import ATOMIC, Parameters
from controllers.providers.external.wanted import LINE_LIMIT
from zonemodel.model import Model
from zonemodel.record import RecordType

_ABOUT: Final = "Zones that somebody else edits: the product asks their servers and says what is still missing."
PENDING_LIMIT: Final = 2 * LINE_LIMIT


class ServerData(Model):
    """One server of an external zone."""

    server: Annotated[str, Field(description="The server: its name, with its address when it has several.")]
    answer: Annotated[str, Field(description="NOERROR when it speaks for the zone, or what it said instead.")]
    serial: Annotated[int | None, Field(ge=0, description="Serial of the zone that it has.")] = None


class ZoneData(Model):
    """Public facts about an external zone."""

    servers: Annotated[
        tuple[ServerData, ...],
        Field(max_length=64, description="The servers that were asked, and what they have.", json_schema_extra=ATOMIC),
    ] = ()


class RecordSetData(Model):
    """Public facts about an external record set."""

    pending: Annotated[
        tuple[str, ...],
        Field(
            max_length=PENDING_LIMIT,
            description="Zone file lines that a person has yet to put into the zone; comments say what to take out.",
            json_schema_extra=ATOMIC,
        ),
    ] = ()


def provider_manifest() -> dict[str, Any]:
    """Return the Provider, ready to be applied."""
    version = ProviderVersion(
        name=BINDING.provider_version,
        served=True,
        storage=True,
        zone_class=ZoneClassContract(
            schemas=ZoneClassSchemas(parameters=payload_schema(Parameters, "Settings of an external ZoneClass."))
        ),
        zone=ZoneContract(
            schemas=ZoneSchemas(
                adoption=empty_payload("External zones are never changed, so there is nothing to take over."),
                status_provider_data=payload_schema(ZoneData, "Public facts about an external zone."),
            )
        ),
        record_set=RecordSetContract(
            supported_types=tuple(RecordType),
            schemas=RecordSetSchemas(
                options=empty_payload("External record sets have no settings beyond the core ones."),
                adoption=empty_payload("External records are never changed, so there is nothing to take over."),
                status_provider_data=payload_schema(RecordSetData, "Public facts about an external record set."),
            ),
        ),
        record_withdrawal=RecordWithdrawalContract(
            schemas=RecordWithdrawalSchemas(status_provider_data=payload_schema(Evidence, "Evidence of a withdrawal."))
        ),
    )
    spec = ProviderSpec(display=Display(name="External", description=_ABOUT), versions=(version,))
    return provider_object(BINDING.provider_name, spec)
