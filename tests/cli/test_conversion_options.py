"""The switches of conversion APIs: on while the provider runs, off when told so, from the command line or the environment."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from cli.run.provider_options import Providers, with_manager_options, with_up_options


def served(*words: str, up: bool = False, environment: dict[str, str] | None = None) -> set[str]:
    """Return the groups of the conversion APIs that a command would serve."""

    def command(providers: Providers) -> None:
        """Run."""
        for each in providers("system"):
            if each.endpoint is not None:
                typer.echo(each.endpoint.resource.group)

    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()((with_up_options if up else with_manager_options)(command))
    result = CliRunner().invoke(app, list(words), env=environment)
    assert result.exit_code == 0, result.output
    return {line.removeprefix("endpoint.").removesuffix(".dns.appthrust.io") for line in result.output.split()}


def test_conversions_follow_their_providers() -> None:
    assert served() == {"route53", "cloudflare"}
    assert served("--hosted-controller-enabled", "--external-controller-enabled") == {
        "hosted",
        "route53",
        "cloudflare",
        "external",
    }


@pytest.mark.parametrize(
    ("words", "environment", "found"),
    [
        (["--no-route53-endpoint-conversion-enabled"], {}, {"cloudflare"}),
        ([], {"ROUTE53_ENDPOINT_CONVERSION_ENABLED": "false"}, {"cloudflare"}),
        (
            ["--route53-endpoint-conversion-enabled"],
            {"ROUTE53_ENDPOINT_CONVERSION_ENABLED": "false"},
            {"route53", "cloudflare"},
        ),
        (["--no-route53-controller-enabled", "--route53-endpoint-conversion-enabled"], {}, {"cloudflare"}),
    ],
)
def test_both_switches_have_to_be_on(words: list[str], environment: dict[str, str], found: set[str]) -> None:
    assert served(*words, environment=environment) == found


def test_up_serves_the_conversion_of_hosted_zones() -> None:
    assert served(up=True) == {"hosted"}
    assert served("--no-hosted-endpoint-conversion-enabled", up=True) == set()
