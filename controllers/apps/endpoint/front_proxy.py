"""Whom an API server speaks for when it passes a request on: the front proxy's certificate, and its headers (Kubernetes aggregation).

The cluster publishes both in the ConfigMap extension-apiserver-authentication. Owns reading it and judging a request. Whoever cannot
be recognised is nobody: nothing is ever let in because something could not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
import structlog

from kube.client import Client
from kube.informer import Informer
from kube.object import ObjectKey
from kube.resource import ResourceRef

_log = structlog.get_logger(__name__)

CONFIG_MAPS: Final = ResourceRef("", "v1", "configmaps", "ConfigMap")
NAMESPACE: Final = "kube-system"
NAME: Final = "extension-apiserver-authentication"
CONFIG_KEY: Final = ObjectKey(NAMESPACE, NAME)


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """What a front proxy is recognised by: a certificate of `ca_pem` with one of these common names, any when there are none."""

    ca_pem: str
    common_names: tuple[str, ...]
    username_headers: tuple[str, ...]


def parse_front_proxy(obj: Mapping[str, Any]) -> FrontProxy:
    """Parse the ConfigMap. Raises ValueError, KeyError when it has no authority or no header for user names."""
    data = obj["data"]
    ca_pem, headers = data["requestheader-client-ca-file"], _texts(data["requestheader-username-headers"])
    if not ca_pem.strip() or not headers:
        raise ValueError(f"{NAME} names no authority or no header")
    return FrontProxy(ca_pem, _texts(data.get("requestheader-allowed-names") or "[]"), headers)


def front_proxy_informer(client: Client) -> Informer[FrontProxy]:
    """Return the cache that follows the one ConfigMap."""
    return Informer(client, CONFIG_MAPS, parse_front_proxy, namespace=NAMESPACE, field_selector=f"metadata.name={NAME}")


def trust(informer: Informer[FrontProxy], ask_clients: Callable[[str], None]) -> None:
    """Have the server ask clients for certificates of the authority whenever it changes."""

    def follow(change: Any) -> None:
        if change.new is not None and (change.old is None or change.old.ca_pem != change.new.ca_pem):
            ask_clients(change.new.ca_pem)
            _log.info("front proxy is known", common_names=change.new.common_names)

    informer.subscribe(follow)


def user_of(proxy: FrontProxy | None, certificate: Mapping[str, Any] | None, headers: Mapping[str, str]) -> str | None:
    """Return whom a request is made for, None when it does not come from the front proxy.

    `certificate` is that of the connection as `ssl.SSLSocket.getpeercert` has it, verified against the authority already.
    """
    if proxy is None or not certificate:
        return None
    names = [value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"]
    if proxy.common_names and not set(names) & set(proxy.common_names):
        return None
    return next((headers[each] for each in proxy.username_headers if headers.get(each)), None)


def _texts(text: str) -> tuple[str, ...]:
    found = orjson.loads(text)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError(f"found {text[:80]!r}, a list of texts is required")
    return tuple(found)
