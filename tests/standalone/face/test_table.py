"""Server-side printing: the Table a client gets for any kind."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standalone.printing.age import age, duration
from standalone.printing.cell import cell, text
from standalone.resource import PrinterColumn, Resource
from standalone.table import partial_metadata, table

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
CREATED = "2026-03-01T11:00:00Z"


def custom(*columns: PrinterColumn) -> Resource:
    names = ("crontabs", "crontab", "CronTab", "CronTabList")
    return Resource("stable.example.com", "v1", *names, True, custom=True, printer_columns=columns)


def builtin(kind: str, group: str = "") -> Resource:
    return Resource(group, "v1", f"{kind.lower()}s", kind.lower(), kind, f"{kind}List", True)


def cells(resource: Resource, obj: dict[str, Any]) -> dict[str, Any]:
    obj = {"metadata": {"name": "x", "creationTimestamp": CREATED}, **obj}
    made = table(resource, [obj], now=NOW)
    names = [column["name"] for column in made["columnDefinitions"]]
    return dict(zip(names, made["rows"][0]["cells"], strict=True))


def test_a_kind_without_columns_shows_name_and_age() -> None:
    assert cells(custom(), {}) == {"Name": "x", "Age": "60m"}
    assert cells(builtin("Unheard"), {}) == {"Name": "x", "Age": "60m"}


def test_declared_columns_follow_the_name_with_their_type_priority_and_description() -> None:
    resource = custom(
        PrinterColumn("Spec", "string", ".spec.cron", description="The schedule."),
        PrinterColumn("Runs", "integer", ".status.runs", format="int32", priority=1),
    )
    made = table(resource, [], list_metadata={"resourceVersion": "7", "continue": "token"}, now=NOW)
    assert (made["kind"], made["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert made["metadata"] == {"resourceVersion": "7", "continue": "token"}
    assert made["rows"] == []
    assert [(each["name"], each["type"], each["format"], each["priority"]) for each in made["columnDefinitions"]] == [
        ("Name", "string", "name", 0),
        ("Spec", "string", "", 0),
        ("Runs", "integer", "int32", 1),
    ]
    assert made["columnDefinitions"][1]["description"] == "The schedule."
    assert ".status.runs" in made["columnDefinitions"][2]["description"]


def test_later_watch_events_carry_no_column_definitions() -> None:
    made = table(custom(), [{"metadata": {"name": "x"}}], with_columns=False, now=NOW)
    assert made["columnDefinitions"] == []
    assert made["rows"][0]["cells"] == ["x", "<unknown>"]


def test_rows_carry_as_much_of_the_object_as_was_asked_for() -> None:
    obj = {"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "x", "uid": "u"}, "spec": {}}
    metadata_only = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}
    assert table(custom(), [obj])["rows"][0]["object"] == metadata_only == partial_metadata(obj)
    assert table(custom(), [obj], include_object="Object")["rows"][0]["object"] == obj
    assert "object" not in table(custom(), [obj], include_object="None")["rows"][0]


@pytest.mark.parametrize(
    ("column_type", "value", "shown"),
    [
        ("string", "text", "text"),
        ("string", True, "true"),
        ("string", 7, "7"),
        ("string", ["b", 1], '["b",1]'),
        ("string", {"b": 1, "a": None}, '{"a":null,"b":1}'),
        ("integer", 7, 7),
        ("integer", 7.9, 7),
        ("integer", "7", None),
        ("integer", True, None),
        ("number", 7, 7),
        ("number", 7.0, 7),
        ("number", 0.5, 0.5),
        ("boolean", False, False),
        ("boolean", "false", None),
        ("date", CREATED, "60m"),
        ("date", "yesterday", "<invalid>"),
        ("date", "", "<unknown>"),
        ("date", 12, None),
        ("date", None, None),
        ("integer", None, None),
        ("string", None, "<no value>"),
    ],
)
def test_a_value_is_shown_by_its_columns_type_and_not_at_all_when_it_does_not_fit(
    column_type: str, value: Any, shown: Any
) -> None:
    made = cell(column_type, value, NOW)
    assert made == shown
    assert type(made) is type(shown)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.0, "1"), (0.25, "0.25"), (1e6, "1e+06"), (1234567.5, "1.2345675e+06"), (0.0001, "0.0001"), (0.00001, "1e-05")],
)
def test_numbers_in_text_columns_take_the_shortest_form(value: float, shown: str) -> None:
    assert text(value) == shown


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_shown_number_reads_back_as_the_same_number(value: float) -> None:
    assert float(text(value)) == value


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (121, "2m1s"),
        (599, "9m59s"),
        (600, "10m"),
        (10799, "179m"),
        (10800, "3h"),
        (10860, "3h1m"),
        (28799, "7h59m"),
        (28800, "8h"),
        (172799, "47h"),
        (172800, "2d"),
        (176400, "2d1h"),
        (691199, "7d23h"),
        (691200, "8d"),
        (63071999, "729d"),
        (63072000, "2y"),
        (63158400, "2y1d"),
        (252288000, "8y"),
    ],
)
def test_ages_read_as_in_kubectl(seconds: int, shown: str) -> None:
    assert duration(seconds) == shown
    stamp = (NOW - timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    assert age(stamp, NOW) == shown


BUILTIN_CELLS: list[tuple[Resource, dict[str, Any], dict[str, Any]]] = [
    (builtin("Namespace"), {"status": {"phase": "Terminating"}}, {"Name": "x", "Status": "Terminating", "Age": "60m"}),
    (
        builtin("Secret"),
        {"type": "kubernetes.io/tls", "data": {"tls.crt": "c2VjcmV0", "tls.key": "a2V5"}},
        {"Name": "x", "Type": "kubernetes.io/tls", "Data": 2, "Age": "60m"},
    ),
    (
        builtin("ConfigMap"),
        {"data": {"a": "1"}, "binaryData": {"b": "MQ=="}},
        {"Name": "x", "Data": 2, "Age": "60m"},
    ),
    (builtin("ServiceAccount"), {}, {"Name": "x", "Age": "60m"}),
    (
        builtin("Service"),
        {"spec": {"ports": [{"port": 53, "protocol": "UDP", "nodePort": 30053}], "selector": {"b": "2", "a": "1"}}},
        {
            "Name": "x",
            "Type": "ClusterIP",
            "Cluster-IP": "<none>",
            "External-IP": "<none>",
            "Port(s)": "53:30053/UDP",
            "Age": "60m",
            "Selector": "a=1,b=2",
        },
    ),
    (
        builtin("Lease", "coordination.k8s.io"),
        {"spec": {"holderIdentity": "me"}},
        {"Name": "x", "Holder": "me", "Age": "60m"},
    ),
    (
        builtin("EndpointSlice", "discovery.k8s.io"),
        {
            "addressType": "IPv4",
            "ports": [{"port": 80}, {"name": "dns"}],
            "endpoints": [{"addresses": [f"10.0.0.{n}"]} for n in range(5)],
        },
        {
            "Name": "x",
            "AddressType": "IPv4",
            "Ports": "80,dns",
            "Endpoints": "10.0.0.0,10.0.0.1,10.0.0.2 + 2 more...",
            "Age": "60m",
        },
    ),
    (
        builtin("CustomResourceDefinition", "apiextensions.k8s.io"),
        {
            "spec": {
                "group": "example.com",
                "scope": "Cluster",
                "names": {"kind": "Multi", "shortNames": ["mu", "mul"]},
                "versions": [
                    {"name": "v1alpha1", "served": False, "storage": False},
                    {"name": "v1beta1", "served": True, "storage": False},
                    {"name": "v1", "served": True, "storage": True},
                ],
            },
            "status": {"conditions": [{"type": "Established", "status": "True"}]},
        },
        {
            "Name": "x",
            "Scope": "Cluster",
            "Versions": "v1(storage),v1beta1",
            "Created At": CREATED,
            "Group": "example.com",
            "Kind": "Multi",
            "ShortNames": "mu,mul",
            "Established": True,
        },
    ),
    (
        builtin("APIService", "apiregistration.k8s.io"),
        {
            "spec": {"service": {"namespace": "dns", "name": "manager"}},
            "status": {"conditions": [{"type": "Available", "status": "False", "reason": "NoEndpoints"}]},
        },
        {"Name": "x", "Service": "dns/manager", "Available": "False (NoEndpoints)", "Age": "60m"},
    ),
    (
        builtin("ValidatingWebhookConfiguration", "admissionregistration.k8s.io"),
        {"webhooks": [{}, {}]},
        {"Name": "x", "Webhooks": 2, "Age": "60m"},
    ),
]


@pytest.mark.parametrize(
    ("resource", "obj", "shown"), BUILTIN_CELLS, ids=[resource.kind for resource, _, _ in BUILTIN_CELLS]
)
def test_built_in_kinds_have_columns_of_their_own(
    resource: Resource, obj: dict[str, Any], shown: dict[str, Any]
) -> None:
    assert cells(resource, obj) == shown


@pytest.mark.parametrize("resource", [resource for resource, _, _ in BUILTIN_CELLS], ids=lambda each: each.kind)
@pytest.mark.parametrize("value", [None, 7, "text", [], {}])
def test_columns_of_built_in_kinds_stand_objects_of_any_shape(resource: Resource, value: Any) -> None:
    fields = ("spec", "status", "data", "metadata", "ports", "endpoints", "webhooks", "secrets")
    for name in fields:
        table(resource, [{name: value}], now=NOW)


def test_a_secrets_values_are_in_no_cell() -> None:
    made = table(builtin("Secret"), [{"metadata": {"name": "x"}, "data": {"password": "aHVudGVyMg=="}}], now=NOW)
    assert "aHVudGVyMg" not in str(made)


def test_both_forms_of_an_event_show_the_same() -> None:
    core = {
        "type": "Warning",
        "reason": "Refused",
        "message": "no\n",
        "involvedObject": {"kind": "Zone", "name": "example"},
        "source": {"component": "dns", "host": "a"},
        "firstTimestamp": "2026-03-01T11:00:00Z",
        "lastTimestamp": "2026-03-01T11:59:00Z",
        "count": 3,
    }
    newer = {
        "type": "Warning",
        "reason": "Refused",
        "note": "no",
        "regarding": {"kind": "Zone", "name": "example"},
        "reportingController": "dns",
        "reportingInstance": "a",
        "eventTime": "2026-03-01T11:00:00.000000Z",
        "series": {"count": 3, "lastObservedTime": "2026-03-01T11:59:00.000000Z"},
    }
    shown = cells(builtin("Event"), core)
    assert shown == {
        "Last Seen": "60s",
        "Type": "Warning",
        "Reason": "Refused",
        "Object": "zone/example",
        "Subobject": "",
        "Source": "dns, a",
        "Message": "no",
        "First Seen": "60m",
        "Count": 3,
        "Name": "x",
    }
    assert cells(builtin("Event", "events.k8s.io"), newer) == shown
