"""What `dns-api up` is told at its start. Never reads flags or files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from controllers.apps.registry import AppsConfig
from controllers.ledger.registration import EnabledProvider

SYSTEM_NAMESPACE: Final = "dns-api-system"
SERVER_SERVICE: Final = "dns-api-server"
SERVER_NAME: Final = "dns-api-up"
FIELD_MANAGER: Final = "dns-api-up"


@dataclass(frozen=True, slots=True)
class UpConfig:
    """`manifests` are files and folders that are applied and watched, `tsig_keys` those of TSIG keys.

    `api` and `dns` are (address, port), port 0 for a free one.
    """

    data_dir: Path
    manifests: tuple[Path, ...] = ()
    api: tuple[str, int] = ("127.0.0.1", 6443)
    dns: tuple[str, int] = ("127.0.0.1", 5353)
    http: tuple[str, int] | None = None
    tsig_keys: tuple[Path, ...] = ()
    demo: bool = False
    providers: tuple[EnabledProvider, ...] = ()
    apps: AppsConfig = field(default_factory=AppsConfig)

    @property
    def kubeconfig(self) -> Path:
        return self.data_dir / "kubeconfig"
