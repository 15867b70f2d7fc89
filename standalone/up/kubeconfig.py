"""The kubeconfig that `dns-api up` leaves in its data directory."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any, Final

import yaml

NAME: Final = "dns-api"


def write_kubeconfig(path: Path, url: str, *, ca_pem: bytes | None = None, token: str | None = None) -> None:
    """Write a kubeconfig for one API server, readable by its owner only; the file appears whole or not at all."""
    cluster: dict[str, Any] = {"server": url}
    if ca_pem is not None:
        cluster["certificate-authority-data"] = base64.b64encode(ca_pem).decode("ascii")
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": {"token": token} if token is not None else {}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    }
    temporary = path.with_suffix(".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        yaml.safe_dump(content, file, sort_keys=False)
    temporary.replace(path)
