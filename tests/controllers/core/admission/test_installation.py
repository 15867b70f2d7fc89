"""What a cluster is told about the webhook: every hook, nothing but our own resources, and certificates that it will trust."""

from __future__ import annotations

import re
from typing import Any

import pytest

from controllers.api.crd import custom_resource_definitions
from controllers.core.admission.handler import Admission, Hook
from controllers.core.admission.installation import TIMEOUT_S, validating_webhook_configuration, webhook_manifests
from controllers.core.admission.lookup import LookupUnavailableError, NoLookups
from controllers.core.admission.server import PORT, ServerLimits
from kube.object import ObjectKey

HOOKS = Admission(NoLookups()).hooks()
WEBHOOKS = validating_webhook_configuration(HOOKS)["webhooks"]
OBJECTS = {(each["kind"], each["metadata"]["name"]): each for _, each in webhook_manifests(HOOKS)}
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?){2,}")


@pytest.mark.parametrize(
    ("hook", "webhook"), list(zip(HOOKS, WEBHOOKS, strict=True)), ids=[hook.path for hook in HOOKS]
)
def test_every_hook_is_called_for_its_own_resource_and_nothing_else(hook: Hook, webhook: dict[str, Any]) -> None:
    ref = hook.resource
    (rule,) = webhook["rules"]

    assert webhook["clientConfig"]["service"]["path"] == hook.path
    assert rule["apiGroups"] == ["dns.appthrust.io"] == [ref.group]
    assert rule["apiVersions"] == [ref.version]
    assert rule["resources"] == ["/".join(filter(None, (ref.plural, hook.subresource)))]
    assert rule["scope"] == ("Namespaced" if ref.namespaced else "Cluster")
    assert set(rule["operations"]) == set(hook.operations)


def test_nothing_passes_when_nobody_answers() -> None:
    for webhook in WEBHOOKS:
        assert webhook["failurePolicy"] == "Fail"
        assert webhook["matchPolicy"] == "Equivalent"
        assert webhook["sideEffects"] == "None"
        assert webhook["admissionReviewVersions"] == ["v1"]
        assert "namespaceSelector" not in webhook
        assert "objectSelector" not in webhook


def test_names_are_unique_and_as_the_api_wants_them() -> None:
    names = [webhook["name"] for webhook in WEBHOOKS]

    assert len(set(names)) == len(names)
    assert all(NAME.fullmatch(name) for name in names)


def test_rules_name_resources_that_are_defined() -> None:
    defined = {each["spec"]["names"]["plural"]: each["spec"] for each in custom_resource_definitions()}
    for webhook in WEBHOOKS:
        plural, _, subresource = webhook["rules"][0]["resources"][0].partition("/")
        (version,) = defined[plural]["versions"]
        assert webhook["rules"][0]["scope"] == defined[plural]["scope"]
        assert subresource in {"", *version.get("subresources", {})}


def test_the_server_gives_up_before_the_api_server_does() -> None:
    assert ServerLimits().request_s < TIMEOUT_S <= 30


def test_the_service_leads_to_the_port_that_managers_listen_on() -> None:
    services = {
        tuple(webhook["clientConfig"]["service"][key] for key in ("namespace", "name", "port")) for webhook in WEBHOOKS
    }
    service = OBJECTS["Service", "dns-api-webhook-service"]

    assert services == {("dns-api-system", "dns-api-webhook-service", 443)}
    assert service["metadata"]["namespace"] == "dns-api-system"
    assert [(port["port"], port["targetPort"]) for port in service["spec"]["ports"]] == [(443, PORT)]


def test_the_certificate_is_for_the_name_that_the_api_server_calls() -> None:
    configuration = OBJECTS["ValidatingWebhookConfiguration", "dns-api"]
    namespace, _, name = configuration["metadata"]["annotations"]["cert-manager.io/inject-ca-from"].partition("/")
    certificate = OBJECTS["Certificate", name]

    assert certificate["metadata"]["namespace"] == namespace
    assert "dns-api-webhook-service.dns-api-system.svc" in certificate["spec"]["dnsNames"]
    assert not certificate["spec"].get("isCA")
    issuer = OBJECTS["Issuer", certificate["spec"]["issuerRef"]["name"]]
    root = OBJECTS["Certificate", issuer["spec"]["ca"]["secretName"]]
    assert root["spec"]["isCA"] is True
    assert root["spec"]["secretName"] == issuer["spec"]["ca"]["secretName"]
    assert OBJECTS["Issuer", root["spec"]["issuerRef"]["name"]]["spec"] == {"selfSigned": {}}


def test_another_namespace_is_carried_through() -> None:
    for _, manifest in webhook_manifests(HOOKS, "elsewhere"):
        assert "dns-api-system" not in str(manifest)


async def test_hooks_without_lookups_judge_nothing() -> None:
    with pytest.raises(LookupUnavailableError, match="edge"):
        await NoLookups().provider("edge")
    with pytest.raises(LookupUnavailableError, match="app/example"):
        await NoLookups().zone(ObjectKey("app", "example"))
