"""Validation of Providers: the contract itself, before any claim is written for it.

Everything that claims are later judged by is compiled here, so that a broken contract is refused when it is applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from controllers.api.condition import ConditionStatus, ConditionType
from controllers.core.admission.claim import Manifest
from controllers.core.providercontract.compilation import (
    VERSION_LIMIT_CHARS,
    compile_version,
    expression_chars,
    too_long,
)
from controllers.core.providercontract.fault import Fault, FaultReason
from controllers.core.providercontract.field import (
    LABEL_LIMIT_CHARS,
    Field,
    is_subdomain,
    judge_choice,
    judge_duplicates,
    require_list,
    require_object,
    require_text,
)
from controllers.core.providercontract.target import Target
from zonemodel.record import RecordType

VERSION_LIMIT: Final = 16
PROVIDER_LIMIT_CHARS: Final = 2 * VERSION_LIMIT_CHARS
REASON_LIMIT: Final = 64
VERSION_NAME: Final = "a DNS label such as v1alpha1"
REASON_NAME: Final = "one CamelCase word of at most 128 letters and digits"

_REASON: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,127}\Z")
_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,62}\Z")


def validate_provider(new: Manifest) -> list[Fault]:
    """Return everything that is wrong with a Provider."""
    root = Field("", new)
    spec, name = root.child("spec"), root.at("metadata.name").text or "the Provider"
    versions = spec.child("versions")
    faults = list(require_text(spec.at("display.name"), "a name to show to people"))
    objections = list(require_list(versions, "a list with at least one version", VERSION_LIMIT))
    faults += objections
    if objections:
        return faults
    items = list(versions.items())
    faults += _judge_names(items)
    faults += _judge_storage(versions, items)
    chars = sum(expression_chars(item) for item in items)
    if chars > PROVIDER_LIMIT_CHARS:
        return [*faults, too_long(versions, chars, PROVIDER_LIMIT_CHARS)]
    for item in items:
        faults += _judge_version(item, f"{name}/{item.child('name').text or item.path}")
    return faults


def _judge_names(versions: list[Field]) -> Iterator[Fault]:
    for version in versions:
        name = version.child("name")
        yield from require_text(name, VERSION_NAME)
        if name.text and not (is_subdomain(name.text) and "." not in name.text and len(name.text) <= LABEL_LIMIT_CHARS):
            yield name.fault(VERSION_NAME)
    yield from judge_duplicates(versions, lambda version: version.child("name").text, "version name")


def _judge_storage(versions: Field, items: list[Field]) -> Iterator[Fault]:
    for item in items:
        for flag in ("served", "storage"):
            yield from _require_flag(item.child(flag))
    count = sum(item.child("storage").value is True for item in items)
    if count != 1:
        yield Fault(versions.path, f"{count or 'no'} versions with storage: true", "exactly one")


def _require_flag(flag: Field) -> Iterator[Fault]:
    if not isinstance(flag.value, bool):
        yield flag.fault("true or false", FaultReason.TYPE_INVALID if flag.present else FaultReason.REQUIRED)


def _judge_version(version: Field, label: str) -> Iterator[Fault]:
    yield from _judge_supported_types(version.at("recordSet.supportedTypes"))
    yield from _judge_reasons(version, Target.ZONE)
    yield from _judge_reasons(version, Target.RECORD_SET)
    yield from _judge_identity(version.child("identity"))
    yield from compile_version(version, label).faults
    yield from _judge_conversions(version)


def _judge_supported_types(types: Field) -> Iterator[Fault]:
    faults = list(require_list(types, f"a list with at least one of {', '.join(RecordType)}", len(RecordType)))
    yield from faults
    if types.size == 0:
        return
    items = list(types.items())[: len(RecordType) + 1]
    for item in items:
        yield from judge_choice(item, list(RecordType))
    yield from judge_duplicates(items, lambda item: item.text, "type")


def _judge_reasons(version: Field, target: Target) -> Iterator[Fault]:
    reasons = version.child(target.value).child("additionalConditionReasons")
    if not reasons.present or reasons.value == []:
        return
    faults = list(require_list(reasons, "a list of condition reasons", REASON_LIMIT))
    yield from faults
    if faults:
        return
    items = list(reasons.items())
    for item in items:
        yield from _judge_reason(item, target)
    yield from judge_duplicates(items, _combination, "combination of conditionType, status and reason")


def _judge_reason(item: Field, target: Target) -> Iterator[Fault]:
    kind, status, reason = item.child("conditionType"), item.child("status"), item.child("reason")
    yield from require_text(kind, f"one of {', '.join(ConditionType)}")
    yield from judge_choice(kind, list(ConditionType)) if kind.text else ()
    yield from require_text(status, f"one of {', '.join(ConditionStatus)}")
    yield from judge_choice(status, list(ConditionStatus)) if status.text else ()
    yield from require_text(reason, REASON_NAME)
    if reason.text and not _REASON.match(reason.text):
        yield reason.fault(REASON_NAME)
    yield from require_text(item.child("description"), "a text that says when the reason is given")
    core = target.reasons or {}
    if any((kind.text, status.text) == pair and reason.text in known for pair, known in core.items()):
        yield reason.fault(
            f"a reason that core does not give itself with {kind.text}={status.text}", FaultReason.DUPLICATE
        )


def _combination(item: Field) -> tuple[str, str, str] | None:
    kind, status, reason = item.child("conditionType").text, item.child("status").text, item.child("reason").text
    return (kind, status, reason) if kind and status and reason else None


def _judge_identity(identity: Field) -> Iterator[Fault]:
    if not identity.present:
        return
    resource = identity.child("resource")
    faults = list(require_object(resource, "group, kind and scope of the identity kind"))
    yield from faults
    if faults:
        return
    group, kind, scope = resource.child("group"), resource.child("kind"), resource.child("scope")
    yield from require_text(group, "an API group")
    if group.text and not is_subdomain(group.text):
        yield group.fault("an API group: a DNS subdomain")
    yield from require_text(kind, "a kind in CamelCase")
    if kind.text and not _KIND.match(kind.text):
        yield kind.fault("a kind in CamelCase")
    if scope.present and scope.value != "Namespaced":
        yield scope.fault("Namespaced, since an identity lives beside its ZoneClass", FaultReason.NOT_SUPPORTED)


def _judge_conversions(version: Field) -> Iterator[Fault]:
    """Object to a conversion on the storage version, and to its lack on a served version with payloads to convert."""
    storage, served = version.child("storage").value, version.child("served").value
    for target in Target:
        contract = version.child(target.value)
        conversion = contract.child("conversion")
        if storage is True and conversion.present:
            yield conversion.fault(
                "nothing on the storage version, to which others are converted", FaultReason.FORBIDDEN
            )
        payloads = [name for name in target.payloads if contract.child("schemas").child(name).present]
        if storage is False and served is True and payloads and not conversion.present:
            allowed = f"toStorage, which converts {' and '.join(payloads)} to the storage version"
            yield conversion.fault(allowed, FaultReason.REQUIRED)
