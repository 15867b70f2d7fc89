"""CustomResourceDefinitions: what they must say, when they serve, and how they end."""

from __future__ import annotations

import copy
import secrets
from collections.abc import AsyncIterator
from typing import Any

import pytest

from standalone.apiserver.server import ApiServer
from tests.standalone.rest import Reply, Rest
from tests.standalone.widget import DEFINITIONS, Widgets


@pytest.fixture
async def unserved(rest: Rest, namespace: str) -> AsyncIterator[Widgets]:
    """A kind whose definition is not created yet."""
    kind = Widgets(group=f"g{secrets.token_hex(4)}.example.com", namespace=namespace)
    yield kind
    await rest.delete(kind.definition_path)


def established(reply: Reply) -> bool:
    conditions = reply.body.get("status", {}).get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


async def test_a_definition_becomes_established(rest: Rest, unserved: Widgets) -> None:
    assert (await rest.get(unserved.path)).code == 404
    (await rest.post(DEFINITIONS, unserved.definition)).ok()
    body = await rest.until(unserved.definition_path, established)
    conditions = {each["type"]: each for each in body["status"]["conditions"]}
    assert (conditions["NamesAccepted"]["status"], conditions["NamesAccepted"]["reason"]) == ("True", "NoConflicts")
    assert conditions["Established"]["reason"] == "InitialNamesAccepted"
    names = {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
        "shortNames": ["wd"],
    }
    assert body["status"]["acceptedNames"] == names
    assert body["status"]["storedVersions"] == ["v1"]
    assert body["spec"]["names"] == names
    assert body["spec"]["conversion"] == {"strategy": "None"}


async def test_a_served_kind_is_discovered(rest: Rest, widgets: Widgets) -> None:
    (resource, status) = (await rest.get(f"/apis/{widgets.api_version}")).ok()["resources"]
    assert (resource["name"], resource["kind"], resource["shortNames"]) == ("widgets", "Widget", ["wd"])
    assert status["name"] == "widgets/status"


async def test_a_deleted_definition_takes_its_objects_with_it(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    (await rest.delete(widgets.definition_path)).ok()
    await rest.gone(widgets.definition_path)
    await rest.gone(widgets.path)
    (await rest.post(DEFINITIONS, widgets.definition)).ok()
    body = await rest.until(widgets.path, lambda reply: reply.code == 200)
    assert body["items"] == []


async def test_objects_with_finalizers_hold_a_definition(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("held", metadata={"finalizers": ["example.com/hold"]}))).ok()
    (await rest.delete(widgets.definition_path)).ok()
    await rest.until(widgets.at("held"), lambda reply: "deletionTimestamp" in reply.body["metadata"])
    definition = (await rest.get(widgets.definition_path)).ok()
    told = {each["type"]: each["status"] for each in definition["status"]["conditions"]}
    assert told["Terminating"] == "True"
    message = (await rest.post(widgets.path, widgets.make("late"))).refused(403, "Forbidden")
    assert "create not allowed while custom resource definition is terminating" in message
    (await rest.patch(widgets.at("held"), {"metadata": {"finalizers": None}})).ok()
    await rest.gone(widgets.definition_path)


