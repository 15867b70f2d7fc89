"""Switches of the manager take values as flags of Kubernetes' own programs do."""

from __future__ import annotations

import pytest
import typer.main
from typer.core import TyperCommand, TyperOption
from typer.testing import CliRunner

from cli.main import build


def manager() -> TyperCommand:
    command = typer.main.get_command(build("manager"))
    found = command.commands["manager"]  # type: ignore[attr-defined] # the group of typer that has commands is not public
    assert isinstance(found, TyperCommand)
    return found


SWITCHES = [
    each for each in manager().params if isinstance(each, TyperOption) and each.is_bool_flag and each.secondary_opts
]


def given(*words: str) -> dict[str, object]:
    """Return what the manager is told by a command line."""
    return manager().make_context("manager", list(words)).params


def test_every_provider_and_source_has_a_switch() -> None:
    assert {each.opts[0] for each in SWITCHES} >= {
        "--route53-controller-enabled",
        "--cloudflare-controller-enabled",
        "--route53-endpoint-conversion-enabled",
        "--external-controller-enabled",
        "--hosted-controller-enabled",
        "--service-source-enabled",
        "--gateway-source-enabled",
    }


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda each: each.opts[0])
@pytest.mark.parametrize(("value", "meant"), [("true", True), ("false", False), ("1", True), ("F", False)])
def test_a_value_is_what_a_switch_means(switch: TyperOption, value: str, meant: bool) -> None:
    assert given(f"{switch.opts[0]}={value}")[switch.name] is meant


def test_the_last_word_counts_and_both_spellings_are_the_same() -> None:
    words = ["--hosted-controller-enabled=true", "--no-hosted-controller-enabled", "--external-controller-enabled"]
    told = given(*words)
    assert (told["hosted_controller_enabled"], told["external_controller_enabled"]) == (False, True)


def test_an_explicit_value_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUTE53_CONTROLLER_ENABLED", "true")
    assert given()["route53_controller_enabled"] is True
    assert given("--route53-controller-enabled=false")["route53_controller_enabled"] is False
    monkeypatch.setenv("ROUTE53_CONTROLLER_ENABLED", "false")
    assert given()["route53_controller_enabled"] is False


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("--hosted-controller-enabled=maybe", "--hosted-controller-enabled: found 'maybe', allowed are true and false"),
        ("--hosted-controller-enabled=", "--hosted-controller-enabled: found '', allowed are true and false"),
        ("--no-hosted-controller-enabled=true", "--no-hosted-controller-enabled"),
    ],
)
def test_any_other_value_is_refused(word: str, told: str) -> None:
    result = CliRunner().invoke(build("manager"), ["manager", word])
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())
