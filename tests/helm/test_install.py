"""`helm install`, `upgrade` and `uninstall` of the chart against an API server.

By default the embedded one, with the kinds that it lacks added; DNS_API_KUBE_URL and DNS_API_KUBE_TOKEN aim this at a real one:
`python -m tests.cluster DIRECTORY tests/helm/test_install.py`.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from standalone.apiserver.kinds.builtin import BUILT_IN
from standalone.apiserver.server import ApiServer
from standalone.resource import Resource
from tests.helm.chart import EVERYTHING, NOTHING, PROVIDERS, Manifest, names, only, render
from tests.helm.gate import own_loop
from tests.helm.place import BIN, CHART, KUSTOMIZE, NAMESPACE
from tests.helm.test_consistency import ROWS, rendered
from tests.standalone.kubectl.command import Command

REAL_URL = os.environ.get("DNS_API_KUBE_URL", "")
REAL_TOKEN = os.environ.get("DNS_API_KUBE_TOKEN", "")
FURTHER = (
    ("apps", "Deployment", "deployments", True),
    ("policy", "PodDisruptionBudget", "poddisruptionbudgets", True),
    ("networking.k8s.io", "NetworkPolicy", "networkpolicies", True),
    ("rbac.authorization.k8s.io", "Role", "roles", True),
    ("rbac.authorization.k8s.io", "RoleBinding", "rolebindings", True),
    ("rbac.authorization.k8s.io", "ClusterRole", "clusterroles", False),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings", False),
)
FOREIGN = (
    ("cert-manager.io", "Certificate", "certificates"),
    ("cert-manager.io", "Issuer", "issuers"),
    ("monitoring.coreos.com", "ServiceMonitor", "servicemonitors"),
    ("monitoring.coreos.com", "PrometheusRule", "prometheusrules"),
)


def further_kind(group: str, kind: str, plural: str, namespaced: bool) -> Resource:
    """Return a kind that the embedded API does not have by itself, with any content."""
    return Resource(
        group=group,
        version="v1",
        plural=plural,
        singular=kind.lower(),
        kind=kind,
        list_kind=f"{kind}List",
        namespaced=namespaced,
    )


def foreign_definition(group: str, kind: str, plural: str) -> dict[str, object]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [version],
        },
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Address and token of the API server."""
    if REAL_URL:
        yield REAL_URL, REAL_TOKEN
        return
    with pytest.MonkeyPatch.context() as patch, own_loop() as loop:
        patch.setattr("standalone.registry.BUILT_IN", (*BUILT_IN, *(further_kind(*each) for each in FURTHER)))
        api = ApiServer(tmp_path_factory.mktemp("api"))
        asyncio.run_coroutine_threadsafe(api.start(), loop).result(30)
        yield api.url, ""
        asyncio.run_coroutine_threadsafe(api.stop(), loop).result(30)


