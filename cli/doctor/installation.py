"""Is the installation whole: definitions, Providers, admission and the manager's Lease.

Owns what belongs to an installation and what to do when it is not there. Writes nothing: admission is asked by a dry run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cli.doctor.finding import INSTALL, Finding, failed, ok, skipped, unanswered, warning
from controllers.api.group import API_VERSION, PROVIDERS, ZONE_CLASSES, ZONES
from controllers.manager import LEASE_NAME
from controllers.manifests import definitions, manifests
from kube.client import Client
from kube.errors import Forbidden, Invalid, KubeError, NotFound
from kube.lease import LEASES
from kube.resource import ResourceRef

DEFINITIONS: Final = ResourceRef(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
PROBE: Final = "dns-api-doctor"
CLOCKS_S: Final = 45.0
"""What clocks of different machines may differ by."""


async def examine_definitions(client: Client) -> AsyncIterator[Finding]:
    """Yield how the served definitions compare with those that this program was made with."""
    try:
        listed = {each["metadata"]["name"]: each for each in (await client.list(DEFINITIONS)).items}
    except Forbidden as error:
        yield skipped("definitions", "all", error.message, "run it as somebody who may list CustomResourceDefinitions")
        return
    for wanted in definitions():
        name = wanted["metadata"]["name"]
        found = listed.get(name)
        if found is None:
            yield failed("definitions", name, "it is not there", INSTALL)
        elif not _is_established(found):
            yield failed("definitions", name, "the API server has not established it", f"kubectl describe crd {name}")
        elif missing := _versions(wanted) - _versions(found):
            yield failed("definitions", name, f"it lacks {', '.join(sorted(missing))}", INSTALL)
        elif _schemas(found, _versions(wanted)) != _schemas(wanted, _versions(wanted)):
            yield warning("definitions", name, "its schema is not the one that this program was made with", INSTALL)
        else:
            yield ok("definitions", name, f"{', '.join(sorted(_versions(wanted)))}, as this program has it")


async def examine_providers(client: Client) -> AsyncIterator[Finding]:
    """Yield which Providers are there, and those that classes name in vain."""
    there = {each["metadata"]["name"] for each in (await client.list(PROVIDERS)).items}
    named: set[str] = set()
    try:
        named = {each["spec"]["provider"]["name"] for each in (await client.list(ZONE_CLASSES)).items}
    except KubeError as error:
        yield unanswered("providers", "zoneclasses", error)
    shipped = {each["metadata"]["name"] for each in manifests() if each["kind"] == PROVIDERS.kind}
    for name in sorted(shipped | there | named):
        if name in there:
            yield ok("providers", name, "it is there")
        elif name in named:
            remedy = "enable it (helm upgrade … --set providers.NAME.enabled=true), or correct spec.provider: kubectl get zoneclasses -A"
            yield failed("providers", name, "a ZoneClass names it and it is not there", remedy)
        else:
            yield skipped("providers", name, "it is not installed, and nobody names it", "")


async def examine_admission(client: Client, namespace: str) -> Finding:
    """Say whether claims are judged: a Zone that no rule allows is created in a dry run, which must be refused."""
    about = ("admission", "webhook")
    metadata = {"name": PROBE, "namespace": namespace}
    bad = {"apiVersion": API_VERSION, "kind": ZONES.kind, "metadata": metadata, "spec": _BAD_ZONE}
    try:
        await client.create(ZONES, bad, dry_run=True)
    except Forbidden as error:
        if "domainName" in error.message:
            return ok(*about, "it answers, and refuses what is wrong")
        return skipped(*about, error.message, f"run it as somebody who may create zones in {namespace}")
    except Invalid:
        return ok(*about, "it answers, and refuses what is wrong")
    except NotFound as error:
        return skipped(*about, error.message, "name a namespace that is there with -n")
    except KubeError as error:
        remedy = (
            "see that managers are ready (kubectl get endpointslices -A -l kubernetes.io/service-name=dns-api-webhook-service), and that "
            "caBundle is the authority of the certificate that they serve: kubectl get validatingwebhookconfiguration dns-api -o yaml"
        )
        return failed(*about, error.message, remedy)
    remedy = "install the ValidatingWebhookConfiguration of the chart (webhook.service.enabled); without it faults show in conditions only"
    return warning(
        *about, "a Zone that no rule allows would be taken: nobody judges claims when they are written", remedy
    )


async def examine_lease(client: Client, namespace: str) -> Finding:
    """Say whether a manager leads."""
    about = ("manager", f"{namespace}/{LEASE_NAME}")
    remedy = f"see the manager's pods and logs: kubectl -n {namespace} get pods,leases"
    try:
        spec = (await client.get(LEASES, namespace=namespace, name=LEASE_NAME)).get("spec") or {}
    except NotFound:
        return failed(*about, "no manager has ever led here", remedy)
    except Forbidden as error:
        return skipped(*about, error.message, "run it as somebody who may read Leases there")
    holder, renewed = spec.get("holderIdentity"), spec.get("renewTime")
    if not holder or not renewed:
        return failed(*about, "no manager leads", remedy)
    age = datetime.now(UTC) - datetime.fromisoformat(renewed)
    if age > timedelta(seconds=spec.get("leaseDurationSeconds", 0) + CLOCKS_S):
        return failed(*about, f"{holder} has not renewed it for {age.total_seconds():.0f} s", remedy)
    return ok(*about, f"{holder} leads")


_BAD_ZONE: Final = {
    "domainName": "Not-A-Name.",
    "zoneClassRef": {"name": PROBE},
    "provider": {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"},
}


def _is_established(definition: Mapping[str, Any]) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Established", "True") for each in conditions)


def _versions(definition: Mapping[str, Any]) -> set[str]:
    return {each["name"] for each in definition["spec"]["versions"] if each.get("served")}


def _schemas(definition: Mapping[str, Any], names: set[str]) -> dict[str, object]:
    versions = definition["spec"]["versions"]
    return {each["name"]: each.get("schema") for each in versions if each["name"] in names}
