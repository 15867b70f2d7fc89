"""The fake answers as Cloudflare's own SDK expects, and refuses as its API reference says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import cloudflare
import pytest
from cloudflare import AsyncCloudflare

from tests.controllers.providers.cloudflare.fake.server import FakeCloudflare

TOKEN = "token-of-the-tests"
RECORDS: list[dict[str, Any]] = [
    {"type": "A", "name": "www.example.com", "content": "192.0.2.1", "ttl": 300, "tags": ["team:dns"]},
    {"type": "A", "name": "proxied.example.com", "content": "192.0.2.1", "ttl": 300, "proxied": True},
    {"type": "AAAA", "name": "www.example.com", "content": "2001:db8::1", "ttl": 1, "comment": "by hand"},
    {"type": "CNAME", "name": "alias.example.com", "content": "www.example.com", "ttl": 60},
    {"type": "MX", "name": "example.com", "content": "mail.example.com", "priority": 10, "ttl": 60},
    {"type": "NS", "name": "child.example.com", "content": "ns.example.net", "ttl": 60},
    {"type": "TXT", "name": "example.com", "content": '"v=spf1 -all"', "ttl": 60},
    {"type": "CAA", "name": "example.com", "data": {"flags": 0, "tag": "issue", "value": "ca.test"}, "ttl": 60},
]


@pytest.fixture
async def fake() -> AsyncIterator[FakeCloudflare]:
    async with FakeCloudflare(strict=True) as fake:
        fake.state.add_token(TOKEN, fake.state.add_account())
        yield fake


@pytest.fixture
async def sdk(fake: FakeCloudflare) -> AsyncIterator[AsyncCloudflare]:
    client = AsyncCloudflare(api_token=TOKEN, base_url=fake.url, max_retries=0, _strict_response_validation=True)
    async with client:
        yield client


async def new_zone(sdk: AsyncCloudflare, fake: FakeCloudflare) -> str:
    (account,) = fake.state.accounts
    zone = await sdk.zones.create(account={"id": account}, name="example.com", type="full")
    assert zone is not None
    return zone.id


async def test_the_sdk_reads_every_answer(sdk: AsyncCloudflare, fake: FakeCloudflare) -> None:
    verified = await sdk.user.tokens.verify()
    assert verified is not None
    assert verified.status == "active"
    assert len([each async for each in sdk.accounts.list()]) == 1
    zone_id = await new_zone(sdk, fake)
    zone = await sdk.zones.get(zone_id=zone_id)
    assert zone is not None
    assert zone.name_servers == ["ada.ns.cloudflare.test", "bob.ns.cloudflare.test"]
    done = await sdk.dns.records.batch(zone_id=zone_id, posts=RECORDS)  # type: ignore[arg-type] # plain dictionaries
    assert done is not None
    assert done.posts is not None
    assert [each.type for each in done.posts] == [each["type"] for each in RECORDS]
    listed = [each async for each in sdk.dns.records.list(zone_id=zone_id, per_page=3)]
    assert [each.id for each in listed] == [each.id for each in done.posts]
    assert [each.name async for each in sdk.zones.list(name="example.com")] == ["example.com"]
    await sdk.zones.delete(zone_id=zone_id)
    with pytest.raises(cloudflare.NotFoundError):
        await sdk.zones.get(zone_id=zone_id)


async def test_a_proxied_record_reads_back_with_ttl_1(sdk: AsyncCloudflare, fake: FakeCloudflare) -> None:
    zone_id = await new_zone(sdk, fake)
    done = await sdk.dns.records.batch(zone_id=zone_id, posts=RECORDS[1:2])  # type: ignore[arg-type] # as above
    assert done is not None
    assert done.posts is not None
    assert (done.posts[0].ttl, done.posts[0].proxied) == (1, True)


async def test_a_batch_takes_effect_as_a_whole_or_not_at_all(sdk: AsyncCloudflare, fake: FakeCloudflare) -> None:
    zone_id = await new_zone(sdk, fake)
    kept = fake.state.add_record(zone_id, **RECORDS[0])
    for refused in (RECORDS[0], {**RECORDS[2], "content": "192.0.2.1"}, {**RECORDS[2], "ttl": 30}):
        posts: Any = [RECORDS[3], refused]
        with pytest.raises(cloudflare.BadRequestError):
            await sdk.dns.records.batch(zone_id=zone_id, posts=posts)
    assert list(fake.state.records[zone_id]) == [kept]


async def test_deletes_come_before_posts(sdk: AsyncCloudflare, fake: FakeCloudflare) -> None:
    zone_id = await new_zone(sdk, fake)
    address = fake.state.add_record(zone_id, **RECORDS[0])
    alias = {"type": "CNAME", "name": "www.example.com", "content": "example.net", "ttl": 60}
    with pytest.raises(cloudflare.BadRequestError) as refusal:
        await sdk.dns.records.batch(zone_id=zone_id, posts=[alias])  # type: ignore[list-item] # as above
    assert refusal.value.errors[0].code == 81053
    await sdk.dns.records.batch(zone_id=zone_id, posts=[alias], deletes=[{"id": address}])  # type: ignore[list-item]
    assert [each["type"] for each in fake.state.records[zone_id].values()] == ["CNAME"]


async def test_a_free_plan_has_few_records_and_no_tags(sdk: AsyncCloudflare, fake: FakeCloudflare) -> None:
    fake.state.plan = "free"
    zone_id = await new_zone(sdk, fake)
    posts = [{**RECORDS[2], "name": f"host{number}.example.com"} for number in range(200)]
    await sdk.dns.records.batch(zone_id=zone_id, posts=posts)  # type: ignore[arg-type] # as above
    for refused, code in ((RECORDS[3], 81045), (RECORDS[0], 9300)):
        with pytest.raises(cloudflare.BadRequestError) as refusal:
            await sdk.dns.records.batch(zone_id=zone_id, posts=[refused])  # type: ignore[list-item] # as above
        assert refusal.value.errors[0].code == code


async def test_a_wrong_token_is_refused(fake: FakeCloudflare) -> None:
    async with AsyncCloudflare(api_token="wrong", base_url=fake.url, max_retries=0) as sdk:
        with pytest.raises(cloudflare.AuthenticationError) as refusal:
            await sdk.user.tokens.verify()
        assert refusal.value.errors[0].code == 1000
