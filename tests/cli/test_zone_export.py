"""`dns-api zone export`: manifests as a master file, and the round trip with import."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dns.name
import dns.rdatatype
import pytest
import yaml
from typer.testing import CliRunner, Result

from cli.zone.claim import Target
from cli.zone.command import zone_app
from cli.zone.exporting import Choice, ExportRefusedError, export_zone
from cli.zone.importing import import_zone
from cli.zone.manifest import Manifest, ManifestError
from cli.zone.source import ZoneQuery, gather, read_zone_objects
from controllers.api.group import NAMESPACES, RECORD_SETS, ZONE_CLASSES
from controllers.api.group import ZONES as ZONES_REF
from controllers.api.reference import NamespacedRef, ProviderRef
from controllers.manifests import definitions
from kube.access import Access
from kube.client import Client
from kube.errors import NotFound
from kube.resource import ResourceRef
from standalone.apiserver.server import ApiServer
from zonemodel.hosted_zone import SOA, HostedZoneSpec, NameServer
from zonemodel.name import WireName, to_wire
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import parse_zone_text, read_zone_file

APP = zone_app(read_zone_objects)
ZONES = Path(__file__).parent / "zones"
PROVIDER = {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"}
API = "dns.appthrust.io/v1alpha1"
TEXT, NS_TYPE, SOA_TYPE = 16, 2, 6


def run(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(APP, ["export", *map(str, arguments)], input=stdin)


def manifest(kind: str, name: str, spec: Mapping[str, Any], **metadata: str) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, **metadata}, "spec": dict(spec)}


def zone(name: str = "z", domain: str = "example.com", **metadata: str) -> dict[str, Any]:
    return manifest(
        "Zone", name, {"domainName": domain, "zoneClassRef": {"name": "c"}, "provider": PROVIDER}, **metadata
    )


def zone_class(**parameters: object) -> dict[str, Any]:
    given = {"nameServers": [{"name": "ns1.example.net"}], **parameters}
    controller = "hosted.dns.appthrust.io/controller"
    return manifest("ZoneClass", "c", {"provider": PROVIDER, "controllerName": controller, "parameters": given})


def record(
    name: str, kind: str, body: Mapping[str, Any], of: str = "z", ttl: int = 300, **metadata: str
) -> dict[str, Any]:
    spec = {"zoneRef": {"name": of}, "provider": PROVIDER, "type": kind, "name": name, "ttl": ttl, kind.lower(): body}
    return manifest("RecordSet", f"{name.replace('@', 'apex')}-{kind.lower()}", spec, **metadata)


def address(name: str, **options: Any) -> dict[str, Any]:
    return record(name, "A", {"addresses": ["192.0.2.1"]}, **options)


def exported(*manifests: Manifest, choice: Choice = Choice()) -> dict[tuple[WireName, int], RRset]:  # noqa: B008 - a value
    return sets_of(export_zone(manifests, choice, 1_900_000_000).zone)


def sets_of(data: ZoneData) -> dict[tuple[WireName, int], RRset]:
    return {(each.owner, each.rdtype): each for each in data.rrsets}


def soa_numbers(sets: Mapping[tuple[WireName, int], RRset], domain: str = "example.com") -> list[int]:
    (rdata,) = sets[to_wire(domain), SOA_TYPE].rdatas
    return [int.from_bytes(rdata[at : at + 4], "big") for at in range(len(rdata) - 20, len(rdata), 4)]


def refusal(*manifests: Manifest, choice: Choice = Choice()) -> str:  # noqa: B008 - a value
    with pytest.raises(ExportRefusedError) as caught:
        export_zone(manifests, choice, 0)
    return str(caught.value)


def comparable(data: ZoneData) -> dict[tuple[WireName, int], tuple[int, frozenset[bytes]]]:
    """Return a zone's sets, names in record data lowercased as DNS compares them."""
    return {
        (each.owner, each.rdtype): (
            each.ttl_s,
            frozenset(rdata if each.rdtype in {TEXT, 257} else rdata.lower() for rdata in each.rdatas),
        )
        for each in data.rrsets
    }


def assert_round_trip(path: Path) -> None:
    original = read_zone_file(path, None)
    target = Target("z", None, NamespacedRef(name="c"), ProviderRef.model_validate(PROVIDER), with_class=True)
    found = import_zone(original, target)
    back = export_zone(found.manifests, Choice(serial=found.apex.serial), 0)
    assert back.left_out == ()
    reported = {(_owner(each.name, original.origin), each.type) for each in found.left_out}
    reported |= {(_owner(each.name, original.origin), "TXT") for each in found.rejoined}
    assert _without(reported, back.zone) == _without(reported, original)


