"""Whoever is called finds something to do about every reason."""

from __future__ import annotations

from controllers.api.endpoint import EndpointReason
from controllers.api.reason import Reason
from controllers.api.record_withdrawal_reason import WithdrawalReason
from controllers.providers.cloudflare.identity.resource import IdentityReason as CloudflareReason
from controllers.providers.route53.identity.resource import IdentityReason as Route53Reason
from tests.helm.runbook import standings, words

ENUMS = (Reason, WithdrawalReason, EndpointReason, CloudflareReason, Route53Reason)


def test_every_reason_has_words_and_no_words_are_for_a_reason_that_is_gone() -> None:
    assert set(words()) == set(standings())


def test_every_reason_of_the_code_stands_somewhere() -> None:
    assert {str(reason) for enum in ENUMS for reason in enum} - set(standings()) == set()


def test_every_reason_that_is_no_success_has_something_to_do() -> None:
    for reason, places in standings().items():
        succeeds = all(place.endswith("=True") for place in places)
        assert (words()[reason][1] == "Nothing.") == succeeds, reason
