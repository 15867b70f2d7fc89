"""`dns-api verify`: want and got, server by server."""

from __future__ import annotations

import json

from cli.main import COMMANDS
from controllers.providers.route53.contract import provider_manifest
from tests.cli.command import Cli
from tests.cli.conftest import Up
from tests.cli.manifest import manifest, record_set, text
from tests.controllers.probe.peer import silent_server


def address(up: Up) -> str:
    return f"{up.dns[0]}:{up.dns[1]}"


def rows(output: str) -> list[list[str]]:
    return [line.split() for line in output.splitlines()]


def test_servers_that_answer_with_everything_are_well(cli: Cli, up: Up, served_zone: str) -> None:
    text_spec = {
        "zoneRef": {"name": "zone"},
        "provider": {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"},
        "type": "TXT",
        "name": "*.note",
        "ttl": 60,
        "txt": {"values": ["a b"]},
    }
    below = {**text_spec, "type": "NS", "name": "lab", "ns": {"nameServers": [f"ns.lab.{served_zone}"]}}
    del below["txt"]
    claims = [record_set("www", "192.0.2.7"), record_set("ns.lab", "192.0.2.53")]
    claims += [manifest("RecordSet", "note", text_spec), manifest("RecordSet", "lab", below)]
    cli.ok("apply", "-f", "-", stdin=text(*claims))
    cli.ok("wait", "rrset")
    output = cli.ok("verify", "zone", "--server", address(up))
    lines = rows(output)
    assert lines[0] == ["SERVER", "NAME", "TYPE", "RESULT", "WANT", "GOT"]
    assert lines[1] == [address(up), f"*.note.{served_zone}", "TXT", "ok", "a", "b", "a", "b"]
    assert lines[3][1:] == [
        f"ns.lab.{served_zone}",
        "A",
        "ok",
        "192.0.2.53",
        "192.0.2.53",
        *f"with the delegation of lab.{served_zone}".split(),
    ]
    assert lines[4] == [address(up), f"www.{served_zone}", "A", "ok", "192.0.2.7", "192.0.2.7"]
    assert output.splitlines()[-1] == "4 answers of 1 server: 4 as wanted, 0 not"
    assert cli.ok("verify", "zone", "-s", address(up), "--differences") == "4 answers of 1 server: 4 as wanted, 0 not\n"


def test_a_server_without_an_answer_fails_and_is_told_beside_the_others(cli: Cli, up: Up, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www", "192.0.2.7")))
    cli.ok("wait", "rrset/www")
    with silent_server() as silent:
        result = cli.run("verify", "zone", "-s", address(up), "-s", str(silent), "--timeout", "1", "-d")
    assert result.code == 1
    lines = rows(result.stdout)
    assert lines[1] == [str(silent), f"www.{served_zone}", "A", "no", "answer", "192.0.2.7", "TIMEOUT"]
    assert result.stdout.splitlines()[-1] == "2 answers of 2 servers: 1 as wanted, 1 not"


def test_a_server_without_a_known_address_is_told_beside_the_others(cli: Cli, up: Up, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www", "192.0.2.7")))
    cli.ok("wait", "rrset/www")
    with silent_server() as resolver:
        words = ["--server", "ns1.nowhere.test", "--resolver", str(resolver), "--timeout", "1"]
        result = cli.run("verify", "zone", "-s", address(up), *words)
    assert result.code == 1
    assert result.stderr == "warning: no resolver tells all addresses of name server ns1.nowhere.test\n"
    lines = rows(result.stdout)
    assert lines[1][:4] == [address(up), f"www.{served_zone}", "A", "ok"]
    assert lines[2] == ["ns1.nowhere.test", f"www.{served_zone}", "A", "no", "answer", "192.0.2.7", "UNRESOLVED"]


def test_what_cannot_be_asked_is_told(cli: Cli, up: Up, served_zone: str) -> None:
    assert "does not exist" in cli.fails("verify", "nothing", "-s", address(up))
    assert "found 'a b', allowed: an address or a name" in cli.fails("verify", "zone", "-s", "a b", code=2)
    assert "allowed: an address" in cli.fails("verify", "zone", "--resolver", "dns.example", code=2)
    complaint = cli.fails("verify", "zone", "--resolver", address(up), "--timeout", "1")
    assert f"found no server of {served_zone}; name one with --server\n  " in complaint


def test_a_hosted_zone_is_asked_of_the_servers_of_the_cluster(cli: Cli, up: Up, served_zone: str) -> None:
    cli.ok("apply", "-f", "-", stdin=text(record_set("www", "192.0.2.7")))
    cli.ok("wait", "rrset/www")
    document = json.loads(cli.ok("verify", "zone", "-o", "json"))
    assert document == {
        "zone": served_zone,
        "servers": [{"name": "dns-api-up", "addresses": [address(up)]}],
        "answers": [
            {
                "server": document["answers"][0]["server"],
                "name": f"www.{served_zone}",
                "type": "A",
                "result": "ok",
                "want": {"values": ["192.0.2.7"], "ttl": 60},
                "got": {"values": ["192.0.2.7"], "ttl": 60},
                "answer": "192.0.2.7",
            }
        ],
        "warnings": [],
        "summary": {"answers": 1, "asWanted": 1, "not": 0},
    }
    assert json.loads(cli.ok("verify", "zone", "-o", "json", "-d"))["answers"] == []


def test_a_claim_without_values_of_its_own_is_told_and_the_others_are_verified(cli: Cli, up: Up, domain: str) -> None:
    """An alias of Route 53: what it answers with is known to Route 53 alone."""
    provider = {"name": "route53.dns.appthrust.io", "version": "v1alpha1"}
    zone_spec = {"domainName": domain, "zoneClassRef": {"name": "class"}, "provider": provider}
    about = {"zoneRef": {"name": "alias-zone"}, "provider": provider, "type": "A"}
    target = {"dnsName": "lb.example.net.", "hostedZoneID": "Z14GRHDCWA56QT", "evaluateTargetHealth": False}
    plain = {**about, "name": "www", "ttl": 60, "a": {"addresses": ["192.0.2.7"]}}
    cli.ok(
        "apply",
        "-f",
        "-",
        stdin=text(
            provider_manifest(),
            manifest("Zone", "alias-zone", zone_spec),
            manifest("RecordSet", "aliased", {**about, "name": "@", "options": {"alias": target}}),
            manifest("RecordSet", "plain", plain),
        ),
    )
    result = cli.run("verify", "alias-zone", "-s", address(up), "--timeout", "1")
    assert result.code == 1
    told = "its provider makes its records of spec.options, and what they are is not known"
    assert result.stderr == f"warning: RecordSet {cli.namespace}/aliased is not verified: {told}\n"
    assert rows(result.stdout)[1] == [address(up), f"www.{domain}", "A", "lame", "192.0.2.7", "REFUSED"]
    assert result.stdout.splitlines()[-1] == "1 answer of 1 server: 0 as wanted, 1 not"
    cli.ok("delete", "rrset/plain")
    result = cli.run("verify", "alias-zone", "-s", address(up), "--timeout", "1")
    assert (result.code, result.stderr) == (0, f"warning: RecordSet {cli.namespace}/aliased is not verified: {told}\n")


def test_the_commands_are_listed() -> None:
    assert {"verify", "withdrawal"} <= COMMANDS.keys()
