"""Is the way from the API server to the managers whole: who is trusted, how long certificates last, who answers, what is passed on.

Owns the ValidatingWebhookConfiguration, the Service behind it, the serving certificate and the APIServices. Changes nothing. What is
not installed is not told of here: that claims are not judged shows when a claim is made.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cli.doctor.finding import Finding, failed, ok, unanswered, warning
from cli.doctor.rights import DEPLOYMENTS
from controllers.api.group import ENDPOINT_SLICES, SECRETS
from controllers.apps.endpoint.kind import KINDS as ENDPOINT_KINDS
from controllers.core.admission.handler import Admission
from controllers.core.admission.installation import CONFIGURATION, SECRET, SERVICE
from controllers.core.admission.lookup import NoLookups
from controllers.core.admission.validity import last_days
from controllers.registry import REGISTRATIONS
from kube.client import Client
from kube.errors import Forbidden, KubeError, NotFound, ResourceNotServed
from kube.quantity import counted
from kube.resource import ResourceRef

CONFIGURATIONS: Final = ResourceRef(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    namespaced=False,
)
API_SERVICES: Final = ResourceRef("apiregistration.k8s.io", "v1", "apiservices", "APIService", namespaced=False)
VOLUME: Final = "webhook-certificate"
SOON: Final = timedelta(days=7)
_AUTHORITY: Final = (
    "see that cert-manager's cainjector runs and that the Certificate is Ready (kubectl get certificates -A); with a certificate of your "
    "own, have it trusted: helm upgrade … --set webhook.tls.caBundle=$(base64 -w0 < ca.crt)"
)
_RENEW: Final = (
    "see the Certificate dns-api-webhook and cert-manager's log (kubectl get certificates -A); replace one of your own, which managers "
    "read again by themselves: kubectl create secret tls NAME --cert=tls.crt --key=tls.key --dry-run=client -o yaml | kubectl apply -f -"
)

Object = Mapping[str, Any]


async def examine_webhook(client: Client, namespace: str) -> AsyncIterator[Finding]:
    """Yield what is wrong between API server and managers in a namespace, or one line for each part that is well.

    What cannot be seen of one part keeps no other back.
    """
    try:
        configuration = await client.get(CONFIGURATIONS, name=CONFIGURATION)
    except (NotFound, ResourceNotServed):
        return
    except KubeError as error:
        yield unanswered("webhook", CONFIGURATION, error)
    else:
        for finding in judge_configuration(configuration, datetime.now(UTC)):
            yield finding
    parts = (
        (f"{namespace}/{SERVICE}", _answering),
        (f"{namespace}/secrets", _serving_certificate),
        ("apiservices", _api_services),
    )
    for what, part in parts:
        try:
            async for finding in part(client, namespace):
                yield finding
        except KubeError as error:
            yield unanswered("webhook", what, error)


def judge_configuration(configuration: Object, now: datetime) -> Iterator[Finding]:
    """Yield what is wrong with the configuration, or that it is well: whom the API server trusts, and what it asks about."""
    about = ("webhook", CONFIGURATION)
    hooks = configuration.get("webhooks") or ()
    bundles = {str((each.get("clientConfig") or {}).get("caBundle") or "") for each in hooks}
    faults = [fault for each in sorted(bundles) for fault in judge_bundle(*about, each, now)]
    paths = {str(((each.get("clientConfig") or {}).get("service") or {}).get("path")) for each in hooks}
    core = {hook.path for hook in Admission(NoLookups(), ENDPOINT_KINDS).hooks()}
    if missing := sorted(core - paths):
        remedy = "install the ValidatingWebhookConfiguration of this version: helm upgrade dns-api CHART"
        faults.append(warning(*about, f"nobody is asked about {', '.join(missing)}", remedy))
    yield from faults or [ok(*about, f"{counted(len(hooks), 'webhook')}, of an authority that is trusted")]


def judge_bundle(check: str, subject: str, bundle: str, now: datetime) -> Iterator[Finding]:
    """Yield what is wrong with a caBundle, PEM in base64; the last of its certificates counts, others may be on their way out."""
    if not bundle:
        yield failed(check, subject, "it has no caBundle, so the API server trusts nobody there", _AUTHORITY)
        return
    try:
        ends = last_days(base64.b64decode(bundle, validate=True))
    except (ValueError, binascii.Error) as error:
        yield failed(check, subject, f"its caBundle holds no certificates: {error}", _AUTHORITY)
        return
    yield from _judge_last_day(check, subject, "the authority", max(ends), now, _AUTHORITY)


def _judge_last_day(
    check: str, subject: str, what: str, end: datetime, now: datetime, remedy: str
) -> Iterator[Finding]:
    if end <= now:
        yield failed(check, subject, f"{what} has expired on {end:%Y-%m-%d}", remedy)
    elif end <= now + SOON:
        yield warning(check, subject, f"{what} expires on {end:%Y-%m-%d}", remedy)


async def _answering(client: Client, namespace: str) -> AsyncIterator[Finding]:
    """Yield how many managers are ready behind the Service."""
    about = ("webhook", f"{namespace}/{SERVICE}")
    slices = await client.list(
        ENDPOINT_SLICES, namespace=namespace, label_selector=f"kubernetes.io/service-name={SERVICE}"
    )
    endpoints = [each for part in slices.items for each in part.get("endpoints") or ()]
    ready = sum((each.get("conditions") or {}).get("ready") is not False for each in endpoints)
    if ready:
        yield ok(*about, f"{counted(ready, 'manager')} ready to answer")
        return
    remedy = f"see the managers' pods: kubectl -n {namespace} get pods -l app.kubernetes.io/component=manager"
    yield failed(*about, "no manager is ready to answer", remedy)


async def _serving_certificate(client: Client, namespace: str) -> AsyncIterator[Finding]:
    """Yield how long the certificate lasts that managers are given, for those who may see it; its key is not looked at."""
    name = await _secret_name(client, namespace)
    about = ("webhook", f"{namespace}/{name}")
    try:
        data = (await client.get(SECRETS, namespace=namespace, name=name)).get("data") or {}
        end = last_days(base64.b64decode(data.get("tls.crt", "")))[0]
    except NotFound:
        yield failed(*about, "there is no such Secret, so no manager can start", _RENEW)
        return
    except Forbidden as error:
        yield unanswered(*about, error)
        return
    except ValueError as error:
        yield failed(*about, f"tls.crt holds no certificate: {error}", _RENEW)
        return
    faults = list(_judge_last_day(*about, "the serving certificate", end, datetime.now(UTC), _RENEW))
    for each in faults or [ok(*about, f"the serving certificate lasts until {end:%Y-%m-%d}")]:
        yield each


async def _secret_name(client: Client, namespace: str) -> str:
    """Return which Secret the managers' pods mount, the one of cert-manager where nobody can see it."""
    try:
        found = await client.get(DEPLOYMENTS, namespace=namespace, name="dns-api-manager")
    except (NotFound, Forbidden, ResourceNotServed):
        return SECRET
    volumes = found["spec"]["template"]["spec"].get("volumes") or ()
    return next(
        (each["secret"]["secretName"] for each in volumes if each["name"] == VOLUME and "secret" in each), SECRET
    )


async def _api_services(client: Client, _: str) -> AsyncIterator[Finding]:
    """Yield whether the API server passes questions of conversion on to the managers."""
    groups = {each.endpoint.resource.group for each in REGISTRATIONS if each.endpoint is not None}
    for each in (await client.list(API_SERVICES)).items:
        if each["spec"].get("group") in groups and each["spec"].get("service"):
            yield judge_api_service(each)


def judge_api_service(service: Object) -> Finding:
    """Return how an APIService stands, by the API server's own word."""
    about = ("webhook", f"apiservices/{service['metadata']['name']}")
    conditions = {each["type"]: each for each in (service.get("status") or {}).get("conditions") or ()}
    available = conditions.get("Available", {})
    if available.get("status") == "True":
        return ok(*about, "questions are passed on")
    told = available.get("message") or available.get("reason") or "the API server has not said that it is available"
    remedy = (
        f"see that managers are ready and that the API server reaches the port of their webhook (kubectl describe apiservice "
        f"{service['metadata']['name']}); {_AUTHORITY}"
    )
    return failed(*about, str(told), remedy)
