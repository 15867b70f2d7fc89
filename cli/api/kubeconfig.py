"""Which API the daily commands talk to: finds kubeconfig files and reads the plain ones.

A plain one names a server and, at most, its certificate authority and a token, as the one of `dns-api up` does. Client certificates,
credential plugins and the service account of a pod are left to `kube.config`, which takes longer to load than a command takes to run.
Never sends a request.
"""

from __future__ import annotations

import base64
import binascii
import os
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from kube.access import Access, with_token
from kube.errors import ConfigError
from kube.quantity import kind_of

UP_KUBECONFIG: Final = Path(".dns-api/kubeconfig")
HOME_KUBECONFIG: Final = Path(".kube/config")
_POD: Final = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
_PLAIN_CLUSTER: Final = frozenset({"server", "certificate-authority-data"})
_PLAIN_USER: Final = frozenset({"token"})


@dataclass(frozen=True, slots=True)
class Files:
    """Kubeconfig files that are merged, the first one first; `origin` says why they count."""

    paths: tuple[Path, ...]
    origin: str
    of_up: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """What a context of kubeconfig files says; `access` is None when it is not plain."""

    server: str
    namespace: str
    access: Access | None


def find_files(kubeconfig: Path | None, environ: Mapping[str, str], folder: Path) -> Files | None:
    """Return the first of: `kubeconfig`, the files of KUBECONFIG, that of `dns-api up` in `folder`, the one at home.

    Returns None in a pod that has none of the first three: its service account counts. Raises ConfigError when there is nothing
    at all, and when a file was named that does not exist: going on would act on an API that nobody meant.
    """
    if kubeconfig is not None:
        if not _is_file(kubeconfig):
            raise ConfigError(f"--kubeconfig: found no file at {kubeconfig}")
        return Files((kubeconfig,), f"--kubeconfig {kubeconfig}")
    if listed := environ.get("KUBECONFIG", ""):
        named = tuple(Path(path).expanduser() for path in listed.split(os.pathsep) if path)
        existing = tuple(path for path in named if _is_file(path))
        if not existing:
            raise ConfigError(f"KUBECONFIG: found no file at {listed}; unset it or name one that exists")
        return Files(existing, f"KUBECONFIG={listed}")
    if _is_file(folder / UP_KUBECONFIG):
        return Files((folder / UP_KUBECONFIG,), f"{UP_KUBECONFIG} of `dns-api up`", of_up=True)
    if all(environ.get(name) for name in _POD):
        return None
    home = Path(environ.get("HOME") or Path.home()) / HOME_KUBECONFIG
    if _is_file(home):
        return Files((home,), str(home))
    tried = (
        f"--kubeconfig and KUBECONFIG are not given, there is neither {UP_KUBECONFIG} nor {home}, and this is no pod"
    )
    raise ConfigError(f"found no API: {tried}\n  start one here with `dns-api up`, or name one with --kubeconfig")


def _is_file(path: Path) -> bool:
    """Whether there is a file; raises ConfigError where nobody lets us look."""
    try:
        return path.is_file()
    except OSError as error:
        raise ConfigError(f"kubeconfig {path}: cannot be read: {error.strerror}") from error


def read(files: Files, context: str | None) -> View:
    """Read the context, by default the current one. Raises ConfigError, which names the file and the field."""
    documents = [_document(path) for path in files.paths]
    current = context or next((name for each in documents if (name := each.get("current-context"))), None)
    if not current:
        raise ConfigError(f"kubeconfig {files.origin}: current-context is missing; name one with --context")
    chosen = _entry(documents, "contexts", "context", current, files)
    cluster = _entry(documents, "clusters", "cluster", chosen.get("cluster"), files)
    user = _entry(documents, "users", "user", chosen["user"], files) if chosen.get("user") else {}
    server = cluster.get("server")
    if not isinstance(server, str) or not server.startswith(("http://", "https://")):
        wanted = "http://HOST:PORT or https://HOST:PORT is required"
        raise ConfigError(
            f"kubeconfig {files.origin}: cluster {chosen.get('cluster')!r}: server: found {server!r}, {wanted}"
        )
    plain = cluster.keys() <= _PLAIN_CLUSTER and user.keys() <= _PLAIN_USER
    return View(server, chosen.get("namespace") or "default", _access(server, cluster, user, files) if plain else None)


def _document(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except OSError as error:
        raise ConfigError(f"kubeconfig {path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"kubeconfig {path}: is not UTF-8 text (octet {error.start})") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"kubeconfig {path}: is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"kubeconfig {path}: found {kind_of(content)}, a mapping is required")
    return content


def _entry(documents: Sequence[dict[str, Any]], field: str, inner: str, name: object, files: Files) -> dict[str, Any]:
    entries = [
        each
        for document in documents
        for each in document.get(field) or ()
        if isinstance(each, dict) and "name" in each
    ]
    for each in entries:
        if each["name"] == name and isinstance(each.get(inner), dict):
            found: dict[str, Any] = each[inner]
            return found
    known = ", ".join(sorted(str(each["name"]) for each in entries)) or "none"
    raise ConfigError(f"kubeconfig {files.origin}: {field}: found no {name!r}, there are: {known}")


def _access(server: str, cluster: Mapping[str, Any], user: Mapping[str, Any], files: Files) -> Access:
    context = _trust(cluster.get("certificate-authority-data"), files) if server.startswith("https:") else None
    token = user.get("token")
    return with_token(server, str(token), context) if token else Access(server, context)


def _trust(authority: object, files: Files) -> ssl.SSLContext:
    if not authority:
        return ssl.create_default_context()
    try:
        return ssl.create_default_context(cadata=base64.b64decode(str(authority), validate=True).decode("ascii"))
    except (binascii.Error, UnicodeDecodeError, ssl.SSLError) as error:
        raise ConfigError(
            f"kubeconfig {files.origin}: certificate-authority-data: holds no certificate: {error}"
        ) from error
