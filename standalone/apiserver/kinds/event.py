"""Events (v1 and events.k8s.io/v1): that an event lies where the object lies that it is about.

Owns this one rule.
"""

from __future__ import annotations

from standalone.apiserver.kinds.kind import Kind, Writing
from standalone.schema.fault import Fault, invalid

DEFAULT_NAMESPACE = "default"


def _judge(writing: Writing) -> list[Fault]:
    """Events about cluster-scoped objects lie in the default namespace or kube-system."""
    subject = "involvedObject" if writing.obj["apiVersion"] == "v1" else "regarding"
    about = (writing.obj.get(subject) or {}).get("namespace", "")
    namespace = writing.obj["metadata"]["namespace"]
    if about and about != namespace:
        return [invalid(f"{subject}.namespace", about, "does not match event.namespace")]
    if not about and namespace not in (DEFAULT_NAMESPACE, "kube-system"):
        return [invalid(f"{subject}.namespace", about, "does not match event.namespace")]
    return []


KIND = Kind(judge=_judge)
