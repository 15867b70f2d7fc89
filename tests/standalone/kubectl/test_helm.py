"""helm: a chart with a custom resource and a ConfigMap goes in, changes and goes out again."""

import json
from pathlib import Path

import pytest

from tests.standalone.kubectl.command import Command

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: tiny\nversion: 0.1.0\n",
    "values.yaml": "replicas: 1\nmotto: first\n",
    "templates/crontab.yaml": """\
apiVersion: stable.example.com/v1
kind: CronTab
metadata:
  name: {{ .Release.Name }}
  labels: {app.kubernetes.io/managed-by: {{ .Release.Service }}}
spec:
  schedule: "0 3 * * *"
  replicas: {{ .Values.replicas }}
""",
    "templates/configmap.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  motto: {{ .Values.motto }}
  known: {{ .Capabilities.APIVersions.Has "stable.example.com/v1/CronTab" | quote }}
""",
}


WITH_DEFINITION = {
    "Chart.yaml": "apiVersion: v2\nname: gadgets\nversion: 0.1.0\n",
    "crds/gadgets.yaml": """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.net}
spec:
  group: example.net
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, description: How big it is.}
""",
    "templates/gadget.yaml": """\
apiVersion: example.net/v1
kind: Gadget
metadata: {name: "{{ .Release.Name }}"}
spec: {size: 3}
""",
}


def write_chart(root: Path, content: dict[str, str]) -> str:
    for name, text in content.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return str(root)


@pytest.fixture(scope="session")
def chart(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The directory of a small chart."""
    return write_chart(tmp_path_factory.mktemp("chart"), CHART)


def test_a_release_is_installed_upgraded_rolled_back_and_removed(helm: Command, kubectl: Command, chart: str) -> None:
    installed = helm.ok("install", "demo", chart)
    assert "STATUS: deployed" in installed
    assert kubectl.json("get", "ct", "demo")["spec"]["replicas"] == 1
    assert kubectl.json("get", "configmap", "demo")["data"] == {"motto": "first", "known": "true"}
    (release,) = json.loads(helm.ok("list", "-o", "json"))
    assert (release["name"], release["status"], release["revision"]) == ("demo", "deployed", "1")

    assert "REVISION: 2" in helm.ok("upgrade", "demo", chart, "--set", "replicas=4", "--set", "motto=second")
    assert kubectl.json("get", "ct", "demo")["spec"]["replicas"] == 4
    assert kubectl.json("get", "configmap", "demo")["data"]["motto"] == "second"

    assert "Rollback was a success" in helm.ok("rollback", "demo", "1")
    assert kubectl.json("get", "ct", "demo")["spec"]["replicas"] == 1
    assert len(json.loads(helm.ok("history", "demo", "-o", "json"))) == 3

    assert helm.ok("uninstall", "demo") == 'release "demo" uninstalled\n'
    assert kubectl.ok("get", "ct,configmap,secret", "-o", "name") == ""


def test_a_release_waits_for_its_objects(helm: Command, kubectl: Command, chart: str) -> None:
    assert "STATUS: deployed" in helm.ok("upgrade", "--install", "patient", chart, "--wait", "--timeout", "25s")
    assert "STATUS: deployed" in helm.ok("status", "patient")
    assert "kind: CronTab" in helm.ok("get", "manifest", "patient")
    assert "uninstalled" in helm.ok("uninstall", "patient", "--wait", "--timeout", "25s")
    assert kubectl.ok("get", "ct", "-o", "name") == ""


def test_a_refused_object_fails_the_release_with_the_servers_words(helm: Command, chart: str) -> None:
    complaint = helm.fails("install", "wrong", chart, "--set", "replicas=99")
    assert "spec.replicas" in complaint
    assert "should be less than or equal to 10" in complaint


def test_a_chart_brings_its_definitions_and_uses_them_at_once(helm: Command, kubectl: Command, tmp_path: Path) -> None:
    chart = write_chart(tmp_path, WITH_DEFINITION)
    assert "STATUS: deployed" in helm.ok("install", "first", chart, "--timeout", "25s")
    assert kubectl.json("get", "gadget", "first")["spec"] == {"size": 3}
    assert "STATUS: deployed" in helm.ok("upgrade", "first", chart, "--timeout", "25s")
    assert helm.ok("uninstall", "first") == 'release "first" uninstalled\n'
    assert kubectl.ok("get", "gadgets", "-o", "name") == ""


def test_a_dry_run_on_the_server_installs_nothing(helm: Command, kubectl: Command, chart: str) -> None:
    assert "kind: CronTab" in helm.ok("install", "dry", chart, "--dry-run=server")
    assert kubectl.ok("get", "ct,configmap,secret", "-o", "name") == ""
    assert json.loads(helm.ok("list", "-o", "json")) == []
