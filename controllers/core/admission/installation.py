"""What a cluster needs to call the webhook: the ValidatingWebhookConfiguration, the Service in front of the managers, certificates.

Made from the hooks themselves, so that no place of admission is forgotten. Certificates are cert-manager's: a root that stays, and a
serving certificate below it that may be renewed at any moment without the API server noticing. Never talks to an API.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from controllers.core.admission.handler import Hook
from controllers.core.admission.server import PORT

NAMESPACE: Final = "dns-api-system"
SERVICE: Final = "dns-api-webhook-service"
SERVICE_PORT: Final = 443
CERTIFICATE: Final = "dns-api-webhook"
ROOT: Final = "dns-api-webhook-root"
SECRET: Final = "dns-api-webhook-tls"
CONFIGURATION: Final = "dns-api"
TIMEOUT_S: Final = 10
"""More than a request may take in the server, so that a late answer still is the server's own."""

MANAGER_LABELS: Final = {"app.kubernetes.io/name": "dns-api", "app.kubernetes.io/component": "manager"}
_CERT_MANAGER: Final = "cert-manager.io/v1"
_ROOT_VALIDITY: Final = "87600h0m0s"


def webhook_manifests(hooks: Iterable[Hook], namespace: str = NAMESPACE) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (file name, manifest), those first that others name."""
    self_signed: dict[str, Any] = {"selfSigned": {}}
    root = {
        "isCA": True,
        "commonName": ROOT,
        "duration": _ROOT_VALIDITY,
        "privateKey": {"algorithm": "ECDSA", "size": 256},
        "secretName": ROOT,
        "issuerRef": {"kind": "Issuer", "name": ROOT},
    }
    host = f"{SERVICE}.{namespace}.svc"
    serving = {
        "dnsNames": [host, f"{host}.cluster.local"],
        "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
        "secretName": SECRET,
        "issuerRef": {"kind": "Issuer", "name": CERTIFICATE},
    }
    yield "service.yaml", _service(namespace)
    yield "root-issuer.yaml", _manifest(_CERT_MANAGER, "Issuer", namespace, ROOT, self_signed)
    yield "root-certificate.yaml", _manifest(_CERT_MANAGER, "Certificate", namespace, ROOT, root)
    yield "issuer.yaml", _manifest(_CERT_MANAGER, "Issuer", namespace, CERTIFICATE, {"ca": {"secretName": ROOT}})
    yield "certificate.yaml", _manifest(_CERT_MANAGER, "Certificate", namespace, CERTIFICATE, serving)
    yield "configuration.yaml", validating_webhook_configuration(hooks, namespace)


def validating_webhook_configuration(hooks: Iterable[Hook], namespace: str = NAMESPACE) -> dict[str, Any]:
    """Return the ValidatingWebhookConfiguration (admissionregistration.k8s.io/v1) with one webhook for each hook.

    The authority that signs the serving certificate is filled in by cert-manager, as the annotation asks.
    """
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {
            "name": CONFIGURATION,
            "annotations": {"cert-manager.io/inject-ca-from": f"{namespace}/{CERTIFICATE}"},
        },
        "webhooks": [_webhook(hook, namespace) for hook in hooks],
    }


def _webhook(hook: Hook, namespace: str) -> dict[str, Any]:
    ref = hook.resource
    prefix = f"{ref.plural}-{hook.subresource}" if hook.subresource else ref.plural
    rule = {
        "apiGroups": [ref.group],
        "apiVersions": [ref.version],
        "operations": sorted(each.value for each in hook.operations),
        "resources": [f"{ref.plural}/{hook.subresource}" if hook.subresource else ref.plural],
        "scope": "Namespaced" if ref.namespaced else "Cluster",
    }
    service = {"namespace": namespace, "name": SERVICE, "port": SERVICE_PORT, "path": hook.path}
    return {
        "name": f"{prefix}.validate.{ref.group}",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": service},
        "rules": [rule],
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_S,
    }


def _service(namespace: str) -> dict[str, Any]:
    ports = [{"name": "webhook", "port": SERVICE_PORT, "targetPort": PORT, "protocol": "TCP"}]
    return _manifest("v1", "Service", namespace, SERVICE, {"selector": dict(MANAGER_LABELS), "ports": ports})


def _manifest(api_version: str, kind: str, namespace: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"namespace": namespace, "name": name}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
