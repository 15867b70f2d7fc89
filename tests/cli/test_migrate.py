"""`dns-api migrate external-dns`: what the TXT registry says is what the plan takes over."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingUDPServer
from typing import Any, ClassVar, cast

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest
import yaml
from typer.testing import CliRunner, Result

from cli.main import build
from cli.migrate.registry import Affix, read_value, record_set_of, txt_names
from tests.cli.command import ROOT, started
from zonemodel.record import RecordType

REGISTRY = "heritage=external-dns,external-dns/owner=prod,external-dns/resource"
ZONE = f"""
$ORIGIN example.com.
$TTL 300
@ SOA ns1 host 1 3600 600 86400 300
@ NS ns1
ns1 A 192.0.2.53
www A 192.0.2.10
www AAAA 2001:db8::10
a-www TXT "{REGISTRY}=service/default/www"
aaaa-www TXT "{REGISTRY}=service/default/www"
shop CNAME lb.cloud.test.
cname-shop TXT "{REGISTRY}=ingress/default/shop"
alias A 192.0.2.99
cname-alias TXT "{REGISTRY}=ingress/default/alias"
a-team A 192.0.2.11
a-team TXT "heritage=external-dns,external-dns/owner=other,external-dns/resource=service/default/old"
hand A 192.0.2.12
hand TXT "v=spf1 -all"
a-gone TXT "{REGISTRY}=service/default/gone"
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build("migrate"), ["migrate", "external-dns", "--zone", "example.com", *arguments])


@pytest.fixture
def zone_file(tmp_path: Path) -> str:
    path = tmp_path / "zone"
    path.write_text(ZONE, encoding="ascii")
    return str(path)


def record_sets(result: Result) -> dict[tuple[str, str], dict[str, Any]]:
    manifests = [each for each in yaml.safe_load_all(result.stdout) if each["kind"] == "RecordSet"]
    return {(each["spec"]["name"], each["spec"]["type"]): each["spec"] for each in manifests}


def test_owned_record_sets_come_with_adoption_and_nothing_else_is_in_the_plan(zone_file: str) -> None:
    result = run("--plan", "--zone-file", zone_file, "--adopt-zone", "Z123")
    found = record_sets(result)
    assert set(found) == {("www", "A"), ("www", "AAAA"), ("shop", "CNAME"), ("a-team", "A")}
    assert found["www", "A"]["a"] == {"addresses": ["192.0.2.10"]}
    assert all(each["adoption"] == {"enabled": True} for each in found.values())
    zone = next(each for each in yaml.safe_load_all(result.stdout) if each["kind"] == "Zone")
    assert zone["spec"]["adoption"] == {"hostedZoneId": "Z123"}
    assert zone["metadata"]["annotations"] == {"endpoint.dns.appthrust.io/route53-recordset-adoption": "enabled"}


@pytest.mark.parametrize(
    ("provider", "identifier"), [("route53", "Z0123456789"), ("cloudflare", "0123456789abcdef0123456789abcdef")]
)
def test_the_adoption_of_a_zone_is_what_its_provider_takes(zone_file: str, provider: str, identifier: str) -> None:
    arguments = ("--provider", f"{provider}.dns.appthrust.io/v1alpha1", "--adopt-zone", identifier)
    plan = yaml.safe_load_all(run("--plan", "--zone-file", zone_file, *arguments).stdout)
    zone = next(each for each in plan if each["kind"] == "Zone")
    manifest = yaml.safe_load((ROOT / f"helm/files/{provider}/provider.yaml").read_text(encoding="utf-8"))
    (version,) = manifest["spec"]["versions"]
    schema = version["zone"]["schemas"]["adoption"]["openAPIV3Schema"]
    assert set(zone["spec"]["adoption"]) == set(schema["required"])


def test_what_is_left_out_says_why(zone_file: str) -> None:
    result = run("--plan", "--zone-file", zone_file)
    assert result.exit_code == 3
    assert "alias.example.com CNAME: the zone answers with addresses" in result.stderr
    assert "gone.example.com A: the entry at a-gone.example.com has no record set beside it" in result.stderr
    assert "5 others stay untouched" in result.stderr


def test_one_owner_and_what_sources_publish_can_be_left_out(zone_file: str) -> None:
    found = record_sets(run("--plan", "--zone-file", zone_file, "--txt-owner-id", "other"))
    assert set(found) == {("a-team", "A")}
    result = run("--plan", "--zone-file", zone_file, "--leave-to-sources")
    assert set(record_sets(result)) == {("shop", "CNAME")}
    assert "www.example.com A: left to its source, service/default/www" in result.stderr


