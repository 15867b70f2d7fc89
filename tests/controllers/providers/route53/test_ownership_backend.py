"""A hosted zone keeps ownership as every backend does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from controllers.providers.route53.client import Account
from controllers.providers.route53.identity.resource import IdentitySpec
from controllers.providers.route53.ownership.backend import HostedZoneOwnership
from controllers.providers.route53.session import Chain, Sessions
from controllers.providers.route53.throttle import Throttle
from kube.object import ObjectKey
from ownership.backends.protocol import Backend
from ownership.error import BackendError, ConflictError, OutcomeUnknownError, RefusedError, UnavailableError
from tests.controllers.providers.route53.fake.fault import Fault, Trouble
from tests.controllers.providers.route53.fake.server import FakeAws
from tests.controllers.providers.route53.world import ACCOUNT, DOMAIN, KEY_ID, SECRET, wire
from tests.ownership.contract import BackendContract
from zonemodel.name import Fqdn

NAME = Fqdn(f"_own.{DOMAIN}")
CHANGE, LIST = "ChangeResourceRecordSets", "ListResourceRecordSets"


@pytest.fixture
def backend(aws: FakeAws) -> Iterator[Backend]:
    aws.identities.add_user(KEY_ID, SECRET, ACCOUNT)
    aws.route53.create_hosted_zone(ACCOUNT, {"Name": DOMAIN, "CallerReference": "r"})
    (zone,) = aws.route53.zones.values()
    chain = Chain(
        ObjectKey("team", "identity"), IdentitySpec.model_validate({"accountID": ACCOUNT, "region": "eu-central-1"})
    )
    with ThreadPoolExecutor(2) as threads:
        sessions = Sessions(aws.url, lambda: datetime.now(UTC))
        account = Account(chain, sessions, Throttle(10_000.0, time.monotonic), threads)
        yield HostedZoneOwnership(account, zone.id, Fqdn(DOMAIN))


class TestHostedZone(BackendContract):
    """The contract, on the fake."""


async def test_values_of_others_stay_spelled_as_they_are(aws: FakeAws, backend: Backend) -> None:
    (zone,) = aws.route53.zones.values()
    theirs = '"in" "\\040parts"'
    zone.apply([("CREATE", wire(f"{NAME}.", "TXT", theirs, ttl=77))])
    await backend.add_txt(NAME, b"ours\x00", (b"in parts",))
    (held,) = [each.shown() for each in zone.records.values() if each.type == "TXT"]
    assert [each["Value"] for each in held["ResourceRecords"]] == [theirs, '"ours\\000"']
    assert held["TTL"] == "77"
    await backend.delete_txt(NAME, b"ours\x00")
    assert list(await backend.read_txt(NAME)) == [b"in parts"]


async def test_a_value_that_came_between_reading_and_writing_is_a_conflict(aws: FakeAws, backend: Backend) -> None:
    (zone,) = aws.route53.zones.values()
    await backend.add_txt(NAME, b"one", ())
    with pytest.raises(ConflictError):
        await backend.add_txt(NAME, b"two", ())
    apply = zone.apply

    def somebody_is_faster(changes: list[tuple[str, dict[str, object]]]) -> None:
        zone.apply = apply  # type: ignore[method-assign]  # once only
        zone.apply([("UPSERT", wire(f"{NAME}.", "TXT", '"one"', '"theirs"'))])
        zone.apply(changes)

    zone.apply = somebody_is_faster  # type: ignore[method-assign]  # the moment cannot be met from outside
    with pytest.raises(ConflictError):
        await backend.add_txt(NAME, b"two", (b"one",))
    assert sorted(await backend.read_txt(NAME)) == [b"one", b"theirs"]


@pytest.mark.parametrize(
    ("trouble", "operation", "expected"),
    [
        (Trouble.CUT_AFTER, CHANGE, OutcomeUnknownError),
        (Trouble.CUT_BEFORE, CHANGE, OutcomeUnknownError),
        (Trouble.THROTTLING, CHANGE, UnavailableError),
        (Trouble.PRIOR_REQUEST, CHANGE, UnavailableError),
        (Trouble.DENIED, CHANGE, RefusedError),
        (Trouble.CUT_BEFORE, LIST, UnavailableError),
        (Trouble.UNAVAILABLE, LIST, UnavailableError),
        (Trouble.DENIED, LIST, RefusedError),
    ],
)
async def test_troubles_are_told_apart(
    aws: FakeAws, backend: Backend, trouble: Trouble, operation: str, expected: type[BackendError]
) -> None:
    aws.faults.plan(Fault(trouble, operation))
    with pytest.raises(expected):
        await backend.add_txt(NAME, b"one", ())


async def test_a_list_whose_second_page_fails_is_none(aws: FakeAws, backend: Backend) -> None:
    aws.route53.page_limit = 1
    aws.faults.plan(Fault(Trouble.HALF_ANSWER, LIST, skip=1))
    with pytest.raises(UnavailableError):
        await backend.list_states(())
