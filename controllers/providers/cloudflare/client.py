"""The one place where Cloudflare's API is called: one method for each request that the provider makes, through Cloudflare's SDK.

Owns the translation of foreign exceptions and answers into our own values and errors, and taking turns. Retries nothing, keeps
nothing, and shows the token to nobody. The SDK is asked for raw answers, since it takes a success without a result for an empty one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import cloudflare
import httpx
from cloudflare import AsyncCloudflare

from controllers.providers.cloudflare.batch import Change
from controllers.providers.cloudflare.binding import ApiAddress
from controllers.providers.cloudflare.envelope import NOT_JSON, faults_of, parse, read_object, read_page, read_result
from controllers.providers.cloudflare.failure import (
    BadAnswerError,
    CloudflareError,
    NotFoundError,
    ThrottledError,
    UnavailableError,
    classify,
)
from controllers.providers.cloudflare.name import spellings
from controllers.providers.cloudflare.pace import Pace
from controllers.providers.cloudflare.record import CloudflareRecord, parse_record, parse_records
from controllers.providers.cloudflare.zone_fact import (
    FULL,
    AccountFact,
    TokenFact,
    ZoneFact,
    parse_account,
    parse_token,
    parse_zone,
)
from controllers.runtime.metrics import provider_call
from kube.http_time import http_date, retry_after_s
from kube.leadership import assert_leading

TIMEOUT_S: Final = 30.0
CONNECT_TIMEOUT_S: Final = 10.0
ZONES_PER_PAGE: Final = 50
PAGES_AT_MOST: Final = 1000

RawCall = Callable[[int], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class RecordListing:
    """All records of a zone as of `at`, by the clock of the API."""

    records: tuple[CloudflareRecord, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class ZoneListing:
    """The zones of a name as of `at`, by the clock of the API."""

    zones: tuple[ZoneFact, ...]
    at: datetime


class CloudflareClient:
    """Calls the API with one token. Every method raises CloudflareError; close it when it is no longer needed."""

    def __init__(self, token: str, address: ApiAddress, pace: Pace) -> None:
        timeout = httpx.Timeout(TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
        self._sdk = AsyncCloudflare(api_token=token, base_url=address.url, max_retries=0, timeout=timeout)
        # The SDK would add credentials that it finds in the environment, which are nobody's here.
        self._sdk.api_key = self._sdk.api_email = self._sdk.user_service_key = None
        self._per_page = address.records_per_page
        self.pace = pace

    async def close(self) -> None:
        """Close connections."""
        await self._sdk.close()

    async def verify_token(self) -> TokenFact:
        """Return what the API says of the token (`GET /user/tokens/verify`)."""
        answer = await self._call(self._sdk.user.tokens.with_raw_response.verify, authenticating=True)
        return parse_token(read_object(_body(answer), answer.status_code, authenticating=True))

    async def accounts(self) -> tuple[AccountFact, ...]:
        """Return the accounts that the token sees (`GET /accounts`)."""
        found, _ = await self._pages(
            lambda page: self._sdk.accounts.with_raw_response.list(page=page, per_page=ZONES_PER_PAGE)
        )
        return tuple(parse_account(each) for each in found)

    async def zone(self, zone_id: str) -> ZoneFact:
        """Return a zone. Raises NotFoundError."""
        answer = await self._call(lambda: self._sdk.zones.with_raw_response.get(zone_id=zone_id))
        zone = parse_zone(read_object(_body(answer), answer.status_code))
        if zone.id != zone_id:
            raise BadAnswerError("Cloudflare API gave another zone than the one that was asked for")
        return zone

    async def zones_named(self, name: str, account_id: str) -> ZoneListing:
        """Return the account's zones of a name."""
        listings = [await self._zones_spelled(each, account_id) for each in spellings(name)]
        zones = {zone.id: zone for found, _ in listings for zone in map(parse_zone, found)}
        named = (zone for zone in zones.values() if (zone.name, zone.account_id) == (name, account_id))
        return ZoneListing(tuple(named), listings[0][1])

    async def _zones_spelled(self, name: str, account_id: str) -> tuple[list[object], datetime]:
        return await self._pages(
            lambda page: self._sdk.zones.with_raw_response.list(
                name=name, account={"id": account_id}, page=page, per_page=ZONES_PER_PAGE
            )
        )

    async def create_zone(self, name: str, account_id: str) -> ZoneFact:
        """Create a full zone, without importing records. Raises AlreadyExistsError."""
        answer = await self._call(
            lambda: self._sdk.zones.with_raw_response.create(account={"id": account_id}, name=name, type=FULL)
        )
        return parse_zone(read_object(_body(answer), answer.status_code))

    async def delete_zone(self, zone_id: str) -> None:
        """Delete a zone; one that is gone already is as good."""
        try:
            answer = await self._call(lambda: self._sdk.zones.with_raw_response.delete(zone_id=zone_id))
            read_result(_body(answer), answer.status_code)
        except NotFoundError:
            return

    async def records(self, zone_id: str) -> RecordListing:
        """Return all records of a zone; a listing that is not whole, or changes from page to page, is UnavailableError."""
        found, at = await self._pages(
            lambda page: self._sdk.dns.records.with_raw_response.list(
                zone_id=zone_id, page=page, per_page=self._per_page
            )
        )
        return RecordListing(parse_records(found), at)

    async def record(self, zone_id: str, record_id: str) -> CloudflareRecord:
        """Return one record. Raises NotFoundError."""
        answer = await self._call(
            lambda: self._sdk.dns.records.with_raw_response.get(dns_record_id=record_id, zone_id=zone_id)
        )
        record = parse_record(read_object(_body(answer), answer.status_code))
        if record.id != record_id:
            raise BadAnswerError("Cloudflare API gave another record than the one that was asked for")
        return record

    async def texts_at(self, zone_id: str, name: str) -> RecordListing:
        """Return the TXT records of a name."""
        found, at = await self._pages(
            lambda page: self._sdk.dns.records.with_raw_response.list(
                zone_id=zone_id, name={"exact": name}, type="TXT", page=page, per_page=self._per_page
            )
        )
        records = parse_records(found)
        return RecordListing(tuple(each for each in records if (each.name, each.type) == (name, "TXT")), at)

    async def batch(self, zone_id: str, change: Change) -> tuple[CloudflareRecord, ...]:
        """Apply a change as a whole; returns the records that it has posted, in their order. Raises BadAnswerError."""
        body: dict[str, Any] = {}
        if change.deletes:
            body["deletes"] = [{"id": each} for each in change.deletes]
        if change.patches:
            body["patches"] = [{"id": each, **fields} for each, fields in change.patches]
        if change.posts:
            body["posts"] = list(change.posts)
        answer = await self._call(lambda: self._sdk.dns.records.with_raw_response.batch(zone_id=zone_id, **body))
        result = read_object(_body(answer), answer.status_code)
        posted = parse_records(result.get("posts") or ())
        if len(posted) != len(change.posts):
            raise BadAnswerError("Cloudflare API did not name the records of a batch")
        return posted

    async def _pages(self, fetch: RawCall) -> tuple[list[Any], datetime]:
        """Return the items of all pages, and when the first one was given. All or nothing."""
        found: list[Any] = []
        total, at, number = 0, datetime.now(UTC), 0
        while number < PAGES_AT_MOST:
            number += 1
            answer = await self._call(lambda number=number: fetch(number))  # type: ignore[misc] # a default is typed by no lambda
            page = read_page(_body(answer), answer.status_code)
            if number == 1:
                total, at = page.total_count, http_date(answer.headers.get("date", "")) or at
            found += page.items
            if page.total_count != total or len(found) > total or (not page.items and len(found) < total):
                raise BadAnswerError("Cloudflare API gave pages that do not fit together")
            if len(found) == total:
                return found, at
        raise BadAnswerError(f"Cloudflare API gave more than {PAGES_AT_MOST} pages")

    async def _call(self, request: Callable[[], Awaitable[Any]], *, authenticating: bool = False) -> Any:
        await self.pace.take_turn()
        assert_leading()
        try:
            with provider_call("cloudflare"), _translated(authenticating):
                return await request()
        except ThrottledError as error:
            error.retry_after_s = self.pace.pause(error.retry_after_s)
            raise


def _body(answer: Any) -> bytes:
    content: bytes = answer.http_response.content
    return content


@contextmanager
def _translated(authenticating: bool) -> Iterator[None]:
    """Raise what the SDK and its transport raise as errors of ours, without their texts."""
    try:
        yield
    except cloudflare.APIStatusError as error:
        raise _status_error(error, authenticating) from None
    except (cloudflare.CloudflareError, httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise UnavailableError(f"Cloudflare API cannot be reached: {type(error).__name__}") from None
    except UnicodeEncodeError:
        raise UnavailableError("the access token cannot stand in a header") from None


def _status_error(error: cloudflare.APIStatusError, authenticating: bool) -> CloudflareError:
    response = error.response
    envelope = parse(response.content)
    if envelope is None and response.status_code not in {429, *range(500, 600)}:
        # Not the API's word: a proxy or a wrong address. Nothing is missing, and no token is wrong, because a stranger says so.
        return BadAnswerError(f"{NOT_JSON}: HTTP {response.status_code}")
    faults = faults_of(envelope) if envelope is not None else []
    return classify(
        response.status_code,
        faults,
        retry_after_s(response.headers.get("retry-after")) or 0.0,
        authenticating=authenticating,
    )