def test_a_provider_with_nothing_to_adopt_gets_plain_record_sets(zone_file: str) -> None:
    arguments = ("--provider", "hosted.dns.appthrust.io/v1alpha1", "--zone-class", "hosted")
    found = record_sets(run("--plan", "--zone-file", zone_file, *arguments))
    assert all("adoption" not in each for each in found.values())


def test_without_plan_nothing_is_done(zone_file: str) -> None:
    result = run("--zone-file", zone_file)
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_zone_that_cannot_be_read_is_an_error_and_no_empty_plan(tmp_path: Path) -> None:
    result = run("--plan", "--zone-file", str(tmp_path / "missing"))
    assert (result.exit_code, result.stdout) == (1, "")


class Authority(BaseRequestHandler):
    """Answers for www alone."""

    answers: ClassVar = {
        ("www.example.com.", "A"): "192.0.2.10",
        ("a-www.example.com.", "TXT"): f'"{REGISTRY}=service/default/www"',
    }

    def handle(self) -> None:
        packet, socket = self.request
        query = dns.message.from_wire(packet)
        reply = dns.message.make_response(query)
        reply.flags |= dns.flags.AA
        question = query.question[0]
        kind = question.rdtype.name
        found = self.answers.get((question.name.to_text(), kind))
        if found is not None:
            reply.answer.append(dns.rrset.from_text(question.name, 60, "IN", kind, found))
        elif question.name.to_text().startswith("refused"):
            reply.set_rcode(dns.rcode.REFUSED)
        socket.sendto(reply.to_wire(), self.client_address)


@pytest.fixture
def authority() -> Any:
    with ThreadingUDPServer(("127.0.0.1", 0), Authority) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"127.0.0.1:{cast(tuple[str, int], server.server_address)[1]}"
        server.shutdown()
        thread.join()


def test_names_are_asked_for_where_no_transfer_is_allowed(authority: str) -> None:
    result = run("--plan", "--server", authority, "--name", "www.example.com")
    assert set(record_sets(result)) == {("www", "A")}
    refused = run("--plan", "--server", authority, "--name", "refused.example.com")
    assert (refused.exit_code, refused.stdout) == (1, "")
    outside = run("--plan", "--server", authority, "--name", "www.elsewhere.com")
    assert outside.exit_code == 2


def test_a_zone_is_transferred_where_the_server_allows_it(zone_file: str) -> None:
    words = ("server", "--listen", "127.0.0.1:0", "--zonefile", zone_file, "--allow-transfer", "127.0.0.0/8")
    with started(*words, environment={}) as process:
        line = process.stderr.until("name server answers")
        address = re.search(r"127\.0\.0\.1:\d+", line)
        assert address is not None, line
        result = run("--plan", "--server", address[0])
        assert set(record_sets(result)) == {("www", "A"), ("www", "AAAA"), ("shop", "CNAME"), ("a-team", "A")}
        refused = CliRunner().invoke(
            build("migrate"), ["migrate", "external-dns", "--zone", "example.net", "--plan", "--server", address[0]]
        )
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "refuses to transfer example.net" in refused.stderr


@pytest.mark.parametrize(
    ("txt_name", "affix", "found"),
    [
        ("a-www.example.com", Affix(), ("www.example.com", RecordType.A)),
        ("aaaa-www.example.com", Affix(), ("www.example.com", RecordType.AAAA)),
        ("www.example.com", Affix(), ("www.example.com", None)),
        ("x.a-www.example.com", Affix(prefix="x."), ("www.example.com", RecordType.A)),
        ("y.a-www.example.com", Affix(prefix="x."), None),
        ("a-www-x.example.com", Affix(suffix="-x"), ("www.example.com", RecordType.A)),
        ("cname-r.www.example.com", Affix(prefix="%{record_type}-r."), ("www.example.com", RecordType.CNAME)),
        ("a-any.example.com", Affix(wildcard="any"), ("*.example.com", RecordType.A)),
    ],
)
def test_registry_names_are_read_as_external_dns_writes_them(
    txt_name: str, affix: Affix, found: tuple[str, RecordType | None] | None
) -> None:
    assert record_set_of(txt_name, affix) == found
    if found is not None:
        assert txt_name in txt_names(found[0], affix)


def test_a_text_of_somebody_else_is_no_entry() -> None:
    assert read_value("heritage=dnsweaver,owner=x") is None
    assert read_value("v=spf1 -all") is None
    assert read_value(f'"{REGISTRY}=crd/a/b"') == {"owner": "prod", "resource": "crd/a/b"}
