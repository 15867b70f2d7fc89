"""Runs the product for tests: `dns-api up`, or on a real control plane when DNS_API_KUBE_PROGRAMS names one's programs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kube.access import Access
from kube.client import Client
from standalone.apiserver.server import ApiServer
from standalone.up.install import install
from tests.cluster.control_plane import programs
from tests.cluster.product import ClusterProduct
from tests.product.product import Product

Before = Callable[[Client], Awaitable[None]]


@contextmanager
def running(folder: Path, *options: str, before: Before | None = None) -> Iterator[Product]:
    """Run the product on a data directory below `folder`.

    `before` writes to an API on which everything is installed but admission, before anything of the product has run.
    """
    product: Product
    if (real := programs()) is not None:
        product = ClusterProduct(folder, real, options=options, before=before)
    else:
        product = Product(folder, options=options)
        if before is not None:
            asyncio.run(_write(product.data_dir, before))
    try:
        product.start()
        yield product
    finally:
        product.stop()


async def _write(data_dir: Path, before: Before) -> None:
    async with ApiServer(data_dir) as api, Client(Access(api.url)) as client:
        await install(client)
        await before(client)
