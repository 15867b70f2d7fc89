"""What the product's ServiceAccounts asked a kube-apiserver for, from its audit log (audit.k8s.io/v1, level Metadata).

Logs of all control planes of a run are kept in the folder that DNS_API_KUBE_AUDIT names.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.helm.place import NAMESPACE
from tests.helm.rights import Right

USER: Final = f"system:serviceaccount:{NAMESPACE}:"
WRITES: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a component; a watch is one from its beginning on."""

    account: str
    right: Right
    code: int
    at: str

    @property
    def is_write(self) -> bool:
        """Whether it may have changed what etcd holds; questions to conversion APIs are POSTs that change nothing."""
        return self.right.verb in WRITES and not self.right.resource.endswith("conversions") and self.code < 400


def asked(log: Path) -> Iterator[Asked]:
    """Yield every request that a log tells of, in order, once."""
    seen: set[str] = set()
    if not log.exists():
        return
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if event["auditID"] in seen or not event["user"]["username"].startswith(USER):
                continue
            reference = event.get("objectRef")
            if reference is None or "resource" not in reference:
                continue  # discovery, which everybody may read
            seen.add(event["auditID"])
            yield Asked(
                event["user"]["username"].removeprefix(USER),
                _right(event["verb"], reference),
                event.get("responseStatus", {}).get("code", 0),
                event["requestReceivedTimestamp"],
            )


def used(requests: Iterable[Asked]) -> Iterator[tuple[str, Right]]:
    """Yield the rights that requests needed; an apply that makes its object needs the right to create it, too."""
    for each in requests:
        right = each.right
        yield each.account, right
        if right.verb == "patch" and each.code == 201:
            yield each.account, Right(right.group, right.resource, "create", right.namespace)


def fresh_log() -> Path | None:
    """Return where the next control plane of this run writes its log; None when nobody collects them."""
    folder = os.environ.get("DNS_API_KUBE_AUDIT")
    return Path(folder) / f"{secrets.token_hex(4)}.log" if folder else None


def _right(verb: str, reference: dict[str, Any]) -> Right:
    subresource = reference.get("subresource")
    resource = f"{reference['resource']}/{subresource}" if subresource else reference["resource"]
    return Right(
        reference.get("apiGroup", ""), resource, verb, reference.get("namespace") or None, reference.get("name") or None
    )
