"""The life of a release by `helm`, as docs/backup-and-upgrade.md has it, while zones are served.

Manager and name server run beside the papers that helm changes; tests play cert-manager and, when the release is gone, the kubelet.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import dns.message
import dns.query
import pytest
import yaml

from tests.cluster.control_plane import ControlPlane
from tests.cluster.installation import ADMISSION, INJECTED, Installation
from tests.cluster.product import ClusterProduct
from tests.helm.chart import helm, only
from tests.helm.place import BIN, CHART, NAMESPACE, ROOT
from tests.helm.test_install import FOREIGN, foreign_definition
from tests.standalone.kubectl.command import Command

SETTINGS: Final = only("hosted")
KEPT: Final = ("zone/example.com", "recordset/apex-a.example.com", "zoneunit/example.com", "hostedzone/example.com")
LATER: Final = "zones.dns.appthrust.io"
"""The definition of which the older chart has another version."""


class Release(Installation):
    """The chart by `helm install`; cert-manager's injector comes after it, as in a cluster."""

    def __init__(self, plane: ControlPlane) -> None:
        super().__init__(plane, SETTINGS)
        self.chart = for_any_server(CHART, plane.folder / "chart")
        self.older = older(self.chart, plane.folder / "older")
        self.helm = Command(BIN / "helm", plane.folder, NAMESPACE)

    def install(self) -> None:
        self._apply(foreign_definition(*each) for each in FOREIGN)
        self._apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}])
        self.kubectl.ok("wait", "--for=condition=Established", "crd", "--all", "--timeout=25s")
        self.put(self.older)

    def admit(self) -> None:
        """Have cert-manager say whom to trust, in what it finds annotated."""
        for kind in (ADMISSION, "APIService"):
            for each in self.kubectl.json("get", kind)["items"]:
                if INJECTED in each["metadata"].get("annotations", {}):
                    trusting = self._trusting(each)
                    self.kubectl.ok("replace", "-f", "-", stdin=json.dumps(trusting))

    def put(self, chart: Path) -> None:
        self.helm.ok("install", "dns-api", str(chart), "--timeout=25s", *(f"--set={each}" for each in SETTINGS))


def for_any_server(chart: Path, target: Path) -> Path:
    """Copy the chart; a server that was built from modules may not know its own version."""
    shutil.copytree(chart, target)
    metadata = yaml.safe_load((target / "Chart.yaml").read_text(encoding="utf-8"))
    del metadata["kubeVersion"]
    (target / "Chart.yaml").write_text(yaml.safe_dump(metadata), encoding="utf-8")
    return target


def older(chart: Path, target: Path) -> Path:
    """Copy the chart as an earlier version that had a property and a column less."""
    shutil.copytree(chart, target)
    path = target / "crds" / f"{LATER}.yaml"
    definition = yaml.safe_load(path.read_text(encoding="utf-8"))
    version = definition["spec"]["versions"][0]
    version["additionalPrinterColumns"].pop()
    del version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["adoption"]
    path.write_text(yaml.safe_dump(definition), encoding="utf-8")
    return target


@pytest.fixture(scope="module")
def installed(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ClusterProduct, Release]]:
    """A product in a release of the older chart."""
    made: list[Release] = []

    def install(plane: ControlPlane) -> Release:
        made.append(Release(plane))
        return made[0]

    product = ClusterProduct(tmp_path_factory.mktemp("release"), programs, installation=install)
    try:
        product.start()
        yield product, made[0]
    finally:
        product.stop()
    assert product.complaints() == ""


def definition(kubectl: Command) -> Any:
    version = kubectl.json("get", "crd", LATER)["spec"]["versions"][0]
    return version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def states(kubectl: Command) -> list[Any]:
    """Who the objects are, and what was wanted of the first two; the ledger and what is served grow with each claim."""
    found = [kubectl.json("get", each)["metadata"] for each in KEPT]
    wanted = [kubectl.json("get", each)["spec"] for each in KEPT[:2]]
    return [[(each["uid"], each.get("finalizers"), each.get("deletionTimestamp")) for each in found], wanted]