def _without(
    reported: set[tuple[bytes, str]], data: ZoneData
) -> dict[tuple[WireName, int], tuple[int, frozenset[bytes]]]:
    kinds = {key: dns.rdatatype.to_text(dns.rdatatype.RdataType.make(key[1])) for key in sets_of(data)}
    return {key: value for key, value in comparable(data).items() if (key[0], kinds[key]) not in reported}


def _owner(name: str, origin: WireName) -> bytes:
    return dns.name.from_text(name, dns.name.from_wire(origin, 0)[0]).to_digestable()


@pytest.mark.parametrize("name", ["small.zone", "odd.zone"])
def test_import_and_export_bring_back_everything_that_was_not_reported(name: str) -> None:
    assert_round_trip(ZONES / name)


@pytest.mark.skipif("DNS_API_DATA" not in os.environ, reason="DNS_API_DATA names no folder of zones")
def test_import_and_export_bring_back_real_zones() -> None:
    for path in sorted((Path(os.environ["DNS_API_DATA"]) / "zones").glob("*.zone")):
        if read_zone_file(path, None).origin != b"\0" and "4592" not in path.name:  # whose SOA names no server
            assert_round_trip(path)


def test_the_command_writes_what_the_manifests_say(tmp_path: Path) -> None:
    manifests = tmp_path / "zone.yaml"
    imported = CliRunner().invoke(
        APP, ["import", str(ZONES / "small.zone"), "--with-zone-class", "--output", str(manifests)]
    )
    assert imported.exit_code == 0
    result = run(manifests, "--serial", "2030010100")
    assert result.exit_code == 0
    text = result.stdout
    assert text.splitlines()[:3] == [
        "$ORIGIN small.example.",
        "@ 3600 IN SOA ns1.small.example. hostmaster.small.example. 2030010100 7200 900 1209600 60",
        "@ 3600 IN NS ns.backup.example.net.",
    ]
    assert comparable(parse_zone_text(text, None, "x")) == comparable(read_zone_file(ZONES / "small.zone", None))


def test_manifests_come_from_files_folders_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "1.yaml").write_text(yaml.safe_dump_all([zone_class(), zone()]))
    (tmp_path / "2.json").write_text('{"apiVersion": "v1", "kind": "List", "items": []}')
    (tmp_path / "notes.txt").write_text("no manifest")
    records = yaml.safe_dump(address("www"))
    assert "www 300 IN A 192.0.2.1\n" in run(tmp_path, "-", stdin=records).stdout
    output = tmp_path / "zone"
    assert run(tmp_path / "1.yaml", "-", "--output", output, stdin=records).stdout == ""
    assert "www 300 IN A 192.0.2.1\n" in output.read_text()


def test_the_apex_comes_from_the_class() -> None:
    soa = {"mname": "hidden.example.net", "rname": "dns.example.net", "refresh": 1, "retry": 2, "expire": 3, "ttl": 4}
    sets = exported(zone_class(soa=soa, negativeTTL=5), zone())
    assert soa_numbers(sets) == [1_900_000_000, 1, 2, 3, 5]
    assert sets[to_wire("example.com"), SOA_TYPE].ttl_s == 4
    assert sets[to_wire("example.com"), NS_TYPE].rdatas == (to_wire("ns1.example.net"),)


def test_absent_soa_parameters_have_defaults() -> None:
    sets = exported(zone_class(), zone())
    (rdata,) = sets[to_wire("example.com"), SOA_TYPE].rdatas
    assert rdata.startswith(to_wire("ns1.example.net") + to_wire("hostmaster.example.com"))
    assert soa_numbers(sets)[1:] == [7200, 900, 1209600, 300]


def test_what_is_served_comes_before_what_the_class_says() -> None:
    soa = SOA(mname="served.example.net", rname="h.example.net")
    spec = HostedZoneSpec(
        domain_name="example.com", serial=77, soa=soa, name_servers=(NameServer(name="ns9.example.net"),)
    )
    hosted = manifest("HostedZone", "z", spec.dump()) | {"apiVersion": "hosted.dns.appthrust.io/v1alpha1"}
    sets = exported(zone_class(), zone(), hosted)
    assert soa_numbers(sets)[0] == 77
    assert sets[to_wire("example.com"), NS_TYPE].rdatas == (to_wire("ns9.example.net"),)


