"""The whole product and the real kubectl: zones and records of every type from a manifest to Cloudflare and back to nothing."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controllers.providers.cloudflare.fake.server import FakeCloudflare
from tests.controllers.providers.cloudflare.world import (
    DOMAIN,
    TEAM,
    TOKEN,
    Object,
    a,
    cname,
    identity,
    record_set,
    secret,
    txt,
    zone,
    zone_class,
)
from tests.product.run import running
from tests.standalone.kubectl.command import Command
from tests.tools import kubectl as binaries

MAIL = {"records": [{"preference": 10, "exchange": "mail.example.net"}]}
ISSUERS = {"records": [{"flags": 0, "tag": "issue", "value": "ca.example.net"}]}
SERVERS = {"nameServers": ["ns1.example.net", "ns2.example.net"]}
LIFECYCLES: list[tuple[Object, set[tuple[str, str]]]] = [
    (a("www", "192.0.2.1", "192.0.2.2"), {("A", "192.0.2.1"), ("A", "192.0.2.2")}),
    (a("proxied", ttl=None, options={"ttl": "Auto", "proxied": True}), {("A", "192.0.2.1")}),
    (record_set("AAAA", "six", {"addresses": ["2001:db8::1"]}), {("AAAA", "2001:db8::1")}),
    (txt("@", "v=spf1 -all", name="text"), {("TXT", '"v=spf1 -all"')}),
    (cname("alias", "www.example.net"), {("CNAME", "www.example.net")}),
    (record_set("MX", "@", MAIL, name="mail"), {("MX", "mail.example.net")}),
    (record_set("CAA", "@", ISSUERS, name="issuers"), {("CAA", '0 issue "ca.example.net"')}),
    (record_set("NS", "child", SERVERS), {("NS", "ns1.example.net"), ("NS", "ns2.example.net")}),
]


@pytest.fixture(scope="module")
def cloudflare() -> Iterator[FakeCloudflare]:
    """The fake on a thread of its own, since the tests block on the programs they run."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="cloudflare", daemon=True)
    thread.start()
    fake = FakeCloudflare()
    asyncio.run_coroutine_threadsafe(fake.__aenter__(), loop).result()
    fake.state.add_token(TOKEN, fake.state.add_account())
    yield fake
    asyncio.run_coroutine_threadsafe(fake.__aexit__(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def kubectl(cloudflare: FakeCloudflare, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    folder, home = tmp_path_factory.mktemp("product"), tmp_path_factory.mktemp("home")
    programs = Path(sys.prefix) / "bin"
    binaries.install(programs)
    with running(folder, "--cloudflare", "--cloudflare-api-url", cloudflare.url, "--log-level", "debug") as product:
        shutil.copy(product.kubeconfig, home / "kubeconfig")
        command = Command(programs / "kubectl", home)
        command.ok("create", "namespace", TEAM)
        yield command.within(TEAM)
        assert TOKEN not in product.log.read_text()
    assert product.complaints() == ""


def apply(kubectl: Command, *manifests: Object) -> None:
    kubectl.ok("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}))


def wait(kubectl: Command, what: str, condition: str = "Programmed") -> None:
    kubectl.ok("wait", f"--for=condition={condition}", what, "--timeout=25s")


def there(fake: FakeCloudflare, manifest: Object) -> set[tuple[str, str]]:
    """Type and content of the records of a RecordSet's name and type."""
    owner, kind = manifest["spec"]["name"], manifest["spec"]["type"]
    name = DOMAIN if owner == "@" else f"{owner}.{DOMAIN}"
    records: list[dict[str, Any]] = [each for zone in fake.state.records.values() for each in zone.values()]
    return {(each["type"], each["content"]) for each in records if (each["name"], each["type"]) == (name, kind)}


def test_nine_lives_of_zones_and_records(kubectl: Command, cloudflare: FakeCloudflare) -> None:
    apply(kubectl, secret(), identity(), zone_class({"zoneDeletionPolicy": "Delete"}), zone())
    wait(kubectl, "cloudflareidentity/identity", "Ready")
    wait(kubectl, "zoneclass/class", "Accepted")
    wait(kubectl, "zone/zone")
    assert "bob.ns.cloudflare.test" in kubectl.ok("get", "zone", "zone", "-o", "jsonpath={.status.nameServers}")

    apply(kubectl, *(manifest for manifest, _ in LIFECYCLES))
    for manifest, expected in LIFECYCLES:
        name = manifest["metadata"]["name"]
        wait(kubectl, f"recordset/{name}")
        assert there(cloudflare, manifest) == expected
        ids = kubectl.json("get", "recordset", name)["status"]["provider"]["data"]["recordIDs"]
        assert len(ids) == len(expected)
    (proxied,) = [each for each in cloudflare.state.records[zone_id(cloudflare)].values() if each["proxied"]]
    assert proxied["ttl"] == 1

    writes = len(cloudflare.writes)
    calls = len(cloudflare.calls)
    kubectl.ok("annotate", "zone", "zone", "dns.appthrust.io/reconcile-request=again")
    kubectl.ok(
        "wait", "--for=jsonpath={.metadata.annotations.dns\\.appthrust\\.io/reconcile-request}=again", "zone/zone"
    )
    apply(kubectl, a("last"))
    wait(kubectl, "recordset/last")
    assert len(cloudflare.calls) > calls
    assert len(cloudflare.writes) == writes + 1, "a second pass writes nothing"

    assert "CloudflareRecordCreated" in kubectl.ok("events", "--for", "recordset/www")
    names = [manifest["metadata"]["name"] for manifest, _ in LIFECYCLES]
    kubectl.ok("delete", "recordset", "last", *names, "--timeout=25s")
    assert list(cloudflare.state.records[zone_id(cloudflare)].values()) == []
    kubectl.ok("delete", "zone", "zone", "--timeout=25s")
    assert cloudflare.state.zones == {}
    kubectl.ok("delete", "zoneclass/class", "cloudflareidentity/identity", "secret/cloudflare-token")


def zone_id(fake: FakeCloudflare) -> str:
    (found,) = fake.state.zones
    return found


def test_mistakes_are_told_at_once(kubectl: Command) -> None:
    wrong = record_set("A", "www", {"addresses": ["192.0.2.1"]}, ttl=30, options={"proxied": True, "comment": "a\nb"})
    said = kubectl.fails("apply", "-f", "-", stdin=json.dumps(wrong))
    for part in ("60 to 86400", "options.proxied", "options.comment"):
        assert part in said
    said = kubectl.fails("apply", "-f", "-", stdin=json.dumps(zone({"zoneID": "short"})))
    assert "spec.adoption.zoneID" in said
