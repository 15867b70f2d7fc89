"""The house rules that a program can check."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.rules.source import ROOT, sources

FORBIDDEN_MODULE_NAMES = {"utils", "util", "helpers", "helper", "base", "common", "misc"}
FUNCTION_LINES = 60
FILE_LINES = 400
BROAD_EXCEPT = re.compile(r"except (\(.*)?\bException\b")
EXPLAINED = re.compile(r"#\s*(noqa: BLE001 - )?\w+ \w+")


def tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]


def test_every_module_says_what_it_owns() -> None:
    assert [str(each.path) for each in sources() if not each.documented and each.text.strip()] == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [str(each.path) for each in sources() if each.path.stem in FORBIDDEN_MODULE_NAMES] == []


def test_files_and_functions_stay_readable() -> None:
    long = [f"{each.path}: {count} lines" for each in sources() if (count := each.text.count("\n")) > FILE_LINES]
    long += [
        f"{each.path}:{function.line} {function.name}: {function.length} lines"
        for each in sources()
        for function in each.functions
        if function.length > FUNCTION_LINES
    ]
    assert long == []


def test_broad_excepts_say_why_they_stand_where_they_stand() -> None:
    faults = [
        f"{each.path}:{number} {line.strip()}"
        for each in sources()
        for number, line in enumerate(each.text.splitlines(), 1)
        if BROAD_EXCEPT.search(line) and not EXPLAINED.search(line)
    ]
    assert faults == []


def test_nothing_is_left_for_later() -> None:
    words = re.compile(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError)\b|# type: ignore(?!\[)")
    faults = [
        f"{each.path}:{number} {line.strip()}"
        for each in sources()
        for number, line in enumerate(each.text.splitlines(), 1)
        if words.search(line)
    ]
    assert faults == []


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_the_sources_name_no_package_registry() -> None:
    hosts = re.compile(r"pypi\.org|files\.pythonhosted|crates\.io/|registry\.npmjs|proxy\.golang|deb\.debian\.org")
    own = Path(__file__).name
    faults = [
        str(path)
        for path in tracked()
        if path.suffix in {".py", ".rs", ".md", ".toml", ".yaml", ".txt", ""} and path.name != own
        if hosts.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert faults == []
