"""`dns-api doctor` on a cluster: what the chart gives is enough, and what is taken away is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Cli
from tests.cluster.control_plane import ControlPlane
from tests.cluster.installation import Installation
from tests.helm.place import NAMESPACE

Found = dict[tuple[str, str], list[tuple[str, str]]]


@pytest.fixture(scope="module")
def installed(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """The chart on a control plane, on which none of its programs runs."""
    plane = ControlPlane(programs, tmp_path_factory.mktemp("plane"))
    try:
        plane.start()
        installation = Installation(plane)
        installation.install()
        installation.admit()
        yield installation
    finally:
        plane.stop()


def examined(installed: Installation) -> Found:
    """Return what a person with every right is told: results and messages by check and subject."""
    cli = Cli({"KUBECONFIG": str(installed.plane.kubeconfig), "HOME": str(installed.plane.folder)})
    found: Found = {}
    for each in json.loads(cli.run("doctor", "-o", "json").stdout)["findings"]:
        found.setdefault((each["check"], each["subject"]), []).append((each["result"], each["message"]))
    return found


def test_accounts_have_what_doctor_asks_for_and_managers_that_do_not_answer_are_told(installed: Installation) -> None:
    found = examined(installed)
    assert {results[0][0] for (check, _), results in found.items() if check in ("definitions", "providers")} == {"ok"}
    for account in ("dns-api-manager", "dns-api-server"):
        ((result, _),) = found["rights", f"{NAMESPACE}/{account}"]
        assert result == "ok", found["rights", f"{NAMESPACE}/{account}"]
    assert found["webhook", f"{NAMESPACE}/dns-api-webhook-service"] == [("failed", "no manager is ready to answer")]
    assert found["admission", "webhook"][0][0] == "failed"
    assert found["webhook", "apiservices/v1alpha1.endpoint.hosted.dns.appthrust.io"][0][0] == "failed"
    assert found["manager", f"{NAMESPACE}/dns-api-manager"] == [("failed", "no manager has ever led here")]


def test_a_role_that_lacks_something_is_told(installed: Installation) -> None:
    role = installed.kubectl.json("get", "clusterrole", "dns-api-manager")
    role["rules"] = [each for each in role["rules"] if each["resources"] != ["secrets"]]
    installed.kubectl.ok("replace", "-f", "-", stdin=json.dumps(role))
    assert [message for _, message in examined(installed)["rights", f"{NAMESPACE}/dns-api-manager"]] == [
        "it may not get secrets",
        "it may not list secrets",
        "it may not watch secrets",
    ]
