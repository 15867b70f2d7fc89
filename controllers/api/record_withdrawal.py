"""`RecordWithdrawal`: the claim that a name must no longer point at an address, held until that has been observed."""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address
from typing import Annotated, Final

from pydantic import Field

from controllers.api.condition import Conditions
from controllers.api.group import GROUP, VERSION
from controllers.api.object import ApiObject, parser
from controllers.api.reference import NamespacedRef, ProviderRef
from controllers.api.zone import ProviderData
from kube.resource import ResourceRef
from zonemodel.model import Model
from zonemodel.record import RecordType

RECORD_WITHDRAWALS: Final = ResourceRef(GROUP, VERSION, "recordwithdrawals", "RecordWithdrawal")
ADDRESS_LABEL: Final = f"{GROUP}/address"


class RecordWithdrawalSpec(Model):
    """What a RecordWithdrawal claims; all of it is immutable."""

    zone_ref: Annotated[NamespacedRef, Field(description="Zone that the name belongs to; immutable.")]
    provider: Annotated[
        ProviderRef,
        Field(description="Provider and version that this claim is written for, as in its zone; immutable."),
    ]
    name: Annotated[
        str, Field(description="Name relative to the zone: @ for the apex, *, *.rel or rel; lowercase; immutable.")
    ]
    address: Annotated[
        str, Field(description="IPv4 or IPv6 address in canonical form that the name must not point at; immutable.")
    ]


class RecordWithdrawalStatus(Model):
    """What is so with the withdrawal."""

    observed_generation: Annotated[int | None, Field(ge=0, description="Generation that the conditions speak of.")] = (
        None
    )
    provider: Annotated[ProviderData | None, Field(description="Public evidence of the observation.")] = None
    conditions: Conditions = ()


RecordWithdrawal = ApiObject[RecordWithdrawalSpec, RecordWithdrawalStatus]
parse_record_withdrawal = parser(RecordWithdrawalSpec, RecordWithdrawalStatus)


def address_label(address: str) -> str:
    """Return the value that the address label must have: the packed address in hex. Raises ValueError for no address."""
    return ip_address(address).packed.hex()


def address_type(address: str) -> RecordType:
    """Return the record type that gives such an address. Raises ValueError for no address."""
    return RecordType.A if isinstance(ip_address(address), IPv4Address) else RecordType.AAAA


def is_canonical_address(text: str) -> bool:
    """Say whether a text is an address as it is always written: RFC 5952 for IPv6, without a zone."""
    try:
        return "%" not in text and str(ip_address(text)) == text
    except ValueError:
        return False
