"""`dns-api ownership` over master files and over a real server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ownership.backends.zone_file import open_zone_file
from ownership.entry import claim
from ownership.member import Member, MemberType
from ownership.naming import OwnerID
from ownership.publish import Publisher
from tests.cli.command import Cli
from tests.ownership import golden
from tests.ownership.primary import ZONE, running_primary
from tests.ownership.test_zone_file import TEXT, some
from tests.server.transfer.daemon import HOST, KEY_LINE
from zonemodel.name import Fqdn

PROD, TEST = OwnerID("prod"), OwnerID("test")
CLI = Cli({})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "zone"
    path.write_text(TEXT)
    return path


@pytest.fixture
async def published(path: Path) -> Path:
    backend = open_zone_file(path)
    await Publisher(backend, PROD).publish(some(PROD, 3))
    shared = claim(TEST, Fqdn("host-1.example.com"), Member(MemberType.A, "192.0.2.1"))
    await Publisher(backend, TEST).publish([shared, claim(TEST, Fqdn("t.example.com"), Member(MemberType.TXT, "a b"))])
    return path


def at(path: Path, *words: str) -> tuple[str, ...]:
    return ("ownership", words[0], "--zone-file", str(path), *words[1:])


def document(path: Path, *words: str, code: int = 0) -> Any:
    result = CLI.run(*at(path, *words), "-o", "json")
    assert result.code == code, result
    return json.loads(result.stdout)


def test_show_lists_owners_and_markers(published: Path) -> None:
    lines = CLI.ok(*at(published, "show")).splitlines()
    assert lines[0].split() == ["OWNER", "REVISION", "CLAIMS", "PAGES", "SUPERSEDED", "DIGEST"]
    assert [line.split()[:5] for line in lines[1:3]] == [["prod", "1", "3", "1", "0"], ["test", "1", "2", "1", "0"]]
    assert "unclear" in lines[3]
    assert "it tells no record" in lines[3]
    assert "marker    _dnsweaver.www.example.com" in lines[4]


def test_show_lists_claims_of_a_name_or_all(published: Path) -> None:
    named = CLI.ok(*at(published, "show", "Host-1.example.com."))
    assert "host-1.example.com   A      prod    192.0.2.1" in named
    assert "host-1.example.com   A      test    192.0.2.1" in named
    assert "host-2" not in named
    everything = CLI.ok(*at(published, "show", "--claims"))
    assert "host-2.example.com" in everything
    assert "t.example.com" in everything


def test_show_as_json_tells_everything(published: Path) -> None:
    found = document(published, "show")
    assert found["zone"] == "example.com"
    assert found["mayDelete"] is True
    assert [(each["owner"], each["revision"], each["claims"]) for each in found["owners"]] == [
        ("prod", 1, 3),
        ("test", 1, 2),
    ]
    assert found["claims"][-1] == {
        "name": "t.example.com",
        "type": "TXT",
        "owner": "test",
        "target": "a b",
        "metadata": {},
    }
    assert found["markers"][0]["unclear"] == "it tells no record"
    assert found["faults"] == []


def test_a_zone_without_owners_says_so(path: Path) -> None:
    assert "example.com: no owner has published" in CLI.ok(*at(path, "show"))


def test_verify_tells_what_is_shared_and_fails_on_what_is_unclear(published: Path) -> None:
    result = CLI.run(*at(published, "verify"))
    assert result.code == 1
    assert "ambiguous: UnclearMarker: owner prod: _dnsweaver.old.example.com: it tells no record" in result.stdout
    assert "note: NotMigrated: owner prod: _dnsweaver.www.example.com marks A in a record of its own" in result.stdout
    assert "note: Shared: owner prod: host-1.example.com A is claimed by test too" in result.stdout
    assert result.stdout.splitlines()[-1] == (
        "example.com: prod with 3 claims, test with 2 claims; 1 ambiguous, 2 notes"
    )


def test_verify_tells_of_a_claim_that_no_record_can_be_meant_by(tmp_path: Path) -> None:
    path = tmp_path / "zone"
    path.write_text(TEXT.split("_dnsweaver", 1)[0])
    odd = claim(TEST, Fqdn("www.example.com"), Member(MemberType.A, "192.000.002.001"))
    asyncio.run(Publisher(open_zone_file(path), TEST).publish([odd]))
    result = CLI.run(*at(path, "verify"))
    assert result.code == 1
    told = "UnclearClaim: owner test: www.example.com A is claimed to be '192.000.002.001', which no such record can be"
    assert result.stdout.splitlines()[0] == f"ambiguous: {told}"


def test_verify_is_content_with_a_tidy_zone(tmp_path: Path) -> None:
    path = tmp_path / "zone"
    path.write_text(TEXT.split("_dnsweaver", 1)[0])
    assert CLI.ok(*at(path, "verify")) == "example.com: no owner has published; 0 ambiguous, 0 notes\n"


def test_ambiguity_is_exit_code_1(path: Path) -> None:
    """Two histories of one owner."""
    rival = golden.manifest("prod", 2, golden.ONE, [], 0)
    names = [golden.ONE.decode(), rival.decode(), golden.manifest("prod", 2, golden.ONE, [golden.ONE_PAGE], 1).decode()]
    strings = (" ".join(f'"{text[i : i + 200]}"' for i in range(0, len(text), 200)) for text in names)
    path.write_text(TEXT + "".join(f"_dnsweaver-state TXT {each}\n" for each in strings))
    shown = CLI.run(*at(path, "show"))
    assert shown.code == 1
    assert "ambiguous: CompetingChildren: owner 'prod'" in shown.stdout
    found = document(path, "verify", code=1)
    assert found["ambiguous"] is True
    assert found["findings"][0]["reason"] == "CompetingChildren"
    before = path.read_text()
    for command in ("migrate", "restore"):
        for dry in ([], ["--dry-run"]):
            assert "CompetingChildren" in CLI.fails(*at(path, command, "--owner", "prod", *dry))
    assert path.read_text() == before


def test_a_rehearsed_migration_writes_nothing_and_says_the_same(published: Path) -> None:
    before = published.read_text()
    rehearsed = CLI.run(*at(published, "migrate", "--owner", "prod", "--dry-run"))
    assert rehearsed.code == 1, "an unclear marker stays"
    assert "would move 1 marker into the snapshot, 1 unclear stay" in rehearsed.stdout
    assert published.read_text() == before
    done = document(published, "migrate", "--owner", "prod", code=1)
    assert (done["dryRun"], done["deleted"], done["left"]) == (False, 1, None)
    assert done["moved"][0]["claim"]["name"] == "www.example.com"
    assert "_dnsweaver.www" not in published.read_text()
    assert len([each for each in document(published, "show")["claims"] if each["owner"] == "prod"]) == 4


def test_migrating_some_names_only(published: Path) -> None:
    result = CLI.run(*at(published, "migrate", "--owner", "prod", "--name", "www.example.com"))
    assert (result.code, result.stdout.splitlines()[-1]) == (0, "moved 1 marker into the snapshot, 0 unclear stay")


@pytest.mark.parametrize(
    "words", [("show", "www"), ("migrate", "--owner", "prod", "--name", "www.example.net", "--dry-run")]
)
def test_names_of_elsewhere_are_refused(published: Path, words: tuple[str, ...]) -> None:
    refused = CLI.run(*at(published, *words))
    assert refused.code == 1
    assert "allowed are full names in example.com, such as www.example.com" in refused.stderr


def test_what_others_claim_moves_no_cursor(published: Path) -> None:
    hostile = claim(TEST, Fqdn("h.example.com"), Member(MemberType.TXT, "\x1b[2J\nprod 1"))
    asyncio.run(Publisher(open_zone_file(published), TEST).claim([hostile]))
    shown = CLI.ok(*at(published, "show", "--claims"))
    assert "\x1b" not in shown
    assert "\\x1b[2J\\nprod 1" in shown


def test_restoring_is_rehearsed_and_done(published: Path) -> None:
    before = published.read_text()
    assert "would restore 3 markers" in CLI.ok(*at(published, "restore", "--owner", "prod", "--dry-run"))
    assert published.read_text() == before
    assert len(document(published, "restore", "--owner", "prod")["restored"]) == 3
    assert [each["owner"] for each in document(published, "show")["owners"]] == ["test"]
    assert published.read_text().count("_dnsweaver.host-") == 3


def test_an_owner_is_ended_after_a_rehearsal(published: Path) -> None:
    before = published.read_text()
    rehearsed = CLI.run(*at(published, "release", "--owner", "prod", "--dry-run"))
    assert rehearsed.code == 1, "an unclear marker stays"
    last = "would end 3 claims and 1 marker, 1 unclear stay; no record is deleted"
    assert rehearsed.stdout.splitlines()[-1] == last
    assert "host-2.example.com" in rehearsed.stdout
    assert published.read_text() == before
    done = document(published, "release", "--owner", "prod", code=1)
    assert (len(done["claims"]), done["deleted"], done["to"], done["left"]) == (3, 1, None, None)
    shown = document(published, "show")
    assert [(each["owner"], each["claims"]) for each in shown["owners"]] == [("prod", 0), ("test", 2)]
    assert "nothing of the owner 'prdo', but of 'prod', 'test'" in CLI.fails(
        *at(published, "release", "--owner", "prdo")
    )


def test_an_owner_hands_its_claims_over(published: Path) -> None:
    told = CLI.ok(*at(published, "release", "--owner", "test", "--to", "prod")).splitlines()[-1]
    assert told == "handed over 2 claims and 0 markers to prod, 0 unclear stay; no record is deleted"
    shown = document(published, "show")
    assert [(each["owner"], each["claims"]) for each in shown["owners"]] == [("prod", 4), ("test", 0)]


def test_wrong_command_lines_are_told(path: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(KEY_LINE + KEY_LINE.replace("transfer.test", "other.test"))
    cases = {
        ("show",): "where the zone is",
        ("show", "--zone-file", str(path), "--server", "127.0.0.1"): "where the zone is",
        ("show", "--server", "127.0.0.1"): "which zone",
        ("show", "--server", "127.0.0.1:0", "--zone", "example.com"): "found the server",
        ("show", "--server", "127.0.0.1", "--zone", "Example.com"): "must be lowercase",
        ("show", "--server", "127.0.0.1", "--zone", "example.com", "--tsig-keys", str(keys)): "found 2 keys",
        ("show", "--server", "127.0.0.1", "--zone", "example.com", "--tsig-keys", str(path)): "zone",
        ("migrate", "--zone-file", str(path)): "--owner",
        ("release", "--zone-file", str(path), "--owner", "a", "--to", "a"): "allowed is another one",
    }
    for words, message in cases.items():
        told = CLI.fails("ownership", *words, code=2)
        assert message in " ".join(told.replace("│", " ").split()), told


def test_what_cannot_be_read_is_exit_code_1(tmp_path: Path) -> None:
    assert "error: " in CLI.fails(*at(tmp_path / "absent", "show"))


def test_an_owner_that_no_marker_can_carry_is_refused(path: Path) -> None:
    assert "allowed is printable text without commas" in CLI.fails(*at(path, "restore", "--owner", "a,b"))


async def test_a_server_is_asked_and_updated(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(KEY_LINE)
    zone = TEXT.replace("4294967295", "1")
    async with running_primary("bind", tmp_path / "bind", zone) as primary:
        where = ("--zone", str(ZONE), "--server", f"{HOST}:{primary.port}", "--tsig-keys", str(keys))
        done = await asyncio.to_thread(CLI.run, "ownership", "migrate", *where, "--owner", "prod")
        assert done.code == 1, done
        assert "moved 1 marker into the snapshot, 1 unclear stay" in done.stdout
        shown = await asyncio.to_thread(CLI.run, "ownership", "show", *where, "www.example.com", "-o", "json")
        assert [each["target"] for each in json.loads(shown.stdout)["claims"]] == ["192.0.2.1"]
        assert (await asyncio.to_thread(CLI.run, "ownership", "verify", *where)).code == 0
        assert (await asyncio.to_thread(CLI.run, "ownership", "verify", *where, "--markers")).code == 1
        assert (await asyncio.to_thread(CLI.run, "ownership", "restore", *where, "--owner", "prod")).code == 0
        assert await primary.ask(golden.WWW[0]) == [golden.WWW[1].encode()]
        assert await primary.ask(golden.SHARED_STATE) == []
