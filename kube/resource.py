"""`ResourceRef`: which collection of an API server is meant, and the URL paths below it.

Never discovers anything: the caller states group, version and plural.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class ResourceRef:
    """One served resource; `group` is empty for the core API."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The value of `apiVersion` in the manifests of this resource."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str | None = None) -> str:
        """Absolute, percent-encoded URL path of a collection, of an object (`name`) or of its subresource.

        Without `namespace` the path of a namespaced resource spans all namespaces, which the API offers for
        collections only. Raises ValueError when the parts do not fit together.
        """
        if namespace and not self.namespaced:
            raise ValueError(f"namespace: found {namespace!r}, but {self.plural} is cluster scoped and allows none")
        if name and self.namespaced and not namespace:
            raise ValueError(f"namespace: missing, {self.plural} {name!r} is namespaced")
        if subresource and not name:
            raise ValueError(f"name: missing, subresource {subresource!r} belongs to one {self.kind}")
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=""))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)
