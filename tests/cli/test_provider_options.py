"""Options that choose and bind providers: the same ones for each, from the command line or the environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from cli.run import provider_options
from cli.run.provider_options import Providers, with_manager_options, with_up_options
from controllers.ledger.binding import Binding
from controllers.ledger.registration import (
    AttachedProvider,
    Choice,
    EnabledProvider,
    Registration,
    Setting,
    SettingError,
)
from controllers.ledger.surroundings import Surroundings

chosen: list[tuple[str, Choice]] = []


def registration(name: str, **changes: Any) -> Registration:
    def configure(choice: Choice) -> EnabledProvider:
        chosen.append((name, choice))
        if choice.settings["speed"] == 0:
            raise SettingError("speed", "found 0, allowed is 1 or more")
        return EnabledProvider(_attach)

    settings = (Setting("speed", 7, "How fast."), Setting("place", "here", "Where.", fixed_in_up=True))
    plain = Registration(name, name.title(), Binding.of(f"{name}.example"), dict, configure, settings=settings)
    return replace(plain, **changes)


def _attach(surroundings: Surroundings) -> AttachedProvider:
    raise AssertionError("nobody runs them here")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen.clear()
    there = (registration("hosted", enabled=False), registration("cloud"))
    monkeypatch.setattr(provider_options, "REGISTRATIONS", there)


def run(*words: str, up: bool = False, environment: dict[str, str] | None = None) -> tuple[int, str]:
    def command(providers: Providers, name: str = "x") -> None:
        """Run."""
        typer.echo(f"{name}: {len(providers('system'))} providers")

    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()((with_up_options if up else with_manager_options)(command))
    result = CliRunner().invoke(app, list(words), env=environment)
    return result.exit_code, result.output


def names() -> list[str]:
    return [name for name, _ in chosen]


def test_providers_run_as_their_registrations_say() -> None:
    assert run("--name", "y") == (0, "y: 1 providers\n")
    (name, choice), *more = chosen
    assert (name, more) == ("cloud", [])
    assert choice == Choice("system", Binding.of("cloud.example"), {"speed": 7, "place": "here"})


def test_switch_by_option_wins_over_the_environment() -> None:
    environment = {"HOSTED_CONTROLLER_ENABLED": "true", "CLOUD_CONTROLLER_ENABLED": "true"}
    run("--no-cloud-controller-enabled", environment=environment)
    assert names() == ["hosted"]


@pytest.mark.parametrize("by_environment", [True, False])
def test_binding_and_settings_are_given(by_environment: bool) -> None:
    given = {
        "cloud_controller_name": "a.example/c",
        "cloud_provider_name": "b.example",
        "cloud_provider_version": "v2",
        "cloud_speed": "9",
    }
    if by_environment:
        run(environment={name.upper(): value for name, value in given.items()})
    else:
        run(*(word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", value)))
    ((_, choice),) = chosen
    assert choice.binding == Binding("a.example/c", "b.example", "v2")
    assert choice.settings["speed"] == 9


def test_wrong_setting_is_told_by_its_option() -> None:
    code, told = run("--cloud-speed", "0")
    assert code == 2
    assert "Invalid value for --cloud-speed: found 0, allowed is 1 or more" in told


def test_missing_library_is_one_line_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    there = (registration("cloud", libraries=("no_such_library_anywhere",)),)
    monkeypatch.setattr(provider_options, "REGISTRATIONS", there)
    code, told = run()
    assert (code, told.count("\n")) == (1, 1)
    assert told.startswith("error: the Cloud provider needs no_such_library_anywhere, which is not installed: ")
    assert "pip install 'dns-api[cloud]'" in told
    assert run("--no-cloud-controller-enabled")[0] == 0, "a provider that is off needs nothing"


def test_up_runs_the_hosted_provider_and_others_by_a_switch() -> None:
    assert run(up=True)[0] == 0
    assert names() == ["hosted"]
    chosen.clear()
    assert run("--cloud", "--no-hosted", "--cloud-speed", "3", up=True)[0] == 0
    ((name, choice),) = chosen
    assert (name, choice.settings) == ("cloud", {"speed": 3, "place": "here"})


def test_up_does_not_offer_what_it_decides_itself() -> None:
    code, told = run("--cloud-place", "there", up=True)
    assert code == 2
    assert "No such option: --cloud-place" in told
