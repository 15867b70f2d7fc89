"""Starts and stops the parts of `dns-api up` in their order.

Owns that order and what is printed. Start: API server, definitions, admission, manager, name server, manifests. Stop: the reverse, the name
server answering to the last.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from controllers.apps.endpoint.conversion_api import ConversionApi
from controllers.manager import Manager, ManagerConfig
from kube.client import Client
from kube.config import connect
from server.app import NameServer
from server.config import Address, ServerConfig
from server.transfer.config import TransferConfig
from standalone.apiserver.server import ApiServer
from standalone.up.announcement import Announcement, example
from standalone.up.config import SERVER_NAME, SYSTEM_NAMESPACE, UpConfig
from standalone.up.demo import demo_manifests
from standalone.up.install import announce_server, install
from standalone.up.kubeconfig import write_kubeconfig
from standalone.up.manifest_source import Document, ManifestSource
from standalone.up.readiness import until_served

WEBHOOK_NAME: Final = "validate.dns.appthrust.io"
LEASE_S: Final = 900.0
"""Nobody else competes for the Lease of a data directory, and each renewal is a write to its disk."""


async def up(config: UpConfig, announcement: Announcement) -> None:
    """Run until SIGINT or SIGTERM.

    Raises DataDirError or ListenError, with a message that says what to do, when a part cannot start; a first start then leaves no
    kubeconfig behind.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, stop.set)
    async with running(config, announcement):
        await stop.wait()
        announcement.stopping()


@asynccontextmanager
async def running(config: UpConfig, announcement: Announcement) -> AsyncIterator[NameServer]:
    """Have everything run for as long as the context is entered."""
    async with AsyncExitStack() as stack:
        announcement.starting(f"API server on {config.data_dir}")
        api = await stack.enter_async_context(ApiServer(config.data_dir, *config.api))
        known = config.kubeconfig.exists()
        write_kubeconfig(config.kubeconfig, api.url, ca_pem=api.ca_pem, token=api.token)
        unless_started = stack.enter_context(ExitStack())
        if not known:
            unless_started.callback(config.kubeconfig.unlink, missing_ok=True)
        client = await stack.enter_async_context(connect(config.kubeconfig))
        await install(client)
        announcement.starting("manager")
        await _start_manager(stack, client, api, config)
        announcement.starting("name server")
        name_server = await _start_name_server(stack, client, config)
        source = ManifestSource(client, config.manifests)
        applied, problems = await source.apply_all()
        if config.demo:
            more, further = await source.submit_all(_demo())
            applied, problems = applied + more, problems + further
        shown = example(applied)
        if shown is not None:
            await until_served(client, shown)
        announcement.started(api.url, name_server.addresses, config.kubeconfig, applied, problems, shown)
        await stack.enter_async_context(_in_background(source.follow(announcement.applied_again)))
        unless_started.pop_all()
        yield name_server


async def _start_manager(stack: AsyncExitStack, client: Client, api: ApiServer, config: UpConfig) -> None:
    """Run the manager and let its admission judge every write from the moment its caches are complete."""
    # The data directory's lock keeps other processes out, so the name may stay: after a crash the Lease is ours at once.
    manager_config = ManagerConfig(
        SERVER_NAME, SYSTEM_NAMESPACE, config.providers, apps=config.apps, lease_duration_s=LEASE_S
    )
    manager = Manager(client, manager_config)
    serve_conversions(api, manager.conversion_apis)
    for hook in manager.admission.hooks():
        ref = hook.resource
        api.register_admission(
            ref.group, ref.version, ref.plural, hook.subresource, hook.operations, hook.handler, name=WEBHOOK_NAME
        )
    await stack.enter_async_context(_in_background(manager.run()))
    await manager.synced.wait()


def serve_conversions(api: ApiServer, conversions: Iterable[ConversionApi]) -> None:
    """Answer questions to the conversion APIs in this process, as an API server would have the manager's webhook server do."""
    for each in conversions:
        ref = each.conversion.resource
        api.register_answered(ref.group, ref.version, ref.plural, ref.kind, each.schema(), each.answer)


async def _start_name_server(stack: AsyncExitStack, client: Client, config: UpConfig) -> NameServer:
    name_server = NameServer(
        ServerConfig(
            listen=(Address(*config.dns),),
            name=SERVER_NAME,
            client=client,
            cache_dir=config.data_dir / "snapshots",
            http=(Address(*config.http),) if config.http is not None else (),
            transfer=TransferConfig(key_files=config.tsig_keys),
        )
    )
    await name_server.start()
    stack.push_async_callback(name_server.stop)
    address = name_server.addresses[0]
    await announce_server(client, address.host, address.port)
    return name_server


def _demo() -> list[Document]:
    return [Document(Path("--demo"), number, manifest) for number, manifest in enumerate(demo_manifests(), 1)]


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run `work` until the context is left; should it fail before, whoever stands in the context is cancelled."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(work)
        try:
            yield
        finally:
            task.cancel()