@pytest.fixture(scope="module")
def home(server: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    url, token = server
    folder = tmp_path_factory.mktemp("home")
    configuration = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url, "insecure-skip-tls-verify": url.startswith("https")}}],
        "users": [{"name": "test", "user": {"token": token} if token else {}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }
    (folder / "kubeconfig").write_text(json.dumps(configuration), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def kubectl(home: Path) -> Command:
    command = Command(BIN / "kubectl", home)
    foreign = [foreign_definition(*each) for each in FOREIGN]
    command.ok("apply", "-f", "-", stdin=yaml.safe_dump_all(foreign))
    wanted = [f"crd/{each['metadata']['name']}" for each in foreign]  # type: ignore[index] # manifests are untyped
    command.ok("wait", "--for=condition=Established", *wanted, "--timeout=20s")
    return command


@pytest.fixture
def chart(tmp_path: Path) -> str:
    """The chart for a server of any version: one that was built from modules does not know its own."""
    copy = shutil.copytree(CHART, tmp_path / "dns-api")
    lines = (copy / "Chart.yaml").read_text(encoding="utf-8").splitlines()
    (copy / "Chart.yaml").write_text("\n".join(line for line in lines if not line.startswith("kubeVersion")))
    return str(copy)


def sets(settings: tuple[str, ...]) -> list[str]:
    return [f"--set={each}" for each in settings]


def test_a_release_with_everything_is_installed_and_removed(home: Path, kubectl: Command, chart: str) -> None:
    helm = Command(BIN / "helm", home, NAMESPACE)
    said = helm.ok("install", "dns-api", chart, "--create-namespace", "--timeout=25s", *sets(EVERYTHING))
    assert "Providers: cloudflare, external, hosted, route53" in said

    manifests = render(*EVERYTHING)
    for kind in sorted({each["kind"] for each in manifests}):
        plural = f"{kind}".lower()
        found = kubectl.json("get", plural, "-A")["items"]
        assert names(manifests, kind) <= {each["metadata"]["name"] for each in found}, kind

    # No manager runs, so a webhook that were asked about what stays the same would fail this.
    helm.ok("upgrade", "dns-api", chart, "--timeout=25s", "--set=manager.replicas=3", *sets(EVERYTHING))
    assert kubectl.within(NAMESPACE).json("get", "deployment", "dns-api-manager")["spec"]["replicas"] == 3

    assert helm.ok("uninstall", "dns-api", "--timeout=25s") == 'release "dns-api" uninstalled\n'
    assert kubectl.ok("get", "providers,validatingwebhookconfigurations", "-o", "name") == ""
    assert "zones.dns.appthrust.io" in kubectl.ok("get", "crd", "-o", "name"), "definitions stay, and claims with them"


@pytest.mark.skipif(not REAL_URL, reason="only a real server judges what the kinds of the cluster may say")
def test_a_real_server_takes_whatever_any_two_choices_render(kubectl: Command) -> None:
    """Each different object once; all of them in one dry run, which leaves nothing behind."""
    for namespace in {NAMESPACE, "zones"} - set(
        kubectl.ok("get", "namespaces", "-o", "name").replace("namespace/", "").split()
    ):
        kubectl.ok("create", "namespace", namespace)
    made = {json.dumps(each) for row in (*ROWS, EVERYTHING) for each in rendered(row)}
    items = [each for each in map(json.loads, sorted(made)) if "appthrust" not in each["apiVersion"]]
    assert len(items) > 200
    dry = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-")
    done = kubectl.run(*dry, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert done.code == 0, done.stderr  # a warning is none: externalIPs are going out of fashion


@pytest.mark.skipif(not REAL_URL, reason="only a real server judges pods by the level of their namespace")
def test_pods_that_stay_off_the_node_fit_the_level_restricted(kubectl: Command) -> None:
    kubectl.ok("create", "namespace", "restricted")
    kubectl.ok("label", "namespace", "restricted", "pod-security.kubernetes.io/enforce=restricted")
    dry = ("create", "--dry-run=server", "--validate=false", "-f", "-")
    judged = 0
    for text in {json.dumps(pod) for row in (*ROWS, EVERYTHING) for pod in _pods(rendered(row))}:
        done = kubectl.within("restricted").run(*dry, stdin=text)
        judged += 1
        assert (done.code != 0) is ("hostPort" in text or "hostNetwork" in text), done.stderr
        assert done.code == 0 or 'violates PodSecurity "restricted:latest": host' in done.stderr
    assert judged > 20


def _pods(manifests: list[Manifest]) -> Iterator[Manifest]:
    """Yield what Deployments make, alone in their namespace."""
    for each in manifests:
        if each["kind"] == "Deployment":
            spec = {**each["spec"]["template"]["spec"], "serviceAccountName": "default"}
            yield {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "pod-"}, "spec": spec}


@pytest.mark.skipif(
    bool(REAL_URL), reason="a real server asks the webhook about changed Providers, and no manager runs here"
)
def test_a_switch_turned_off_takes_its_objects_and_rights_along(home: Path, kubectl: Command, chart: str) -> None:
    helm = Command(BIN / "helm", home, NAMESPACE)
    helm.ok("install", "dns-api", chart, "--create-namespace", "--timeout=25s", *sets(EVERYTHING))
    off = ("providers.hosted.enabled=false", "providers.external.enabled=false")
    helm.ok("upgrade", "dns-api", chart, "--timeout=25s", *sets((*EVERYTHING, *off)))

    providers = kubectl.ok("get", "providers", "-o", "name").split()
    assert [each.rpartition("/")[2] for each in providers] == [
        "cloudflare.dns.appthrust.io",
        "route53.dns.appthrust.io",
    ]
    rules = kubectl.json("get", "clusterrole", "dns-api-manager")["rules"]
    assert "hosted.dns.appthrust.io" not in {group for rule in rules for group in rule["apiGroups"]}
    assert kubectl.within(NAMESPACE).fails("get", "deployment", "dns-api-server")
    helm.ok("uninstall", "dns-api", "--timeout=25s")


@pytest.mark.skipif(bool(REAL_URL), reason="a real server asks the webhook about Zones, and no manager runs here")
def test_zones_outlive_every_change_of_switches_and_the_release_itself(
    home: Path, kubectl: Command, chart: str
) -> None:
    """Also what is published in our own name servers: snapshots stay while their provider is off."""
    helm, here = Command(BIN / "helm", home, NAMESPACE), kubectl.within("default")
    kept = ("zone/kept", "zoneunit/kept", "hostedzone/kept")
    helm.ok("install", "dns-api", chart, "--create-namespace", "--timeout=25s", *sets(EVERYTHING))
    here.ok("apply", "--validate=false", "-f", "-", stdin=yaml.safe_dump_all(_zone_and_what_follows()))
    before = _identities(here, *kept)
    for settings in ((), only("cloudflare"), NOTHING, (*only("hosted"), "webhook.service.enabled=true"), EVERYTHING):
        helm.ok("upgrade", "dns-api", chart, "--timeout=25s", "--reset-values", *sets(settings))
        assert _identities(here, *kept) == before, settings
    helm.ok("uninstall", "dns-api", "--timeout=25s")
    assert _identities(here, *kept) == before
    said = helm.ok("install", "dns-api", chart, "--timeout=25s", *sets(EVERYTHING))
    assert _identities(here, *kept) == before
    _obey_notes(said, home, chart)
    assert _identities(here, *kept) == before, "definitions were written anew over those that are there"
    helm.ok("uninstall", "dns-api", "--timeout=25s")
    here.ok("delete", *kept, "--timeout=25s")


def test_a_kustomization_comes_after_its_definitions_and_goes_without_them(kubectl: Command) -> None:
    definitions, overlay = str(KUSTOMIZE / "default" / "definitions"), str(KUSTOMIZE / "everything")
    kubectl.ok("apply", "--server-side", "--force-conflicts", "-f", definitions)
    kubectl.ok("wait", "--for=condition=Established", "-f", definitions, "--timeout=25s")
    kubectl.ok("apply", "--server-side", "-k", overlay)
    assert len(kubectl.ok("get", "providers", "-o", "name").split()) == len(PROVIDERS)
    kubectl.ok("delete", "-k", overlay, "-l", "app.kubernetes.io/name=dns-api", "--timeout=25s")
    assert kubectl.ok("get", "providers,validatingwebhookconfigurations", "-o", "name") == ""
    assert kubectl.within(NAMESPACE).ok("get", "deployments,services,serviceaccounts", "-o", "name") in (
        "",
        "serviceaccount/default\n",
    )


def _zone_and_what_follows() -> Iterator[dict[str, object]]:
    metadata = {"namespace": "default", "name": "kept"}
    provider = {"name": "hosted.dns.appthrust.io", "version": "v1alpha1"}
    zone = {"domainName": "kept.example", "zoneClassRef": {"name": "hosted"}, "provider": provider}
    yield {"apiVersion": "dns.appthrust.io/v1alpha1", "kind": "Zone", "metadata": metadata, "spec": zone}
    composed = {**zone, "zoneClassRef": {"namespace": "default", "name": "hosted"}, "observedGeneration": 1}
    unit = {"zone": {"ref": {"namespace": "default", "name": "kept"}, **composed}, "provider": provider}
    yield {"apiVersion": "dns.appthrust.io/v1alpha1", "kind": "ZoneUnit", "metadata": metadata, "spec": unit}
    page = {"zone": "kept", "digest": f"sha256:{'0' * 64}", "recordSets": []}
    yield {
        "apiVersion": "hosted.dns.appthrust.io/v1alpha1",
        "kind": "HostedZone",
        "metadata": metadata,
        "spec": {"page": page},
    }


def _identities(kubectl: Command, *things: str) -> list[str]:
    return [kubectl.ok("get", each, "-o", "jsonpath={.metadata.uid}/{.metadata.deletionTimestamp}") for each in things]


def _obey_notes(notes: str, home: Path, chart: str) -> None:
    """Do what the notes say about definitions, as a person pastes it."""
    (line,) = (each.strip() for each in notes.splitlines() if "helm show crds" in each)
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "KUBECONFIG": str(home / "kubeconfig")}
    command = line.replace("CHART", shlex.quote(chart))
    done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("serverside-applied") == len(list((CHART / "crds").iterdir()))