def test_zones_of_other_providers_have_the_servers_of_their_status() -> None:
    claimed = zone() | {"status": {"nameServers": ["ns-1.example.org", "ns-2.example.net"]}}
    other = manifest("ZoneClass", "c", {"provider": PROVIDER, "parameters": {"zoneCreationPolicy": "Deny"}})
    sets = exported(other, claimed)
    assert set(sets[to_wire("example.com"), NS_TYPE].rdatas) == {
        to_wire("ns-1.example.org"),
        to_wire("ns-2.example.net"),
    }


def test_name_servers_and_serial_can_be_given() -> None:
    choice = Choice(server_names=("a.example.net", "b.example.net"), serial=5)
    sets = exported(zone_class(), zone(), choice=choice)
    assert soa_numbers(sets)[0] == 5
    assert len(sets[to_wire("example.com"), NS_TYPE].rdatas) == 2


def test_addresses_of_name_servers_inside_the_zone_are_written() -> None:
    inside = [{"name": "ns1.example.com", "addresses": ["192.0.2.53"]}]
    assert (to_wire("ns1.example.com"), 1) in exported(zone_class(nameServers=inside), zone())


def test_only_the_record_sets_of_the_zone_are_written_and_the_others_named() -> None:
    refused = address("c") | {
        "status": {"conditions": [{"type": "Accepted", "status": "False", "reason": "RecordSetConflict"}]}
    }
    found = export_zone(
        [
            zone_class(),
            zone(),
            address("a"),
            address("b", of="other"),
            refused,
            address("d", deletionTimestamp="2030-01-01T00:00:00Z"),
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}},
        ],
        Choice(),
        0,
    )
    assert found.record_sets == 1
    assert (to_wire("a.example.com"), 1) in sets_of(found.zone)
    assert found.left_out == (
        "RecordSet b-a: belongs to the Zone other",
        "RecordSet c-a: not accepted, RecordSetConflict",
        "RecordSet d-a: is being deleted",
        "ConfigMap x: no kind that a master file holds",
    )


def test_left_out_objects_are_told_by_the_exit_code() -> None:
    text = yaml.safe_dump_all([zone_class(), zone(), address("b", of="other")])
    result = run("-", stdin=text)
    assert result.exit_code == 3
    assert "left out: RecordSet b-a: belongs to the Zone other\n" in result.stderr


def test_record_sets_of_other_namespaces_belong_by_their_reference() -> None:
    far = address("far", namespace="team")
    far["spec"]["zoneRef"]["namespace"] = "dns"
    near = address("near", namespace="dns")
    stranger = address("stranger", namespace="team")
    found = export_zone([zone(namespace="dns"), far, near, stranger], Choice(server_names=("ns1.example.net",)), 0)
    assert found.record_sets == 2
    assert found.left_out == ("RecordSet team/stranger-a: belongs to the Zone z",)


def test_one_of_several_zones_must_be_chosen() -> None:
    zones = [zone_class(), zone("one"), zone("two", "example.org"), zone("two", "example.net", namespace="n")]
    assert "wanted one Zone, the manifests hold: Zone n/two, Zone one, Zone two; choose one" in refusal(*zones)
    assert "wanted the Zone three" in refusal(*zones, choice=Choice("three"))
    assert "the manifests hold: none" in refusal()
    assert (to_wire("example.com"), SOA_TYPE) in exported(*zones, choice=Choice("one"))
    chosen = exported(*zones, choice=Choice("two", "n", ("ns.example.org",)))
    assert (to_wire("example.net"), SOA_TYPE) in chosen


def test_every_fault_of_every_claim_is_named() -> None:
    wrong = address("WWW", ttl=0)
    wrong["spec"]["a"] = {"addresses": ["x"]}
    unknown = manifest("RecordSet", "s", {"zoneRef": {"name": "z"}, "type": "SRV", "name": "s", "ttl": 1})
    faults = refusal(zone_class(), zone(), wrong, unknown).splitlines()
    assert [line.partition(": found")[0] for line in faults] == [
        "RecordSet WWW-a: spec.name",
        "RecordSet WWW-a: spec.ttl",
        "RecordSet WWW-a: spec.a.addresses[0]",
        "RecordSet s: spec.type",
    ]


@pytest.mark.parametrize(
    "second", [address("www") | {"metadata": {"name": "again"}}, record("www", "TXT", {"values": ["x"]})]
)
def test_claims_that_contradict_one_another_are_refused(second: Manifest) -> None:
    first = address("www") if second["spec"]["type"] == "A" else record("www", "CNAME", {"target": "a.example.net"})
    assert "contradict one another" in refusal(zone_class(), zone(), first, second)


