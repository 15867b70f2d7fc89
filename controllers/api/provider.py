"""`Provider`: the contract of a DNS provider, installed with the product and reconciled by nobody."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from controllers.api.condition import ConditionStatus
from controllers.api.object import ApiObject, parser
from zonemodel.model import Model
from zonemodel.record import RecordType

ATOMIC = {"x-kubernetes-list-type": "atomic"}


def _by_name() -> dict[str, Any]:
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


class Logo(Model):
    """A picture of the provider."""

    url: Annotated[str, Field(description="Address of the picture.")]


class Display(Model):
    """How tools show the provider."""

    name: Annotated[str, Field(description="Name for people.")]
    description: Annotated[str | None, Field(description="One or two sentences for people.")] = None
    logo: Annotated[Logo | None, Field(description="Picture of the provider.")] = None


class IdentityResource(Model):
    """The kind that holds the provider's identity."""

    group: Annotated[str, Field(description="API group of the identity kind.")]
    kind: Annotated[str, Field(description="Identity kind.")]
    scope: Annotated[str, Field(description="Namespaced: identities live beside their ZoneClasses.")] = "Namespaced"


class Identity(Model):
    """That the provider needs an identity."""

    resource: Annotated[IdentityResource, Field(description="The kind that holds the identity.")]


class PayloadSchema(Model):
    """Schema of one opaque payload."""

    open_apiv3_schema: Annotated[
        dict[str, Any],
        Field(alias="openAPIV3Schema", description="OpenAPI v3 schema; every property has a description."),
    ]


class Rule(Model):
    """One CEL rule over `self`."""

    rule: Annotated[str, Field(description="CEL expression of type bool that must be true.")]
    message: Annotated[str | None, Field(description="What to tell the user when it is false.")] = None


class Toggle(Model):
    """A core validation that the provider switches off."""

    name: Annotated[str, Field(description="Name of the validation.")]
    when: Annotated[str, Field(description="CEL expression of type bool; the validation is off where it is true.")]


class ConditionReason(Model):
    """A reason of the provider's own."""

    condition_type: Annotated[str, Field(description="Accepted or Programmed.")]
    status: Annotated[ConditionStatus, Field(description="Status that the reason stands with.")]
    reason: Annotated[str, Field(description="The reason, in CamelCase.")]
    description: Annotated[str, Field(description="When it is given.")]


class ServiceReference(Model):
    """A Service that answers conversions."""

    namespace: Annotated[str, Field(description="Namespace of the Service.")]
    name: Annotated[str, Field(description="Name of the Service.")]
    path: Annotated[str, Field(description="URL path.")] = "/convert"
    port: Annotated[int, Field(ge=1, le=65535, description="Port of the Service.")] = 443


class ClientConfig(Model):
    """How to reach a conversion webhook."""

    service: Annotated[ServiceReference, Field(description="The Service.")]
    ca_bundle: Annotated[
        str, Field(description="PEM certificates, base64, that the server's certificate must chain to.")
    ]


class ConversionWebhook(Model):
    """A webhook that converts payloads."""

    client_config: Annotated[ClientConfig, Field(description="How to reach the webhook.")]
    timeout_seconds: Annotated[int, Field(ge=1, le=30, description="Seconds to wait for an answer.")] = 10


class ToStorage(Model):
    """How a payload becomes one of the storage version: exactly one of the two."""

    cel: Annotated[str | None, Field(description="CEL expression that gives the converted payload.")] = None
    webhook: Annotated[ConversionWebhook | None, Field(description="Webhook that converts the payload.")] = None


class Conversion(Model):
    """Conversion of one kind's payload."""

    to_storage: Annotated[ToStorage, Field(description="Conversion to the storage version.")]


class KindContract(Model):
    """What a version may say of any kind."""

    validation_rules: Annotated[
        tuple[Rule, ...], Field(description="CEL rules over the object.", json_schema_extra=ATOMIC)
    ] = ()
    conversion: Annotated[Conversion | None, Field(description="Conversion of the payload to the storage version.")] = (
        None
    )


class ClaimContract(KindContract):
    """What a version may say of Zones and RecordSets."""

    additional_condition_reasons: Annotated[
        tuple[ConditionReason, ...], Field(description="Reasons beside the core ones.", json_schema_extra=ATOMIC)
    ] = ()


