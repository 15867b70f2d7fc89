"""What is there before the product starts, and what no admission judged.

In a cluster that happens when the webhook is not installed yet, or when objects were put back from a backup.
"""

from __future__ import annotations

from typing import Any

from controllers.api.group import HOSTED_ZONES, NAMESPACES, PROVIDERS, ZONE_UNITS
from kube.client import Client
from tests.product.claim import CONTROLLER, PROVIDER, ZONE, ZONE_CLASS, manifest, zone, zone_class
from tests.product.contract.ledger import item, ledger
from tests.product.contract.other_provider import version
from tests.product.contract.row import WWW, row
from tests.product.stage import REFS, Stage

NAMESPACE, PAGE_LOST = "around-admission", "page-lost"
MORE_REFS = {**REFS, "ZoneUnit": ZONE_UNITS, "HostedZone": HOSTED_ZONES}
TWO_STORAGES = {"name": "two.contract.test", "version": "v1"}
NAMELESS = "of-no-class"


async def write(client: Client) -> None:
    """Have the claims in an API that no product has been started on."""
    spec = {"display": {"name": "Two"}, "versions": [version(), version("v2")]}
    await client.create(PROVIDERS, manifest("Provider", TWO_STORAGES["name"], spec))
    for namespace, objects in ((NAMESPACE, _claims()), (PAGE_LOST, _zone_with_a_page_lost())):
        await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        for each in objects:
            each["metadata"]["namespace"] = namespace
            await client.create(MORE_REFS[each["kind"]], each)


def _claims() -> list[dict[str, Any]]:
    record_set = WWW.manifest()
    record_set["spec"]["provider"] = TWO_STORAGES
    undecided = zone("two.test")
    undecided["spec"]["provider"] = TWO_STORAGES
    nameless = zone("nameless.test", NAMELESS, zone_class="Not a name")
    spec = {"provider": PROVIDER, "controllerName": CONTROLLER, "parameters": {"what": 1}}
    return [undecided, nameless, record_set, manifest("ZoneClass", ZONE_CLASS, spec)]


def _zone_with_a_page_lost() -> list[dict[str, Any]]:
    """A snapshot of which a page is missing, and a record that has to stay as it was served: nobody knows how that was."""
    lost = {**item(PAGE_LOST, "lost"), "name": "lost", "allowed": False}
    unit = ledger(PAGE_LOST, item(PAGE_LOST, WWW.name), lost, domain="page-lost.test")
    digest = f"sha256:{'0' * 64}"
    spec = {
        "domainName": "page-lost.test",
        "serial": 1,
        "digest": digest,
        "pages": [{"name": f"{ZONE}.{'0' * 16}", "digest": digest}],
    }
    snapshot = {
        "apiVersion": HOSTED_ZONES.api_version,
        "kind": "HostedZone",
        "metadata": {"name": ZONE},
        "spec": spec,
    }
    return [unit, snapshot, zone_class(), zone("page-lost.test"), WWW.manifest()]


async def written_before(stage: Stage) -> None:
    """Nothing is left to do: the claims were there when the product was started."""


AROUND_ADMISSION = [
    row(
        written_before,
        "ZoneClass Accepted=False InvalidParameters",
        "Zone Accepted=Unknown ProviderStorageVersionNotResolved",
        "RecordSet Accepted=Unknown ProviderStorageVersionNotResolved",
        namespace=NAMESPACE,
    ),
    row(written_before, "Zone Accepted=False InvalidZoneClassRef", namespace=NAMESPACE, Zone=NAMELESS),
    row(
        written_before,
        "Zone Programmed=False ReconcileError",
        "RecordSet Programmed=False ReconcileError",
        namespace=PAGE_LOST,
    ),
]
