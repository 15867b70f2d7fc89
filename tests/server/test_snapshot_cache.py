"""The last good snapshots on disk: a server that starts while the API is away answers from them."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path

import aiohttp
import pytest

from kube.access import Access
from kube.backoff import Backoff
from kube.client import Client
from kube.object import ObjectKey
from server import cache_folder
from server.config import ServerConfig
from server.hosted import cache_writer
from server.hosted.cache import CacheError, SnapshotCache
from server.hosted.content import Content
from tests.kube.fake_api import refuse
from tests.server.hosted_api import HostedApi, a, manifest, paged
from tests.server.running import ANY_PORT, becomes, data, following, running, until


@pytest.fixture
async def api() -> AsyncIterator[HostedApi]:
    async with HostedApi() as server:
        yield server


def away(api: HostedApi) -> None:
    api.fault(lambda request: refuse(503, "ServiceUnavailable"))
    api.cut_watches()


def cached(folder: Path) -> int:
    return len(list(folder.glob("*.zone")))


def cached_pages(folder: Path) -> list[Path]:
    return list(folder.glob("*.page"))


def damage(folder: Path) -> None:
    """Change a digit in one page, and leave the half of another manifest."""
    for page in folder.glob("*.page"):
        page.write_bytes(page.read_bytes().replace(b"192.0.2.1", b"192.0.2.6"))
    (folder / "half.zone").write_bytes(b'{"format": 1')


async def test_a_restart_without_the_api_serves_what_was_served(api: HostedApi, tmp_path: Path) -> None:
    whole, pages = paged("large", *(a(f"host-{number}", "192.0.2.7") for number in range(100)))
    for obj in (manifest("shop", a("www", "192.0.2.1"), serial=5), *pages, whole):
        api.write(obj)
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        await becomes(server, "host-99.large.example", ["192.0.2.7"])
        await until(lambda: cached(tmp_path) == 2, "both zones in the cache")
    away(api)
    async with following(api, cache_dir=tmp_path) as server:
        assert await data(server, "www.shop.example") == ["192.0.2.1"]
        assert await data(server, "host-99.large.example") == ["192.0.2.7"]
        assert (await data(server, "shop.example", "SOA"))[0].split()[2] == "5"
        assert await data(server, "www.unknown.example") == "SERVFAIL"
        assert server.is_ready


async def test_what_changed_meanwhile_is_made_good_once_the_api_is_back(api: HostedApi, tmp_path: Path) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    api.write(manifest("closed", a("www", "192.0.2.2")))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.closed.example", ["192.0.2.2"])
        await until(lambda: cached(tmp_path) == 2, "both zones in the cache")
    api.delete("closed")
    api.write(manifest("shop", a("www", "192.0.2.3"), serial=2))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.shop.example", ["192.0.2.3"])
        await becomes(server, "www.closed.example", "REFUSED")
        await until(lambda: cached(tmp_path) == 1, "the closed zone out of the cache")


async def test_the_first_answer_is_no_older_than_what_the_api_has(api: HostedApi, tmp_path: Path) -> None:
    for number in range(20):
        api.write(manifest(f"zone-{number}", a("www", "192.0.2.1")))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.zone-19.example", ["192.0.2.1"])
        await until(lambda: cached(tmp_path) == 20, "all zones in the cache")
    for number in range(20):
        api.write(manifest(f"zone-{number}", a("www", "192.0.2.2"), serial=2))
    async with following(api, cache_dir=tmp_path) as server:
        for number in range(20):
            assert await data(server, f"www.zone-{number}.example") == ["192.0.2.2"]


async def test_an_api_that_keeps_silent_holds_up_a_start_for_a_moment_only(
    api: HostedApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.app.FIRST_VIEW_S", 0.05)
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        await until(lambda: cached(tmp_path) == 1, "the zone in the cache")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        config = ServerConfig((ANY_PORT,), name="pod-a", client=Client(Access(url)), cache_dir=tmp_path)
        assert config.client is not None
        async with config.client, running(config) as server:
            assert await data(server, "www.shop.example") == ["192.0.2.1"]


async def test_a_bad_snapshot_after_a_restart_leaves_the_cached_one(api: HostedApi, tmp_path: Path) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        await until(lambda: cached(tmp_path) == 1, "the zone in the cache")
    api.write(manifest("shop", a("www", "192.0.2.9"), serial=2, digest="sha256:" + "0" * 64))
    async with following(api, cache_dir=tmp_path) as server:
        await until(lambda: api.servers("shop").get("pod-a", {}).get("state") == "Rejected", "the rejection reported")
        assert await data(server, "www.shop.example") == ["192.0.2.1"]
        assert api.servers("shop")["pod-a"]["serial"] == 1


async def test_a_snapshot_that_is_damaged_on_disk_is_not_served(api: HostedApi, tmp_path: Path) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    api.write(manifest("other", a("www", "192.0.2.2")))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        await until(lambda: cached(tmp_path) == 2, "both zones in the cache")
    damage(tmp_path)
    away(api)
    async with following(api, cache_dir=tmp_path) as server:
        assert await data(server, "www.shop.example") == "SERVFAIL"
        assert await data(server, "www.other.example") == ["192.0.2.2"]


async def test_a_page_that_is_damaged_on_disk_is_written_again(api: HostedApi, tmp_path: Path) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        await until(lambda: cached(tmp_path) == 1, "the zone in the cache")
    (page,) = cached_pages(tmp_path)
    whole = page.read_bytes()
    page.write_bytes(b"")
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        await until(lambda: page.exists() and page.read_bytes() == whole, "the page as it was")
    away(api)
    async with following(api, cache_dir=tmp_path) as server:
        assert await data(server, "www.shop.example") == ["192.0.2.1"]


async def test_pages_that_no_snapshot_needs_are_removed(api: HostedApi, tmp_path: Path) -> None:
    async with following(api, cache_dir=tmp_path) as server:
        for serial in range(1, 6):
            api.write(manifest("shop", a("www", f"192.0.2.{serial}"), serial=serial))
            await becomes(server, "www.shop.example", [f"192.0.2.{serial}"])
        await until(lambda: len(list(tmp_path.glob("*.page"))) == 1, "one page left")


async def test_a_snapshot_that_the_disk_refuses_holds_up_no_other(
    api: HostedApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, refused = SnapshotCache.store, list[ObjectKey]()

    def store_what_fits(cache: SnapshotCache, key: ObjectKey, content: Content) -> None:
        if content.head.serial == 2 and key.name == "first":
            refused.append(key)
            raise OSError(errno.ENOSPC, "No space left on device")
        store(cache, key, content)

    monkeypatch.setattr(SnapshotCache, "store", store_what_fits)
    monkeypatch.setattr(cache_writer, "_BACKOFF", Backoff(0.01, 0.01, 0.01))
    async with following(api, cache_dir=tmp_path) as server:
        for serial in (1, 2):
            for name, network in (("first", "192.0.2"), ("second", "198.51.100")):
                api.write(manifest(name, a("www", f"{network}.{serial}"), serial=serial))
                await becomes(server, f"www.{name}.example", [f"{network}.{serial}"])
            await until(lambda: kept(tmp_path) == {"first": 1, "second": serial}, "what the disk takes")  # noqa: B023
        await until(lambda: len(refused) > 1, "it is tried again")
    assert kept(tmp_path) == {"first": 1, "second": 2}
    assert len(cached_pages(tmp_path)) == 2


def kept(folder: Path) -> dict[str, int]:
    return {zone.key.name: zone.content.head.serial for zone in SnapshotCache(folder).load()}


async def test_readiness_says_how_old_the_zones_are(api: HostedApi, tmp_path: Path) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
        body = (await readiness(server.http_port))[1]
        assert (body["message"], body["ageSeconds"]) == ("serving 1 zone", 0)
        await until(lambda: cached(tmp_path) == 1, "the zone in the cache")
    await asyncio.to_thread(SnapshotCache(tmp_path).note_contact, 1_700_000_000.0)
    away(api)
    async with following(api, cache_dir=tmp_path) as server:
        status, body = await readiness(server.http_port)
        assert status == 200
        assert "the API server has not been heard of since" in str(body["message"])
        metrics = await fetch(server.http_port, "metrics")
        (line,) = [line for line in metrics.splitlines() if line.startswith("dns_api_server_snapshot_age_seconds ")]
        assert float(line.split()[1]) > 1_000_000


async def test_the_age_is_known_however_soon_a_server_ended(api: HostedApi, tmp_path: Path) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
    away(api)
    async with following(api, cache_dir=tmp_path) as server:
        _, body = await readiness(server.http_port)
        assert body["ageSeconds"] in range(5)
        assert body["message"] == "serving 1 zone"


async def test_zones_of_unknown_age_are_said_to_be_so(api: HostedApi, tmp_path: Path) -> None:
    api.write(manifest("shop", a("www", "192.0.2.1")))
    async with following(api, cache_dir=tmp_path) as server:
        await becomes(server, "www.shop.example", ["192.0.2.1"])
    (tmp_path / "contact").unlink(missing_ok=True)  # a server that ends very soon has not noted any
    away(api)
    async with following(api, cache_dir=tmp_path) as server:
        status, body = await readiness(server.http_port)
        assert (status, body["ageSeconds"]) == (200, None)
        assert "serving 1 zone as of an unknown time" in str(body["message"])


async def readiness(port: int | None) -> tuple[int, dict[str, object]]:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/readyz") as response:
        return response.status, await response.json()


async def fetch(port: int | None, path: str) -> str:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/{path}") as response:
        return await response.text()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        CacheError, match=r"cannot use .*file.* as cache directory: .*make it writable or choose another"
    ):
        SnapshotCache(tmp_path / "file").open()


def test_a_manifest_that_cannot_be_read_now_keeps_all_pages(tmp_path: Path) -> None:
    cache = SnapshotCache(tmp_path)
    (tmp_path / "cut.zone").write_bytes(b"{")
    assert cache.kept_pages() == set()
    (tmp_path / "cut.zone").unlink()
    (tmp_path / "unreadable.zone").mkdir()
    with pytest.raises(IsADirectoryError):
        cache.kept_pages()
    assert cache.load() == []


@pytest.mark.parametrize("is_new", [False, True])
def test_a_full_disk_keeps_no_server_from_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_new: bool
) -> None:
    def refuse(_path: Path, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    cache = SnapshotCache(tmp_path)
    if not is_new:
        cache.open()
        cache.close()
    monkeypatch.setattr(cache_folder, "write_whole", refuse)
    with pytest.raises(CacheError, match="No space left") if is_new else nullcontext():
        cache.open()
    cache.close()


def test_a_folder_that_cannot_be_written_any_more_is_taken_for_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_RDWR:
            raise OSError(errno.EROFS, "Read-only file system")
        return really_open(path, flags, mode)

    used = SnapshotCache(tmp_path / "used")
    used.open()
    used.close()
    really_open = os.open
    monkeypatch.setattr(os, "open", read_only)
    (tmp_path / "new").mkdir()
    with pytest.raises(CacheError, match="Read-only file system"):
        SnapshotCache(tmp_path / "new").open()
    used.open()
    with pytest.raises(CacheError, match="in use by another server"):
        SnapshotCache(tmp_path / "used").open()
    used.close()


def test_a_folder_has_one_server_at_a_time(tmp_path: Path) -> None:
    first, second = SnapshotCache(tmp_path), SnapshotCache(tmp_path)
    first.open()
    with pytest.raises(CacheError, match="in use by another server"):
        second.open()
    first.close()
    second.open()
    second.close()
