"""What of a written metadata is taken, but not left as it is or not without a word.

Owns the warnings about metadata. Never refuses anything.
"""

from __future__ import annotations

from typing import Any

from standalone.apiserver.metadata.name import is_qualified_finalizer
from standalone.resource import Resource
from standalone.schema.gotext import quote

JsonObject = dict[str, Any]


def advise(resource: Resource, metadata: JsonObject, stored: JsonObject) -> list[str]:
    """Drop repeated owners from `metadata` in place; return that and what of `metadata` is not advisable."""
    advice = _without_repeated_owners(metadata)
    if resource.custom:
        known = stored.get("finalizers", ())
        advice += [
            f"metadata.finalizers: {quote(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts "
            "with other finalizer writers"
            for name in metadata.get("finalizers", ())
            if name not in known and not is_qualified_finalizer(name)
        ]
    return advice


def _without_repeated_owners(metadata: JsonObject) -> list[str]:
    owners = metadata.get("ownerReferences", ())
    uids = [owner.get("uid") for owner in owners]
    repeated = sorted({str(uid) for uid in uids if uids.count(uid) > 1})
    if not repeated:
        return []
    metadata["ownerReferences"] = [owner for index, owner in enumerate(owners) if owner not in owners[:index]]
    listed = ", ".join(repeated)
    taken = (
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may "
    )
    return [
        f"{taken}reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {listed}"
    ]
