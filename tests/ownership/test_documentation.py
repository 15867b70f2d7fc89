"""The page about ownership tells what is true: its commands print what it shows, and its example is what it says it is."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from ownership.codec.envelope import Digest
from ownership.codec.manifest import decode_manifest
from ownership.codec.page import decode_page
from ownership.codec.snapshot import assemble
from ownership.error import FormatError
from tests.cli.command import Cli
from tests.ownership import golden

PAGE = (Path(__file__).parents[2] / "docs" / "ownership.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def values() -> dict[str, bytes]:
    """The TXT values of the example by the first label of their names."""
    found = re.findall(r'^(_[a-z-]+)\.\S+ 300 IN TXT "(dnsweaver-\S+)"$', PAGE, re.MULTILINE)
    return {label: text.encode() for label, text in found}


def test_the_commands_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (zone,) = blocks("zone")
    Path("example.com.zone").write_text(zone)
    steps = [step for block in blocks("console") for step in re.split(r"^\$ dns-api ", block, flags=re.MULTILINE)[1:]]
    assert len(steps) == 6
    for step in steps:
        command, _, shown = step.partition("\n")
        assert Cli({}).ok(*shlex.split(command)) == shown
        if "migrate" in command and "--dry-run" not in command:
            text = Path("example.com.zone").read_text()
            assert all(value.decode() in text for value in values().values())


def test_the_example_is_decoded() -> None:
    found = values()
    sealed = decode_manifest(found["_dnsweaver-state"])
    page = decode_page(found["_dw-p"])
    (entry,) = assemble(sealed, {page.digest: page.value}).entries
    assert (entry.name, entry.value) == golden.WWW


def test_the_example_is_decoded_without_the_codec() -> None:
    """By what the page itself says about the bytes."""
    import base64
    import hashlib
    import zlib

    manifest_json, page_json = (json.loads(block) for block in blocks("json"))
    found = values()
    state, page = found["_dnsweaver-state"].decode(), found["_dw-p"].decode()

    def octets(text: str) -> bytes:
        text = text.partition("=v1:")[2]
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

    assert json.loads(octets(state)) == manifest_json
    member = octets(page)
    assert json.loads(zlib.decompress(member, 31)) == page_json
    assert manifest_json["pages"] == [hashlib.sha256(page.encode()).hexdigest()]
    assert f"is {len(member)} octets of gzip" in PAGE
    assert f"\n{member[:10].hex(' ')}   deflate" in PAGE
    assert f"\n{member[-8:].hex(' ')} " in PAGE
    owner = hashlib.sha256(b"prod").hexdigest()[:16]
    assert f"\n_dnsweaver-state.{owner} 300" in PAGE
    assert f"\n_dw-p.{owner}.{manifest_json['pages'][0][:32]} 300" in PAGE


def test_every_octet_of_the_example_counts() -> None:
    found = values()
    sealed, page = decode_manifest(found["_dnsweaver-state"]), found["_dw-p"]
    digest = Digest(golden.sha(page))
    for at in range(len(page)):
        with pytest.raises(FormatError):
            assemble(sealed, {digest: page[:at] + bytes([page[at] ^ 3]) + page[at + 1 :]})
