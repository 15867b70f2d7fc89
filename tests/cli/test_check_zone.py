"""`dns-api check-zone`: what it prints and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import build

GOOD = """\
$ORIGIN shop.test.
$TTL 300
@ IN SOA ns1 admin 7 7200 900 1209600 60
@ IN NS ns1
@ IN NS ns2.elsewhere.example.
ns1 IN A 192.0.2.1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.zone"
    path.write_text(GOOD)
    return path


def check(*words: str) -> tuple[int, list[str]]:
    result = CliRunner().invoke(build("check-zone"), ["check-zone", *words])
    return result.exit_code, result.stdout.splitlines()


def test_a_good_file_is_summed_up(file: Path) -> None:
    assert check(str(file)) == (0, ["shop.test. serial 7, 3 record sets: 0 errors, 0 warnings"])
    assert check(str(file), "--quiet") == (0, [])


def test_warnings_pass_unless_they_must_not(file: Path) -> None:
    file.write_text(GOOD + "www IN CNAME gone\n")
    warning = f"{file}:7: warning: www.shop.test. is an alias of gone.shop.test., which does not exist"
    summary = "shop.test. serial 7, 4 record sets: 0 errors, 1 warning"
    assert check(str(file)) == (0, [warning, summary])
    assert check(str(file), "--strict", "-q") == (1, [warning])


def test_errors_fail(file: Path) -> None:
    file.write_text(GOOD + "child IN NS ns.child\n")
    code, lines = check(str(file))
    assert code == 1
    assert lines[0].startswith(f"{file}:7: error: child.shop.test. is delegated to ns.child.shop.test.")
    assert lines[-1].endswith("1 error, 0 warnings")


def test_a_file_that_is_no_zone_fails(tmp_path: Path) -> None:
    code, lines = check(str(tmp_path / "absent"))
    assert (code, lines[-1]) == (1, f"{tmp_path}/absent: 1 error, 0 warnings")


def test_the_origin_is_taken(file: Path) -> None:
    file.write_text(GOOD.replace("$ORIGIN shop.test.\n", ""))
    assert check(str(file), "--origin", "shop.test", "-q") == (0, [])


def test_a_wrong_command_line_is_told_apart() -> None:
    assert check()[0] == 2
