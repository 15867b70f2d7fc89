"""May manager and name servers do what they must: each right that their switches need is asked of the API server.

Owns whom is asked about: the ServiceAccounts of the Deployments, where these can be read, else whoever runs the command. Changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cli.doctor.finding import Finding, failed, ok, skipped, warning
from cli.options.boolean_flag import switched
from controllers.api.endpoint import ENDPOINT_PROVIDER_CAPABILITIES
from controllers.api.group import PROVIDERS
from controllers.registry import REGISTRATIONS
from controllers.rights import Right, Switches, manager_rights, server_rights
from kube.client import Client
from kube.errors import Forbidden, NotFound, ResourceNotServed
from kube.resource import ResourceRef

DEPLOYMENTS: Final = ResourceRef("apps", "v1", "deployments", "Deployment")
_GROUP: Final = "authorization.k8s.io"
OF_OTHERS: Final = ResourceRef(_GROUP, "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False)
OF_ONESELF: Final = ResourceRef(_GROUP, "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False)
AT_A_TIME: Final = 8
_ROLES: Final = (
    "install the ClusterRoles, Roles and bindings of the chart with the same providers switched on: helm upgrade dns-api CHART "
    "--reuse-values"
)
_ELSEWHERE: Final = (
    "in a manager's pod: install the chart's ClusterRole; elsewhere these credentials are not for a manager"
)


@dataclass(frozen=True, slots=True)
class Program:
    """One Deployment: its ServiceAccount, and what its pods are told."""

    account: str
    words: tuple[str, ...]


async def examine_rights(client: Client, namespace: str) -> AsyncIterator[Finding]:
    """Yield which rights manager and name servers lack."""
    manager = await _program(client, namespace, "dns-api-manager")
    if manager is None:
        switches = await _installed(client)
        async for finding in _of_oneself(client, manager_rights(switches, namespace)):
            yield finding
        return
    async for finding in _of(client, namespace, manager, manager_rights(switches_of(manager.words), namespace)):
        yield finding
    server = await _program(client, namespace, "dns-api-server")
    if server is not None:
        async for finding in _of(client, namespace, server, server_rights(_served_namespace(server.words))):
            yield finding


def switches_of(words: Sequence[str]) -> Switches:
    """Return what a manager runs that is started with these words."""
    providers = frozenset(
        each.name for each in REGISTRATIONS if switched(words, f"{each.name}-controller-enabled", each.enabled)
    )
    converting = frozenset(name for name in providers if switched(words, f"{name}-endpoint-conversion-enabled", True))
    return Switches(
        providers=providers,
        converting=converting,
        services=switched(words, "service-source-enabled", True),
        gateways=switched(words, "gateway-source-enabled", False),
    )


def _served_namespace(words: Sequence[str]) -> str:
    return next((each.removeprefix("--namespace=") for each in words if each.startswith("--namespace=")), "")


async def _program(client: Client, namespace: str, name: str) -> Program | None:
    """Return what a Deployment runs; None when there is none, or none that can be seen."""
    try:
        found = await client.get(DEPLOYMENTS, namespace=namespace, name=name)
    except (NotFound, Forbidden, ResourceNotServed):
        return None
    pod = found["spec"]["template"]["spec"]
    words = tuple(word for each in pod["containers"] for word in each.get("args") or ())
    return Program(pod.get("serviceAccountName") or "default", words)


async def _installed(client: Client) -> Switches:
    """Return what can be seen of a manager whose options cannot: the Providers that are there, and who converts for them."""
    there = {each["metadata"]["name"] for each in (await client.list(PROVIDERS)).items}
    capabilities = (await client.list(ENDPOINT_PROVIDER_CAPABILITIES)).items
    converted = {each["spec"]["provider"]["name"] for each in capabilities}
    return Switches(
        providers=frozenset(each.name for each in REGISTRATIONS if each.binding.provider_name in there),
        converting=frozenset(each.name for each in REGISTRATIONS if each.binding.provider_name in there & converted),
        services=False,
        gateways=False,
    )


async def _of(client: Client, namespace: str, program: Program, needed: frozenset[Right]) -> AsyncIterator[Finding]:
    subject = f"{namespace}/{program.account}"
    who = {"user": f"system:serviceaccount:{namespace}:{program.account}", "groups": _groups(namespace)}
    try:
        lacking = await _lacking(client, OF_OTHERS, who, needed)
    except Forbidden as error:
        yield skipped("rights", subject, error.message, "run it as somebody who may create subjectaccessreviews")
        return
    if not lacking:
        yield ok("rights", subject, f"it has the {len(needed)} rights that it needs")
    for each in lacking:
        yield failed("rights", subject, f"it may not {each}", _ROLES)


async def _of_oneself(client: Client, needed: frozenset[Right]) -> AsyncIterator[Finding]:
    lacking = await _lacking(client, OF_ONESELF, {}, needed)
    if not lacking:
        yield ok("rights", "these credentials", "they have what a manager needs")
    for each in lacking:
        yield warning("rights", "these credentials", f"they may not {each}", _ELSEWHERE)


def _groups(namespace: str) -> list[str]:
    """Return the groups that every ServiceAccount of a namespace is in."""
    return ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]


async def _lacking(client: Client, review: ResourceRef, who: Mapping[str, Any], needed: Iterable[Right]) -> list[Right]:
    places = asyncio.Semaphore(AT_A_TIME)

    async def is_allowed(right: Right) -> bool:
        spec = {**who, "resourceAttributes": _attributes(right)}
        body = {"apiVersion": review.api_version, "kind": review.kind, "metadata": {}, "spec": spec}
        async with places:
            answer = await client.create(review, body)
        return bool(answer["status"].get("allowed"))

    rights = sorted(needed)
    answers = await asyncio.gather(*(is_allowed(each) for each in rights))
    return [right for right, allowed in zip(rights, answers, strict=True) if not allowed]


def _attributes(right: Right) -> dict[str, str]:
    """Return what a review asks; an empty namespace asks about all of them, an empty name about any object."""
    resource, _, subresource = right.resource.partition("/")
    asked = {
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "verb": right.verb,
        "namespace": right.namespace,
        "name": right.name,
    }
    return {key: value for key, value in asked.items() if value}
