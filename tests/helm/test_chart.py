"""What the chart renders: for every combination of switches, valid objects and nothing that a switch has off."""

from __future__ import annotations

import itertools
import json
import re
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
    Manifest,
    complaint,
    container,
    helm,
    names,
    one,
    only,
    render,
    render_text,
    strings,
    template,
)
from tests.helm.kind_check import faults
from tests.helm.place import CHART, NAMESPACE

REACHABLE = tuple(
    f"providers.hosted.server.{each}"
    for each in (
        "service.type=LoadBalancer",
        "service.nodePort=30053",
        "service.tlsNodePort=30853",
        "service.loadBalancerClass=example.com/lb",
        "service.loadBalancerSourceRanges={192.0.2.0/24}",
        "service.allocateLoadBalancerNodePorts=false",
        "service.clusterIP=10.0.0.53",
        "service.externalIPs={192.0.2.53}",
        "service.ipFamilies={IPv4,IPv6}",
        "hostPort=53",
    )
)
ON_NODES = (
    "manager.hostNetwork=true",
    "providers.hosted.server.hostNetwork=true",
    "providers.hosted.server.httpPort=8081",
)
LABELLED = ("commonLabels.team=dns", "manager.podLabels.tier=control", "providers.hosted.server.podLabels.tier=data")
NODES = (
    "manager.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
    ".nodeSelectorTerms[0].matchExpressions[0]"
)
NO_WEBHOOK = ("webhook.service.enabled=false",)
OWN_CERTIFICATE = (
    "webhook.certManager.enabled=false",
    "webhook.tls.secretName=own",
    "webhook.tls.caBundle=LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==",
)


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
    yield (*EVERYTHING, *REACHABLE)
    yield (*EVERYTHING, *ON_NODES)
    yield (*EVERYTHING, *LABELLED)
    yield (
        "manager.extraEnv[0].name=AWS_REGION",
        "manager.extraEnv[0].value=eu-west-1",
        "imagePullSecrets[0].name=registry",
        "manager.tolerations[0].key=dedicated",
        "manager.nodeSelector.disk=ssd",
        "manager.priorityClassName=system-cluster-critical",
        "manager.podAnnotations.team=dns",
        f"{NODES}.key=disk",
        f"{NODES}.operator=Exists",
        "manager.topologySpreadConstraints[0].maxSkew=1",
        "manager.topologySpreadConstraints[0].topologyKey=rack",
        "manager.topologySpreadConstraints[0].whenUnsatisfiable=DoNotSchedule",
        "manager.extraVolumes[0].name=aws",
        "manager.extraVolumes[0].configMap.name=aws",
        "manager.extraVolumeMounts[0].name=aws",
        "manager.extraVolumeMounts[0].mountPath=/etc/aws",
        "manager.serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn=arn:aws:iam::123456789012:role/dns",
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
    off = {f"--{name}-controller-enabled=false", f"--{name}-endpoint-conversion-enabled=false"}
    assert off <= set(container(manifests, "manager")["args"])
    told = {
        text for text in strings(manifests) if f"{name}.dns" in text or f"--{name}" in text or f"{name}ident" in text
    }
    assert told == off


def test_without_hosted_there_is_no_name_server() -> None:
    assert all("dns-api-server" not in text for text in strings(render(*EVERYTHING, "providers.hosted.enabled=false")))


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_that_is_on_has_all_that_it_needs(name: str) -> None:
    manifests = render(*only(name))
    args = container(manifests, "manager")["args"]
    assert {f"--{name}-controller-enabled=true", f"--{name}-endpoint-conversion-enabled=true"} <= set(args)
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
        each["name"]: [condition["expression"] for condition in each["matchConditions"]]
        for each in configuration["webhooks"]
        if "matchConditions" in each
    }
    changed = "request.operation == 'CREATE' || object.spec != oldObject.spec"
    strange = "request.operation != 'CREATE' || request.name != '%s'"
    assert conditions == {
        "providers.validate.dns.appthrust.io": [changed, strange % "route53.dns.appthrust.io"],
        "endpointprovidercapabilities.validate.endpoint.dns.appthrust.io": [
            changed,
            strange % "route53.dns.appthrust.io-v1alpha1",
        ],
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
    assert "--route53-endpoint-conversion-enabled=false" in manager["args"]
    assert "--route53-controller-enabled=true" in manager["args"]
    assert not any("webhook" in text for text in strings(manager))


def test_the_conversion_of_route53_has_a_switch_of_its_own() -> None:
    manifests = render("providers.route53.endpoint.conversionAPI.enabled=false")
    assert "--route53-endpoint-conversion-enabled=false" in container(manifests, "manager")["args"]
    assert "v1alpha1.endpoint.route53.dns.appthrust.io" not in names(manifests, "APIService")
    assert "route53.dns.appthrust.io" in names(manifests, "Provider")


def test_a_certificate_of_ones_own_needs_no_cert_manager() -> None:
    manifests = render(*OWN_CERTIFICATE)
    assert not any("cert-manager" in text for text in strings(manifests))
    hooks = one(manifests, "ValidatingWebhookConfiguration", "dns-api")["webhooks"]
    assert {hook["clientConfig"]["caBundle"] for hook in hooks} == {"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="}
    services = [each["spec"]["caBundle"] for each in manifests if each["kind"] == "APIService"]
    assert set(services) == {"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="}


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
        (("tracing.endpoint=collector:4318",), "at '/tracing/endpoint': 'collector:4318' does not match pattern"),
        (("manger.replicas=2",), "additional properties 'manger' not allowed"),
        (("manager.replica=2",), "at '/manager': additional properties 'replica' not allowed"),
        (("networkPolicy.manager.egress=1",), "additional properties 'egress' not allowed"),
        (("commonLabels.helm\\.sh/chart=x",), "commonLabels: found helm.sh/chart, allowed: any but"),
        (("commonLabels.a=x", "manager.podLabels.a=y"), "manager.podLabels: found a, allowed: labels that are not in"),
        (
            (*only("hosted"), *ON_NODES, "providers.hosted.server.port=53"),
            "providers.hosted.server.port: found 53, allowed: 1024 or more with hostNetwork",
        ),
        (
            (*only("hosted"), *ON_NODES, "providers.hosted.server.hostPort=53"),
            "providers.hosted.server.hostPort: found one, allowed: none with hostNetwork",
        ),
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


def test_pods_listen_on_all_addresses_of_both_versions_of_ip() -> None:
    manifests = render(*EVERYTHING)
    listeners = [
        each.partition("=")[2]
        for component in ("manager", "server")
        for each in container(manifests, component)["args"]
        if re.match(r"--(.*-)?(listen|http)=", each)
    ]
    assert sorted(listeners) == [":5353", ":8080", ":8080", ":8853", ":9443"]


@pytest.mark.parametrize(("settings", "port"), [((), "webhook"), (NO_WEBHOOK, "http")])
def test_a_manager_is_asked_whether_it_is_well_where_it_answers(settings: tuple[str, ...], port: str) -> None:
    manager = container(render(*settings), "manager")
    probes = [manager[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")]
    assert {each["port"] for each in probes} == {port}
    assert {each.get("scheme", "HTTP") for each in probes} == {"HTTPS" if port == "webhook" else "HTTP"}
    assert port in {each["name"] for each in manager["ports"]}


def test_ports_can_be_others_and_everything_that_names_them_follows() -> None:
    settings = ("manager.httpPort=8081", "manager.webhookPort=9444", "providers.hosted.server.httpPort=8082")
    manifests = render(*EVERYTHING, *settings)
    ports = set(numbers([each for each in manifests if each["kind"] in ("Deployment", "Service", "NetworkPolicy")]))
    assert ports & {8080, 8081, 8082, 9443, 9444} == {8080, 8081, 8082, 9444}
    assert {"--metrics-listen=:8081", "--webhook-listen=:9444"} <= set(container(manifests, "manager")["args"])
    assert "--http=:8082" in container(manifests, "server")["args"]
    assert one(manifests, "Service", "dns-api-webhook-service")["spec"]["ports"][0]["targetPort"] == 9444


def test_the_service_of_name_servers_takes_what_load_balancers_need() -> None:
    spec = one(render(*EVERYTHING, *REACHABLE), "Service", "dns-api-server")["spec"]
    assert {(each["protocol"], each["port"], each["nodePort"]) for each in spec["ports"]} == {
        ("UDP", 53, 30053),
        ("TCP", 53, 30053),
        ("TCP", 853, 30853),
    }
    assert spec["externalTrafficPolicy"] == "Local"
    assert spec["loadBalancerClass"] == "example.com/lb"
    assert spec["loadBalancerSourceRanges"] == ["192.0.2.0/24"]
    assert spec["allocateLoadBalancerNodePorts"] is False
    assert spec["ipFamilies"] == ["IPv4", "IPv6"]


def test_a_port_of_the_node_leads_to_the_pod_for_both_transports() -> None:
    manifests = render(*only("hosted"), "providers.hosted.server.hostPort=53")
    ports = {
        (each["protocol"], each["containerPort"], each.get("hostPort"))
        for each in container(manifests, "server")["ports"]
    }
    assert {("UDP", 5353, 53), ("TCP", 5353, 53)} <= ports
    assert strategy(manifests, "server") == (1, 0), "a second pod has no place beside the first"


def test_pods_with_the_network_of_the_node_find_the_cluster_and_can_be_replaced() -> None:
    manifests = render(*EVERYTHING, *ON_NODES)
    for component in ("manager", "server"):
        pod = one(manifests, "Deployment", f"dns-api-{component}")["spec"]["template"]["spec"]
        assert (pod["hostNetwork"], pod["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
        assert "sysctls" not in pod["securityContext"]
        assert strategy(manifests, component) == (1, 0)


def test_labels_for_all_reach_every_object_and_pod_and_no_selector() -> None:
    manifests = render(*EVERYTHING, *LABELLED)
    for each in manifests:
        assert each["metadata"]["labels"].get("team") == "dns", each["metadata"]["name"]
    for component, tier in (("manager", "control"), ("server", "data")):
        deployment = one(manifests, "Deployment", f"dns-api-{component}")["spec"]
        assert {"team": "dns", "tier": tier}.items() <= deployment["template"]["metadata"]["labels"].items()
        assert "team" not in deployment["selector"]["matchLabels"], "it can never be changed"


def test_providers_are_what_the_product_says_whatever_labels_they_have() -> None:
    manifests = render(*EVERYTHING, *LABELLED)
    for each in REGISTRATIONS:
        made = each.provider_manifest()
        assert one(manifests, "Provider", made["metadata"]["name"])["spec"] == made["spec"]


def test_a_pod_that_is_not_well_keeps_no_node_from_being_drained() -> None:
    manifests = render(*only("hosted"))
    for component in ("manager", "server"):
        budget = one(manifests, "PodDisruptionBudget", f"dns-api-{component}")["spec"]
        assert (budget["maxUnavailable"], budget["unhealthyPodEvictionPolicy"]) == (1, "AlwaysAllow")


def test_the_same_values_give_the_same_objects() -> None:
    """Nothing is drawn at random or asked of the cluster, so GitOps tools and upgrades find no difference that is none."""
    again = template(*EVERYTHING)
    assert again.stdout == render_text(*EVERYTHING)


def test_labels_that_follow_a_release_are_not_selected_by() -> None:
    manifests = render(*EVERYTHING)
    for each in manifests:
        if each["kind"] in ("Deployment", "PodDisruptionBudget"):
            assert set(each["spec"]["selector"]["matchLabels"]) == {
                "app.kubernetes.io/name",
                "app.kubernetes.io/component",
            }


def test_spans_are_sent_where_the_values_say_and_nowhere_else() -> None:
    url = "http://collector:4318/v1/traces"
    assert f"--traces-endpoint={url}" in container(render(f"tracing.endpoint={url}"), "manager")["args"]
    assert not any("traces" in each for each in container(render(), "manager")["args"])


def strategy(manifests: list[Manifest], component: str) -> tuple[int, int]:
    rolling = one(manifests, "Deployment", f"dns-api-{component}")["spec"]["strategy"]["rollingUpdate"]
    return rolling["maxUnavailable"], rolling["maxSurge"]


def numbers(value: object) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from numbers(each)
