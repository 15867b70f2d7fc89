"""Reading: tables and other output, selection, watching, describing, explaining, and what one may do."""

import json

import pytest

from standalone.resource import STANDARD_VERBS
from tests.standalone.kubectl.command import Command
from tests.standalone.kubectl.crontab import crontab


@pytest.fixture
def three(kubectl: Command) -> Command:
    """kubectl in a namespace with three jobs."""
    manifests = (
        crontab("a", replicas=3, labels={"team": "x"}),
        crontab("b", replicas=1, labels={"team": "x"}, image="alpine"),
        crontab("c", replicas=2, labels={"team": "y"}),
    )
    kubectl.ok("create", "-f", "-", stdin="\n---\n".join(manifests))
    return kubectl


def columns(line: str) -> list[str]:
    return line.split()


def test_get_prints_the_columns_of_the_definition(three: Command) -> None:
    ready = '{"status":{"conditions":[{"type":"Other","status":"False"},{"type":"Ready","status":"True"}]}}'
    three.ok("patch", "ct", "a", "--subresource=status", "--type=merge", "-p", ready)
    header, first, second, _ = three.ok("get", "crontabs").splitlines()
    assert columns(header) == ["NAME", "SCHEDULE", "REPLICAS", "READY", "AGE"]
    assert first.split()[:1] == ["a"]
    assert first.split()[-3:-1] == ["3", "True"]
    assert first.split()[-1].endswith("s")
    assert second.split()[-2] == "1"


def test_wide_output_adds_the_columns_of_lower_priority(three: Command) -> None:
    header, _, second, _ = three.ok("get", "ct", "-o", "wide").splitlines()
    assert columns(header) == ["NAME", "SCHEDULE", "REPLICAS", "READY", "IMAGE", "AGE"]
    assert "alpine" in second


def test_lists_are_sorted_by_a_field_and_read_in_pages(three: Command) -> None:
    by_replicas = three.ok("get", "ct", "--sort-by=.spec.replicas", "--no-headers").splitlines()
    assert [line.split()[0] for line in by_replicas] == ["b", "c", "a"]
    in_pages = three.ok("get", "ct", "--chunk-size=1", "--no-headers").splitlines()
    assert [line.split()[0] for line in in_pages] == ["a", "b", "c"]


def test_objects_are_selected_by_labels_and_fields(three: Command) -> None:
    assert three.ok("get", "ct", "-l", "team=x", "-o", "name").splitlines() == [
        "crontab.stable.example.com/a",
        "crontab.stable.example.com/b",
    ]
    assert three.ok("get", "ct", "-l", "team in (y,z)", "-o", "name") == "crontab.stable.example.com/c\n"
    assert three.ok("get", "ct", "-l", "!team", "-o", "name") == ""
    assert three.ok("get", "ct", "--field-selector=metadata.name!=a", "-o", "name").count("\n") == 2
    complaint = three.fails("get", "ct", "--field-selector=spec.image=alpine")
    assert "field label not supported: spec.image" in complaint


def test_output_in_every_form(three: Command) -> None:
    assert three.ok("get", "ct", "b", "-o", "jsonpath={.spec.image}") == "alpine"
    assert three.ok("get", "ct", "-o", "jsonpath={.items[*].metadata.name}") == "a b c"
    assert three.ok("get", "ct", "b", "-o", "yaml").startswith("apiVersion: stable.example.com/v1\nkind: CronTab\n")
    table = three.ok("get", "ct", "-o", "custom-columns=N:.metadata.name,I:.spec.image").splitlines()
    assert [columns(line) for line in table] == [["N", "I"], ["a", "busybox"], ["b", "alpine"], ["c", "busybox"]]
    assert "team=y" in three.ok("get", "ct", "c", "--show-labels")
    assert three.ok("get", "ct", "c", "-L", "team").splitlines()[0].endswith("TEAM")
    assert three.json("get", "ct")["kind"] == "List"


