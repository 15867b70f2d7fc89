"""`dns-api zone import`: what becomes of each record of a master file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from cli.zone.claim import Target
from cli.zone.command import zone_app
from cli.zone.importing import Reason, ZoneImport, import_zone
from cli.zone.source import read_zone_objects
from controllers.api.record_set import RecordSetSpec
from controllers.api.reference import NamespacedRef, ProviderRef
from controllers.api.zone import ZoneSpec
from zonemodel.record import RecordType
from zonemodel.zonefile import parse_zone_text, read_zone_file

ZONES = Path(__file__).parent / "zones"
HEAD = "$ORIGIN t.example.\n$TTL 300\n@ SOA ns1.example.net. hostmaster 7 7200 900 1209600 60\n@ NS ns1.example.net.\n"
TARGET = Target(
    "t.example", None, NamespacedRef(name="hosted"), ProviderRef(name="hosted.dns.appthrust.io", version="v1alpha1")
)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(zone_app(read_zone_objects), ["import", *map(str, arguments)])


def documents(result: Result) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(result.stdout))


def imported(body: str, limit: int | None = None) -> ZoneImport:
    return import_zone(parse_zone_text(HEAD + body, None, "t.zone"), TARGET, limit)


def specs(found: ZoneImport) -> list[dict[str, Any]]:
    return [each["spec"] for each in found.record_sets]


def reasons(found: ZoneImport) -> dict[tuple[str, str], Reason]:
    return {(each.name, each.type): each.reason for each in found.left_out}


def test_a_zone_of_the_seven_types_is_held_whole() -> None:
    result = run(ZONES / "small.zone")
    assert result.exit_code == 0
    assert "left out" not in result.stderr
    zone, *record_sets = documents(result)
    assert zone == {
        "apiVersion": "dns.appthrust.io/v1alpha1",
        "kind": "Zone",
        "metadata": {"name": "small.example"},
        "spec": {
            "domainName": "small.example",
            "zoneClassRef": {"name": "hosted"},
            "provider": {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"},
        },
    }
    assert {each["spec"]["type"] for each in record_sets} == set(RecordType)
    assert len({each["metadata"]["name"] for each in record_sets}) == len(record_sets)


def test_manifests_have_the_fields_of_the_api() -> None:
    zone, *record_sets = documents(run(ZONES / "small.zone"))
    assert ZoneSpec.model_validate(zone["spec"]).domain_name == "small.example"
    for each in record_sets:
        spec = RecordSetSpec.model_validate(each["spec"])
        assert spec.dump() == each["spec"]
        assert spec.zone_ref == NamespacedRef(name="small.example")


def test_bodies_are_spelled_as_people_write_them() -> None:
    by_name = {each["metadata"]["name"]: each["spec"] for each in documents(run(ZONES / "small.zone"))[1:]}
    assert by_name["apex-a.small.example"]["a"] == {"addresses": ["192.0.2.10", "192.0.2.11"]}
    assert by_name["ns1-aaaa.small.example"]["aaaa"] == {"addresses": ["2001:db8::53"]}
    assert by_name["apex-mx.small.example"]["mx"]["records"] == [
        {"preference": 10, "exchange": "mx1.example.net"},
        {"preference": 20, "exchange": "mx2.example.net"},
    ]
    assert by_name["nomail-mx.small.example"]["mx"]["records"] == [{"preference": 0, "exchange": "."}]
    assert by_name["apex-caa.small.example"]["caa"]["records"][0] == {
        "flags": 0,
        "tag": "issue",
        "value": "ca.example.net; account=1",
    }
    assert by_name["apex-txt.small.example"]["txt"]["values"] == ['quotes " and \\ ; semicolons', "v=spf1 -all"]
    assert by_name["www-cname.small.example"]["cname"] == {"target": "web.small.example"}
    assert by_name["child-ns.small.example"]["ns"] == {"nameServers": ["ns.child.small.example", "ns.example.net"]}
    assert by_name["wildcard.app-a.small.example"]["name"] == "*.app"
    (dkim,) = (spec for spec in by_name.values() if spec["name"] == "dkim._domainkey")
    assert dkim["txt"]["values"] == ["x" * 255 + "tail"]


def test_texts_that_look_like_numbers_stay_texts_for_every_yaml_reader() -> None:
    assert '- "1e3"\n' in run(ZONES / "small.zone").stdout


def test_soa_and_apex_ns_are_reported_as_parameters_of_the_class() -> None:
    result = run(ZONES / "small.zone")
    comment = "".join(line[2:] + "\n" for line in result.stdout.splitlines() if line.startswith("# "))
    parameters = yaml.safe_load(comment[comment.index("  parameters:") :])["parameters"]
    assert parameters == {
        "nameServers": [
            {"name": "ns.backup.example.net"},
            {"name": "ns1.small.example", "addresses": ["192.0.2.53", "2001:db8::53"]},
        ],
        "soa": {
            "mname": "ns1.small.example",
            "rname": "hostmaster.small.example",
            "refresh": 7200,
            "retry": 900,
            "expire": 1209600,
            "ttl": 3600,
        },
        "negativeTTL": 60,
    }
    assert "serial 2030010100" in result.stderr
    assert "name: ns1.small.example" in result.stderr


def test_the_class_is_written_when_it_is_asked_for() -> None:
    zone_class, zone, *_ = documents(
        run(ZONES / "small.zone", "--with-zone-class", "--zone-class", "ours", "-n", "dns")
    )
    assert zone_class["kind"] == "ZoneClass"
    assert zone_class["metadata"] == {"name": "ours", "namespace": "dns"}
    assert zone_class["spec"]["controllerName"] == "hosted.dns.appthrust.io/controller"
    assert zone_class["spec"]["parameters"]["negativeTTL"] == 60
    assert zone["spec"]["zoneClassRef"] == {"name": "ours"}


def test_a_class_is_not_made_up_for_other_providers() -> None:
    result = run(ZONES / "small.zone", "--with-zone-class", "--provider", "route53.dns.appthrust.io/v1alpha1")
    assert result.exit_code == 1
    assert "not for route53.dns.appthrust.io" in result.stderr


def test_a_class_is_not_made_from_an_apex_that_a_class_cannot_have(tmp_path: Path) -> None:
    (tmp_path / "bare.zone").write_text("t.example. 1 SOA . . 1 2 3 4 5\n")
    result = run(tmp_path / "bare.zone", "--with-zone-class")
    assert result.exit_code == 1
    assert "SOA and NS of t.example make no ZoneClass: spec.parameters.nameServers: found" in result.stderr


def test_options_say_what_manifests_refer_to() -> None:
    options = ("-n", "team", "--name", "mine", "--zone-class", "c", "--zone-class-namespace", "infra")
    zone, first, *_ = documents(run(ZONES / "small.zone", *options, "--provider", "p.example/v2"))
    assert zone["metadata"] == {"name": "mine", "namespace": "team"}
    assert zone["spec"]["zoneClassRef"] == {"name": "c", "namespace": "infra"}
    assert first["metadata"] == {"name": "ns1-a.mine", "namespace": "team"}
    assert first["spec"]["zoneRef"] == {"name": "mine"}
    assert first["spec"]["provider"] == zone["spec"]["provider"] == {"name": "p.example", "version": "v2"}


def test_every_record_set_is_either_held_or_left_out_with_its_reason() -> None:
    zone = read_zone_file(ZONES / "odd.zone", None)
    found = import_zone(zone, TARGET)
    assert reasons(found) == {
        ("_sip._tcp", "SRV"): Reason.TYPE,
        ("child", "DS"): Reason.TYPE,
        ("old", "DNAME"): Reason.TYPE,
        ("signed", "TYPE65280"): Reason.TYPE,
        ("child", "TXT"): Reason.OCCLUDED,
        ("hidden.child", "A"): Reason.OCCLUDED,
        ("deeper.hidden.child", "NS"): Reason.OCCLUDED,
        ("under.old", "A"): Reason.OCCLUDED,
        ("_host", "A"): Reason.NAME,
        ("sub.*", "TXT"): Reason.NAME,
        ("dotted\\.label", "TXT"): Reason.NAME,
        ("*.wild", "NS"): Reason.WILDCARD_DELEGATION,
        ("both", "CNAME"): Reason.CNAME_COEXISTENCE,
        ("zero", "A"): Reason.TTL,
        ("latin", "TXT"): Reason.TEXT,
        ("tab", "TXT"): Reason.TEXT,
        ("empty", "TXT"): Reason.TEXT,
        ("mail", "MX"): Reason.VALUE,
        ("null", "MX"): Reason.VALUE,
        ("caa", "CAA"): Reason.VALUE,
        ("novalue", "CAA"): Reason.VALUE,
    }
    held = {(spec["name"], spec["type"]) for spec in specs(found)}
    expected = {
        ("kept", "A"),
        ("child", "NS"),
        ("ns.child", "A"),
        ("both", "A"),
        ("signed", "CNAME"),
        ("joined", "TXT"),
    }
    assert held == expected
    apex_sets = 2
    assert len(zone.rrsets) == len(held) + len(found.left_out) + apex_sets


def test_what_is_left_out_is_listed_counted_and_told_by_the_exit_code() -> None:
    result = run(ZONES / "odd.zone")
    assert result.exit_code == 3
    assert (
        "left out: _sip._tcp SRV (1 record): type that a RecordSet has no body for; found SRV, allowed are"
        in result.stderr
    )
    assert "left out: under.old A (1 record): data below a delegation or DNAME" in result.stderr
    assert "below the DNAME of old.odd.example" in result.stderr
    assert "odd.example: 6 record sets imported\nleft out: 21 record sets\n" in result.stderr
    assert f"        4  {Reason.TYPE}\n" in result.stderr
    assert f"#         4  {Reason.TYPE}\n" in result.stdout
    assert len(documents(result)) == 7


def test_a_cname_at_the_apex_is_left_out() -> None:
    assert reasons(import_zone(read_zone_file(ZONES / "apex-cname.zone", None), TARGET)) == {
        ("@", "CNAME"): Reason.APEX_CNAME
    }


def test_texts_split_elsewhere_are_held_and_reported() -> None:
    found = imported('a TXT "one" "two"\nb TXT "plain"\n')
    assert [spec["txt"]["values"] for spec in specs(found)] == [["onetwo"], ["plain"]]
    assert [each.name for each in found.rejoined] == ["a"]
    assert not found.is_exact


def test_a_text_of_4000_octets_is_held_and_a_longer_one_is_not() -> None:
    def text(octets: int) -> str:
        return " ".join('"' + "x" * min(255, octets - at) + '"' for at in range(0, octets, 255))

    found = imported(f"a TXT {text(4000)}\nb TXT {text(4001)}\n")
    assert [spec["name"] for spec in specs(found)] == ["a"]
    assert reasons(found) == {("b", "TXT"): Reason.TEXT}
    assert found.rejoined == ()


def test_glue_is_held_wherever_a_delegation_needs_it() -> None:
    found = imported("a NS ns.b\na NS ns.a\nb NS ns.b\nns.b A 192.0.2.1\nns.a AAAA 2001:db8::1\na A 192.0.2.2\n")
    assert {(spec["name"], spec["type"]) for spec in specs(found)} == {
        ("a", "NS"),
        ("b", "NS"),
        ("ns.b", "A"),
        ("ns.a", "AAAA"),
    }
    assert reasons(found) == {("a", "A"): Reason.OCCLUDED}


def test_a_limit_takes_the_first_and_counts_the_rest() -> None:
    found = imported("c A 192.0.2.1\nb A 192.0.2.1\na SRV 1 1 1 x\na A 192.0.2.1\n", limit=2)
    assert [spec["name"] for spec in specs(found)] == ["c", "b"]
    assert found.over_limit == 1
    result = run(ZONES / "small.zone", "--limit", "3")
    assert result.exit_code == 0
    assert len(documents(result)) == 4
    assert "not taken because of --limit: 15 record sets" in result.stderr


def test_strict_writes_nothing_unless_everything_is_held(tmp_path: Path) -> None:
    output = tmp_path / "manifests.yaml"
    result = run(ZONES / "odd.zone", "--strict", "--output", output)
    assert (result.exit_code, result.stdout, output.exists()) == (3, "", False)
    assert "nothing is written because of --strict" in result.stderr
    assert run(ZONES / "small.zone", "--strict", "--output", output).exit_code == 0
    assert len(list(yaml.safe_load_all(output.read_text()))) == 19


def test_json_is_one_list_that_kubectl_takes() -> None:
    written = json.loads(run(ZONES / "small.zone", "-o", "json").stdout)
    assert (written["apiVersion"], written["kind"]) == ("v1", "List")
    assert written["items"] == documents(run(ZONES / "small.zone"))


def test_the_same_file_gives_the_same_manifests() -> None:
    assert run(ZONES / "small.zone").stdout == run(ZONES / "small.zone").stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@ A 1.2.3.4", "relative and no origin is known"),
        (". 1 SOA a. b. 1 2 3 4 5\n", "the zone . "),
        ("_x.example. 1 SOA a. b. 1 2 3 4 5\n", "the zone _x.example holds the label '_x'"),
        (HEAD + "a A x", "bad.zone:5: found 'a A x'"),
    ],
)
def test_refused_files_say_why(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.zone").write_text(text)
    result = run(tmp_path / "bad.zone")
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert result.stderr.startswith("error: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--provider", "hosted"), "Provider and a version, such as hosted.dns.appthrust.io/v1alpha1"),
        (("--zone-class", "Big"), "the name of an object"),
        (("--name", "a_b"), "the name of an object"),
        (("--limit", "0"), "greater than or equal to 1"),
        (("-o", "xml"), "xml"),
    ],
)
def test_wrong_options_say_what_is_allowed(options: tuple[str, str], message: str) -> None:
    result = run(ZONES / "small.zone", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_a_wrong_origin_is_refused() -> None:
    result = run(ZONES / "small.zone", "--origin", "a..b")
    assert result.exit_code == 1
    assert "found the origin 'a..b'" in result.stderr


def test_a_missing_file_is_named() -> None:
    result = run(ZONES / "absent.zone")
    assert result.exit_code == 1
    assert "absent.zone: No such file or directory" in result.stderr


@pytest.mark.skipif("DNS_API_DATA" not in os.environ, reason="DNS_API_DATA names no folder of zones")
def test_real_zones_are_imported_or_refused_for_their_name() -> None:
    for path in sorted((Path(os.environ["DNS_API_DATA"]) / "zones").glob("*.zone")):
        zone = read_zone_file(path, None)
        if zone.origin == b"\0":
            assert "the zone . " in run(path).stderr
            continue
        found = import_zone(zone, TARGET)
        apex_sets = sum(each.owner == zone.origin and each.rdtype in {2, 6} for each in zone.rrsets)
        assert len(zone.rrsets) == len(found.record_sets) + len(found.left_out) + apex_sets
        names = [each["metadata"]["name"] for each in found.record_sets]
        assert len(set(names)) == len(names)