async def test_a_new_schema_takes_effect(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/minimum"
    operations = [{"op": "replace", "path": path, "value": 10}]
    (await rest.patch(widgets.definition_path, operations, "application/json-patch+json")).ok()
    await rest.until(widgets.path, lambda reply: reply.code == 200)

    async def refused() -> bool:
        return (await rest.post(widgets.path, widgets.make("two"), dryRun="All")).code == 422

    for _ in range(500):
        if await refused():
            break
    else:
        raise AssertionError("the new schema is not in effect")
    (await rest.patch(widgets.at("one"), {"metadata": {"labels": {"old": "valid"}}})).ok()
    assert (await rest.patch(widgets.at("one"), {"spec": {"size": 2}})).code == 422


async def test_a_request_that_began_before_leaves_no_old_schema_behind(
    rest: Rest, server: ApiServer, widgets: Widgets
) -> None:
    registry = server._registry
    assert registry is not None
    earlier = registry.lookup(widgets.group, widgets.version, widgets.plural)
    assert earlier is not None
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/minimum"
    operations = [{"op": "replace", "path": path, "value": 10}]
    (await rest.patch(widgets.definition_path, operations, "application/json-patch+json")).ok()
    assert registry.schema(earlier) is not None
    assert (await rest.post(widgets.path, widgets.make("two"), dryRun="All")).code == 422


async def test_several_versions_show_the_same_objects(rest: Rest, unserved: Widgets) -> None:
    definition = unserved.definition
    (first,) = definition["spec"]["versions"]
    definition["spec"]["versions"] = [first, copy.deepcopy(first) | {"name": "v2", "storage": False}]
    (await rest.post(DEFINITIONS, definition)).ok()
    newer = Widgets(unserved.group, unserved.namespace, version="v2")
    await rest.until(newer.path, lambda reply: reply.code == 200)
    created = (await rest.post(unserved.path, unserved.make("one"))).ok()
    shown = (await rest.get(newer.at("one"))).ok()
    assert shown["apiVersion"] == newer.api_version
    assert shown["spec"] == created["spec"]
    assert shown["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]
    assert (await rest.get(newer.path)).ok()["items"] == [shown]
    patched = (await rest.patch(newer.at("one"), {"spec": {"size": 7}})).ok()
    assert patched["apiVersion"] == newer.api_version
    assert (await rest.get(unserved.at("one"))).ok()["spec"]["size"] == 7


async def test_an_unserved_version_is_not_found(rest: Rest, unserved: Widgets) -> None:
    definition = unserved.definition
    (first,) = definition["spec"]["versions"]
    definition["spec"]["versions"] = [first, copy.deepcopy(first) | {"name": "v2", "storage": False, "served": False}]
    (await rest.post(DEFINITIONS, definition)).ok()
    await rest.until(unserved.path, lambda reply: reply.code == 200)
    assert (await rest.get(Widgets(unserved.group, unserved.namespace, version="v2").path)).code == 404


async def test_cluster_scoped_kinds(rest: Rest, unserved: Widgets) -> None:
    definition = unserved.definition
    definition["spec"]["scope"] = "Cluster"
    (await rest.post(DEFINITIONS, definition)).ok()
    await rest.until(unserved.everywhere, lambda reply: reply.code == 200)
    created = (await rest.post(unserved.everywhere, unserved.make("one"))).ok()
    assert "namespace" not in created["metadata"]
    assert (await rest.get(f"{unserved.everywhere}/one")).ok() == created
    assert (await rest.get(unserved.path)).code == 404


async def test_names_that_are_taken_are_not_accepted(rest: Rest, widgets: Widgets) -> None:
    rival = Widgets(widgets.group, widgets.namespace, plural="gizmos")
    definition = rival.definition
    definition["spec"]["names"] = {"plural": "gizmos", "kind": "Widget"}
    (await rest.post(DEFINITIONS, definition)).ok()

    def judged(reply: Reply) -> bool:
        return bool(reply.body.get("status", {}).get("conditions"))

    body = await rest.until(rival.definition_path, judged)
    conditions = {each["type"]: each for each in body["status"]["conditions"]}
    assert (conditions["NamesAccepted"]["status"], conditions["NamesAccepted"]["reason"]) == (
        "False",
        "ListKindConflict",
    )
    assert not established(Reply(200, body, {}))
    assert (await rest.get(rival.path)).code == 404
    (await rest.delete(rival.definition_path)).ok()


def _renamed(definition: dict[str, Any]) -> None:
    definition["metadata"]["name"] = "gadgets.example.com"


def _without_storage(definition: dict[str, Any]) -> None:
    definition["spec"]["versions"][0]["storage"] = False


def _without_schema(definition: dict[str, Any]) -> None:
    del definition["spec"]["versions"][0]["schema"]


def _unstructural(definition: dict[str, Any]) -> None:
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = {"properties": {"a": {}}}


def _badly_scoped(definition: dict[str, Any]) -> None:
    definition["spec"]["scope"] = "Universal"


def _without_kind(definition: dict[str, Any]) -> None:
    del definition["spec"]["names"]["kind"]


def _twice_the_same_version(definition: dict[str, Any]) -> None:
    (version,) = definition["spec"]["versions"]
    definition["spec"]["versions"] = [version, copy.deepcopy(version) | {"storage": False}]


@pytest.mark.parametrize(
    ("spoil", "field", "text"),
    [
        (_renamed, "metadata.name", 'must be spec.names.plural+"."+spec.group'),
        (_without_storage, "spec.versions", "must have exactly one version marked as storage version"),
        (_without_schema, "spec.versions[0].schema.openAPIV3Schema", "Required value"),
        (_unstructural, "openAPIV3Schema.properties[spec]", "Required value"),
        (_badly_scoped, "spec.scope", "supported values"),
        (_without_kind, "spec.names.kind", "Required value"),
        (_twice_the_same_version, "spec.versions", ""),
    ],
)
async def test_a_definition_that_cannot_be_is_refused(
    rest: Rest, unserved: Widgets, spoil: Any, field: str, text: str
) -> None:
    definition = unserved.definition
    spoil(definition)
    message = (await rest.post(DEFINITIONS, definition)).refused(422, "Invalid")
    assert field in message
    assert text in message


@pytest.mark.parametrize(("field", "value"), [("scope", "Cluster"), ("group", "other.example.com")])
async def test_what_an_established_definition_may_not_change(
    rest: Rest, widgets: Widgets, field: str, value: str
) -> None:
    message = (await rest.patch(widgets.definition_path, {"spec": {field: value}})).refused(422, "Invalid")
    assert f'spec.{field}: Invalid value: "{value}": field is immutable' in message


async def test_a_stored_version_may_not_vanish(rest: Rest, widgets: Widgets) -> None:
    definition = (await rest.get(widgets.definition_path)).ok()
    definition["spec"]["versions"][0]["name"] = "v2"
    message = (await rest.put(widgets.definition_path, definition)).refused(422, "Invalid")
    assert 'status.storedVersions[0]: Invalid value: "v1"' in message


@pytest.mark.parametrize(
    ("where", "value", "field"),
    [
        (("names", "kind"), "bad kind", "spec.names.kind"),
        (("names", "listKind"), "bad kind", "spec.names.listKind"),
        (("names", "singular"), "A", "spec.names.singular"),
        (("names", "shortNames"), ["a", "A B"], "spec.names.shortNames[1]"),
        (("names", "categories"), ["All"], "spec.names.categories[0]"),
        (("conversion",), {"strategy": "Guess"}, "spec.conversion.strategy"),
        (("versions", 0, "deprecationWarning"), "old", "deprecationWarning"),
        (
            ("versions", 0, "additionalPrinterColumns"),
            [{"name": "A", "type": "nope", "jsonPath": ".a"}],
            "dditionalPrinterColumns[0].type",
        ),
        (
            ("versions", 0, "additionalPrinterColumns"),
            [{"name": "A", "type": "string", "jsonPath": "a"}],
            "dditionalPrinterColumns[0].",
        ),
    ],
)
async def test_definitions_that_clients_could_not_use_are_refused(
    rest: Rest, namespace: str, where: tuple[Any, ...], value: Any, field: str
) -> None:
    definition = Widgets("refused.example.com", namespace).definition
    part: Any = definition["spec"]
    for step in where[:-1]:
        part = part[step]
    part[where[-1]] = value
    reply = await rest.post(DEFINITIONS, definition, dryRun="All")
    reply.refused(422, "Invalid")
    assert any(field in cause["field"] for cause in reply.body["details"]["causes"]), reply.body["message"]


async def test_a_version_that_nothing_is_stored_in_any_more_can_be_taken_away(rest: Rest, widgets: Widgets) -> None:
    """Once all objects were written in the new one and the list of stored versions says so."""
    definition = (await rest.get(widgets.definition_path)).ok()
    older, newer = definition["spec"]["versions"][0], copy.deepcopy(definition["spec"]["versions"][0])
    newer["name"], older["storage"] = "v2", False
    definition["spec"]["versions"] = [older, newer]
    definition = (await rest.put(widgets.definition_path, definition)).ok()
    assert definition["status"]["storedVersions"] == ["v1", "v2"]
    definition["spec"]["versions"] = [newer]
    refusal = await rest.put(widgets.definition_path, definition)
    assert "status.storedVersions[0]" in refusal.refused(422, "Invalid")
    await rest.patch(f"{widgets.definition_path}/status", {"status": {"storedVersions": ["v2"]}})
    definition = (await rest.get(widgets.definition_path)).ok()
    assert definition["status"]["storedVersions"] == ["v2"]
    definition["spec"]["versions"] = [newer]
    (await rest.put(widgets.definition_path, definition)).ok()
