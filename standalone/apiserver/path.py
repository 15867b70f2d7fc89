"""Resource paths of the Kubernetes API: which group, version, resource, namespace, name and subresource a URL means.

Pure parsing; never asks whether the resource exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote


@dataclass(frozen=True, slots=True)
class ResourcePath:
    """A parsed path below `/api/VERSION` or `/apis/GROUP/VERSION`; absent parts are ""."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def parse_path(raw_path: str) -> ResourcePath | None:
    """Read a percent-encoded path; None when it does not have the form of a resource path."""
    segments = [unquote(segment) for segment in raw_path.strip("/").split("/")]
    if segments[0] == "api":
        group, rest = "", segments[1:]
    elif segments[0] == "apis" and len(segments) > 1:
        group, rest = segments[1], segments[2:]
    else:
        return None
    if len(rest) < 2 or "" in rest:
        return None
    version, *rest = rest
    if rest[0] == "namespaces" and len(rest) > 2 and not (len(rest) == 3 and rest[2] in ("status", "finalize")):
        namespace, rest = rest[1], rest[2:]
    else:
        namespace = ""
    if len(rest) > 3:
        return None
    plural, name, subresource = (*rest, "", "")[:3]
    return ResourcePath(group, version, plural, namespace, name, subresource)
