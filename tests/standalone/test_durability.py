"""A server that is killed under writes: what it acknowledged is there, nothing is half there."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.standalone.rest import TIMEOUT_S, Rest
from tests.standalone.widget import config_map, config_maps

WRITERS = 8
PATH = config_maps("default")


@asynccontextmanager
async def server(data_dir: Path) -> AsyncIterator[tuple[Rest, asyncio.subprocess.Process]]:
    """A server in a process of its own, killed at the end of the block if it still lives."""
    arguments = ("-m", "standalone.apiserver", "--data-dir", str(data_dir))
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        url = (await asyncio.wait_for(process.stdout.readline(), TIMEOUT_S)).decode().strip()
        async with aiohttp.ClientSession() as session:
            yield Rest(session, url), process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


class Writer:
    """Writes to objects of its own, one after the other, and remembers what was acknowledged."""

    def __init__(self, rest: Rest, number: int, known: dict[str, int]) -> None:
        self._rest = rest
        self._number = number
        self.known = known
        """The highest acknowledged count by object name; deleted objects count as -1."""
        self.unanswered = ""
        """The object whose last write was not answered: it may have either state."""

    async def run(self) -> None:
        """Write until the server is gone."""
        step = 0
        while True:
            step += 1
            name = f"w{self._number}-{step % 5}"
            self.unanswered = name
            try:
                await self._write(name, step)
            except (aiohttp.ClientError, ConnectionError):
                return
            self.unanswered = ""

    async def _write(self, name: str, step: int) -> None:
        count = self.known.get(name, -1)
        if count < 0:
            (
                await self._rest.post(PATH, config_map(name, count="0", twin="0", filler="x" * random.randrange(4000)))
            ).ok()
            self.known[name] = 0
        elif step % 7 == 0:
            (await self._rest.delete(f"{PATH}/{name}")).ok()
            self.known[name] = -1
        else:
            data = {"count": str(count + 1), "twin": str(count + 1)}
            (await self._rest.patch(f"{PATH}/{name}", {"data": data})).ok()
            self.known[name] = count + 1


async def check(rest: Rest, known: dict[str, int], unanswered: set[str], version: int) -> int:
    """Hold the stored state against what was acknowledged; return the version it is at."""
    body: dict[str, Any] = (await rest.get(PATH)).ok()
    found = {item["metadata"]["name"]: item for item in body["items"]}
    for item in found.values():
        assert item["data"]["count"] == item["data"]["twin"], "a write is half there"
        assert int(item["metadata"]["resourceVersion"]) <= int(body["metadata"]["resourceVersion"])
    for name, count in known.items():
        stored = int(found[name]["data"]["count"]) if name in found else -1
        if name in unanswered:
            assert stored in (count, count + 1, -1, 0), name
            known[name] = stored
        else:
            assert stored == count, name
    assert found.keys() <= known.keys() | unanswered
    known.update({name: int(item["data"]["count"]) for name, item in found.items() if name not in known})
    assert int(body["metadata"]["resourceVersion"]) >= version, "the resource version went back"
    return int(body["metadata"]["resourceVersion"])


async def kill_repeatedly(data_dir: Path, rounds: int) -> None:
    known: dict[str, int] = {}
    unanswered: set[str] = set()
    version = 0
    for _ in range(rounds):
        async with server(data_dir) as (rest, process):
            version = await check(rest, known, unanswered, version)
            writers = [Writer(rest, number, {}) for number in range(WRITERS)]
            for writer in writers:
                writer.known = {name: count for name, count in known.items() if name.startswith(f"w{writer._number}-")}
            tasks = [asyncio.create_task(writer.run()) for writer in writers]
            await asyncio.sleep(random.uniform(0.01, 0.4))
            process.send_signal(signal.SIGKILL)
            await asyncio.gather(*tasks)
            for writer in writers:
                known |= writer.known
            unanswered = {writer.unanswered for writer in writers if writer.unanswered}
    async with server(data_dir) as (rest, _):
        assert await check(rest, known, unanswered, version) > 50


async def test_acknowledged_writes_survive_a_kill(tmp_path: Path) -> None:
    await kill_repeatedly(tmp_path, rounds=10)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_acknowledged_writes_survive_many_kills(tmp_path: Path) -> None:
    await kill_repeatedly(tmp_path, rounds=100)
