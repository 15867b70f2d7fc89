"""Answers and failures of the API as the provider understands them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from controllers.providers.cloudflare.batch import Change
from controllers.providers.cloudflare.binding import ApiAddress
from controllers.providers.cloudflare.client import CloudflareClient
from controllers.providers.cloudflare.failure import (
    AccessDeniedError,
    AlreadyExistsError,
    ApiFault,
    BadAnswerError,
    CloudflareError,
    NotFoundError,
    RejectedError,
    ThrottledError,
    TokenRefusedError,
    UnavailableError,
    classify,
    plain,
)
from controllers.providers.cloudflare.name import read_name, spellings
from controllers.providers.cloudflare.pace import Pace, PacePolicy
from tests.controllers.providers.cloudflare.fake.failure import Kind
from tests.controllers.providers.cloudflare.fake.server import FakeCloudflare
from tests.controllers.providers.cloudflare.fake.state import new_id

TOKEN = "token-of-the-tests"


@pytest.fixture
async def fake() -> AsyncIterator[FakeCloudflare]:
    async with FakeCloudflare() as fake:
        fake.state.add_token(TOKEN, fake.state.add_account())
        yield fake


@pytest.fixture
async def client(fake: FakeCloudflare) -> AsyncIterator[CloudflareClient]:
    found = CloudflareClient(TOKEN, ApiAddress(fake.url, records_per_page=2), Pace(PacePolicy()))
    yield found
    await found.close()


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (400, 81058, AlreadyExistsError),
        (400, 1061, AlreadyExistsError),
        (400, 9021, RejectedError),
        (400, 81045, RejectedError),
        (401, 1000, TokenRefusedError),
        (403, 10000, AccessDeniedError),
        (403, 9109, AccessDeniedError),
        (404, 7003, NotFoundError),
        (400, 1001, NotFoundError),
        (404, 81044, NotFoundError),
        (429, 10429, ThrottledError),
        (404, 7000, UnavailableError),
        (500, 0, UnavailableError),
        (522, 0, UnavailableError),
        (200, 10500, UnavailableError),
    ],
)
def test_a_refusal_means_what_its_code_says(status: int, code: int, error: type[CloudflareError]) -> None:
    found = classify(status, [ApiFault(code, "said")] if code else [], 0.0, authenticating=False)
    assert type(found) is error
    assert found.message.startswith("Cloudflare API rejected the request")


def test_messages_are_bounded_and_hold_nothing_that_could_be_a_secret() -> None:
    assert len(plain("word " * 500)) <= 200
    assert plain("token v1.0-abcdefghijklmnopqrstuvwxyz0123456789 is\nwrong\x07") == "token … is wrong"


@pytest.mark.parametrize("kind", [kind for kind in Kind if not (kind.after or kind.told)])
async def test_no_answer_is_never_an_empty_one(client: CloudflareClient, fake: FakeCloudflare, kind: Kind) -> None:
    fault = fake.fail(kind, times=100)
    calls: list[Callable[[], Awaitable[object]]] = [
        client.verify_token,
        client.accounts,
        lambda: client.zone(new_id()),
        lambda: client.zones_named("example.com", new_id()),
        lambda: client.records(new_id()),
    ]
    for call in calls:
        client.pace = Pace(PacePolicy())
        with pytest.raises(UnavailableError):
            await call()
    assert fault.times < 100


async def test_every_page_is_read_and_has_to_fit(client: CloudflareClient, fake: FakeCloudflare) -> None:
    (account,) = fake.state.accounts
    zone_id = fake.state.add_zone(account, "example.com")
    for number in range(5):
        fake.state.add_record(zone_id, type="A", name=f"h{number}.example.com", content="192.0.2.1")
    assert len((await client.records(zone_id)).records) == 5
    assert [call.query["page"] for call in fake.calls] == ["1", "2", "3"]
    zone = fake.state.records[zone_id]

    def grow(_: object) -> bool:
        if fake.calls[-1].query.get("page") == "2":
            fake.state.add_record(zone_id, type="A", name=f"more{len(zone)}.example.com", content="192.0.2.1")
        return False

    fake.fail(Kind.SERVER_ERROR, grow)
    with pytest.raises(BadAnswerError):
        await client.records(zone_id)


@pytest.mark.parametrize("kind", [Kind.DUPLICATE_ID, Kind.MALFORMED_ID])
async def test_wrong_identifiers_make_an_answer_worthless(
    client: CloudflareClient, fake: FakeCloudflare, kind: Kind
) -> None:
    (account,) = fake.state.accounts
    zone_id = fake.state.add_zone(account, "example.com")
    posts = tuple({"type": "A", "name": f"h{number}.example.com", "content": "192.0.2.1"} for number in range(2))
    fake.fail(kind)
    with pytest.raises(BadAnswerError):
        await client.batch(zone_id, Change(posts=posts))
    fake.fail(kind)
    with pytest.raises(BadAnswerError):
        await client.records(zone_id)


async def test_credentials_of_the_environment_are_not_sent(
    fake: FakeCloudflare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOUDFLARE_API_KEY", "somebody's key")
    monkeypatch.setenv("CLOUDFLARE_EMAIL", "somebody@example.com")
    client = CloudflareClient(TOKEN, ApiAddress(fake.url), Pace(PacePolicy()))
    assert (await client.verify_token()).status == "active"
    assert "somebody" not in repr(fake.headers[-1])
    await client.close()


async def test_a_pause_that_was_asked_for_is_kept() -> None:
    now = 0.0
    pace = Pace(PacePolicy(rate_per_s=1.0, burst=3, wait_at_most_s=0.5, pause_s=10.0), lambda: now)
    for _ in range(3):
        await pace.take_turn()
    with pytest.raises(ThrottledError) as refusal:
        await pace.take_turn()
    assert refusal.value.retry_after_s == pytest.approx(1.0)
    now = 100.0
    await pace.take_turn()
    assert 30.0 <= pace.pause(30.0) <= 36.0
    with pytest.raises(ThrottledError) as refusal:
        await pace.take_turn()
    assert refusal.value.retry_after_s >= 30.0
    now = 140.0
    await pace.take_turn()


@pytest.mark.parametrize("label", ["xn--ib9b", "xn--", "xn--abc-", "xn--99999999", "xn--a", "_xn--x", "xn--bcher-kva"])
async def test_a_zone_is_found_by_any_name_that_dns_allows(
    fake: FakeCloudflare, client: CloudflareClient, label: str
) -> None:
    """One half of a surrogate pair, empty, plain ASCII, no Punycode, a control character, no prefix, and a word."""
    (account,) = fake.state.accounts
    assert (await client.zones_named(f"{label}.example", account)).zones == ()
    assert all(read_name(each) == f"{label}.example" for each in spellings(f"{label}.example"))
