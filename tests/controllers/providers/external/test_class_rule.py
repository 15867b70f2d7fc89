"""Parameters of external classes: what they mean, and every fault at once."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.api.provider import parse_provider
from controllers.api.verdict import Verdict
from controllers.api.zone_class import ZoneClass, parse_zone_class
from controllers.core.providercontract.contract import Contracts
from controllers.core.providercontract.field import Field
from controllers.core.providercontract.target import Target
from controllers.probe.address import Address, ServerName
from controllers.providers.external.binding import BINDING
from controllers.providers.external.class_rule import judge_parameters
from controllers.providers.external.contract import provider_manifest
from controllers.providers.external.parameters import DeletionPolicy, Settings, parse_duration
from zonemodel.name import Fqdn

PROVIDER = {"name": BINDING.provider_name, "version": BINDING.provider_version}
CONTRACT = Contracts().resolve(parse_provider(provider_manifest()), BINDING.provider)


def zone_class(parameters: dict[str, Any] | None, **spec: Any) -> ZoneClass:
    body = {"provider": PROVIDER, "controllerName": BINDING.controller_name, "parameters": parameters, **spec}
    return parse_zone_class({"metadata": {"namespace": "team", "name": "c"}, "spec": body})


@pytest.mark.parametrize("parameters", [None, {}])
def test_without_parameters_everything_is_discovered(parameters: dict[str, Any] | None) -> None:
    assert judge_parameters(zone_class(parameters)) == Settings()


def test_parameters_are_read() -> None:
    found = judge_parameters(
        zone_class(
            {
                "nameServers": ["192.0.2.1:5300", "ns1.example.com"],
                "resolvers": ["2001:db8::1"],
                "probeInterval": "1h1m1s",
                "probeTimeout": "2s",
                "requireAllServers": False,
                "deletionPolicy": "Forget",
            }
        )
    )
    assert found == Settings(
        (Address("192.0.2.1", 5300), ServerName(Fqdn("ns1.example.com"))),
        (Address("2001:db8::1"),),
        3661,
        2,
        False,
        DeletionPolicy.FORGET,
    )


def test_every_fault_is_told_with_its_field() -> None:
    found = judge_parameters(
        zone_class(
            {
                "nameServers": ["192.0.2.1", "192.0.2.1:53", "a b"],
                "resolvers": ["dns.example"],
                "probeInterval": "9s",
                "probeTimeout": "31s",
            }
        )
    )
    assert isinstance(found, Verdict)
    assert (found.status, found.reason) == ("False", "InvalidParameters")
    for part in (
        'spec.parameters.nameServers[1]: found "192.0.2.1:53"',
        'spec.parameters.nameServers[2]: found "a b"',
        'spec.parameters.resolvers[0]: found "dns.example", allowed: the address of a resolver',
        'spec.parameters.probeInterval: found "9s", allowed: a duration of 10 s to 86400 s',
        'spec.parameters.probeTimeout: found "31s"',
    ):
        assert part in found.message


@pytest.mark.parametrize("parameters", [{"nameServer": []}, {"probeInterval": 60}, {"deletionPolicy": "Delete"}])
def test_a_shape_that_means_nothing_is_refused_here_and_at_admission(parameters: dict[str, Any]) -> None:
    found = judge_parameters(zone_class(parameters))
    assert isinstance(found, Verdict)
    assert found.reason == "InvalidParameters"
    spec = Field("spec", {"parameters": parameters})
    assert list(CONTRACT.judge_payload(Target.ZONE_CLASS, "parameters", spec))  # type: ignore[union-attr] # it compiles


def test_a_class_with_an_identity_is_refused() -> None:
    found = judge_parameters(zone_class({}, identityRef={"name": "me"}))
    assert isinstance(found, Verdict)
    assert found.reason == "InvalidIdentityRef"


@pytest.mark.parametrize(("text", "seconds"), [("60s", 60), ("5m", 300), ("1h", 3600), ("1h30m", 5400), ("0s", 0)])
def test_durations(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "60", "s", "1.5s", "-1s", "30s1m", "1d", " 1s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="a duration"):
        parse_duration(text)