def answered(product: ClusterProduct) -> int:
    query = dns.message.make_query("example.com", "A")
    return len(dns.query.udp(query, product.dns.host, 10, product.dns.port).answer)


def test_zones_live_through_upgrade_rollback_removal_and_another_install(
    installed: tuple[ClusterProduct, Release],
) -> None:
    product, release = installed
    kubectl = release.kubectl.within("default")
    kubectl.ok("apply", "-f", str(ROOT / "examples" / "hosted"))
    kubectl.ok("wait", "--for=condition=Programmed", *KEPT[:2], "--timeout=60s")
    before = states(kubectl)
    assert "adoption" not in definition(kubectl)
    assert answered(product) == 1

    upgrade(release)
    assert "adoption" in definition(kubectl)
    assert deployment(release)["spec"]["replicas"] == 3
    assert_no_drift(release, "manager.replicas=3")
    assert_goes_on(product, kubectl, before, "upgraded")

    release.helm.ok("rollback", "dns-api", "1", "--timeout=25s")
    assert deployment(release)["spec"]["replicas"] == 2
    assert "adoption" in definition(kubectl), "definitions are never taken back: objects may have what they brought"
    assert_goes_on(product, kubectl, before, "rolled-back")

    release.helm.ok("uninstall", "dns-api", "--timeout=25s")
    product.end_programs()
    assert states(kubectl) == before
    release.kubectl.ok("delete", "namespace", NAMESPACE, "--timeout=60s")
    release.kubectl.ok("create", "namespace", NAMESPACE)
    kubectl.ok("annotate", "zone/example.com", "example.com/note=nobody is asked about it")

    release.put(release.chart)
    product.join()
    product.start_programs()
    assert_goes_on(product, kubectl, before, "installed-again")
    kubectl.ok("delete", "recordset,zone", "--all", "--timeout=60s")


def upgrade(release: Release) -> None:
    """Follow docs/backup-and-upgrade.md."""
    crds = helm("show", "crds", str(release.chart)).stdout
    release.kubectl.ok("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=crds)
    words = ("--reset-then-reuse-values", "--set=manager.replicas=3", "--timeout=25s")
    release.helm.ok("upgrade", "dns-api", str(release.chart), *words)


def assert_no_drift(release: Release, *settings: str) -> None:
    """What a GitOps tool would render and apply is what is there, defaults of the API server and cert-manager's part included."""
    words = [f"--set={each}" for each in (*SETTINGS, *settings)]
    rendered = helm("template", "dns-api", str(release.chart), "-n", NAMESPACE, "--include-crds", *words).stdout
    done = release.kubectl.run("diff", "--server-side", "--force-conflicts", "-f", "-", stdin=rendered)
    assert (done.code, done.stdout) == (0, ""), done


def deployment(release: Release) -> Any:
    return release.kubectl.within(NAMESPACE).json("get", "deployment", "dns-api-manager")


def assert_goes_on(product: ClusterProduct, kubectl: Command, before: list[Any], name: str) -> None:
    """What was there is as it was, admission is still trusted and asked, and what is new gets published."""
    assert states(kubectl) == before
    wrong = claim(name, "192.0.2.999")
    assert "192.0.2.999" in kubectl.run("apply", "-f", "-", stdin=wrong).stderr
    kubectl.ok("apply", "-f", "-", stdin=claim(name, "192.0.2.1"))
    kubectl.ok("wait", "--for=condition=Programmed", f"recordset/{name}", "--timeout=60s")
    assert answered(product) == 1


def claim(name: str, address: str) -> str:
    provider = {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"}
    spec = {"zoneRef": {"name": "example.com"}, "provider": provider, "type": "A", "name": name, "ttl": 60}
    return json.dumps(
        {
            "apiVersion": "dns.appthrust.io/v1alpha1",
            "kind": "RecordSet",
            "metadata": {"name": name},
            "spec": {**spec, "a": {"addresses": [address]}},
        }
    )
