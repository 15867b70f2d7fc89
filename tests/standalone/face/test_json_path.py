"""The JSONPath dialect of printer columns."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standalone.printing.json_path import JsonPathError, compile_path

DOCUMENT = {
    "metadata": {"name": "web", "labels": {"app.example.com/name": "shop"}},
    "spec": {
        "ports": [{"name": "http", "port": 80, "open": True}, {"name": "dns", "port": 53, "open": False}],
        "matrix": [[1, 2], [3, 4]],
        "nothing": None,
    },
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Accepted", "status": "False"}]},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".metadata.name", ["web"]),
        ("{.metadata.name}", ["web"]),
        ("$.metadata.name", ["web"]),
        (".metadata.labels.app\\.example\\.com/name", ["shop"]),
        (".metadata.labels['app.example.com/name']", []),
        (".metadata.labels['app\\.example\\.com/name']", ["shop"]),
        (".spec['ports'][0]['name']", ["http"]),
        (".metadata['name','labels.app\\.example\\.com/name']", ["web", "shop"]),
        (".spec.ports[0].port", [80]),
        (".spec.ports[-1].name", ["dns"]),
        (".spec.ports[7].name", []),
        (".spec.ports[*].name", ["http", "dns"]),
        (".spec.ports.*.port", [80, 53]),
        (".spec.ports[0:1].name", ["http"]),
        (".spec.ports[1:].name", ["dns"]),
        (".spec.ports[0,1].port", [80, 53]),
        (".spec.ports[0]['name','port']", ["http", 80]),
        (".spec.matrix[*][1]", [2, 4]),
        (".spec.nothing", [None]),
        (".spec.nothing.more", []),
        (".spec.absent", []),
        (".metadata.name.more", []),
        ("..port", [80, 53]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type == 'Accepted')].status", ["False"]),
        ('.status.conditions[?(@.type!="Ready")].type', ["Accepted"]),
        ('.status.conditions[?(@.type=="Absent")].status', []),
        (".spec.ports[?(@.port>60)].name", ["http"]),
        (".spec.ports[?(@.port<=53)].name", ["dns"]),
        (".spec.ports[?(@.open==true)].name", ["http"]),
        (".spec.ports[?(@.port=='80')].name", []),
        (".spec.ports[?(@.absent)].name", []),
        (".spec.ports[?(@.open)].port", [80, 53]),
        (".", [DOCUMENT]),
    ],
)
def test_a_path_finds_its_values_and_nothing_where_a_part_is_missing(path: str, found: list[Any]) -> None:
    assert compile_path(path).find(DOCUMENT) == found


@pytest.mark.parametrize(
    "path",
    [
        "metadata.name",
        ".spec[",
        ".spec[name]",
        ".spec.ports[?(@.port=={})]",
        ".a{b}",
        ".spec.",
        ".x[?()]",
        '.spec["ports"]',
    ],
)
def test_an_unreadable_path_is_refused_and_quoted(path: str) -> None:
    with pytest.raises(JsonPathError) as refusal:
        compile_path(path)
    assert repr(path) in str(refusal.value)


@given(st.text(max_size=30))
def test_any_text_is_a_path_or_refused(path: str) -> None:
    try:
        compiled = compile_path(path)
    except JsonPathError:
        return
    compiled.find(DOCUMENT)
