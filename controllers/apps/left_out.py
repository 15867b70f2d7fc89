"""Hostnames that a source did not put into its EndpointRecordSet, told there so that its status can say why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

import orjson
from pydantic import Field

from controllers.api.endpoint import EndpointReason
from zonemodel.model import Model

LIMIT: Final = 100
"""More than that are not told: the annotation has to stay small."""


LeftOutReason = Literal[
    EndpointReason.INVALID_HOSTNAME,
    EndpointReason.TOO_MANY_HOSTNAMES,
    EndpointReason.ROUTE_NOT_ACCEPTED,
    EndpointReason.NO_MATCHING_LISTENER,
    EndpointReason.UNSUPPORTED_ANNOTATION,
]


class LeftOut(Model):
    """One hostname and why it was left out."""

    hostname: Annotated[str, Field(min_length=1, max_length=253, description="The hostname as its source has it.")]
    reason: Annotated[LeftOutReason, Field(description="Reason of its condition.")]
    message: Annotated[str, Field(description="Message of its condition.")]


def in_turns(found: Mapping[str, Iterable[LeftOut]], limit: int) -> list[LeftOut]:
    """Return at most `limit` of what namespaces have left out, each in its turn: nobody fills the list with theirs alone."""
    ranked = sorted(
        (turn, each.hostname, namespace, each)
        for namespace, theirs in found.items()
        for turn, each in enumerate(sorted(theirs, key=lambda each: each.hostname))
    )
    return [each for _, _, _, each in ranked[:limit]]


def tell_left_out(found: Iterable[LeftOut]) -> str:
    """Return the annotation's text: the first of them by name."""
    some = sorted(found, key=lambda each: each.hostname)[:LIMIT]
    return orjson.dumps([each.dump() for each in some]).decode()