def test_get_all_takes_in_every_kind_of_that_category(three: Command) -> None:
    output = three.ok("get", "all")
    assert "crontab.stable.example.com/a" in output


def test_get_over_all_namespaces_shows_the_namespace(three: Command) -> None:
    lines = three.ok("get", "ct", "-A").splitlines()
    assert columns(lines[0])[0] == "NAMESPACE"
    assert sum(line.split()[0] == three.namespace for line in lines) == 3


@pytest.mark.parametrize(
    ("kind", "header"),
    [
        ("namespaces", ["NAME", "STATUS", "AGE"]),
        ("customresourcedefinitions", ["NAME", "SCOPE", "VERSIONS", "CREATED", "AT"]),
    ],
)
def test_built_in_kinds_have_columns_of_their_own(kubectl: Command, kind: str, header: list[str]) -> None:
    assert columns(kubectl.ok("get", kind).splitlines()[0]) == header


def test_secrets_and_services_are_printed_in_short(kubectl: Command) -> None:
    kubectl.ok("create", "secret", "generic", "login", "--from-literal=password=hunter2")
    kubectl.ok("create", "service", "clusterip", "web", "--tcp=80:8080")
    header, row = kubectl.ok("get", "secrets").splitlines()
    assert columns(header) == ["NAME", "TYPE", "DATA", "AGE"]
    assert columns(row)[:3] == ["login", "Opaque", "1"]
    assert "80/TCP" in kubectl.ok("get", "services")


def test_watch_shows_the_present_state_and_then_each_change(three: Command) -> None:
    with three.stream("get", "ct", "-w") as watch:
        watch.until(lambda line: line.startswith("c "))
        assert columns(watch.seen[0]) == ["NAME", "SCHEDULE", "REPLICAS", "READY", "AGE"]
        three.ok("patch", "ct", "b", "--type=merge", "-p", '{"spec":{"replicas":9}}')
        changed = watch.until(lambda line: line.startswith("b "))
        assert " 9 " in changed
        three.ok("create", "-f", "-", stdin=crontab("d"))
        watch.until(lambda line: line.startswith("d "))
        three.ok("delete", "ct", "a", "--wait=false")
        watch.until(lambda line: line.startswith("a "))


def test_watch_in_events_tells_what_happened(three: Command) -> None:
    with three.stream("get", "ct", "-w", "--output-watch-events", "-l", "team=y") as watch:
        watch.until(lambda line: columns(line)[:2] == ["ADDED", "c"])
        three.ok("label", "ct", "c", "seen=1")
        three.ok("label", "ct", "c", "team=x", "--overwrite")
        watch.until(lambda line: columns(line)[:2] == ["DELETED", "c"])


def test_watch_of_one_object_in_json(three: Command) -> None:
    with three.stream("get", "ct", "a", "-w", "-o", "jsonpath={.spec.replicas}{'\\n'}") as watch:
        watch.until(lambda line: line == "3")
        three.ok("patch", "ct", "a", "--type=merge", "-p", '{"spec":{"replicas":7}}')
        watch.until(lambda line: line == "7")


def test_describe_shows_the_object_and_its_events(three: Command) -> None:
    uid = three.json("get", "ct", "a")["metadata"]["uid"]
    _post_event(three, "a", uid)
    described = three.ok("describe", "ct", "a")
    assert "API Version:  stable.example.com/v1" in described
    assert "Replicas:  3" in described
    assert "Refused" in described
    assert "the schedule is odd" in described


def test_events_are_listed_for_an_object_and_watched(three: Command) -> None:
    uid = three.json("get", "ct", "b")["metadata"]["uid"]
    _post_event(three, "b", uid)
    lines = three.ok("events", "--for", "crontab/b").splitlines()
    assert columns(lines[0]) == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert "the schedule is odd" in lines[1]
    assert "Refused" in three.ok("get", "events")
    assert "Refused" in three.ok("get", "events.events.k8s.io")
    assert "CronTab/b" in three.ok("events", "--types=Warning")


