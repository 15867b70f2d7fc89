"""Answers on which other name servers agree, where DNS_API_DATA names a folder that has them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from server.config import ZoneFile
from tests.server.beside import Beside, beside, config

FILE = Path(os.environ.get("DNS_API_DATA", "/nonexistent")) / "auth_vectors.json"

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="DNS_API_DATA names no folder with auth_vectors.json")


def vectors() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text()) if FILE.is_file() else {"zones": {}, "queries": []}
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    folder = tmp_path_factory.mktemp("zones")
    for name, text in vectors()["zones"].items():
        (folder / name).write_text(text)
    files = tuple(ZoneFile(path, path.name) for path in sorted(folder.iterdir()))
    with beside(config(zone_files=files)) as found:
        yield found


def lines(section: list[dns.rrset.RRset]) -> set[str]:
    """The records as the file has them: of an SOA only that it is there."""
    found = set()
    for rrset in section:
        kind = dns.rdatatype.to_text(rrset.rdtype)
        for rdata in rrset:
            data = "" if kind == "SOA" else f" {rdata.to_text(chunksize=0) if kind == 'DS' else rdata}"
            found.add(f"{rrset.name} {rrset.ttl} {kind}{data}")
    return found


@pytest.mark.parametrize(
    "case", vectors()["queries"], ids=lambda case: f"{case['case']} {case['qname'][-30:]} {case['qtype']}"
)
def test_an_answer_that_others_agree_on(case: dict[str, Any], server: Beside) -> None:
    edns = {} if case["edns_size"] is None else {"use_edns": 0, "payload": case["edns_size"]}
    reply = server.target.ask(case["qname"], case["qtype"], tcp=case["transport"] == "tcp", **edns)
    assert dns.rcode.to_text(reply.rcode()) == case["rcode"]
    assert bool(reply.flags & dns.flags.AA) is case["aa"]
    assert bool(reply.flags & dns.flags.TC) is case["tc"]
    if case["answer"] is not None:
        assert lines(reply.answer) == set(case["answer"])
    if case["authority"] is not None and not (case["answer"] and case["aa"] and not case["authority"]):
        assert lines(reply.authority) == set(case["authority"])
    if case["additional"]:
        assert lines(reply.additional) >= set(case["additional"])
