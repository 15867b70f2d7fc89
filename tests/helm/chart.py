"""The chart as `helm template` renders it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import yaml

from tests.helm.place import BIN, CHART, NAMESPACE

Manifest = dict[str, Any]

EVERYTHING = (
    "providers.hosted.enabled=true",
    "providers.external.enabled=true",
    "providers.hosted.server.tls.enabled=true",
    "providers.hosted.server.tls.issuerRef.name=authority",
    "providers.hosted.server.tls.dnsNames={dns.example.com}",
    "providers.hosted.server.tsigSecretName=keys",
    "providers.hosted.server.cookieSecretName=cookies",
    "providers.hosted.server.service.ipFamilyPolicy=PreferDualStack",
    "endpoint.gatewaySource.enabled=true",
    "networkPolicy.enabled=true",
    "people.aggregateClusterRoles=true",
    "monitoring.serviceMonitor.enabled=true",
    "monitoring.prometheusRule.enabled=true",
    "monitoring.dashboard.enabled=true",
)
NOTHING = (
    "providers.route53.enabled=false",
    "providers.cloudflare.enabled=false",
    "endpoint.serviceSource.enabled=false",
)
PROVIDERS = ("cloudflare", "external", "hosted", "route53")


def only(*providers: str) -> tuple[str, ...]:
    """Return the settings for these providers and no other."""
    return tuple(f"providers.{each}.enabled={str(each in providers).lower()}" for each in PROVIDERS)


def helm(*words: str) -> subprocess.CompletedProcess[str]:
    """Run helm to its end."""
    return subprocess.run([str(BIN / "helm"), *words], capture_output=True, text=True, timeout=60, check=False)


def template(*settings: str, namespace: str = NAMESPACE) -> subprocess.CompletedProcess[str]:
    """Run `helm template` with settings as for `--set`."""
    return helm("template", "dns-api", str(CHART), "-n", namespace, *(f"--set={each}" for each in settings))


@lru_cache(maxsize=256)
def render_text(*settings: str) -> str:
    """Return what the chart becomes with settings."""
    done = template(*settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def render(*settings: str) -> list[Manifest]:
    """Return the objects that the chart becomes with settings."""
    loaded = yaml.load_all(render_text(*settings), Loader=yaml.CSafeLoader)
    return [each for each in loaded if each is not None]


def complaint(*settings: str) -> str:
    """Return what helm says about settings that it refuses."""
    done = template(*settings)
    assert done.returncode != 0, f"{settings} are not refused"
    return done.stderr


def one(manifests: Iterable[Manifest], kind: str, name: str) -> Manifest:
    """Return the one object of that kind and name."""
    (found,) = (each for each in manifests if each["kind"] == kind and each["metadata"]["name"] == name)
    return found


def names(manifests: Iterable[Manifest], kind: str) -> set[str]:
    """Return the names of all objects of a kind."""
    return {each["metadata"]["name"] for each in manifests if each["kind"] == kind}


def container(manifests: Iterable[Manifest], component: str) -> Manifest:
    """Return the container of a component's Deployment."""
    deployment = one(manifests, "Deployment", f"dns-api-{component}")
    found: Manifest = deployment["spec"]["template"]["spec"]["containers"][0]
    return found


def strings(value: object) -> Iterator[str]:
    """Yield every text within a manifest."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield str(key)
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
