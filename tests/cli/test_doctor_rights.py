"""`dns-api doctor` asks for every right that the rendered chart gives, of the ServiceAccounts that are to have them."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from cli.doctor.finding import Finding, Result
from cli.doctor.rights import examine_rights, switches_of
from controllers.rights import manager_rights, server_rights
from kube.client import Client
from tests.helm.chart import container, one, only, render
from tests.helm.place import NAMESPACE
from tests.helm.rights import Right, rights_of
from tests.helm.test_rights import CASES
from tests.kube.fake_api import FakeApi, Request, refuse
from tests.kube.fake_api_fixtures import api, client

__all__ = ["api", "client"]

DEPLOYMENTS = "/apis/apps/v1/deployments"
REVIEWS = "/apis/authorization.k8s.io/v1"
SETTINGS = (*only("hosted", "cloudflare"), "providers.hosted.server.watchNamespace=zones")
ACCOUNTS = ("dns-api-manager", "dns-api-server")


class Authorizer:
    """Answers reviews by the rights that rendered roles give, to oneself as to the manager."""

    def __init__(self) -> None:
        self.rights = {account: set(rights_of(render(*SETTINGS), account)) for account in ACCOUNTS}
        self.tells_of_others = True

    def answer(self, request: Request) -> web.StreamResponse | None:
        if not request.path.startswith(REVIEWS):
            return None
        spec = request.body["spec"]
        user = spec.get("user", f"system:serviceaccount:{NAMESPACE}:dns-api-manager")
        if "user" in spec and not self.tells_of_others:
            return refuse(403, "Forbidden", "may not create subjectaccessreviews")
        place, _, account = user.rpartition(":")
        assert place == f"system:serviceaccount:{NAMESPACE}"
        allowed = any(each.covers(_asked(spec["resourceAttributes"])) for each in self.rights[account])
        return web.json_response({**request.body, "status": {"allowed": allowed}}, status=201)


def _asked(attributes: dict[str, str]) -> Right:
    resource = "/".join(filter(None, (attributes["resource"], attributes.get("subresource"))))
    group, verb = attributes.get("group", ""), attributes["verb"]
    return Right(group, resource, verb, attributes.get("namespace"), attributes.get("name"))


@pytest.fixture
def authorizer(api: FakeApi) -> Authorizer:
    found = Authorizer()
    api.fault(found.answer)
    return found


def install(api: FakeApi, *components: str) -> None:
    for each in components:
        api.put(DEPLOYMENTS, one(render(*SETTINGS), "Deployment", f"dns-api-{each}"))


async def examined(client: Client) -> list[Finding]:
    return [each async for each in examine_rights(client, NAMESPACE)]


@pytest.mark.parametrize("case", CASES)
def test_what_doctor_asks_for_is_what_the_chart_gives(case: str) -> None:
    manifests = render(*CASES[case])
    words = container(manifests, "manager")["args"]
    needed = {str(each) for each in manager_rights(switches_of(words), NAMESPACE)}
    assert needed == {str(each) for each in rights_of(manifests, "dns-api-manager")}


@pytest.mark.parametrize(("case", "namespace"), [("hosted", ""), ("hosted-in-one-namespace", "zones")])
def test_so_it_is_for_name_servers(case: str, namespace: str) -> None:
    given = rights_of(render(*CASES[case]), "dns-api-server")
    assert {str(each) for each in server_rights(namespace)} == {str(each) for each in given}


async def test_accounts_with_the_rights_of_the_chart_are_well(
    api: FakeApi, client: Client, authorizer: Authorizer
) -> None:
    install(api, "manager", "server")
    findings = await examined(client)
    assert [(each.subject, each.result) for each in findings] == [
        (f"{NAMESPACE}/dns-api-manager", Result.OK),
        (f"{NAMESPACE}/dns-api-server", Result.OK),
    ]


async def test_each_right_that_is_missing_is_told_of_whom_it_is_missing(
    api: FakeApi, client: Client, authorizer: Authorizer
) -> None:
    install(api, "manager", "server")
    authorizer.rights["dns-api-manager"].remove(
        Right("coordination.k8s.io", "leases", "update", NAMESPACE, "dns-api-manager")
    )
    authorizer.rights["dns-api-manager"].remove(Right("", "secrets", "watch"))
    authorizer.rights["dns-api-server"].remove(Right("hosted.dns.appthrust.io", "hostedzones/status", "patch", "zones"))
    missing = [(each.subject, each.message) for each in await examined(client) if each.result is Result.FAILED]
    assert missing == [
        (f"{NAMESPACE}/dns-api-manager", "it may not watch secrets"),
        (
            f"{NAMESPACE}/dns-api-manager",
            f"it may not update leases.coordination.k8s.io dns-api-manager in {NAMESPACE}",
        ),
        (f"{NAMESPACE}/dns-api-server", "it may not patch hostedzones/status.hosted.dns.appthrust.io in zones"),
    ]


async def test_without_the_right_to_ask_about_others_nothing_is_claimed(
    api: FakeApi, client: Client, authorizer: Authorizer
) -> None:
    install(api, "manager")
    authorizer.tells_of_others = False
    (finding,) = await examined(client)
    assert (finding.result, finding.remedy) == (
        Result.SKIPPED,
        "run it as somebody who may create subjectaccessreviews",
    )


async def test_without_deployments_whoever_asks_is_examined_for_the_providers_that_are_there(
    api: FakeApi, client: Client, authorizer: Authorizer
) -> None:
    for each in render(*SETTINGS):
        if each["kind"] == "Provider":
            api.put("/apis/dns.appthrust.io/v1alpha1/providers", each)
        elif each["kind"] == "EndpointProviderCapability":
            api.put("/apis/endpoint.dns.appthrust.io/v1alpha1/endpointprovidercapabilities", each)
    (finding,) = await examined(client)
    assert (finding.subject, finding.result) == ("these credentials", Result.OK)
    authorizer.rights["dns-api-manager"].remove(Right("discovery.k8s.io", "endpointslices", "list", NAMESPACE))
    (finding,) = await examined(client)
    assert (finding.result, finding.message) == (
        Result.WARNING,
        f"they may not list endpointslices.discovery.k8s.io in {NAMESPACE}",
    )


@pytest.mark.parametrize(
    ("words", "providers"),
    [
        (["manager"], {"route53", "cloudflare"}),
        (["manager", "--hosted-controller-enabled", "--no-route53-controller-enabled"], {"hosted", "cloudflare"}),
        (["--route53-controller-enabled=0", "--cloudflare-controller-enabled=F"], set()),
        (["--route53-controller-enabled=false", "--route53-controller-enabled=true"], {"route53", "cloudflare"}),
    ],
)
def test_switches_are_read_as_the_manager_reads_them(words: list[str], providers: set[str]) -> None:
    assert switches_of(words).providers == providers


def test_a_review_asks_about_everything_that_a_right_names() -> None:
    """A Lease by its name in its namespace: a role that gives this one and no other is enough."""
    asked: list[Any] = [each for each in manager_rights(switches_of([]), NAMESPACE) if each.resource == "leases"]
    assert {(each.verb, each.namespace, each.name) for each in asked} == {
        ("create", NAMESPACE, ""),
        ("get", NAMESPACE, "dns-api-manager"),
        ("update", NAMESPACE, "dns-api-manager"),
    }