def test_names_that_do_not_fit_in_the_zone_are_refused() -> None:
    long = ".".join(["a" * 63] * 3)
    assert "allowed are 255" in refusal(
        zone_class(), zone(domain="b" * 62), address(long) | {"metadata": {"name": "long"}}
    )


@pytest.mark.parametrize(
    ("manifests", "message"),
    [
        ([zone()], "Zone z: nothing names its servers; add its ZoneClass to the manifests or give --name-server"),
        ([zone(domain="Example.com"), zone_class()], "Zone z: spec.domainName 'Example.com' must be lowercase"),
        ([zone(), zone_class(negativeTTL="soon")], 'Zone z: spec.parameters.negativeTTL: found "soon", allowed: an'),
        (
            [zone(), zone_class(nameServers=[{"addresses": []}])],
            "spec.parameters.nameServers[0].name: found nothing",
        ),
    ],
)
def test_an_apex_that_cannot_be_made_is_refused(manifests: list[dict[str, Any]], message: str) -> None:
    assert message in refusal(*manifests)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "standard input is neither YAML nor JSON"),
        ("- 1", "standard input, document 1: found a list without a kind"),
        ("---\n---\nfoo: bar\n", "standard input, document 2: found a mapping without a kind"),
        ("kind: Zone\n1: x\n", "standard input, document 1: holds what JSON cannot"),
    ],
)
def test_texts_without_manifests_are_refused(text: str, message: str) -> None:
    result = run("-", stdin=text)
    assert result.exit_code == 1
    assert message in result.stderr


def test_missing_files_and_missing_sources_are_named(tmp_path: Path) -> None:
    assert run(tmp_path / "absent").stderr == f"error: cannot read {tmp_path / 'absent'}: No such file or directory\n"
    assert "or --zone to read from the API" in " ".join(run().stderr.replace("│", " ").split())
    assert run().exit_code == 2


def test_the_api_is_read_for_the_zone_that_is_named() -> None:
    asked: list[ZoneQuery] = []

    def read(query: ZoneQuery) -> Sequence[Manifest]:
        asked.append(query)
        return [zone_class(), zone(), address("www")]

    result = CliRunner().invoke(zone_app(read), ["export", "--zone", "z", "--serial", "1", "--kubeconfig", "config"])
    assert "www 300 IN A 192.0.2.1\n" in result.stdout
    assert asked == [ZoneQuery("z", None, Path("config"))]


def test_an_api_that_cannot_be_read_is_an_error_with_its_words() -> None:
    def read(query: ZoneQuery) -> Sequence[Manifest]:
        raise ManifestError("the API at https://127.0.0.1:1 does not answer")

    result = CliRunner().invoke(zone_app(read), ["export", "--zone", "z"])
    assert (result.exit_code, result.stderr) == (1, "error: the API at https://127.0.0.1:1 does not answer\n")


def test_an_api_that_is_not_configured_is_named(tmp_path: Path) -> None:
    result = run("--zone", "z", "--kubeconfig", tmp_path / "absent")
    assert result.exit_code == 1
    assert "error: --kubeconfig: found no file at" in result.stderr


async def test_the_objects_of_a_zone_are_found_in_every_namespace(tmp_path: Path) -> None:
    far = address("far", namespace="team")
    far["spec"]["zoneRef"]["namespace"] = "default"
    others = [address("other", of="y", namespace="default"), address("stranger", namespace="team")]
    manifests = [zone(namespace="default"), address("near", namespace="default"), far, *others]
    manifests.append(zone_class() | {"metadata": {"name": "c", "namespace": "default"}})
    async with ApiServer(tmp_path) as server, Client(Access(url=server.url)) as client:
        for definition in definitions():
            await client.create(DEFINITIONS, definition)
        await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        for each in manifests:
            await client.create(REFS[each["kind"]], each)
        found = await gather(client, "z", "default")
        with pytest.raises(NotFound):
            await gather(client, "absent", "default")
    names = [(each["kind"], each["metadata"]["name"]) for each in found]
    assert names == [("Zone", "z"), ("ZoneClass", "c"), ("RecordSet", "near-a"), ("RecordSet", "far-a")]
    assert export_zone(found, Choice(), 0).record_sets == 2


DEFINITIONS = ResourceRef(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
REFS = {each.kind: each for each in (ZONES_REF, ZONE_CLASSES, RECORD_SETS)}
