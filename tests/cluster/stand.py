"""A whole cluster for tests that need nothing but a running one: control plane, chart, manager, name server, and fakes of the providers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.product import ClusterProduct
from tests.controllers.providers.cloudflare import world as cloudflare
from tests.controllers.providers.cloudflare.fake.server import FakeCloudflare
from tests.controllers.providers.route53 import world as route53
from tests.controllers.providers.route53.fake.server import FakeAws, serving
from tests.helm.chart import Manifest
from tests.helm.gate import own_loop
from tests.helm.place import BIN
from tests.standalone.kubectl.command import Command


@dataclass(frozen=True, slots=True)
class Stand:
    """What runs."""

    product: ClusterProduct
    kubectl: Command
    aws: FakeAws
    cloudflare: FakeCloudflare

    @property
    def dns_port(self) -> int:
        return self.product.dns.port

    def apply(self, *manifests: Manifest) -> None:
        items = {"apiVersion": "v1", "kind": "List", "items": manifests}
        self.kubectl.ok("apply", "--server-side", "-f", "-", stdin=json.dumps(items))

    def wait(self, what: str, condition: str = "Programmed") -> None:
        self.kubectl.ok("wait", "--for=create", what, "--timeout=60s")
        self.kubectl.ok("wait", f"--for=condition={condition}", what, "--timeout=60s")


@contextmanager
def standing(folder: Path, programs: Path) -> Iterator[Stand]:
    """Run everything."""
    aws, fake = FakeAws(), FakeCloudflare()
    aws.identities.add_user(route53.KEY_ID, route53.SECRET, route53.ACCOUNT)
    fake.state.add_token(cloudflare.TOKEN, fake.state.add_account())
    with ExitStack() as stack:
        loop = stack.enter_context(own_loop())
        asyncio.run_coroutine_threadsafe(fake.__aenter__(), loop).result(30)
        stack.callback(lambda: asyncio.run_coroutine_threadsafe(fake.__aexit__(), loop).result(30))
        stack.enter_context(serving(aws))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in {**route53.runtime_credentials(), "AWS_ENDPOINT_URL": aws.url}.items():
            patch.setenv(name, value)
        options = ["--route53-change-check-seconds=0.1", f"--cloudflare-api-url={fake.url}"]
        product = ClusterProduct(folder, programs, options=options)
        stack.callback(product.stop)
        product.start()
        yield Stand(product, Command(BIN / "kubectl", product.data_dir), aws, fake)
