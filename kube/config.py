"""Finds out which API server to talk to and as whom: kubeconfig files and in-cluster service accounts.

The configuration formats, credential plugins and TLS set-up are those of `kubernetes.aio`, which stays inside this
module. Never sends a request to the API server.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from kubernetes.aio.client import Configuration
from kubernetes.aio.client.rest import RESTClientObject
from kubernetes.aio.config import ConfigException, incluster_config, kube_config

from kube.access import Access
from kube.client import Client
from kube.errors import ConfigError
from kube.transport import Warn

HOME_KUBECONFIG: Final = Path(".kube/config")
_HOST_VARIABLE: Final = "KUBERNETES_SERVICE_HOST"
_PORT_VARIABLE: Final = "KUBERNETES_SERVICE_PORT"

# both modules are untyped
_in_cluster: Any = incluster_config
_kubeconfig: Any = kube_config


@dataclass(frozen=True, slots=True)
class KubeconfigFiles:
    """Kubeconfig files that are merged, first one first, as `kubectl` merges those of KUBECONFIG."""

    paths: tuple[Path, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class InCluster:
    """The service account of the pod we run in."""


def connect(
    kubeconfig: Path | None = None,
    context: str | None = None,
    *,
    field_manager: str = "dns-api",
    timeout_s: float = 30.0,
    environ: Mapping[str, str] = os.environ,
    warn: Warn | None = None,
) -> Client:
    """A client, to be used in `async with`, for the first of these that exists: `kubeconfig`, the files of the
    environment variable KUBECONFIG, the service account of our pod, `~/.kube/config`.

    `context` chooses within a kubeconfig; its current context is the default. Raises ConfigError when there is none,
    saying what was tried; entering the client raises it when the chosen one cannot be used. `warn` gets the server's warnings,
    which are logged otherwise.
    """
    source = find_source(kubeconfig, environ)
    if isinstance(source, InCluster):
        if context:
            raise ConfigError(f"context: found {context!r}, but in a cluster without a kubeconfig there are none")

        async def load() -> Access:
            return await _load_in_cluster(environ)

    else:

        async def load() -> Access:
            return await _load_kubeconfig(source, context)

    return Client(load, field_manager=field_manager, timeout_s=timeout_s, warn=warn)


def find_source(kubeconfig: Path | None, environ: Mapping[str, str]) -> KubeconfigFiles | InCluster:
    """Which configuration counts. Raises ConfigError when there is none."""
    if kubeconfig is not None:
        if not kubeconfig.is_file():
            raise ConfigError(f"kubeconfig: found no file at {kubeconfig}")
        return KubeconfigFiles((kubeconfig,), str(kubeconfig))
    tried = ["no kubeconfig was named"]
    if listed := environ.get("KUBECONFIG", ""):
        paths = tuple(Path(path).expanduser() for path in listed.split(os.pathsep) if path)
        if existing := tuple(path for path in paths if path.is_file()):
            return KubeconfigFiles(existing, f"KUBECONFIG={listed}")
        tried.append(f"KUBECONFIG={listed} names no file that exists")
    else:
        tried.append("KUBECONFIG is not set")
    if environ.get(_HOST_VARIABLE) and environ.get(_PORT_VARIABLE):
        return InCluster()
    tried.append(f"not in a pod ({_HOST_VARIABLE} and {_PORT_VARIABLE} are not set)")
    home = Path(environ.get("HOME") or Path.home()) / HOME_KUBECONFIG
    if home.is_file():
        return KubeconfigFiles((home,), str(home))
    tried.append(f"{home} does not exist")
    raise ConfigError("found no API server to talk to: " + "; ".join(tried))


async def _load_in_cluster(environ: Mapping[str, str]) -> Access:
    async def load() -> Any:
        configuration: Any = Configuration()
        try:
            _in_cluster.InClusterConfigLoader(
                _in_cluster.SERVICE_TOKEN_FILENAME, _in_cluster.SERVICE_CERT_FILENAME, environ=environ
            ).load_and_set(configuration)
        except (ConfigException, OSError) as error:
            raise ConfigError(f"service account of the pod: {error}") from error
        return configuration

    credentials = _Credentials(await load(), load)
    try:
        return _access(credentials)
    except OSError as error:  # includes ssl.SSLError
        raise ConfigError(f"service account of the pod: {error}") from error


async def _load_kubeconfig(source: KubeconfigFiles, context: str | None) -> Access:
    async def load() -> Any:
        configuration: Any = Configuration(host="")
        files = os.pathsep.join(str(path) for path in source.paths)
        try:
            loader = await _kubeconfig.load_kube_config(files, context, configuration, persist_config=False)
        # the library meets a broken file with whatever its first wrong step raises
        except (ConfigException, OSError, yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise ConfigError(f"kubeconfig {source.origin}: {error or type(error).__name__}") from error
        if not configuration.host:
            raise ConfigError(f"kubeconfig {source.origin}: the cluster of the context has no server")
        _require_plugin_result(loader, configuration, source.origin)
        return configuration

    credentials = _Credentials(await load(), load)
    try:
        return _access(credentials)
    except OSError as error:  # includes ssl.SSLError
        raise ConfigError(f"kubeconfig {source.origin}: certificate files cannot be used: {error}") from error


def _require_plugin_result(loader: Any, configuration: Any, origin: str) -> None:
    """Refuse silence: the library logs the failure of a credential plugin and goes on without credentials."""
    user = loader._user
    if user is not None and "exec" in user and not configuration.api_key and not configuration.cert_file:
        command = user["exec"].safe_get("command")
        raise ConfigError(f"kubeconfig {origin}: the credential plugin {command!r} gave neither token nor certificate")


class _Credentials:
    """The Authorization header of a configuration.

    On renewal the token of a pod, or a kubeconfig, is read again, and its plugin run: also before the time at which the
    library would do so by a clock that may have been set back.
    """

    def __init__(self, configuration: Any, reload: Callable[[], Awaitable[Any]]) -> None:
        self.configuration = configuration
        self._reload = reload

    async def authorization(self) -> str | None:
        try:
            settings = await self.configuration.auth_settings()
        except (ConfigException, OSError) as error:
            raise ConfigError(f"service account token: {error}") from error
        value = settings.get("BearerToken", {}).get("value")
        return value.strip() if value else None

    async def renew(self) -> bool:
        refused = await self.authorization()
        self.configuration = await self._reload()
        return await self.authorization() != refused


def _access(credentials: _Credentials) -> Access:
    configuration = credentials.configuration
    tls = configuration.host.startswith("https:")
    return Access(
        url=configuration.host,
        ssl_context=RESTClientObject(configuration).ssl_context if tls else None,
        tls_server_name=configuration.tls_server_name if tls else None,
        proxy=configuration.proxy,
        proxy_headers=configuration.proxy_headers,
        authorization=credentials.authorization,
        renew=credentials.renew,
    )
