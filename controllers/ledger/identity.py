"""Identities of providers: what the status of every kind of them has, and how it is read.

Owns no kind: each provider has its own, with its own reasons.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeVar

from pydantic import Field

from controllers.api.condition import Condition, Conditions, find_condition
from controllers.api.object import ApiObject, SpecT
from zonemodel.model import Model

READY: Final = "Ready"


class IdentityStatus(Model):
    """What the controller found out of the credential."""

    observed_generation: Annotated[int | None, Field(ge=0, description="Generation that was judged.")] = None
    conditions: Conditions = ()
    last_credential_check_time: Annotated[
        str | None,
        Field(description="When the credential was last checked.", json_schema_extra={"format": "date-time"}),
    ] = None
    next_credential_check_time: Annotated[
        str | None,
        Field(
            description="When it will be checked again, about; absent when nothing is scheduled.",
            json_schema_extra={"format": "date-time"},
        ),
    ] = None


IdentityStatusT = TypeVar("IdentityStatusT", bound=IdentityStatus)


def current(identity: ApiObject[SpecT, IdentityStatusT], kind: str) -> Condition | None:
    """Return a condition that speaks of the identity as it is now, None while there is none."""
    found = find_condition(identity.status.conditions, kind)
    return found if found is not None and found.observed_generation == identity.meta.generation else None
