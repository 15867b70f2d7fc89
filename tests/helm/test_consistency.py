"""Every two choices that the values leave, together: what is rendered can work, or is refused with the name of the value."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Final

import pytest
import yaml

from tests.helm.chart import EVERYTHING, Manifest, complaint, container, only, render, template
from tests.helm.consistency import faults
from tests.helm.kind_check import faults as faults_of_kind
from tests.helm.place import NAMESPACE

SERVER: Final = "providers.hosted.server"
SERVICE: Final = f"{SERVER}.service"
TLS: Final = f"{SERVER}.tls"
PEM: Final = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="
SECRETS: Final = ("own-webhook", "keys", "cookies", "dns-api-server-tls")
"""Those that whoever installs the chart has to bring, by the comments of the values."""
OWN_CERTIFICATE: Final = (
    f"webhook.certManager.enabled=false,webhook.tls.secretName=own-webhook,webhook.tls.caBundle={PEM}"
)
ON_NODE: Final = f"{SERVER}.hostNetwork=true,{SERVER}.httpPort=8081"
Choices = dict[str, tuple[str, ...]]
OF_ALL: Final[Choices] = {
    "route53": ("", "providers.route53.enabled=false", "providers.route53.endpoint.conversionAPI.enabled=false"),
    "cloudflare": (
        "",
        "providers.cloudflare.enabled=false",
        "providers.cloudflare.endpoint.conversionAPI.enabled=false",
    ),
    "namespace": (f"namespace={NAMESPACE}", "namespace=kube-system"),
    "sources": (
        "",
        "endpoint.serviceSource.enabled=false",
        "endpoint.gatewaySource.enabled=true,endpoint.recordSetNamespace=records",
    ),
    "managers": (
        "",
        "manager.replicas=1",
        "manager.hostNetwork=true",
        "manager.httpPort=9000,manager.webhookPort=9001",
    ),
    "budget": ("", "podDisruptionBudget.enabled=false"),
    "people": ("", "people.aggregateClusterRoles=true"),
    "network": (
        "",
        "networkPolicy.enabled=true",
        "networkPolicy.enabled=true,networkPolicy.metricsFrom[0].podSelector.matchLabels.a=b",
    ),
    "tracing": (
        "",
        "tracing.endpoint=http://collector:4318/v1/traces",
        "tracing.endpoint=https://collector.example",
        "tracing.endpoint=http://[2001:db8::1]/v1/traces",
    ),
    "monitoring": (
        "",
        "monitoring.serviceMonitor.enabled=true,monitoring.prometheusRule.enabled=true,monitoring.dashboard.enabled=true",
    ),
    "labels": ("", "commonLabels.team=dns,manager.podLabels.tier=a"),
    "volumes": (
        "",
        (
            "manager.extraVolumes[0].name=aws,manager.extraVolumes[0].configMap.name=aws,"
            "manager.extraVolumeMounts[0].name=aws,manager.extraVolumeMounts[0].mountPath=/etc/aws"
        ),
    ),
    "more": (
        "",
        (
            "manager.extraArgs={--route53-allowed-accounts=123456789012},"
            "manager.extraEnv[0].name=AWS_REGION,manager.extraEnv[0].value=eu-west-1"
        ),
    ),
}
WITHOUT_SERVERS: Final[Choices] = OF_ALL | {"webhook": ("", "webhook.service.enabled=false", OWN_CERTIFICATE)}
WITH_SERVERS: Final[Choices] = OF_ALL | {
    "hosted": ("providers.hosted.enabled=true",),
    "external": ("", "providers.external.enabled=true"),
    "servers": (
        "",
        f"{SERVER}.replicas=1",
        f"{SERVER}.watchNamespace=zones",
        f"{SERVER}.drainDelaySeconds=0,{SERVER}.extraArgs={{--notify=192.0.2.53}}",
    ),
    "port": ("", f"{SERVER}.port=53", f"{SERVER}.port=5300,{SERVER}.httpPort=9002"),
    "node": ("", f"{SERVER}.hostPort=53,{TLS}.hostPort=853", ON_NODE),
    "tls": (
        "",
        f"{TLS}.enabled=true",
        f"{TLS}.enabled=true,{TLS}.port=853",
        (
            f"{TLS}.enabled=true,{TLS}.secretName=issued,{TLS}.issuerRef.kind=Issuer,{TLS}.issuerRef.name=dns-api-webhook,"
            f"{TLS}.dnsNames={{a.example}}"
        ),
    ),
    "keys": ("", f"{SERVER}.tsigSecretName=keys", f"{SERVER}.cookieSecretName=cookies"),
    "service": (
        "",
        f"{SERVICE}.type=NodePort,{SERVICE}.nodePort=30053,{SERVICE}.tlsNodePort=30853",
        f"{SERVICE}.type=LoadBalancer,{SERVICE}.allocateLoadBalancerNodePorts=false,{SERVICE}.loadBalancerIP=192.0.2.53",
        f"{SERVICE}.externalIPs={{192.0.2.53}},{SERVICE}.ipFamilyPolicy=PreferDualStack",
    ),
}
REFUSED: Final = {(f"{SERVER}.port=53", ON_NODE), (ON_NODE, f"{TLS}.enabled=true,{TLS}.port=853")}
"""Pairs that the chart refuses."""
Pair = tuple[tuple[int, str], tuple[int, str]]


def _pairs(row: Sequence[str]) -> set[Pair]:
    return set(itertools.combinations(enumerate(row), 2))


def _is_refused(row: Sequence[str]) -> bool:
    return any(set(pair) <= set(row) for pair in REFUSED)


def rows(choices: Choices) -> Iterator[tuple[str, ...]]:
    """Yield few rows, of one choice each, in which every two choices that can be together are."""
    draw = random.Random(1)
    values = tuple(choices.values())
    wanted: set[Pair] = set()
    for (one, left), (other, right) in itertools.combinations(enumerate(values), 2):
        wanted |= {((one, a), (other, b)) for a in left for b in right if not _is_refused((a, b))}
    while wanted:
        fixed = dict(min(wanted))
        drawn = [tuple(fixed.get(place, draw.choice(each)) for place, each in enumerate(values)) for _ in range(60)]
        best = max((row for row in drawn if not _is_refused(row)), key=lambda row: len(_pairs(row) & wanted))
        wanted -= _pairs(best)
        yield best


ROWS: Final = [*rows(WITHOUT_SERVERS), *rows(WITH_SERVERS)]


def rendered(row: Sequence[str]) -> list[Manifest]:
    """Return the objects that a row becomes, in the namespace that it says."""
    namespaces = [each.removeprefix("namespace=") for each in row if each.startswith("namespace=")]
    settings = [each for each in row if each and not each.startswith("namespace=")]
    done = template(*settings, namespace=next(iter(namespaces), NAMESPACE))
    assert done.returncode == 0, (row, done.stderr)
    return [each for each in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if each]


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_what_is_rendered_fits_together(row: tuple[str, ...]) -> None:
    manifests = rendered(row)
    assert [*faults(manifests, SECRETS)] == [], row
    assert [f"{each['kind']}: {fault}" for each in manifests for fault in faults_of_kind(each)] == []
    places = [(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in manifests]
    assert len(places) == len(set(places)), row


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (("manager.httpPort=80",), "at '/manager/httpPort': minimum: got 80, want 1,024"),
        (("manager.webhookPort=443",), "at '/manager/webhookPort': minimum: got 443, want 1,024"),
        ((f"{SERVER}.httpPort=80",), f"at '/{SERVER.replace('.', '/')}/httpPort': minimum: got 80, want 1,024"),
        (
            ("manager.httpPort=9443",),
            "manager.webhookPort: found 9443, allowed: another port than that of manager.httpPort",
        ),
        ((f"{SERVER}.port=8080",), f"{SERVER}.port: found 8080, allowed: another port than that of {SERVER}.httpPort"),
        ((f"{TLS}.enabled=true", f"{TLS}.port=5353"), f"{TLS}.port: found 5353, allowed: another port than that of"),
        (
            ("manager.hostNetwork=true", f"{SERVER}.hostNetwork=true"),
            f"{SERVER}.httpPort: found 8080, allowed: another port than that of manager.httpPort",
        ),
        (("manager.hostNetwork=true", f"{SERVER}.hostPort=9443"), f"{SERVER}.hostPort: found 9443, allowed: another"),
        ((f"{SERVER}.hostPort=53", f"{TLS}.hostPort=53"), f"{TLS}.hostPort: found 53, allowed: another port than that"),
        (
            (f"{SERVER}.hostNetwork=true", f"{TLS}.enabled=true", f"{TLS}.port=853"),
            f"{TLS}.port: found 853, allowed: 1024 or more with hostNetwork",
        ),
        ((f"{SERVER}.hostNetwork=true", f"{TLS}.hostPort=853"), f"{TLS}.hostPort: found one, allowed: none with hostN"),
        ((f"{TLS}.enabled=true", f"{TLS}.secretName="), "tls/secretName': minLength"),
        (
            (f"{SERVICE}.type=NodePort", f"{SERVICE}.clusterIP=None"),
            f"{SERVICE}.clusterIP: found None, allowed: an addr",
        ),
        ((f"{SERVICE}.nodePort=30053", f"{SERVICE}.tlsNodePort=30053"), f"{SERVICE}.tlsNodePort: found 30053, allowed"),
        ((f"{SERVICE}.ipFamilies={{IPv4,IPv4}}",), "ipFamilies': items at 0 and 1 are equal"),
        (
            (f"{SERVICE}.ipFamilies={{IPv4,IPv6}}", f"{SERVICE}.ipFamilyPolicy=SingleStack"),
            f"{SERVICE}.ipFamilies: found two, allowed: one with ipFamilyPolicy SingleStack",
        ),
        (
            (f"{SERVICE}.ipFamilies={{IPv6,IPv4}}", f"{SERVICE}.clusterIP=10.0.0.53"),
            f"{SERVICE}.clusterIP: found 10.0.0.53, allowed: an address of IPv6, which is the first of ipFamilies",
        ),
        (("tracing.endpoint=http://",), "tracing/endpoint': 'http://' does not match pattern"),
        (("tracing.endpoint=http:///v1/traces",), "tracing.endpoint: found http:///v1/traces, allowed: http:// or"),
        (("tracing.endpoint=http://a:port/",), "tracing.endpoint: found http://a:port/, allowed: http:// or"),
        (("tracing.endpoint=http://a:70000/",), "tracing.endpoint: found port 70000, allowed: 1 to 65535"),
        (
            (*only("route53"), *OWN_CERTIFICATE.replace(PEM, "Y2E=").split(",")),
            "webhook.tls.caBundle: found something else, allowed: certificates in PEM",
        ),
        (("manager.image.repository=a@sha256:00",), "manager/image/repository': 'a@sha256:00' does not match pattern"),
        (
            ("monitoring.dashboard.labels.helm\\.sh/chart=x",),
            "monitoring.dashboard.labels: found helm.sh/chart, allowed",
        ),
        (
            ("commonLabels.a=x", "monitoring.serviceMonitor.labels.a=y"),
            "monitoring.serviceMonitor.labels: found a, allowed: labels that are not in commonLabels",
        ),
        (("manager.extraArgs={--webhook-listen=:1}",), "manager.extraArgs: found --webhook-listen, allowed: options"),
        (("manager.extraArgs={--no-route53-controller-enabled}",), "manager.extraArgs: found --no-route53-controller"),
        ((f"{SERVER}.extraArgs={{--http=:1}}",), f"{SERVER}.extraArgs: found --http, allowed: options that the chart"),
        (
            ("manager.extraEnv[0].name=POD_NAMESPACE", "manager.extraEnv[0].value=x"),
            "manager.extraEnv: found POD_NAMESPACE, allowed: variables that the chart does not set itself",
        ),
        (
            ("manager.extraVolumes[0].name=webhook-certificate",),
            "manager.extraVolumes: found webhook-certificate, allow",
        ),
        (
            (f"{SERVER}.extraVolumeMounts[0].name=mine", f"{SERVER}.extraVolumeMounts[0].mountPath=/mine"),
            f"{SERVER}.extraVolumeMounts: found mine, allowed: the name of one of extraVolumes",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value)[-50:],
)
def test_what_cannot_work_is_refused_with_the_name_of_its_value(settings: tuple[str, ...], told: str) -> None:
    assert told in complaint(*only("hosted"), *settings)


@pytest.mark.parametrize("component", ["manager", SERVER])
def test_no_option_that_the_chart_gives_itself_is_taken_twice(component: str) -> None:
    for word in container(render(*EVERYTHING), component.rpartition(".")[2])["args"][1:]:
        option = word.partition("=")[0]
        if option in ("--listen", "--tls-listen"):
            continue  # one more of them is another address
        assert f"{component}.extraArgs: found {option}" in complaint(
            *EVERYTHING, f"{component}.extraArgs={{{option}=x}}"
        )


@pytest.mark.parametrize(
    "settings",
    [
        ("manager.hostNetwork=true", f"{SERVER}.hostNetwork=true", f"{SERVER}.nodeSelector.role=edge"),
        ("tracing.endpoint=http://$(HOST_IP):4318/v1/traces", "networkPolicy.enabled=true"),
        (f"{SERVER}.image.repository=registry.example/dns@sha256", f"{SERVER}.image.tag={'0' * 64}"),
        ("manager.extraVolumes[0].name=tls", "manager.extraVolumes[0].emptyDir.medium=Memory"),
        (f"{SERVER}.extraEnv[0].name=POD_NAMESPACE", f"{SERVER}.extraEnv[0].value=x"),
        (f"{SERVER}.extraArgs={{--listen=:5354}}",),
    ],
    ids=lambda value: value[0],
)
def test_what_works_is_not_refused(settings: tuple[str, ...]) -> None:
    assert render(*only("hosted"), *settings)
