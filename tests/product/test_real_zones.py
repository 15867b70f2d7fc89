"""Real zones, where DNS_API_DATA names a folder that has them below zones/: served, and imported, as their files say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dns.name
import dns.rcode
import dns.rdatatype
import pytest
import yaml

from controllers.api.group import RECORD_SETS, ZONES
from kube.config import connect
from tests.product.conftest import fresh_stage
from tests.product.lone_server import serving
from tests.product.product import ROOT, Product
from tests.product.real_zone import PROBE, Examiner, RealZone
from tests.product.stage import Object

DATA = os.environ.get("DNS_API_DATA", "")
FILES = sorted(Path(DATA).glob("zones/*.zone")) if DATA else []
IMPORTED = "corp.example"
LIMIT_S = 60.0
LEFT_OUT = 3
"""The exit code of an import that could not hold everything."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not FILES, reason="DNS_API_DATA names no folder with zones/*.zone in it"),
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_master_file_is_answered_as_it_is_written(path: Path, tmp_path: Path) -> None:
    zone = RealZone(path)
    with serving(tmp_path, "--zonefile", str(path)) as server:
        examiner = Examiner(zone, server.dns)
        for rrset in zone.rrsets():
            examiner.examine(rrset)
            examiner.examine_alias(rrset)
            examiner.examine_wildcard(rrset)
        for name in zone.non_terminals:
            examiner.examine_non_terminal(name)
        assert server.stop() == 0


@pytest.mark.parametrize("limit", [1000, None], ids=["the first 1000", "all"])
async def test_a_master_file_is_imported_and_answered_as_it_is_written(
    fragile: Product, tmp_path: Path, limit: int | None
) -> None:
    path = next(path for path in FILES if path.stem == IMPORTED)
    async with connect(fragile.kubeconfig) as client:
        stage = await fresh_stage(fragile, client)
        claims = imported(path, stage.namespace, tmp_path / "manifests.yaml", limit)
        run("apply", "-f", str(tmp_path / "manifests.yaml"), "--kubeconfig", str(fragile.kubeconfig))
        await stage.until_programmed(ZONES, IMPORTED)
        await stage.until_all_programmed(RECORD_SETS, {each["metadata"]["name"] for each in claims}, LIMIT_S)

    zone = RealZone(path)
    examiner = Examiner(zone, stage.server, joined=True)
    for each in claims:
        rrset = zone.find(owner_of(each, zone.origin), dns.rdatatype.from_text(each["spec"]["type"]))
        assert rrset is not None
        examiner.examine(rrset)
        examiner.examine_alias(rrset)
        examiner.examine_wildcard(rrset)
    assert examiner.ask(dns.name.from_text(PROBE, zone.origin), dns.rdatatype.A).rcode() == dns.rcode.NXDOMAIN


def imported(path: Path, namespace: str, target: Path, limit: int | None) -> list[Object]:
    """Import a master file and return the RecordSets among the manifests."""
    limited = ["--limit", str(limit)] if limit else []
    run(
        *("zone", "import", str(path), "--with-zone-class", "-n", namespace, "--output", str(target), *limited),
        code=LEFT_OUT,
    )
    manifests = yaml.load_all(target.read_text(), Loader=yaml.CSafeLoader)
    claims = [each for each in manifests if each["kind"] == "RecordSet"]
    assert limit in (None, len(claims))
    return claims


def owner_of(claim: Object, origin: dns.name.Name) -> dns.name.Name:
    owner: str = claim["spec"]["name"]
    return origin if owner == "@" else dns.name.from_text(owner, origin)


def run(*words: str, code: int = 0) -> None:
    """Run `dns-api` as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
