"""Long work shows how far it is: a bar on a terminal, a line now and then in a log, nothing for short work."""

from __future__ import annotations

import io
import sys

import pytest

from cli.ownership import progress as ownership_progress
from cli.ownership.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_short_work_says_nothing_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as told:
        told("markers written", 1, 2)
        told("markers written", 2, 2)
    assert capsys.readouterr() == ("", "")


def test_long_work_says_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ownership_progress, "_LINE_PERIOD_S", 0.0)
    with progress() as told:
        told("markers written", 1_000, 16_384)
    assert capsys.readouterr() == ("", "markers written: 1,000 of 16,384\n")


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress() as told:
        for done in range(1, 4):
            told("markers written", done, 3)
    assert "markers written" in terminal.getvalue()
    assert "3/3" in terminal.getvalue()
