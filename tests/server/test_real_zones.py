"""Real zones, where DNS_API_DATA names a folder of them: every record set is answered as its master file has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import dns.flags
import dns.message
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import pytest

from tests.server.process import ROOT, free_port, serving
from tests.server.question import records
from zonemodel.name import WireName
from zonemodel.rrset import RRset, ZoneData
from zonemodel.zonefile import read_zone_file

DATA = Path(os.environ.get("DNS_API_DATA", "/nonexistent"))
NS, CNAME, DS = 2, 5, 43

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not DATA.is_dir(), reason="DNS_API_DATA names no folder")]


@pytest.mark.parametrize("path", sorted((DATA / "zones").glob("*.zone")), ids=lambda path: path.stem)
def test_every_record_set_is_answered(path: Path, tmp_path: Path) -> None:
    zone = read_zone_file(path, None)
    with serving([path], tmp_path) as server:
        for rrset in zone.rrsets:
            name = dns.name.from_wire(rrset.owner, 0)[0]
            reply = server.target.ask(
                name.to_text(), dns.rdatatype.to_text(dns.rdatatype.RdataType.make(rrset.rdtype)), tcp=True
            )
            if cut := topmost_cut(zone, rrset):
                assert not reply.flags & dns.flags.AA
                assert {each.name for each in reply.authority} == {dns.name.from_wire(cut, 0)[0]}
            else:
                assert reply.flags & dns.flags.AA
                assert {(ttl, data) for _, ttl, _, data in records([reply.answer[0]])} == content(rrset)


def content(rrset: RRset) -> set[tuple[int, str]]:
    kind = dns.rdatatype.RdataType.make(rrset.rdtype)
    rdatas = (dns.rdata.from_wire(dns.rdataclass.IN, kind, data, 0, len(data)) for data in rrset.rdatas)
    return {(rrset.ttl_s, rdata.to_digestable().hex()) for rdata in rdatas}


def topmost_cut(zone: ZoneData, rrset: RRset) -> WireName | None:
    """The zone cut that hides a set, if one does."""
    cuts = {each.owner for each in zone.rrsets if each.rdtype == NS and each.owner != zone.origin}
    name, found = rrset.owner, None
    while name != zone.origin:
        if name in cuts and not (name == rrset.owner and rrset.rdtype == DS):
            found = name
        name = WireName(name[name[0] + 1 :])
    return found


@pytest.mark.timeout(1200)
def test_suites_of_other_servers_pass(tmp_path: Path) -> None:
    """Replays what RFCs, NSD and CoreDNS expect of an authoritative server."""
    runner = DATA.parent / "tools" / "conformance" / "run_suite.py"
    if not runner.is_file():
        pytest.skip(f"{runner} is not there")
    port = free_port()
    load = f"{sys.executable} {ROOT / 'tests/server/conformance_load.py'} {port}"
    summary = tmp_path / "summary.json"
    environment = {**os.environ, "CONF_RESULTS": str(tmp_path), "CONF_STATE": str(tmp_path)}
    command = [sys.executable, str(runner), "--server", f"127.0.0.1:{port}", "--load", load, "--summary", str(summary)]
    try:
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    finally:
        subprocess.run(load.split(), env=environment, check=True)
    suites = json.loads(summary.read_text())
    assert suites
    assert {
        suite["suite"]: suite["run"] - suite["core_pass"] for suite in suites if suite["run"] != suite["core_pass"]
    } == {}
