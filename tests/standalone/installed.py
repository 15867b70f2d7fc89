"""An API on which things are installed already, for tests that begin there: installing takes longer than most of them."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from kube.access import Access
from kube.client import Client
from standalone.apiserver.server import ApiServer
from standalone.up.install import install

Install = Callable[[Client], Awaitable[None]]
_installations: dict[Install, Path] = {}


@asynccontextmanager
async def installed(data_dir: Path, how: Install = install) -> AsyncIterator[ApiServer]:
    """Run an API on a fresh data directory to which `how` has written; it writes once a process, and its data is copied from then on."""
    if how not in _installations:
        _installations[how] = await _installation(how)
    shutil.copytree(_installations[how], data_dir, dirs_exist_ok=True)
    async with ApiServer(data_dir) as api:
        yield api


async def _installation(how: Install) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="dns-api-installation-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    async with ApiServer(folder) as api, Client(Access(api.url), field_manager="test") as client:
        await how(client)
    return folder
