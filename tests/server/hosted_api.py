"""A fake API that knows what a name server asks of it: status by server-side apply and by JSON patch; and builders of its objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web

from server.hosted.object import HOSTED_ZONES
from tests.kube.fake_api import FakeApi, Json, Request, refuse
from zonemodel.hosted_zone import SOA, HostedRecordSet, HostedZoneSpec, NameServer, Page, PageRef, Source, Transfer
from zonemodel.name import Fqdn
from zonemodel.snapshot import page_name, record_sets_digest, snapshot_digest, spread

COLLECTION = HOSTED_ZONES.path()
NAMESPACE = "team"
SOA_VALUES = SOA(mname="ns1.example.net", rname="admin.example.net", minimum=60)
NAME_SERVERS = (NameServer(name="ns1.example.net"),)


class HostedApi(FakeApi):
    """The fake API with the two status writes of a name server."""

    def _object(self, request: Request, collection: str, namespace: str, name: str) -> web.Response:
        old = self._objects.get(collection, {}).get((namespace, name))
        kind = request.headers.get("Content-Type", "")
        if request.method != "PATCH" or old is None:
            return super()._object(request, collection, namespace, name)
        assert request.path.endswith("/status"), f"{request.path}: a name server writes nothing but status"
        servers = list(old.get("status", {}).get("servers", ()))
        try:
            changed = (_applied if "apply-patch" in kind else _patched)(servers, request.body)
        except LookupError as error:
            return refuse(422, "Invalid", str(error), name=name)
        if changed == servers:
            return web.json_response(old)
        return web.json_response(self.put(collection, {**old, "status": {"servers": changed}}))

    def write(self, obj: Json) -> Json:
        return self.put(COLLECTION, obj)

    def delete(self, name: str) -> None:
        self.remove(COLLECTION, NAMESPACE, name)

    def servers(self, name: str) -> dict[str, Json]:
        """The status entries of a manifest by server name."""
        found = self.stored(COLLECTION, NAMESPACE, name).get("status", {}).get("servers", ())
        return {entry["name"]: entry for entry in found}

    @property
    def writes(self) -> list[Request]:
        return [request for request in self.requests if request.method != "GET"]


def _applied(servers: list[Json], body: Mapping[str, Any]) -> list[Json]:
    (entry,) = body["status"]["servers"]
    others = [each for each in servers if each["name"] != entry["name"]]
    if len(others) == len(servers):
        return [*servers, entry]
    return [entry if each["name"] == entry["name"] else each for each in servers]


def _patched(servers: list[Json], operations: Sequence[Mapping[str, Any]]) -> list[Json]:
    changed = list(servers)
    for operation in operations:
        place = int(operation["path"].removeprefix("/status/servers/"))
        if operation["op"] == "test" and changed[place] != operation["value"]:
            raise LookupError("test failed")
        if operation["op"] == "remove":
            del changed[place]
    return changed


def a(name: str, *addresses: str, ttl: int = 300) -> HostedRecordSet:
    return HostedRecordSet.model_validate({"name": name, "type": "A", "ttl": ttl, "a": {"addresses": addresses}})


def txt(name: str, *values: str) -> HostedRecordSet:
    return HostedRecordSet.model_validate({"name": name, "type": "TXT", "ttl": 300, "txt": {"values": values}})


def cname(name: str, target: str) -> HostedRecordSet:
    return HostedRecordSet.model_validate({"name": name, "type": "CNAME", "ttl": 300, "cname": {"target": target}})


def manifest(
    name: str,
    *record_sets: HostedRecordSet,
    domain: str | None = None,
    serial: int = 1,
    created: str = "2026-01-01T00:00:00Z",
    name_servers: tuple[NameServer, ...] = NAME_SERVERS,
    digest: str | None = None,
) -> Json:
    """An inline manifest; `digest` puts another one in place of the right one."""
    apex = Fqdn(domain or f"{name}.example")
    pages = [record_sets_digest(record_sets)] if record_sets else []
    spec = _spec(
        apex, serial, name_servers, digest or snapshot_digest(apex, SOA_VALUES, name_servers, Transfer(), pages)
    )
    return _object(name, spec.model_copy(update={"record_sets": record_sets}), serial, created)


def paged(name: str, *record_sets: HostedRecordSet, count: int = 2, serial: int = 1) -> tuple[Json, list[Json]]:
    """A manifest whose record sets stand in pages, and the pages."""
    apex = Fqdn(f"{name}.example")
    shares = {record_sets_digest(share): share for share in spread(record_sets, count)}
    spec = _spec(apex, serial, NAME_SERVERS, snapshot_digest(apex, SOA_VALUES, NAME_SERVERS, Transfer(), shares))
    refs = tuple(PageRef(name=page_name(name, digest), digest=digest) for digest in shares)
    pages = [
        _object(page_name(name, digest), HostedZoneSpec(page=Page(zone=name, digest=digest, record_sets=share)), 1)
        for digest, share in shares.items()
    ]
    return _object(name, spec.model_copy(update={"pages": refs}), serial), pages


def _spec(apex: Fqdn, serial: int, name_servers: tuple[NameServer, ...], digest: str) -> HostedZoneSpec:
    source = Source(name="unit", uid="unit-uid", generation=serial)
    return HostedZoneSpec(
        domain_name=apex,
        source=source,
        serial=serial,
        soa=SOA_VALUES,
        name_servers=name_servers,
        transfer=Transfer(),
        digest=digest,
    )


def _object(name: str, spec: HostedZoneSpec, generation: int, created: str = "2026-01-01T00:00:00Z") -> Json:
    return {
        "apiVersion": HOSTED_ZONES.api_version,
        "kind": HOSTED_ZONES.kind,
        "metadata": {"namespace": NAMESPACE, "name": name, "generation": generation, "creationTimestamp": created},
        "spec": spec.dump(),
    }
