"""A Zone and its RecordSets as a master file: the way back from manifests, and out of the product.

Pure: manifests in, a zone and reports out. Never guesses: a claim that no server would serve is named, and claims that
contradict one another are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cli.zone.apex import ApexError, head_from_parameters, head_from_server_names
from controllers.api.group import GROUP, HOSTED_ZONES, RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.core.admission.record_body import Switch, Validation, judge_body
from controllers.core.admission.record_name import judge_owner
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.field import Field, require_integer, require_text
from controllers.providers.hosted.binding import CONTROLLER_NAME
from controllers.providers.hosted.parameters import Head
from zonemodel.hosted_zone import HostedRecordSet, HostedZoneSpec, Transfer
from zonemodel.name import Fqdn, OwnerName, object_to_domain, object_to_length, to_wire
from zonemodel.record import TTL_MAX_S, RecordType
from zonemodel.rrset import ZoneData
from zonemodel.snapshot import Snapshot, rrsets

Manifest = Mapping[str, Any]

_KINDS: Final = frozenset({ZONES.kind, RECORD_SETS.kind, ZONE_CLASSES.kind, HOSTED_ZONES.kind})


class ExportRefusedError(ValueError):
    """Manifests that make no zone; each line of the message names one fault."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which Zone to export and what to take instead of what the manifests say."""

    zone_name: str | None = None
    namespace: str | None = None
    server_names: tuple[str, ...] = ()
    serial: int | None = None


@dataclass(frozen=True, slots=True)
class ZoneExport:
    """A zone, and a line for each object that is not in it."""

    zone: ZoneData
    record_sets: int
    left_out: tuple[str, ...]


def export_zone(manifests: Sequence[Manifest], choice: Choice, now_s: int) -> ZoneExport:
    """Return the zone of the chosen Zone, or of the only one.

    The apex comes from the choice, else from the HostedZone, the ZoneClass's parameters or the Zone's status; the serial
    from the choice, else from the HostedZone, else it is the time. Raises ExportRefusedError.
    """
    zone = _choose(manifests, choice)
    domain = Fqdn(_text(zone, "spec.domainName"))
    if objection := object_to_domain(domain):
        raise ExportRefusedError(f"{_label(zone)}: spec.domainName {domain!r} {objection}")
    head = _find_head(manifests, zone, domain, choice)
    left_out = [line for each in manifests if (line := _why_not(each, zone)) is not None]
    members = [each for each in manifests if _is_member(each, zone) and _why_not(each, zone) is None]
    record_sets = _record_sets(members, domain)
    snapshot = Snapshot(
        domain,
        _serial(manifests, zone, choice, now_s),
        head.soa,
        head.name_servers,
        head.transfer,
        "",
        {"": record_sets},
    )
    return ZoneExport(ZoneData(to_wire(domain), tuple(rrsets(snapshot))), len(record_sets), tuple(left_out))


def _choose(manifests: Sequence[Manifest], choice: Choice) -> Manifest:
    zones = [each for each in manifests if _is_kind(each, ZONES.kind)]
    found = [
        each
        for each in zones
        if choice.zone_name in {None, _text(each, "metadata.name")}
        and choice.namespace in {None, _text(each, "metadata.namespace")}
    ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted(_label(each) for each in zones)) or "none"
    wanted = "one Zone" if choice.zone_name is None else f"the Zone {choice.zone_name}"
    raise ExportRefusedError(f"wanted {wanted}, the manifests hold: {names}; choose one with --zone and --namespace")


def _find_head(manifests: Sequence[Manifest], zone: Manifest, domain: Fqdn, choice: Choice) -> Head:
    try:
        if choice.server_names:
            return head_from_server_names(choice.server_names, domain)
        hosted = _hosted(manifests, zone)
        if hosted is not None and hosted.soa is not None and hosted.name_servers:
            return Head(domain, hosted.soa, hosted.name_servers, hosted.transfer or Transfer())
        zone_class = _find(manifests, ZONE_CLASSES.kind, _class_key(zone)) or {}
        if _text(zone_class, "spec.controllerName") == CONTROLLER_NAME:
            return head_from_parameters(zone_class["spec"].get("parameters") or {}, domain)
        names = [str(each.value) for each in Field("", zone).at("status.nameServers").items()]
        if names:
            return head_from_server_names(names, domain)
    except ApexError as error:
        raise ExportRefusedError(f"{_label(zone)}: {error}") from error
    raise ExportRefusedError(
        f"{_label(zone)}: nothing names its servers; add its ZoneClass to the manifests or give --name-server"
    )


def _hosted(manifests: Sequence[Manifest], zone: Manifest) -> HostedZoneSpec | None:
    found = _find(manifests, HOSTED_ZONES.kind, _key(zone))
    return None if found is None else HostedZoneSpec.model_validate(found["spec"])


