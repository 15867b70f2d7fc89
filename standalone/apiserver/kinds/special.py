"""Which built-in kinds have hooks, by the group and plural they are stored under.

Owns this table only.
"""

from __future__ import annotations

from collections.abc import Mapping

from standalone.apiserver.kinds import definition, event, namespace, secret, service
from standalone.apiserver.kinds.kind import Kind

SPECIAL: Mapping[tuple[str, str], Kind] = {
    ("", "configmaps"): secret.CONFIG_MAP,
    ("", "events"): event.KIND,
    ("", "namespaces"): namespace.KIND,
    ("", "secrets"): secret.SECRET,
    ("", "services"): service.KIND,
    ("apiextensions.k8s.io", "customresourcedefinitions"): definition.KIND,
}
