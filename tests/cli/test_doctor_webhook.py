"""`dns-api doctor` on the way from the API server to the managers: every break is told, with what to do about it."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from cli.doctor.finding import Finding, Result
from cli.doctor.webhook import examine_webhook, judge_configuration
from kube.client import Client
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.helm.chart import one, only, render
from tests.helm.place import NAMESPACE
from tests.kube.fake_api import FakeApi, refuse
from tests.kube.fake_api_fixtures import api, client

__all__ = ["api", "client"]

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
SLICES = "/apis/discovery.k8s.io/v1/endpointslices"
SECRETS = "/api/v1/secrets"
DEPLOYMENTS = "/apis/apps/v1/deployments"
NOW = datetime.now(UTC)
AUTHORITY = Authority()
Object = dict[str, Any]


def text(pem: bytes) -> str:
    return base64.b64encode(pem).decode()


def configuration(bundle: str | None = None) -> Object:
    """The rendered configuration as cert-manager leaves it."""
    rendered = render(*only("hosted"), "commonLabels.copy=x")
    found = one([*map(_copy, rendered)], "ValidatingWebhookConfiguration", "dns-api")
    for each in found["webhooks"]:
        each["clientConfig"]["caBundle"] = text(AUTHORITY.pem) if bundle is None else bundle
    return found


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def endpoints(*ready: bool) -> Object:
    return {
        "metadata": {
            "namespace": NAMESPACE,
            "name": "webhook",
            "labels": {"kubernetes.io/service-name": "dns-api-webhook-service"},
        },
        "endpoints": [{"addresses": ["192.0.2.1"], "conditions": {"ready": each}} for each in ready],
    }


def api_service(status: str, message: str) -> Object:
    service = one(map(_copy, render(*only("hosted"))), "APIService", "v1alpha1.endpoint.hosted.dns.appthrust.io")
    return {**service, "status": {"conditions": [{"type": "Available", "status": status, "message": message}]}}


def serving(name: str, certificate: bytes) -> Object:
    return {"metadata": {"namespace": NAMESPACE, "name": name}, "data": {"tls.crt": text(certificate)}}


async def examined(client: Client) -> dict[str, tuple[Result, str]]:
    return {each.subject: (each.result, each.message) async for each in examine_webhook(client, NAMESPACE)}


def judged(bundle: str | None, now: datetime = NOW) -> list[Finding]:
    return list(judge_configuration(configuration(bundle), now))


async def test_a_sound_way_is_found_sound(
    api: FakeApi, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.doctor.webhook.SOON", timedelta(hours=1))  # certificates of tests are for a day
    AUTHORITY.write(ServingPair(tmp_path), 2, "dns-api-webhook-service.dns-api-system.svc")
    certificate = (tmp_path / "tls.crt").read_bytes()
    end = x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    api.put(CONFIGURATIONS, configuration())
    api.put(SLICES, endpoints(True, True, False))
    api.put(SECRETS, serving("dns-api-webhook-tls", certificate))
    api.put(API_SERVICES, api_service("True", "all checks passed"))
    api.put(API_SERVICES, {"metadata": {"name": "v1.apps"}, "spec": {"group": "apps"}})
    found = await examined(client)
    assert {result for result, _ in found.values()} == {Result.OK}
    assert {subject: message for subject, (_, message) in found.items()} == {
        "dns-api": f"{len(configuration()['webhooks'])} webhooks, of an authority that is trusted",
        f"{NAMESPACE}/dns-api-webhook-service": "2 managers ready to answer",
        f"{NAMESPACE}/dns-api-webhook-tls": f"the serving certificate lasts until {end:%Y-%m-%d}",
        "apiservices/v1alpha1.endpoint.hosted.dns.appthrust.io": "questions are passed on",
    }


async def test_managers_that_nobody_reaches_and_questions_that_are_not_passed_on_are_told(
    api: FakeApi, client: Client
) -> None:
    api.put(CONFIGURATIONS, configuration())
    api.put(SLICES, endpoints(False))
    api.put(API_SERVICES, api_service("False", "failing or missing response from https://10.0.0.1:443"))
    found = await examined(client)
    assert found[f"{NAMESPACE}/dns-api-webhook-service"] == (Result.FAILED, "no manager is ready to answer")
    assert found["apiservices/v1alpha1.endpoint.hosted.dns.appthrust.io"] == (
        Result.FAILED,
        "failing or missing response from https://10.0.0.1:443",
    )


async def test_where_no_webhook_is_installed_nothing_is_said(client: Client) -> None:
    assert await examined(client) == {}


@pytest.mark.parametrize(
    ("path", "subject"),
    [
        (CONFIGURATIONS, "dns-api"),
        (SLICES, f"{NAMESPACE}/dns-api-webhook-service"),
        (SECRETS, f"{NAMESPACE}/dns-api-webhook-tls"),
        (API_SERVICES, "apiservices"),
    ],
)
async def test_a_part_that_nobody_may_look_at_keeps_no_other_back(
    api: FakeApi, client: Client, path: str, subject: str
) -> None:
    api.put(CONFIGURATIONS, configuration("!"))
    api.put(SLICES, endpoints(False))
    api.put(SECRETS, serving("dns-api-webhook-tls", b"nothing"))
    api.put(API_SERVICES, api_service("False", "no endpoints"))
    every = await examined(client)
    assert {result for result, _ in every.values()} == {Result.FAILED}
    api.fault(lambda request: refuse(403, "Forbidden", "no") if request.path.startswith(_hidden(path)) else None)
    seen = await examined(client)
    assert seen.pop(subject) == (Result.SKIPPED, "no")
    assert len(seen) == 3
    assert seen.items() <= every.items()


def _hidden(path: str) -> str:
    """Return where requests for what lies in a namespace go."""
    group, _, plural = path.rpartition("/")
    return f"{group}/namespaces/{NAMESPACE}/{plural}" if path in (SLICES, SECRETS) else path


async def test_the_certificate_is_the_one_that_managers_mount(api: FakeApi, client: Client) -> None:
    volume = {"name": "webhook-certificate", "secret": {"secretName": "own"}}
    spec = {"template": {"spec": {"volumes": [volume], "containers": []}}}
    api.put(DEPLOYMENTS, {"metadata": {"namespace": NAMESPACE, "name": "dns-api-manager"}, "spec": spec})
    api.put(CONFIGURATIONS, configuration())
    message = "there is no such Secret, so no manager can start"
    assert (await examined(client))[f"{NAMESPACE}/own"] == (Result.FAILED, message)
    api.put(SECRETS, serving("own", b"nothing"))
    result, told = (await examined(client))[f"{NAMESPACE}/own"]
    assert (result, "holds no certificate" in told) == (Result.FAILED, True)


@pytest.mark.parametrize(
    ("bundle", "told"),
    [
        ("", "it has no caBundle"),
        ("!", "its caBundle holds no certificates"),
        (text(b"no certificate"), "its caBundle holds no certificates"),
    ],
)
def test_an_authority_that_is_none_is_told(bundle: str, told: str) -> None:
    (finding,) = judged(bundle)
    assert finding.result is Result.FAILED
    assert told in finding.message
    assert "cainjector" in finding.remedy


def test_an_authority_is_told_before_its_end_and_after_it() -> None:
    end = x509.load_pem_x509_certificate(AUTHORITY.pem).not_valid_after_utc
    assert [each.result for each in judged(None, end - timedelta(days=3))] == [Result.WARNING]
    (after,) = judged(None, end)
    assert (after.result, after.message) == (Result.FAILED, f"the authority has expired on {end:%Y-%m-%d}")
    assert [each.result for each in judged(None, end - timedelta(days=8))] == [Result.OK]


def test_an_old_authority_beside_a_new_one_is_no_fault() -> None:
    both = text(AUTHORITY.pem + Authority().pem)
    assert [each.result for each in judged(both, NOW)] == [each.result for each in judged(None, NOW)]


def test_a_configuration_that_asks_about_less_is_told() -> None:
    less = configuration()
    less["webhooks"] = [each for each in less["webhooks"] if not each["name"].startswith("recordsets")]
    messages = [each.message for each in judge_configuration(less, NOW)]
    assert "nobody is asked about /validate/dns.appthrust.io/v1alpha1/recordsets, " in messages[-1]