def _post_event(kubectl: Command, name: str, uid: str) -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.1"},
        "type": "Warning",
        "reason": "Refused",
        "message": "the schedule is odd",
        "count": 1,
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "source": {"component": "test"},
        "involvedObject": {
            "apiVersion": "stable.example.com/v1",
            "kind": "CronTab",
            "name": name,
            "namespace": kubectl.namespace,
            "uid": uid,
        },
    }
    kubectl.ok("create", "-f", "-", stdin=json.dumps(event))


@pytest.mark.parametrize("kind", ["namespace", "secret", "configmap", "service", "serviceaccount", "crd", "lease"])
def test_describe_of_built_in_kinds(kubectl: Command, kind: str) -> None:
    kubectl.ok("create", "secret", "generic", "login", "--from-literal=password=hunter2")
    kubectl.ok("create", "configmap", "settings", "--from-literal=a=1")
    kubectl.ok("create", "service", "clusterip", "web", "--tcp=80:8080")
    kubectl.ok("create", "serviceaccount", "robot")
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "leader"}, "spec": {}}
    kubectl.ok("create", "-f", "-", stdin=json.dumps(lease))
    described = kubectl.ok("describe", kind)
    assert "Name:" in described
    assert "hunter2" not in described


def test_describe_of_a_service_shows_its_endpoints(kubectl: Command) -> None:
    kubectl.ok("create", "service", "clusterip", "web", "--tcp=80:8080")
    endpoints = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "web-1", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["192.0.2.7"], "conditions": {"ready": True}}],
        "ports": [{"port": 8080}],
    }
    kubectl.ok("create", "-f", "-", stdin=json.dumps(endpoints))
    assert "Name:                     web" in kubectl.ok("describe", "service", "web")
    assert "192.0.2.7" in kubectl.ok("describe", "endpointslice", "web-1")


def test_explain_tells_the_fields_of_custom_and_built_in_kinds(kubectl: Command) -> None:
    root = kubectl.ok("explain", "crontab")
    assert "GROUP:      stable.example.com\nKIND:       CronTab\nVERSION:    v1\n" in root
    assert "A job that runs on a schedule." in root
    assert "metadata\t<ObjectMeta>" in root
    spec = kubectl.ok("explain", "ct.spec")
    assert "schedule\t<string> -required-" in spec
    assert "When it runs." in spec
    assert "FIELD: name <string>" in kubectl.ok("explain", "crontab.spec.steps.name")
    assert "finalizers\t<[]string>" in kubectl.ok("explain", "crontab.metadata")
    assert "targetPort\t<IntOrString>" in kubectl.ok("explain", "service.spec.ports")
    assert "holderIdentity" in kubectl.ok("explain", "lease", "--recursive")
    assert "additionalPrinterColumns" in kubectl.ok("explain", "crd.spec.versions")
    assert 'field "unheard" does not exist' in kubectl.fails("explain", "crontab.spec.unheard")


@pytest.mark.parametrize(
    "kind",
    [
        "apiservices",
        "configmaps",
        "endpointslices",
        "events",
        "namespaces",
        "secrets",
        "selfsubjectaccessreviews",
        "selfsubjectreviews",
        "selfsubjectrulesreviews",
        "serviceaccounts",
        "validatingwebhookconfigurations",
    ],
)
def test_explain_knows_every_built_in_kind(kubectl: Command, kind: str) -> None:
    assert "FIELDS:" in kubectl.ok("explain", kind)


def test_explain_can_be_asked_for_the_older_description(kubectl: Command) -> None:
    spec = kubectl.ok("explain", "crontab.spec", "--output=plaintext-openapiv2")
    assert "schedule\t<string> -required-" in spec
    assert "targetPort\t<string>" in kubectl.ok("explain", "service.spec.ports", "--output=plaintext-openapiv2")


