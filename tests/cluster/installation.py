"""The rendered chart on a control plane, and what its programs are started with.

Plays those parts of a cluster that are not there: cert-manager (certificates and who trusts them, as the rendered Certificates and
annotations say) and the endpoint controller. Applies what the chart renders as it is; a person with every right does it.
"""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.cluster.control_plane import ControlPlane
from tests.controllers.apps.gateway_api import definitions as gateway_definitions
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.helm.chart import PROVIDERS, Manifest, container, one, only, render
from tests.helm.place import BIN, CHART, NAMESPACE
from tests.helm.rights import Right, rights_of
from tests.standalone.kubectl.command import Command
from tests.tools import kubectl as binaries

SETTINGS: Final = (*only(*PROVIDERS), "endpoint.gatewaySource.enabled=true")
WEBHOOK: Final = "dns-api-webhook"
WEBHOOK_SERVICE: Final = "dns-api-webhook-service"
SERVER_SERVICE: Final = "dns-api-server"
ADMISSION: Final = "ValidatingWebhookConfiguration"
INJECTED: Final = "cert-manager.io/inject-ca-from"
FOREIGN: Final = ("cert-manager.io/", "monitoring.coreos.com/")


class Installation:
    """The chart with all providers and sources on one control plane."""

    def __init__(self, plane: ControlPlane, settings: Iterable[str] = SETTINGS) -> None:
        binaries.install(BIN)
        self.plane = plane
        self.manifests = render(*settings)
        self.kubectl = Command(BIN / "kubectl", plane.folder)
        self.authority = Authority()
        self.certificates = ServingPair(plane.folder / "webhook")
        self.certificates.directory.mkdir()
        names = one(self.manifests, "Certificate", WEBHOOK)["spec"]["dnsNames"]
        self.authority.write(self.certificates, 2, *names)

    def install(self) -> None:
        """Apply definitions, and everything else but admission; apply again what is there already."""
        self.kubectl.ok("apply", "--server-side", "-f", str(CHART / "crds"))
        self._apply(gateway_definitions())
        self.kubectl.ok("wait", "--for=condition=Established", "crd", "--all", "--timeout=25s")
        self._apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}])
        self._apply(each for each in self.manifests if each["kind"] != ADMISSION)

    def grant(self) -> None:
        """Apply the ServiceAccounts and their rights, for programs that come without the rest."""
        self._apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}])
        self._apply(each for each in self.manifests if each["kind"] == "ServiceAccount" or is_of_rights(each))

    def admit(self) -> None:
        """Have the API server ask the webhooks, as the chart's configuration says."""
        self._apply(each for each in self.manifests if each["kind"] == ADMISSION)

    def rights(self, account: str) -> frozenset[Right]:
        return rights_of(self.manifests, account)

    def announce_webhooks(self, *ports: int) -> None:
        """Say which managers answer the webhook Service, all of them on this host; the API server takes any of them."""
        if not ports:
            self.kubectl.ok("delete", "endpointslices", "-n", NAMESPACE, "-l", _selector(WEBHOOK_SERVICE))
        for number, port in enumerate(ports):
            slice_ = endpoint_slice(
                WEBHOOK_SERVICE, f"{WEBHOOK_SERVICE}-{number}", {"webhook": port}, f"manager-{number}"
            )
            self._apply([slice_])

    def manager_words(self, name: str, webhook_port: int | None, *, api_port: int | None = None) -> list[str]:
        """Return the rendered arguments of a manager, with places of this machine instead of those of a pod.

        It reaches the API by another port when one is given, and answers no webhooks without a port for them.
        """
        places = {
            "--webhook-cert-dir": None if webhook_port is None else str(self.certificates.directory),
            "--webhook-listen": None if webhook_port is None else f"{host_address()}:{webhook_port}",
            "--metrics-listen": None,
        }
        return self._words("manager", name, places, api_port)

    def server_words(self, name: str, dns_port: int, http_port: int, cache: Path) -> list[str]:
        """Return the rendered arguments of a name server, likewise."""
        places = {
            "--name": name,
            "--listen": f"127.0.0.1:{dns_port}",
            "--http": f"127.0.0.1:{http_port}",
            "--cache-dir": str(cache),
            "--drain-delay": "0",
        }
        return self._words("server", name, places, None)

    def _words(self, component: str, name: str, places: Mapping[str, str | None], api_port: int | None) -> list[str]:
        words = []
        for each in container(self.manifests, component)["args"]:
            option = each.partition("=")[0]
            if option not in places:
                words.append(each)
            elif (place := places[option]) is not None:
                words.append(f"{option}={place}")
        kubeconfig = self.plane.folder / f"{name}.kubeconfig"
        token = self.plane.account_token(NAMESPACE, f"dns-api-{component}")
        self.plane.write_kubeconfig(kubeconfig, token, api_port)
        return [*words, f"--kubeconfig={kubeconfig}"]

    def _apply(self, manifests: Iterable[Mapping[str, Any]]) -> None:
        kept = [self._trusting(dict(each)) for each in manifests if not each["apiVersion"].startswith(FOREIGN)]
        applied = ("apply", "--server-side", "--force-conflicts", "-f", "-")
        self.kubectl.ok(*applied, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": kept}))

    def _trusting(self, manifest: Manifest) -> Manifest:
        """Do what cert-manager's injector does."""
        if INJECTED not in manifest["metadata"].get("annotations", {}):
            return manifest
        bundle = base64.b64encode(self.authority.pem).decode()
        copy: Manifest = json.loads(json.dumps(manifest))
        if copy["kind"] == ADMISSION:
            for each in copy["webhooks"]:
                each["clientConfig"]["caBundle"] = bundle
        else:
            copy["spec"]["caBundle"] = bundle
        return copy


def is_of_rights(manifest: Mapping[str, Any]) -> bool:
    return str(manifest["apiVersion"]).startswith("rbac.authorization.k8s.io/")


def endpoint_slice(service: str, name: str, ports: Mapping[str, int], pod: str, protocol: str = "TCP") -> Manifest:
    """Return the endpoint of one pod of a Service."""
    reference = {"kind": "Pod", "namespace": NAMESPACE, "name": pod}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"namespace": NAMESPACE, "name": name, "labels": {"kubernetes.io/service-name": service}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [host_address()], "conditions": {"ready": True}, "targetRef": reference}],
        "ports": [{"name": key, "port": port, "protocol": protocol} for key, port in ports.items()],
    }


def host_address() -> str:
    """Return an address of this host that is not of the loopback: a real API takes none of those for an endpoint."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("198.51.100.1", 53))  # sends nothing
        return str(probe.getsockname()[0])


def _selector(service: str) -> str:
    return f"kubernetes.io/service-name={service}"
