"""Field ownership on writes that are not server-side apply.

Owns when ownership is recorded; how is the business of fields/.
"""

from __future__ import annotations

from typing import Any

from standalone.apiserver.api import Api
from standalone.apiserver.target import Target
from standalone.fields.apply import track_update

JsonObject = dict[str, Any]


def track(api: Api, target: Target, live: JsonObject | None, obj: JsonObject, manager: str, now: str) -> None:
    """Record in `obj` that `manager` wrote what differs from `live`."""
    track_update(
        live,
        obj,
        manager=manager,
        schema=api.registry.schema(target.resource),
        api_version=target.resource.api_version,
        subresource=target.subresource,
        now=now,
        has_status=target.resource.has_status,
    )
