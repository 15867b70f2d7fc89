"""Getting and listing: selectors, pages, resource versions, and the forms of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.standalone.rest import Rest
from tests.standalone.widget import NAMESPACES, Widgets, config_map, config_maps

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


@pytest.fixture
async def five(rest: Rest, widgets: Widgets) -> list[dict[str, Any]]:
    """Five widgets, a to e, with the label `even` on every second."""
    return [
        (
            await rest.post(
                widgets.path, widgets.make(name, size=size, metadata={"labels": {"even": str(size % 2 == 0).lower()}})
            )
        ).ok()
        for size, name in enumerate("abcde", start=1)
    ]


def names(body: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in body["items"]]


async def test_an_absent_object_is_not_found(rest: Rest, widgets: Widgets) -> None:
    reply = await rest.get(widgets.at("none"))
    assert reply.refused(404, "NotFound") == f'widgets.{widgets.group} "none" not found'
    assert reply.body["details"] == {"name": "none", "group": widgets.group, "kind": "widgets"}


async def test_a_list_is_sorted_and_says_what_it_is(rest: Rest, widgets: Widgets, five: list[dict[str, Any]]) -> None:
    body = (await rest.get(widgets.path)).ok()
    assert (body["kind"], body["apiVersion"]) == ("WidgetList", widgets.api_version)
    assert body["items"] == five
    assert int(body["metadata"]["resourceVersion"]) >= int(five[-1]["metadata"]["resourceVersion"])


async def test_an_empty_list_is_a_list(rest: Rest, widgets: Widgets) -> None:
    body = (await rest.get(widgets.path)).ok()
    assert body["items"] == []
    assert int(body["metadata"]["resourceVersion"]) > 0


async def test_all_namespaces_are_listed_together(rest: Rest, widgets: Widgets, five: list[dict[str, Any]]) -> None:
    assert names((await rest.get(widgets.everywhere)).ok()) == ["a", "b", "c", "d", "e"]


async def test_a_namespace_that_is_not_there_lists_nothing(rest: Rest) -> None:
    assert (await rest.get(config_maps("nowhere"))).ok()["items"] == []


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("even=true", "bd"),
        ("even==true", "bd"),
        ("even!=true", "ace"),
        ("even in (true, false)", "abcde"),
        ("even notin (true)", "ace"),
        ("even", "abcde"),
        ("!even", ""),
        ("odd!=x", "abcde"),
        ("even=true,even!=true", ""),
    ],
)
async def test_label_selectors(
    rest: Rest, widgets: Widgets, five: list[dict[str, Any]], selector: str, expected: str
) -> None:
    assert names((await rest.get(widgets.path, labelSelector=selector)).ok()) == list(expected)


@pytest.mark.parametrize("selector", ["a=b=c", "in (x)", "a in x", "-x=1", "a=b c"])
async def test_a_selector_that_cannot_be_read_is_refused(rest: Rest, widgets: Widgets, selector: str) -> None:
    (await rest.get(widgets.path, labelSelector=selector)).refused(400, "BadRequest")


async def test_field_selectors_on_name_and_namespace(rest: Rest, widgets: Widgets, five: list[dict[str, Any]]) -> None:
    assert names((await rest.get(widgets.path, fieldSelector="metadata.name=c")).ok()) == ["c"]
    assert names((await rest.get(widgets.path, fieldSelector="metadata.name!=c")).ok()) == ["a", "b", "d", "e"]
    by_namespace = f"metadata.namespace={widgets.namespace},metadata.name=a"
    assert names((await rest.get(widgets.everywhere, fieldSelector=by_namespace)).ok()) == ["a"]
    assert names((await rest.get(widgets.path, fieldSelector="metadata.name=zz")).ok()) == []


async def test_a_field_that_cannot_be_selected_is_refused(rest: Rest, widgets: Widgets) -> None:
    message = (await rest.get(widgets.path, fieldSelector="spec.size=1")).refused(400, "BadRequest")
    assert "field label not supported: spec.size" in message


async def test_secrets_are_selected_by_type(rest: Rest, namespace: str) -> None:
    path = f"{NAMESPACES}/{namespace}/secrets"
    for name, secret_type in (("a", "example.com/x"), ("b", "Opaque")):
        manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "type": secret_type}
        (await rest.post(path, manifest)).ok()
    assert names((await rest.get(path, fieldSelector="type=example.com/x")).ok()) == ["a"]


async def test_pages_follow_one_another(rest: Rest, widgets: Widgets, five: list[dict[str, Any]]) -> None:
    first = (await rest.get(widgets.path, limit="2")).ok()
    assert names(first) == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 3
    second = (await rest.get(widgets.path, limit="2", **{"continue": first["metadata"]["continue"]})).ok()
    assert names(second) == ["c", "d"]
    last = (await rest.get(widgets.path, limit="2", **{"continue": second["metadata"]["continue"]})).ok()
    assert names(last) == ["e"]
    assert not last["metadata"].get("continue")
    assert last["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


async def test_pages_show_the_state_of_the_first(rest: Rest, widgets: Widgets, five: list[dict[str, Any]]) -> None:
    first = (await rest.get(widgets.path, limit="2")).ok()
    (await rest.delete(widgets.at("d"))).ok()
    (await rest.patch(widgets.at("e"), {"spec": {"size": 50}})).ok()
    (await rest.post(widgets.path, widgets.make("cc"))).ok()
    rest_of_it = (await rest.get(widgets.path, **{"continue": first["metadata"]["continue"]})).ok()
    assert rest_of_it["items"] == five[2:]


async def test_a_token_that_is_none_is_refused(rest: Rest, widgets: Widgets) -> None:
    (await rest.get(widgets.path, limit="2", **{"continue": "nonsense"})).refused(400, "BadRequest")


async def test_a_list_at_an_exact_version(rest: Rest, widgets: Widgets, five: list[dict[str, Any]]) -> None:
    then = (await rest.get(widgets.path)).ok()["metadata"]["resourceVersion"]
    (await rest.delete(widgets.at("a"))).ok()
    exact = (await rest.get(widgets.path, resourceVersion=then, resourceVersionMatch="Exact", limit="500")).ok()
    assert exact["items"] == five
    newer = (await rest.get(widgets.path, resourceVersion=then, resourceVersionMatch="NotOlderThan")).ok()
    assert names(newer) == ["b", "c", "d", "e"]
    assert names((await rest.get(widgets.path, resourceVersion="0")).ok()) == ["b", "c", "d", "e"]


@pytest.mark.parametrize(
    "query",
    [
        {"resourceVersionMatch": "Exact"},
        {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
        {"resourceVersionMatch": "Sometimes", "resourceVersion": "1"},
    ],
)
async def test_combinations_that_mean_nothing_are_refused(rest: Rest, widgets: Widgets, query: dict[str, str]) -> None:
    (await rest.get(widgets.path, **query)).refused(422, "Invalid")


async def test_a_table_has_the_columns_of_the_definition(
    rest: Rest, widgets: Widgets, five: list[dict[str, Any]]
) -> None:
    body = (await rest.get(widgets.path, accept=TABLE)).ok()
    assert (body["kind"], body["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [column["name"] for column in body["columnDefinitions"]] == ["Name", "Age"]
    assert [row["cells"][0] for row in body["rows"]] == list("abcde")
    assert body["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    whole = (await rest.get(widgets.path, accept=TABLE, includeObject="Object")).ok()
    assert whole["rows"][0]["object"] == five[0]
    none = (await rest.get(widgets.path, accept=TABLE, includeObject="None")).ok()
    assert none["rows"][0].get("object") is None


async def test_one_object_as_a_table(rest: Rest, widgets: Widgets, five: list[dict[str, Any]]) -> None:
    body = (await rest.get(widgets.at("b"), accept=TABLE)).ok()
    assert [row["cells"][0] for row in body["rows"]] == ["b"]


async def test_metadata_alone(rest: Rest, widgets: Widgets, five: list[dict[str, Any]]) -> None:
    one = (await rest.get(widgets.at("a"), accept=METADATA)).ok()
    expected = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": five[0]["metadata"]}
    assert one == expected
    many = (await rest.get(widgets.path, accept=METADATA_LIST)).ok()
    assert (many["kind"], many["items"][0]["metadata"]) == ("PartialObjectMetadataList", five[0]["metadata"])


async def test_a_form_nobody_offers_is_refused(rest: Rest, widgets: Widgets) -> None:
    assert (await rest.get(widgets.path, accept="text/html")).code == 406


async def test_the_first_acceptable_form_is_taken(rest: Rest, widgets: Widgets, five: list[dict[str, Any]]) -> None:
    accept = f"application/vnd.example, {TABLE}, application/json"
    assert (await rest.get(widgets.path, accept=accept)).ok()["kind"] == "Table"
    assert (await rest.get(widgets.path, accept="*/*")).ok()["kind"] == "WidgetList"


async def test_yaml_is_written(rest: Rest, namespace: str) -> None:
    (await rest.post(config_maps(namespace), config_map("one", a="b"))).ok()
    text = (await rest.get(f"{config_maps(namespace)}/one", accept="application/yaml")).body
    assert "kind: ConfigMap" in text


@pytest.mark.parametrize(
    "path",
    ["/apis/nowhere.example.com/v1/things", "/api/v1/namespaces/default/nothings", "/api/v2/namespaces", "/nothing"],
)
async def test_a_path_that_leads_nowhere_is_not_found(rest: Rest, path: str) -> None:
    assert (await rest.get(path)).code == 404


async def test_the_wrong_scope_is_not_found(rest: Rest, namespace: str) -> None:
    assert (await rest.get("/api/v1/configmaps/one")).code in (404, 405)
    definitions = f"/apis/apiextensions.k8s.io/v1/namespaces/{namespace}/customresourcedefinitions"
    assert (await rest.get(definitions)).code == 404


async def test_subresources_that_do_not_exist_are_not_found(rest: Rest, widgets: Widgets, five: list[Any]) -> None:
    assert (await rest.get(widgets.at("a", "scale"))).code == 404
    assert (await rest.get(f"{config_maps(widgets.namespace)}/one/status")).code == 404


async def test_a_method_that_does_not_fit_is_refused(rest: Rest, widgets: Widgets) -> None:
    assert (await rest.put(widgets.path, {})).code in (400, 405)
    everywhere = "/api/v1/configmaps"
    assert (await rest.post(everywhere, config_map("one"))).code == 405
    assert (await rest.delete(everywhere)).code == 405


async def test_health_and_version(rest: Rest) -> None:
    for path in ("/healthz", "/livez", "/readyz"):
        assert (await rest.get(path, accept="*/*")).body == "ok"
    assert (await rest.get("/version")).ok()["major"] == "1"


async def test_labels_are_compared_as_numbers(rest: Rest, namespace: str) -> None:
    for number in ("2", "10", "x"):
        (await rest.post(config_maps(namespace), config_map(f"n{number}", metadata={"labels": {"n": number}}))).ok()

    async def found(selector: str) -> list[str]:
        body = (await rest.get(config_maps(namespace), labelSelector=selector)).ok()
        return [item["metadata"]["name"] for item in body["items"] if item["metadata"]["name"].startswith("n")]

    assert await found("n>2") == ["n10"]
    assert await found("n < 10") == ["n2"]
    assert await found("n>1,n<11") == ["n10", "n2"]
    reply = await rest.get(config_maps(namespace), labelSelector="n>x")
    assert "the value must be an integer" in reply.refused(400, "BadRequest")


async def test_a_limited_list_at_a_version_is_of_that_version(rest: Rest, namespace: str) -> None:
    """Without a resourceVersionMatch, too."""
    path = config_maps(namespace)
    created = [(await rest.post(path, config_map(name, v="old"))).ok() for name in ("a", "b")]
    (await rest.patch(f"{path}/a", {"data": {"v": "new"}})).ok()
    version = created[-1]["metadata"]["resourceVersion"]
    page = (await rest.get(path, limit="1", resourceVersion=version)).ok()
    assert [item["data"]["v"] for item in page["items"]] == ["old"]


async def test_initial_events_are_not_for_a_list(rest: Rest, namespace: str) -> None:
    reply = await rest.get(config_maps(namespace), sendInitialEvents="true")
    assert "sendInitialEvents is forbidden for list" in reply.refused(422, "Invalid")
