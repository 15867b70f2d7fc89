"""Parameters of an external ZoneClass: as they are written, and as the prober reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field

from controllers.probe.address import Address, ServerName
from zonemodel.model import Model

DURATION_PATTERN: Final = r"^([0-9]{1,5}h)?([0-9]{1,5}m)?([0-9]{1,6}s)?$"
ATOMIC: Final[dict[str, Any]] = {"x-kubernetes-list-type": "atomic"}
_UNITS_S: Final = (3600, 60, 1)


class DeletionPolicy(StrEnum):
    """When the deletion of a record set is complete."""

    OBSERVE = "Observe"
    FORGET = "Forget"


class Parameters(Model):
    """What stands in spec.parameters."""

    model_config = ConfigDict(extra="forbid")

    name_servers: Annotated[
        tuple[str, ...],
        Field(
            max_length=32,
            description=(
                "Servers to ask, each an address or a name, with :port if it is not 53; when left out, those that the delegation of "
                "the zone leads to."
            ),
            json_schema_extra=ATOMIC,
        ),
    ] = ()
    resolvers: Annotated[
        tuple[str, ...],
        Field(
            max_length=8,
            description=(
                "Addresses of resolvers that find the delegation and the addresses of servers, with :port if it is not 53; when left "
                "out, those of the controller's host."
            ),
            json_schema_extra=ATOMIC,
        ),
    ] = ()
    probe_interval: Annotated[
        str,
        Field(
            pattern=DURATION_PATTERN,
            description="Time between two looks at all servers, such as 60s or 5m; 10s or more.",
            json_schema_extra={"default": "60s"},
        ),
    ] = "60s"
    probe_timeout: Annotated[
        str,
        Field(
            pattern=DURATION_PATTERN,
            description="Time that a server has to answer one question, 1s to 30s.",
            json_schema_extra={"default": "5s"},
        ),
    ] = "5s"
    require_all_servers: Annotated[
        bool,
        Field(
            description="Whether every server must serve a record set before it counts as programmed, or one is enough.",
            json_schema_extra={"default": True},
        ),
    ] = True
    deletion_policy: Annotated[
        DeletionPolicy,
        Field(
            description="Observe waits until no server serves a deleted record set any more, Forget does not look.",
            json_schema_extra={"default": "Observe"},
        ),
    ] = DeletionPolicy.OBSERVE


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters, read; no `name_servers` means discovery, no `resolvers` those of this host."""

    name_servers: tuple[Address | ServerName, ...] = ()
    resolvers: tuple[Address, ...] = ()
    interval_s: int = 60
    timeout_s: int = 5
    require_all: bool = True
    deletion_policy: DeletionPolicy = DeletionPolicy.OBSERVE


def parse_duration(text: str) -> int:
    """Return seconds. Raises ValueError for what is no duration such as 90s, 5m or 1h30m."""
    found = re.match(DURATION_PATTERN, text)
    if found is None or not text:
        raise ValueError(f"found {text!r}, allowed: a duration such as 90s, 5m or 1h30m")
    parts = (int(part[:-1]) if part else 0 for part in found.groups())
    return sum(part * unit_s for part, unit_s in zip(parts, _UNITS_S, strict=True))