def _serial(manifests: Sequence[Manifest], zone: Manifest, choice: Choice, now_s: int) -> int:
    if choice.serial is not None:
        return choice.serial
    hosted = _hosted(manifests, zone)
    return now_s % 2**32 if hosted is None or hosted.serial is None else hosted.serial


def _record_sets(members: Sequence[Manifest], domain: Fqdn) -> tuple[HostedRecordSet, ...]:
    """Return the record sets of claims; raises ExportRefusedError with every fault of every claim."""
    faults = [
        f"{_label(each)}: {fault}" for each in members for fault in _faults(Field("", each).child("spec"), domain)
    ]
    if faults:
        raise ExportRefusedError("\n".join(faults))
    taken: dict[str, list[Manifest]] = {}
    for each in members:
        beside = taken.setdefault(_text(each, "spec.name"), [])
        if (other := next((claim for claim in beside if _contradict(claim, each)), None)) is not None:
            what = f"{_text(other, 'spec.type')} and {_text(each, 'spec.type')} at {_text(each, 'spec.name')}"
            raise ExportRefusedError(f"{_label(other)} and {_label(each)} contradict one another: {what}")
        beside.append(each)
    return tuple(HostedRecordSet.model_validate(each["spec"]) for each in members)


def _contradict(one: Manifest, other: Manifest) -> bool:
    """Say whether two claims to one name cannot both be served: one type twice, or a CNAME beside other data."""
    types = _text(one, "spec.type"), _text(other, "spec.type")
    return types[0] == types[1] or RecordType.CNAME in types


def _faults(spec: Field, domain: Fqdn) -> Iterator[Fault]:
    """Judge as admission does, but for characters in TXT values, which some Providers allow."""
    name, kind = spec.child("name"), spec.child("type")
    yield from require_text(name, "a name relative to the zone")
    yield from judge_owner(name, kind.text)
    if kind.text not in set(RecordType):
        yield kind.fault(f"one of {', '.join(RecordType)}")
    yield from require_integer(spec.child("ttl"), 1, TTL_MAX_S)
    yield from judge_body(spec, _switch)
    if name.text and (objection := object_to_length(OwnerName(name.text), domain)):
        yield name.fault(f"a name that fits in the zone; {objection}")


def _switch(validation: Validation) -> Switch:
    return Switch.OFF if validation is Validation.FORBID_TXT_NON_PRINTABLE_ASCII else Switch.ON


def _why_not(manifest: Manifest, zone: Manifest) -> str | None:
    """Say why an object is no part of the export though somebody might look for it there, or None."""
    kind = str(manifest.get("kind"))
    if kind not in _KINDS:
        return f"{_label(manifest)}: no kind that a master file holds"
    if kind != RECORD_SETS.kind:
        return None
    if not _is_member(manifest, zone):
        return f"{_label(manifest)}: belongs to the Zone {_text(manifest, 'spec.zoneRef.name')}"
    if _text(manifest, "metadata.deletionTimestamp"):
        return f"{_label(manifest)}: is being deleted"
    for each in Field("", manifest).at("status.conditions").items():
        if each.child("type").text == "Accepted" and each.child("status").text == "False":
            return f"{_label(manifest)}: not accepted, {each.child('reason').text}"
    return None


def _is_member(manifest: Manifest, zone: Manifest) -> bool:
    if not _is_kind(manifest, RECORD_SETS.kind):
        return False
    namespace = _text(manifest, "spec.zoneRef.namespace") or _text(manifest, "metadata.namespace")
    return (namespace, _text(manifest, "spec.zoneRef.name")) == _key(zone)


def _find(manifests: Iterable[Manifest], kind: str, key: tuple[str, str]) -> Manifest | None:
    return next((each for each in manifests if _is_kind(each, kind) and _key(each) == key), None)


def _is_kind(manifest: Manifest, kind: str) -> bool:
    group = str(manifest.get("apiVersion")).partition("/")[0]
    return manifest.get("kind") == kind and (group == GROUP or group.endswith(f".{GROUP}"))


def _class_key(zone: Manifest) -> tuple[str, str]:
    namespace = _text(zone, "spec.zoneClassRef.namespace") or _text(zone, "metadata.namespace")
    return namespace, _text(zone, "spec.zoneClassRef.name")


def _key(manifest: Manifest) -> tuple[str, str]:
    return _text(manifest, "metadata.namespace"), _text(manifest, "metadata.name")


def _label(manifest: Manifest) -> str:
    namespace, name = _key(manifest)
    return f"{manifest.get('kind')} {namespace}/{name}" if namespace else f"{manifest.get('kind')} {name}"


def _text(manifest: Manifest, path: str) -> str:
    """Return the text at a dotted path, empty when there is none."""
    return Field("", manifest).at(path).text or ""
