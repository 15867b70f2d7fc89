"""Validation of ZoneClasses.

Judges what the class and its declared Provider tell by themselves. Whether the identity exists and the parameters can be
carried out is the provider controller's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from controllers.api.zone_class import NamespacesFrom
from controllers.core.admission.claim import ClaimRules, Manifest, Resolution, judge_resolution, require_provider
from controllers.core.admission.selector import require_selector
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    NAME_LIMIT_CHARS,
    Field,
    is_subdomain,
    judge_choice,
    judge_immutable,
    require_integer,
    require_object,
    require_object_name,
    require_text,
)
from controllers.core.providercontract.target import Target

IMMUTABLE: Final = ("provider", "controllerName")
CONTROLLER_NAME: Final = (
    "a DNS subdomain, a slash and a path, such as hosted.dns.appthrust.io/controller, at most 253 characters"
)

RECORDS_LIMIT: Final = 2**31 - 1

_PATH: Final = re.compile(r"[A-Za-z0-9/._~%!$&'()*+,;=:-]+\Z")


def validate_zone_class(new: Manifest, old: Manifest | None, resolution: Resolution) -> list[Fault]:
    """Return everything that is wrong with a ZoneClass.

    `old` is the stored object on an update; `resolution` what its spec.provider means.
    """
    spec = Field("", new).child("spec")
    contract = resolution if isinstance(resolution, Contract) else None
    rules = ClaimRules(contract, Target.ZONE_CLASS, new)
    faults = list(require_provider(spec))
    faults += _require_controller_name(spec.child("controllerName"))
    if old is not None:
        faults += judge_immutable(spec, Field("spec", old.get("spec")), IMMUTABLE)
    faults += judge_resolution(spec, resolution)
    if contract:
        faults += _judge_identity(spec.child("identityRef"), contract)
        faults += contract.judge_payload(Target.ZONE_CLASS, "parameters", spec, required=True)
    faults += rules.judge()
    faults += _judge_allowed_zones(spec.at("allowedZones.namespaces"))
    faults += _judge_change_guard(spec.child("changeGuard"))
    return faults or rules.failures


def _require_controller_name(name: Field) -> Iterator[Fault]:
    faults = list(require_text(name, CONTROLLER_NAME))
    yield from faults
    if faults or name.text is None:
        return
    prefix, slash, path = name.text.partition("/")
    if not slash or not is_subdomain(prefix) or not _PATH.match(path) or len(name.text) > NAME_LIMIT_CHARS:
        yield name.fault(CONTROLLER_NAME)


def _judge_identity(identity_ref: Field, contract: Contract) -> Iterator[Fault]:
    identity = contract.version.identity
    if identity is None:
        if identity_ref.present:
            yield identity_ref.fault(f"nothing; {contract.label} needs no identity", FaultReason.FORBIDDEN)
        return
    kind = f"{identity.resource.kind}.{identity.resource.group}"
    if not identity_ref.present:
        yield identity_ref.fault(f"the name of a {kind} in the namespace of the class", FaultReason.REQUIRED)
        return
    yield from require_object_name(identity_ref.child("name"))
    for key in identity_ref.names():
        if key != "name":
            allowed = f"only name; a {kind} is looked up in the namespace of the class"
            yield identity_ref.child(key).fault(allowed, FaultReason.FORBIDDEN)


def _judge_allowed_zones(namespaces: Field) -> Iterator[Fault]:
    source, selector = namespaces.child("from"), namespaces.child("selector")
    yield from judge_choice(source, list(NamespacesFrom))
    if source.value == NamespacesFrom.SELECTOR:
        yield from require_selector(selector)
    elif selector.present:
        yield selector.fault("nothing unless from is Selector", FaultReason.FORBIDDEN)


def _judge_change_guard(guard: Field) -> Iterator[Fault]:
    if not guard.present:
        return
    yield from require_object(guard, "an object with maxPercent and minRecords")
    percent, records = guard.child("maxPercent"), guard.child("minRecords")
    if percent.present:
        yield from require_integer(percent, 1, 100)
    if records.present:
        yield from require_integer(records, 0, RECORDS_LIMIT)
