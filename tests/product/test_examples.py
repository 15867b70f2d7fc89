"""The examples of this repository, given to `dns-api up`: every claim in them is served."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dns.flags
import pytest
import yaml

from controllers.api.group import RECORD_SETS, ZONES
from kube.config import connect
from tests.cluster.control_plane import programs
from tests.product.claim import Claim, claim
from tests.product.product import ROOT, Product
from tests.product.run import running
from tests.product.stage import Object, Stage
from tests.server.question import records

DOMAIN = "example.com"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example zone that may be changed."""
    return Path(shutil.copytree(ROOT / "examples" / "hosted", tmp_path / "manifests"))


@pytest.fixture
def exemplary(folder: Path, tmp_path: Path) -> Iterator[Product]:
    """The product as `make run` starts it."""
    if programs() is not None:
        pytest.skip("a folder is given to `dns-api up` only")
    with running(tmp_path, "-f", str(folder)) as product:
        yield product
    assert product.complaints() == ""


async def test_every_example_is_served(exemplary: Product, folder: Path) -> None:
    claims = [each for each in documents(folder) if each["kind"] == "RecordSet"]
    async with connect(exemplary.kubeconfig) as client:
        stage = Stage(client, exemplary.dns, "default", DOMAIN)
        await stage.until_programmed(ZONES, DOMAIN)
        await stage.until_all_programmed(RECORD_SETS, {each["metadata"]["name"] for each in claims})
        cuts = [each["spec"]["name"] for each in claims if each["spec"]["type"] == "NS"]
        for each in map(claim_of, claims):
            reply = stage.ask(each.owner, each.type)
            below = any(each.owner == cut or each.owner.endswith(f".{cut}") for cut in cuts)
            if not below:
                assert records(reply.answer) == each.records(DOMAIN)
            elif each.type == "NS":
                assert records(reply.authority) == each.records(DOMAIN)
                assert not reply.flags & dns.flags.AA
            else:
                assert each.records(DOMAIN) <= records(reply.additional)

        edited = claim("api", "A", "192.0.2.99", ttl=60)
        replace_in(folder, "192.0.2.20", "192.0.2.99")
        await stage.until_there(RECORD_SETS, "api-a.example.com", lambda obj: obj["metadata"]["generation"] == 2)
        await stage.until_programmed(RECORD_SETS, "api-a.example.com")
        stage.assert_answered([edited])


def replace_in(folder: Path, old: str, new: str) -> None:
    (path,) = [path for path in folder.glob("*.yaml") if old in path.read_text()]
    path.write_text(path.read_text().replace(old, new))


def documents(folder: Path) -> Iterator[Object]:
    for path in sorted(folder.glob("*.yaml")):
        yield from yaml.safe_load_all(path.read_text())


def claim_of(obj: Object) -> Claim:
    """A manifest's claim in presentation form."""
    spec = obj["spec"]
    return claim(spec["name"], spec["type"], *_values(spec), ttl=spec["ttl"])


def _values(spec: dict[str, Any]) -> list[str]:
    match spec:
        case {"a": {"addresses": found}} | {"aaaa": {"addresses": found}} | {"ns": {"nameServers": found}}:
            return list(found)
        case {"txt": {"values": found}}:
            return list(found)
        case {"cname": {"target": target}}:
            return [target]
        case {"mx": {"records": found}}:
            return [f"{each['preference']} {each['exchange']}" for each in found]
        case {"caa": {"records": found}}:
            return [f"{each['flags']} {each['tag']} {each['value']}" for each in found]
    raise AssertionError(spec)
