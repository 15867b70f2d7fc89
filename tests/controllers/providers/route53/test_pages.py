"""Listings whose pages do not lead to an end."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from controllers.providers.route53.client import Account
from controllers.providers.route53.failure import Unavailable
from controllers.providers.route53.session import Chain, Sessions
from controllers.providers.route53.throttle import Throttle


class Pages:
    """A Route 53 that answers each listing with the page that its first parameter names, and counts the questions."""

    def __init__(self, pages: Mapping[str | None, Mapping[str, Any]], first: str) -> None:
        self._pages = pages
        self._first = first
        self.asked = 0

    def route53(self, _: Chain) -> Pages:
        return self

    def list_resource_record_sets(self, **query: str) -> Mapping[str, Any]:
        return self._page(query)

    def list_hosted_zones_by_name(self, **query: str) -> Mapping[str, Any]:
        return self._page(query)

    def _page(self, query: Mapping[str, str]) -> Mapping[str, Any]:
        self.asked += 1
        assert self.asked < 20, "the listing goes on for ever"
        return self._pages[query.get(self._first)]


def records(following: str | None) -> Mapping[str, Any]:
    return {
        "ResourceRecordSets": [],
        "IsTruncated": True,
        "NextRecordName": following,
        "NextRecordType": following and "A",
    }


def zones(following: str) -> Mapping[str, Any]:
    return {"HostedZones": [], "IsTruncated": True, "NextDNSName": "shop.example.", "NextHostedZoneId": following}


def account(pages: Pages, threads: ThreadPoolExecutor) -> Account:
    throttle = Throttle(10_000.0, asyncio.get_running_loop().time)
    return Account(cast(Chain, None), cast(Sessions, pages), throttle, threads)


@pytest.mark.parametrize(
    "ways",
    [
        [(None, "a."), ("a.", "a.")],
        [(None, "a."), ("a.", "b."), ("b.", "a.")],
        [(None, None)],
    ],
    ids=["the same page", "a circle", "no next page named"],
)
async def test_record_sets_that_come_round_again_are_no_listing(ways: Sequence[tuple[str | None, str | None]]) -> None:
    pages = Pages({at: records(following) for at, following in ways}, "StartRecordName")
    with ThreadPoolExecutor(1) as threads, pytest.raises(Unavailable, match="list of record sets"):
        await account(pages, threads).records("Z1")
    assert pages.asked == len(ways)


@pytest.mark.parametrize("ways", [["Z1", "Z1"], ["Z1", "Z2", "Z1"]], ids=["the same page", "a circle"])
async def test_hosted_zones_that_come_round_again_are_no_listing(ways: list[str]) -> None:
    steps = {None: zones(ways[0])} | {at: zones(following) for at, following in itertools.pairwise(ways)}
    pages = Pages(steps, "HostedZoneId")
    with ThreadPoolExecutor(1) as threads, pytest.raises(Unavailable, match="list of hosted zones"):
        await account(pages, threads).zones_named("shop.example")
    assert pages.asked == len(steps)
