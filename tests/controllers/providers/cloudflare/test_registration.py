"""The provider costs nothing where it is not enabled: neither its SDK nor a look at Secrets."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from controllers.api.group import PROVIDERS, ZONE_CLASSES, ZONE_UNITS
from controllers.api.provider import parse_provider
from controllers.api.zone_class import parse_zone_class
from controllers.api.zone_unit import parse_zone_unit
from controllers.ledger.registration import Choice
from controllers.ledger.surroundings import LedgerInformers, Surroundings
from controllers.providers.cloudflare.binding import BINDING
from controllers.providers.cloudflare.registration import CLOUDFLARE
from controllers.registry import REGISTRATIONS
from controllers.runtime.recorder import EventRecorder
from kube.access import Access
from kube.client import Client
from kube.informer import Informer
from kube.resource import ResourceRef


def surroundings() -> Surroundings:
    client = Client(Access("http://127.0.0.1:9"), field_manager="test")
    informers = LedgerInformers(
        Informer(client, PROVIDERS, parse_provider),
        Informer(client, ZONE_CLASSES, parse_zone_class),
        Informer(client, ZONE_UNITS, parse_zone_unit),
    )
    informers.register_indexes()
    return Surroundings(client, informers, EventRecorder(client, "test"))


def test_secrets_are_watched_by_this_provider_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[str] = []
    make = Informer.__init__

    def noted(self: Informer[Any], client: Client, ref: ResourceRef, *arguments: Any, **more: Any) -> None:
        followed.append(ref.kind)
        make(self, client, ref, *arguments, **more)

    monkeypatch.setattr(Informer, "__init__", noted)
    for each in REGISTRATIONS:
        given = surroundings()
        followed.clear()
        each.enable(Choice("system", each.binding)).attach(given)
        assert ("Secret" in followed) is (each is CLOUDFLARE), each.name


def test_knowing_the_provider_needs_no_sdk() -> None:
    program = "import sys, controllers.registry; sys.exit('cloudflare' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_manager_runs_it_unless_told_otherwise() -> None:
    assert (CLOUDFLARE.enabled, CLOUDFLARE.binding) == (True, BINDING)
    assert BINDING.controller_name == "cloudflare.dns.appthrust.io/controller"
