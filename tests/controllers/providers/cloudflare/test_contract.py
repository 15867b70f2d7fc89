"""The Provider says what Cloudflare can hold: claims that it cannot hold are refused, all others pass."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.api.provider import parse_provider
from controllers.core.admission.provider import validate_provider
from controllers.core.admission.record_set import validate_record_set
from controllers.core.providercontract.contract import Contract, Contracts
from controllers.providers.cloudflare.binding import BINDING
from controllers.providers.cloudflare.contract import provider_manifest
from tests.controllers.providers.cloudflare.world import Object, a, cname, record_set, txt

IDS = ["0" * 32, "1" * 32]
MX = {"records": [{"preference": 0, "exchange": "."}]}


@pytest.fixture(scope="module")
def contract() -> Contract:
    found = Contracts().resolve(parse_provider(provider_manifest()), BINDING.provider)
    assert isinstance(found, Contract)
    return found


def auto(owner: str, **options: Any) -> Object:
    return a(owner, ttl=None, options={"ttl": "Auto", **options})


def test_the_provider_is_admitted() -> None:
    assert validate_provider(provider_manifest()) == []


@pytest.mark.parametrize(
    "claim",
    [
        a("www"),
        auto("www"),
        auto("www", proxied=True),
        a("www", options={"proxied": False}),
        cname("@", "example.net"),
        cname("www", "example.net", ttl=None, options={"ttl": "Auto", "proxied": True}),
        a("www", options={"comment": "x" * 100, "tags": ["a:", "b:c:d", "A_-9:Ä"]}),
        a("www", options={"tags": ["team:a", "team:b"]}),
        a("www", adoption={"recordIDs": IDS}),
        txt("www", "hello", ttl=60),
        txt("www", "hello", ttl=86400),
    ],
)
def test_what_cloudflare_holds_is_admitted(contract: Contract, claim: Object) -> None:
    assert validate_record_set(claim, None, contract, None) == []


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        (a("www", ttl=None), "spec.ttl"),
        (a("www", ttl=59), "60 to 86400"),
        (a("www", ttl=86401), "60 to 86400"),
        (a("www", options={"ttl": "Auto"}), "nothing beside options.ttl: Auto"),
        (a("www", ttl=None, options={"ttl": "Never"}), "spec.options.ttl"),
        (a("www", options={"proxied": True}), "with options.ttl: Auto only"),
        (txt("www", "x", ttl=None, options={"ttl": "Auto", "proxied": True}), "A, AAAA and CNAME only"),
        (record_set("MX", "@", MX), "null MX"),
        (a("www", options={"comment": "x" * 101}), "spec.options.comment"),
        (a("www", options={"comment": "two\nlines"}), "spec.options.comment"),
        (a("www", options={"tags": ["cf-a:b"]}), "cf-"),
        (a("www", options={"tags": ["nothing"]}), "spec.options.tags[0]"),
        (a("www", options={"tags": [f"{'x' * 33}:b"]}), "spec.options.tags[0]"),
        (a("www", options={"tags": ["a:b", "A:b"]}), "each tag once"),
        (a("www", options={"tags": [f"t{number}:x" for number in range(21)]}), "spec.options.tags"),
        (a("www", options={"colour": "red"}), "spec.options.colour"),
        (a("www", adoption={"recordIDs": ["Z" * 32]}), "spec.adoption.recordIDs[0]"),
        (a("www", adoption={"recordIDs": []}), "spec.adoption.recordIDs"),
    ],
)
def test_what_cloudflare_does_not_hold_is_refused(contract: Contract, claim: Object, told: str) -> None:
    faults = validate_record_set(claim, None, contract, None)
    assert any(told in str(fault) for fault in faults), faults
