"""What is wrong with a CloudflareIdentity: for admission, and once more for its controller.

Pure. Every fault is named at once, by field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import Field, require_integer, require_object_name, require_text
from controllers.core.providercontract.own_kind import OwnKind
from controllers.providers.cloudflare.identity.resource import IDENTITY_CONDITIONS, IDENTITY_KIND

SECRET_KEY: Final = "a key of a Secret: letters, digits, -, _ and dots, at most 253 characters"
_SECRET_KEY: Final = re.compile(r"[A-Za-z0-9._-]{1,253}\Z")

Manifest = Mapping[str, Any]


def judge_spec(new: Manifest, old: Manifest | None) -> list[Fault]:
    """Return everything that is wrong with an identity."""
    ref = Field("", new).at("spec.accessToken.secretRef")
    key = ref.child("key")
    faults = [*require_object_name(ref.child("name")), *require_text(key, SECRET_KEY)]
    if key.text and not _SECRET_KEY.match(key.text):
        faults.append(key.fault(SECRET_KEY))
    faults += [
        ref.child(name).fault(
            "nothing; the Secret is looked up in the namespace of the identity", FaultReason.FORBIDDEN
        )
        for name in ref.names()
        if name not in {"name", "key"}
    ]
    return faults


def judge_status(new: Manifest, old: Manifest | None) -> list[Fault]:
    """Return everything that is wrong with an identity's status."""
    root = Field("", new)
    generation = root.at("metadata.generation").integer or 0
    observed = root.at("status.observedGeneration")
    faults = list(require_integer(observed, 0, generation)) if observed.present else []
    for item in root.at("status.conditions").items():
        faults += _judge_condition(item)
    return faults


def _judge_condition(item: Field) -> Iterator[Fault]:
    kind, status, reason = item.child("type"), item.child("status"), item.child("reason")
    kinds = sorted({known for known, _ in IDENTITY_CONDITIONS})
    if kind.value not in kinds:
        yield kind.fault(f"one of {', '.join(kinds)}", FaultReason.NOT_SUPPORTED)
        return
    states = sorted(known.value for each, known in IDENTITY_CONDITIONS if each == kind.value)
    if status.value not in states:
        yield status.fault(f"one of {', '.join(states)}", FaultReason.NOT_SUPPORTED)
        return
    allowed = next(each for pair, each in IDENTITY_CONDITIONS.items() if pair == (kind.value, status.value))
    if reason.value not in allowed:
        words = ", ".join(sorted(each.value for each in allowed))
        yield reason.fault(f"with {kind.value}={status.value} one of {words}", FaultReason.NOT_SUPPORTED)


KINDS: Final = (OwnKind(IDENTITY_KIND, judge_spec, judge_status),)
