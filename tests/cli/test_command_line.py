"""The words of the command line: what options want, and what is said of a wrong value."""

from __future__ import annotations

import pytest
import typer
from typer.main import get_command

from cli.main import COMMANDS, build, main


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_told_in_python(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for below in ("", *_commands_below(name)):
        with pytest.raises(SystemExit):
            main([name, *below.split(), "--help"])
        shown = capsys.readouterr().out
        assert "Usage: " in shown
        for word in ("<str", "<list", "<int", "<float", "<path"):
            assert word not in shown


def _commands_below(name: str) -> list[str]:
    group = get_command(build(name))
    command = group.get_command(typer.Context(group), name)  # type: ignore[attr-defined]  # no public name has the type of a group
    return [*getattr(command, "commands", ())]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("dns-api wa", ["wait"]),
        ("dns-api get --all", ["--all-namespaces"]),
        ("dns-api describe record", ["recordsets", "recordwithdrawals", "recordwithdrawalwaivers"]),
        ("dns-api get zones -o ", ["table", "wide", "yaml", "json", "name"]),
        ("dns-api zone ex", ["export"]),
    ],
)
def test_a_shell_is_told_what_may_come_next(
    line: str, offered: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_DNS_API_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == offered


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["get", "zones", "-o", "xml"], "'xml' is not one of 'table', 'wide', 'yaml', 'json', 'name'."),
        (["query", "--timeout", "soon"], "found 'soon', allowed is a number"),
        (["query", "--tries", "0"], "found '0', allowed is 1 or more"),
        (["server", "--udp-sockets", "many"], "found 'many', allowed is a whole number"),
        (
            ["wait", "zones", "--timeout", "-1s"],
            "Invalid value for --timeout: found '-1s', allowed is a length of time",
        ),
    ],
)
def test_a_wrong_value_is_told_with_what_is_allowed(
    words: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert fault in told
    assert "Value error" not in told