class ZoneClassSchemas(Model):
    """Schemas of ZoneClass payloads."""

    parameters: Annotated[PayloadSchema | None, Field(description="Schema of spec.parameters.")] = None


class ZoneClassContract(KindContract):
    """What the version says of ZoneClasses."""

    schemas: Annotated[ZoneClassSchemas, Field(description="Payload schemas.")] = ZoneClassSchemas()


class ZoneSchemas(Model):
    """Schemas of Zone payloads."""

    adoption: Annotated[PayloadSchema | None, Field(description="Schema of spec.adoption.")] = None
    status_provider_data: Annotated[PayloadSchema | None, Field(description="Schema of status.provider.data.")] = None


class ZoneContract(ClaimContract):
    """What the version says of Zones."""

    schemas: Annotated[ZoneSchemas, Field(description="Payload schemas.")] = ZoneSchemas()


class RecordSetSchemas(Model):
    """Schemas of RecordSet payloads."""

    options: Annotated[PayloadSchema | None, Field(description="Schema of spec.options.")] = None
    adoption: Annotated[PayloadSchema | None, Field(description="Schema of spec.adoption.")] = None
    status_provider_data: Annotated[PayloadSchema | None, Field(description="Schema of status.provider.data.")] = None


class RecordSetContract(ClaimContract):
    """What the version says of RecordSets."""

    supported_types: Annotated[
        tuple[RecordType, ...],
        Field(description="Record types that the provider can program.", json_schema_extra=ATOMIC),
    ]
    schemas: Annotated[RecordSetSchemas, Field(description="Payload schemas.")] = RecordSetSchemas()
    disable_validations: Annotated[
        tuple[Toggle, ...],
        Field(description="Core validations that the provider switches off.", json_schema_extra=ATOMIC),
    ] = ()


class ZoneUnitContract(Model):
    """What the version says of record sets that share an owner name."""

    disable_validations: Annotated[
        tuple[Toggle, ...],
        Field(description="Core validations that the provider switches off.", json_schema_extra=ATOMIC),
    ] = ()
    validation_rules: Annotated[
        tuple[Rule, ...], Field(description="CEL rules over pairs of record sets.", json_schema_extra=ATOMIC)
    ] = ()


class RecordWithdrawalSchemas(Model):
    """Schemas of RecordWithdrawal payloads."""

    status_provider_data: Annotated[PayloadSchema, Field(description="Schema of the public evidence.")]


class RecordWithdrawalContract(Model):
    """That the version can prove withdrawals."""

    schemas: Annotated[RecordWithdrawalSchemas, Field(description="Payload schemas.")]


class ProviderVersion(Model):
    """One version of the contract."""

    name: Annotated[str, Field(description="Name of the version, such as v1alpha1.")]
    served: Annotated[bool, Field(description="Whether claims may name the version.")]
    storage: Annotated[bool, Field(description="Whether ledgers are written in the version; exactly one version is.")]
    deprecated: Annotated[bool, Field(description="Whether new claims should name another version.")] = False
    identity: Annotated[Identity | None, Field(description="Identity kind; absent when the provider needs none.")] = (
        None
    )
    zone_class: Annotated[ZoneClassContract, Field(description="Contract for ZoneClasses.")] = ZoneClassContract()
    zone: Annotated[ZoneContract, Field(description="Contract for Zones.")] = ZoneContract()
    record_set: Annotated[RecordSetContract, Field(description="Contract for RecordSets.")]
    zone_unit: Annotated[ZoneUnitContract, Field(description="Contract for record sets of one owner name.")] = (
        ZoneUnitContract()
    )
    record_withdrawal: Annotated[
        RecordWithdrawalContract | None, Field(description="Present when the version can prove withdrawals.")
    ] = None


class ProviderSpec(Model):
    """The contract."""

    display: Annotated[Display, Field(description="How tools show the provider.")]
    versions: Annotated[
        tuple[ProviderVersion, ...], Field(description="Versions of the contract.", json_schema_extra=_by_name())
    ]


class NoStatus(Model):
    """Providers have no status."""


Provider = ApiObject[ProviderSpec, NoStatus]
parse_provider = parser(ProviderSpec, NoStatus)
