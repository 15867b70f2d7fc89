"""What exists from the first start on: the namespaces that every cluster has.

Owns their names. Never touches what is already there.
"""

from __future__ import annotations

from standalone.apiserver.api import Api
from standalone.apiserver.create import create
from standalone.apiserver.kinds.builtin import NAMESPACE
from standalone.apiserver.option import WriteOptions
from standalone.apiserver.target import ADMIN, Target

NAMESPACES = ("default", "kube-system", "kube-public")


async def ensure_namespaces(api: Api) -> None:
    """Create the standard namespaces that are missing."""
    for name in NAMESPACES:
        target = Target(NAMESPACE, name=name)
        if api.store.get(target.key) is None:
            obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            await create(api, Target(NAMESPACE), obj, WriteOptions(manager="kube-apiserver"), ADMIN)
