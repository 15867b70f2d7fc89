"""HostedZone objects as the server keeps them: manifests and pages, trimmed, with a fault instead of an exception.

Owns the reading of one object, its own digest included. Never puts objects together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from kube.object import ObjectKey, ObjectMeta
from kube.resource import ResourceRef
from server.hosted.content import Head, Lines, read_lines
from zonemodel.hosted_zone import (
    GROUP,
    KIND,
    PLURAL,
    VERSION,
    HostedZoneSpec,
    PageRef,
    ServerStatus,
    Transfer,
)
from zonemodel.name import Fqdn, object_to_domain

HOSTED_ZONES: Final = ResourceRef(GROUP, VERSION, PLURAL, KIND)


@dataclass(frozen=True, slots=True)
class PageObject:
    """One page: `lines` carry the digest that was computed, `fault` says why there are none."""

    key: ObjectKey
    zone: ObjectKey
    lines: Lines | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One manifest: without `head` it cannot be read, and `fault` says why. `inline` is None when the records stand in pages."""

    key: ObjectKey
    uid: str
    resource_version: str
    generation: int
    created: str
    servers: tuple[ServerStatus, ...]
    domain: Fqdn | None = None
    head: Head | None = None
    digest: str = ""
    inline: Lines | None = None
    pages: tuple[PageRef, ...] = ()
    fault: str = ""

    @property
    def age_order(self) -> tuple[str, ObjectKey]:
        """Orders manifests by age, and by name where they were made in the same second."""
        return self.created, self.key


def decode(obj: Mapping[str, Any]) -> Manifest | PageObject:
    """Read an API object; raises ValueError only for one that has no identity."""
    meta = ObjectMeta.parse(obj)
    spec = obj.get("spec") or {}
    if isinstance(page := spec.get("page"), Mapping):
        return _page(meta, page)
    return _manifest(meta, spec, obj.get("status") or {})


def _page(meta: ObjectMeta, page: Mapping[str, Any]) -> PageObject:
    zone = ObjectKey(meta.namespace, str(page.get("zone") or ""))
    try:
        return PageObject(meta.key, zone, read_lines(_record_sets(page), lambda digest: digest == page.get("digest")))
    except ValueError as error:
        return PageObject(meta.key, zone, None, _one_line(error))


def _manifest(meta: ObjectMeta, spec: Mapping[str, Any], status: Mapping[str, Any]) -> Manifest:
    servers = tuple(_readable_entries(status))
    identity = (meta.key, meta.uid, meta.resource_version, meta.generation, meta.creation_timestamp, servers)
    try:
        parsed = HostedZoneSpec.model_validate({**spec, "recordSets": ()})
        head = _head(parsed)
        record_sets = _record_sets(spec)
        inline = None
        if record_sets:
            stated = [ref.digest for ref in parsed.pages]
            inline = read_lines(record_sets, lambda digest: head.digest_with([*stated, digest]) == parsed.digest)
    except ValueError as error:
        domain = spec.get("domainName")
        return Manifest(*identity, domain=Fqdn(domain) if isinstance(domain, str) else None, fault=_one_line(error))
    return Manifest(*identity, head.domain, head, parsed.digest or "", inline, parsed.pages)


def _readable_entries(status: Mapping[str, Any]) -> Iterator[ServerStatus]:
    """Yield the status entries that are ones: what others may have written there must not keep a snapshot from being seen."""
    for entry in status.get("servers") or ():
        with suppress(ValueError):
            yield ServerStatus.model_validate(entry)


def _head(spec: HostedZoneSpec) -> Head:
    if spec.domain_name is None or spec.soa is None or spec.serial is None or spec.digest is None:
        raise ValueError("a manifest needs spec.domainName, spec.soa, spec.serial and spec.digest")
    if objection := object_to_domain(spec.domain_name):
        raise ValueError(f"spec.domainName {spec.domain_name!r} {objection}")
    return Head(Fqdn(spec.domain_name), spec.serial, spec.soa, spec.name_servers, spec.transfer or Transfer())


def _record_sets(holder: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found = holder.get("recordSets") or ()
    if not isinstance(found, Sequence):
        raise ValueError(f"recordSets holds a {type(found).__name__}, allowed is a list")
    return found


def _one_line(error: ValueError) -> str:
    return " ".join(str(error).split())[:1024]
