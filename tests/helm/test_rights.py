"""Rights by switch, held to the letter: `rights/<case>.txt` is what a person reviews.

`UPDATE_RIGHTS=1 pytest tests/helm/test_rights.py` writes the files anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.helm.chart import NOTHING, PROVIDERS, names, one, only, render
from tests.helm.place import NAMESPACE
from tests.helm.rights import Right, rights_of

GOLDEN = Path(__file__).parent / "rights"
CASES = {
    "default": (),
    "nothing": NOTHING,
    "route53": only("route53"),
    "route53-without-conversion": (*only("route53"), "providers.route53.endpoint.conversionAPI.enabled=false"),
    "cloudflare": only("cloudflare"),
    "external": only("external"),
    "hosted": only("hosted"),
    "hosted-in-one-namespace": (*only("hosted"), "providers.hosted.server.watchNamespace=zones"),
    "without-webhook": ("webhook.service.enabled=false",),
    "gateways": (*NOTHING, "endpoint.gatewaySource.enabled=true"),
    "everything": (*only(*PROVIDERS), "endpoint.gatewaySource.enabled=true"),
}
SNAPSHOTS = "hosted.dns.appthrust.io"


def rights(account: str, *settings: str) -> frozenset[Right]:
    return rights_of(render(*settings), account)


@pytest.mark.parametrize("case", CASES)
def test_rights_are_the_reviewed_ones(case: str) -> None:
    lines = [
        f"{account}: {right}"
        for account in ("dns-api-manager", "dns-api-server")
        for right in sorted(map(str, rights(account, *CASES[case])))
    ]
    text = "".join(f"{line}\n" for line in lines)
    golden = GOLDEN / f"{case}.txt"
    if os.environ.get("UPDATE_RIGHTS"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("namespace", [None, "zones"])
def test_a_name_server_reads_snapshots_and_says_what_it_serves_and_nothing_else(namespace: str | None) -> None:
    setting = f"providers.hosted.server.watchNamespace={namespace or ''}"
    expected = {Right(SNAPSHOTS, "hostedzones", verb, namespace) for verb in ("get", "list", "watch")}
    expected.add(Right(SNAPSHOTS, "hostedzones/status", "patch", namespace))
    assert rights("dns-api-server", *only("hosted"), setting) == expected


def test_a_namespace_to_watch_is_given_by_a_role_there_to_the_account_of_the_release() -> None:
    manifests = render(*only("hosted"), "providers.hosted.server.watchNamespace=zones")
    (binding,) = (each for each in manifests if each["metadata"]["name"] == "dns-api-server" and "roleRef" in each)
    assert (binding["kind"], binding["metadata"]["namespace"]) == ("RoleBinding", "zones")
    assert binding["subjects"] == [{"kind": "ServiceAccount", "namespace": NAMESPACE, "name": "dns-api-server"}]
    assert not any(each["kind"] == "ClusterRole" and each["metadata"]["name"] == "dns-api-server" for each in manifests)


def test_only_cloudflare_reads_secrets() -> None:
    def verbs(*settings: str) -> set[str]:
        return {each.verb for each in rights("dns-api-manager", *settings) if each.resource == "secrets"}

    assert verbs(*only("cloudflare")) == {"get", "list", "watch"}
    assert verbs(*only("route53", "external", "hosted")) == set()


def test_the_manager_never_writes_what_servers_report() -> None:
    everything = rights("dns-api-manager", *CASES["everything"])
    assert not any(each.resource == "hostedzones/status" for each in everything)


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_that_is_off_leaves_no_right_behind(name: str) -> None:
    others = [each for each in PROVIDERS if each != name]
    assert not any(f"{name}.dns.appthrust.io" in each.group for each in rights("dns-api-manager", *only(*others)))


@pytest.mark.parametrize("case", CASES)
def test_no_right_is_a_wildcard_or_lets_its_owner_grow(case: str) -> None:
    for account in ("dns-api-manager", "dns-api-server"):
        for right in rights(account, *CASES[case]):
            assert "*" not in (right.group, right.resource, right.verb)
            assert right.verb not in {"escalate", "bind", "impersonate", "deletecollection"}
            assert right.group != "rbac.authorization.k8s.io"


def test_people_get_nothing_unless_it_is_said() -> None:
    assert names(render(*CASES["everything"]), "ClusterRole") == {"dns-api-manager", "dns-api-server"}


def test_people_write_claims_by_the_roles_of_the_cluster_and_neither_policy_nor_what_the_product_keeps() -> None:
    manifests = render("people.aggregateClusterRoles=true", *only("hosted"))
    writes: dict[str, set[str]] = {}
    for each in ("view", "edit", "admin"):
        role = one(manifests, "ClusterRole", f"dns-api-{each}")
        to = {key.rpartition("-to-")[2] for key in role["metadata"]["labels"] if "/aggregate-to-" in key}
        assert to == {"view": {"view", "edit", "admin"}, "edit": {"edit", "admin"}, "admin": {"admin"}}[each]
        verbs = {(name, verb) for rule in role["rules"] for name in rule["resources"] for verb in rule["verbs"]}
        writes[each] = {name for name, verb in verbs if verb not in ("get", "list", "watch")}
        assert "*" not in {word for pair in verbs for word in pair}
    edited = {"recordsets", "recordwithdrawals", "endpointrecordsets"}
    assert writes == {"view": set(), "edit": edited, "admin": {"zones"}}
    assert "hostedzones" not in str(
        [each["rules"] for each in render("people.aggregateClusterRoles=true") if "rules" in each]
    )
