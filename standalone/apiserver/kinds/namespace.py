"""Namespaces (v1): phase, the finalizer in their spec, and the label that carries their name.

Owns what a Namespace looks like. Emptying a terminating one is not done here.
"""

from __future__ import annotations

from standalone.apiserver.kinds.kind import Kind, Writing

FINALIZER = "kubernetes"
FINALIZE = "finalize"
"""The subresource through which the finalizers in the spec are changed."""
TERMINATING = "Terminating"
NAME_LABEL = "kubernetes.io/metadata.name"


def _prepare(writing: Writing) -> None:
    """New namespaces become Active and finalizable; only termination and who finalizes change that."""
    obj, old = writing.obj, writing.old
    metadata = obj["metadata"]
    if metadata.get("name"):
        obj["metadata"] = {**metadata, "labels": {**(metadata.get("labels") or {}), NAME_LABEL: metadata["name"]}}
    if old is None:
        obj["spec"] = {"finalizers": [FINALIZER]}
        obj["status"] = {"phase": "Active"}
    elif writing.subresource != FINALIZE:
        obj["spec"] = old.get("spec", {})
    else:
        finalizers = (obj.get("spec") or {}).get("finalizers")
        obj["spec"] = {"finalizers": finalizers} if finalizers else {}


KIND = Kind(prepare=_prepare, immortal=frozenset({"default", "kube-public", "kube-system"}))