def test_explain_tells_the_versions_of_a_kind_apart(kubectl: Command) -> None:
    assert "involvedObject" in kubectl.ok("explain", "events")
    assert "regarding" in kubectl.ok("explain", "events", "--api-version=events.k8s.io/v1")


def test_the_served_resources_and_versions_are_listed(kubectl: Command) -> None:
    lines = [columns(line) for line in kubectl.ok("api-resources").splitlines()]
    assert ["crontabs", "ct", "stable.example.com/v1", "true", "CronTab"] in lines
    assert ["namespaces", "ns", "v1", "false", "Namespace"] in lines
    wide = columns(kubectl.ok("api-resources", "--api-group=stable.example.com", "-o", "wide").splitlines()[1])
    assert set(wide[5].split(",")) == set(STANDARD_VERBS)
    only_created = kubectl.ok("api-resources", "--verbs=create", "--namespaced=false", "-o", "name").splitlines()
    assert "selfsubjectaccessreviews.authorization.k8s.io" in only_created
    versions = kubectl.ok("api-versions").splitlines()
    assert "stable.example.com/v1" in versions
    assert "v1" in versions


def test_the_version_is_told_and_near_enough_to_the_clients(kubectl: Command) -> None:
    told = json.loads(kubectl.ok("version", "-o", "json"))
    assert told["serverVersion"]["major"] == told["clientVersion"]["major"]


def test_health_and_documents_are_read_raw(kubectl: Command) -> None:
    assert kubectl.ok("get", "--raw", "/readyz") == "ok"
    assert json.loads(kubectl.ok("get", "--raw", "/openapi/v2"))["swagger"] == "2.0"
    assert "api/v1" in json.loads(kubectl.ok("get", "--raw", "/openapi/v3"))["paths"]
    assert "could not find the requested resource" in kubectl.fails("get", "--raw", "/apis/nobody.example.com/v1")
    assert "control plane is running at http" in kubectl.ok("cluster-info")


def test_one_may_do_everything_and_is_the_administrator(kubectl: Command) -> None:
    assert kubectl.ok("auth", "can-i", "delete", "crontabs") == "yes\n"
    assert kubectl.ok("auth", "can-i", "get", "crontabs", "--subresource=status") == "yes\n"
    assert kubectl.ok("auth", "can-i", "get", "/version") == "yes\n"
    assert "*.*" in kubectl.ok("auth", "can-i", "--list")
    assert "system:masters" in kubectl.ok("auth", "whoami")


def test_a_resource_that_is_not_served_is_an_error(kubectl: Command) -> None:
    assert kubectl.fails("get", "unheards") == 'error: the server doesn\'t have a resource type "unheards"\n'
    complaint = kubectl.fails("get", "ct", "absent")
    assert complaint == 'Error from server (NotFound): crontabs.stable.example.com "absent" not found\n'


def test_a_new_definition_is_usable_as_soon_as_it_is_established_and_gone_when_deleted(cluster: Command) -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Cluster",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [
                {
                    "name": "v1alpha1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    },
                }
            ],
        },
    }
    cluster.ok("create", "-f", "-", stdin=json.dumps(definition))
    cluster.ok("wait", "--for=condition=Established", "crd/widgets.example.org", "--timeout=20s")
    widget = {"apiVersion": "example.org/v1alpha1", "kind": "Widget", "metadata": {"name": "w"}, "any": {"thing": 1}}
    cluster.ok("apply", "-f", "-", stdin=json.dumps(widget))
    assert columns(cluster.ok("get", "widgets").splitlines()[0]) == ["NAME", "AGE"]
    cluster.ok("delete", "crd", "widgets.example.org", "--timeout=25s")
    assert "could not find" in cluster.fails("get", "--raw", "/apis/example.org/v1alpha1/widgets")
