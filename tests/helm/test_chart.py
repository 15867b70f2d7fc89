"""What the chart renders: for every combination of switches, valid objects and nothing that a switch has off."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest
import yaml

from controllers.apps.endpoint.kind import KINDS as ENDPOINT_KINDS
from controllers.core.admission.handler import Admission
from controllers.core.admission.lookup import NoLookups
from controllers.registry import REGISTRATIONS
from tests.helm.chart import (
    EVERYTHING,
    NOTHING,
    PROVIDERS,
    complaint,
    container,
    helm,
    names,
    one,
    only,
    render,
    strings,
    template,
)
from tests.helm.kind_check import faults
from tests.helm.place import CHART, NAMESPACE

NO_WEBHOOK = ("webhook.service.enabled=false",)
OWN_CERTIFICATE = ("webhook.certManager.enabled=false", "webhook.tls.secretName=own", "webhook.tls.caBundle=Y2E=")


def _matrix() -> Iterator[tuple[str, ...]]:
    for count in range(len(PROVIDERS) + 1):
        for chosen in itertools.combinations(PROVIDERS, count):
            yield only(*chosen)
    yield EVERYTHING
    yield NOTHING
    yield NO_WEBHOOK
    yield OWN_CERTIFICATE
    yield (*only("hosted"), "providers.hosted.server.watchNamespace=zones", "providers.hosted.server.port=53")
    yield (*only("hosted"), "providers.hosted.server.service.type=LoadBalancer", "manager.replicas=1")
    yield (
        "manager.extraEnv[0].name=AWS_REGION",
        "manager.extraEnv[0].value=eu-west-1",
        "imagePullSecrets[0].name=registry",
        "manager.tolerations[0].key=dedicated",
        "manager.nodeSelector.disk=ssd",
        "manager.priorityClassName=system-cluster-critical",
        "manager.podAnnotations.team=dns",
    )


MATRIX = list(_matrix())


def test_the_chart_passes_lint() -> None:
    done = helm("lint", "--strict", str(CHART), *(f"--set={each}" for each in EVERYTHING))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("settings", MATRIX, ids=lambda settings: ",".join(settings)[-70:])
def test_every_object_is_valid_and_stands_once(settings: tuple[str, ...]) -> None:
    manifests = render(*settings)
    assert [fault for each in manifests for fault in (f"{each['kind']}: {text}" for text in faults(each))] == []
    places = [(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in manifests]
    assert len(places) == len(set(places))


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_that_is_off_is_named_in_nothing_but_its_flags(name: str) -> None:
    others = [each for each in PROVIDERS if each != name]
    manifests = render(*only(*others))
    off = {f"--no-{name}-controller-enabled", f"--no-{name}-endpoint-conversion-enabled"}
    assert off <= set(container(manifests, "manager")["args"])
    told = {
        text for text in strings(manifests) if f"{name}.dns" in text or f"--{name}" in text or f"{name}ident" in text
    }
    assert told == set()


def test_without_hosted_there_is_no_name_server() -> None:
    assert all("dns-api-server" not in text for text in strings(render(*EVERYTHING, "providers.hosted.enabled=false")))


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_that_is_on_has_all_that_it_needs(name: str) -> None:
    manifests = render(*only(name))
    args = container(manifests, "manager")["args"]
    assert {f"--{name}-controller-enabled", f"--{name}-endpoint-conversion-enabled"} <= set(args)
    assert names(manifests, "Provider") == {f"{name}.dns.appthrust.io"}
    assert names(manifests, "EndpointProviderCapability") == {f"{name}.dns.appthrust.io-v1alpha1"}
    assert names(manifests, "APIService") == {f"v1alpha1.endpoint.{name}.dns.appthrust.io"}


@pytest.mark.parametrize("chosen", [(), ("cloudflare", "route53"), PROVIDERS], ids=str)
def test_admission_covers_every_kind_of_the_providers_that_are_on(chosen: tuple[str, ...]) -> None:
    own = [kind for each in REGISTRATIONS if each.name in chosen for kind in each.kinds]
    hooks = Admission(NoLookups(), [*ENDPOINT_KINDS, *own]).hooks()
    configuration = one(render(*only(*chosen)), "ValidatingWebhookConfiguration", "dns-api")
    rendered = {each["clientConfig"]["service"]["path"]: each for each in configuration["webhooks"]}
    assert rendered.keys() == {hook.path for hook in hooks}
    assert {each["failurePolicy"] for each in rendered.values()} == {"Fail"}


def test_admission_spares_only_what_the_installation_itself_writes() -> None:
    configuration = one(render(*only("route53")), "ValidatingWebhookConfiguration", "dns-api")
    conditions = {
        each["name"]: each["matchConditions"][0]["expression"]
        for each in configuration["webhooks"]
        if "matchConditions" in each
    }
    spared = "request.operation == 'CREATE' ? !(request.name in ['%s']) : object.spec != oldObject.spec"
    assert conditions == {
        "providers.validate.dns.appthrust.io": spared % "route53.dns.appthrust.io",
        "endpointprovidercapabilities.validate.endpoint.dns.appthrust.io": spared % "route53.dns.appthrust.io-v1alpha1",
    }


def test_another_namespace_reaches_every_place_that_names_one() -> None:
    done = template(*EVERYTHING, namespace="elsewhere")
    assert done.returncode == 0
    assert NAMESPACE not in done.stdout
    manifests = [each for each in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if each]
    hooks = one(manifests, "ValidatingWebhookConfiguration", "dns-api")["webhooks"]
    assert {hook["clientConfig"]["service"]["namespace"] for hook in hooks} == {"elsewhere"}


def test_without_the_webhook_service_nothing_is_converted() -> None:
    manifests = render(*NO_WEBHOOK)
    for kind in ("APIService", "EndpointProviderCapability", "ValidatingWebhookConfiguration", "Certificate"):
        assert names(manifests, kind) == set(), kind
    manager = container(manifests, "manager")
    assert "--no-route53-endpoint-conversion-enabled" in manager["args"]
    assert "--route53-controller-enabled" in manager["args"]
    assert not any("webhook" in text for text in strings(manager))


def test_the_conversion_of_route53_has_a_switch_of_its_own() -> None:
    manifests = render("providers.route53.endpoint.conversionAPI.enabled=false")
    assert "--no-route53-endpoint-conversion-enabled" in container(manifests, "manager")["args"]
    assert "v1alpha1.endpoint.route53.dns.appthrust.io" not in names(manifests, "APIService")
    assert "route53.dns.appthrust.io" in names(manifests, "Provider")


def test_a_certificate_of_ones_own_needs_no_cert_manager() -> None:
    manifests = render(*OWN_CERTIFICATE)
    assert not any("cert-manager" in text for text in strings(manifests))
    hooks = one(manifests, "ValidatingWebhookConfiguration", "dns-api")["webhooks"]
    assert {hook["clientConfig"]["caBundle"] for hook in hooks} == {"Y2E="}
    services = [each["spec"]["caBundle"] for each in manifests if each["kind"] == "APIService"]
    assert set(services) == {"Y2E="}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ((*only("hosted"), *OWN_CERTIFICATE), "providers.hosted.enabled: found true, allowed: only with"),
        ((*only("external"), *NO_WEBHOOK), "providers.external.enabled: found true, allowed: only with"),
        (("webhook.certManager.enabled=false",), "webhook.tls: found no secretName and caBundle"),
        (("providers.bind.enabled=true",), "additional properties 'bind' not allowed"),
        (("manager.replicas=0",), "minimum"),
        (("manager.log.level=loud",), "value must be one of"),
        (("providers.hosted.server.port=99999",), "maximum"),
        (("providers.hosted.server.watchNamespace=Not_A_Name",), "does not match pattern"),
        (("manager.extraArgs={bare}",), "does not match pattern"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value)[-50:],
)
def test_settings_that_cannot_work_are_refused_with_their_name(settings: tuple[str, ...], told: str) -> None:
    assert told in complaint(*settings)


def test_every_value_is_in_the_schema() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))

    def missing(part: object, allowed: dict[str, object], path: str) -> Iterator[str]:
        properties = allowed.get("properties")
        if isinstance(part, dict) and isinstance(properties, dict):
            if allowed.get("additionalProperties") is not False:
                yield f"{path} is open"
            for key, value in part.items():
                if key in properties:
                    yield from missing(value, properties[key], f"{path}.{key}")
                else:
                    yield f"{path}.{key}"

    assert list(missing(values, schema, "")) == []


def test_pods_run_with_as_little_as_they_can() -> None:
    manifests = render(*EVERYTHING)
    for component in ("manager", "server"):
        pod = one(manifests, "Deployment", f"dns-api-{component}")["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container(manifests, component)["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_only_a_privileged_port_adds_a_capability() -> None:
    manifests = render(*only("hosted"), "providers.hosted.server.port=53")
    security = container(manifests, "server")["securityContext"]
    assert security["capabilities"] == {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}
    assert security["allowPrivilegeEscalation"] is False


def test_several_replicas_are_spread_and_leave_one_at_a_time() -> None:
    manifests = render(*only("hosted"))
    for component in ("manager", "server"):
        deployment = one(manifests, "Deployment", f"dns-api-{component}")["spec"]
        assert len(deployment["template"]["spec"]["topologySpreadConstraints"]) == 2
        assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
        budget = one(manifests, "PodDisruptionBudget", f"dns-api-{component}")["spec"]
        assert budget["selector"] == deployment["selector"]
    alone = render(*only("hosted"), "manager.replicas=1")
    assert names(alone, "PodDisruptionBudget") == {"dns-api-server"}


def test_selectors_select_the_pods_they_are_for() -> None:
    manifests = render(*EVERYTHING)
    labels = {
        component: one(manifests, "Deployment", f"dns-api-{component}")["spec"]["template"]["metadata"]["labels"]
        for component in ("manager", "server")
    }
    for service, component in (
        ("dns-api-webhook-service", "manager"),
        ("dns-api-server", "server"),
        ("dns-api-server-metrics", "server"),
    ):
        selector = one(manifests, "Service", service)["spec"]["selector"]
        assert selector.items() <= labels[component].items()
        other = "server" if component == "manager" else "manager"
        assert not selector.items() <= labels[other].items()


def test_services_name_ports_that_containers_have() -> None:
    manifests = render(*EVERYTHING)
    ports = {(each["name"], each["protocol"]) for each in container(manifests, "server")["ports"]}
    for service in ("dns-api-server", "dns-api-server-metrics"):
        for port in one(manifests, "Service", service)["spec"]["ports"]:
            assert (port["targetPort"], port["protocol"]) in ports
