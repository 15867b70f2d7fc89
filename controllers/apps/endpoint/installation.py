"""What a cluster needs to find the conversion APIs: one APIService each, in front of the managers' webhook Service.

Never talks to an API.
"""

from __future__ import annotations

from typing import Any, Final

from controllers.api.endpoint_conversion import CONVERSION_PLURAL, EndpointConversion

NAMESPACE: Final = "dns-api-system"
SERVICE: Final = "dns-api-webhook-service"
SERVICE_PORT: Final = 443
CERTIFICATE: Final = "dns-api-webhook"
GROUP_PRIORITY: Final = 1000
VERSION_PRIORITY: Final = 15


def api_service(conversion: EndpointConversion, namespace: str = NAMESPACE) -> dict[str, Any]:
    """Return the APIService (apiregistration.k8s.io/v1); cert-manager fills in the authority, as the annotation asks."""
    ref = conversion.resource
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {
            "name": f"{ref.version}.{ref.group}",
            "annotations": {"cert-manager.io/inject-ca-from": f"{namespace}/{CERTIFICATE}"},
        },
        "spec": {
            "group": ref.group,
            "version": ref.version,
            "groupPriorityMinimum": GROUP_PRIORITY,
            "versionPriority": VERSION_PRIORITY,
            "service": {"namespace": namespace, "name": SERVICE, "port": SERVICE_PORT},
        },
    }


def conversion_rule(conversion: EndpointConversion) -> dict[str, Any]:
    """Return the RBAC rule that lets the manager ask the API."""
    return {"apiGroups": [conversion.resource.group], "resources": [CONVERSION_PLURAL], "verbs": ["create"]}
