"""What a waiver is told: by the claim that there is, also when there is none any more."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.core.withdrawal.reconciler import judged_status
from tests.controllers.core import build
from tests.controllers.core.withdrawal.build import waiver, withdrawal


def test_a_waiver_that_names_its_claim_exactly_is_accepted() -> None:
    claim = withdrawal()
    (accepted,) = judged_status(waiver(claim), claim, build.NOW).conditions
    assert (accepted.status, accepted.reason, accepted.message) == ("True", "Accepted", "")


@pytest.mark.parametrize(
    ("difference", "field"),
    [
        ({"claimRef": {"name": "old-ip", "uid": "another"}}, "spec.claimRef.uid"),
        ({"specDigest": "sha256:" + "0" * 64}, "spec.specDigest"),
        ({"address": "192.0.2.2"}, "spec.address"),
    ],
)
def test_a_waiver_is_told_what_differs(difference: dict[str, Any], field: str) -> None:
    claim = withdrawal()
    (accepted,) = judged_status(waiver(claim, **difference), claim, build.NOW).conditions
    assert (accepted.status, accepted.reason) == ("False", "InvalidWaiver")
    assert accepted.message.startswith(field)


def test_a_waiver_whose_claim_has_gone_is_told_so() -> None:
    claim = withdrawal()
    (accepted,) = judged_status(waiver(claim), None, build.NOW).conditions
    assert (accepted.status, accepted.reason) == ("False", "InvalidWaiver")
    assert accepted.message == "RecordWithdrawal team/old-ip does not exist."
