"""Namespaces: what they must be, what they do not take any more, and how they end."""

from __future__ import annotations

from typing import Any

import pytest

from standalone.apiserver.api import Outcome
from standalone.apiserver.cleanup import worklist
from standalone.apiserver.delete import delete
from standalone.apiserver.server import ApiServer
from standalone.store.failure import CommitError
from tests.standalone.rest import Rest
from tests.standalone.widget import NAMESPACES, Widgets, config_map, config_maps


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


async def test_a_new_namespace_is_active(rest: Rest, namespace: str) -> None:
    body = (await rest.get(f"{NAMESPACES}/{namespace}")).ok()
    assert body["status"] == {"phase": "Active"}
    assert body["spec"] == {"finalizers": ["kubernetes"]}
    assert body["metadata"]["labels"] == {"kubernetes.io/metadata.name": namespace}


async def test_the_standard_namespaces_exist(rest: Rest) -> None:
    for name in ("default", "kube-system", "kube-public"):
        (await rest.get(f"{NAMESPACES}/{name}")).ok()


async def test_its_name_has_to_be_a_label(rest: Rest) -> None:
    message = (await rest.post(NAMESPACES, _namespace("a.b"))).refused(422, "Invalid")
    assert 'metadata.name: Invalid value: "a.b": must not contain dots' in message


async def test_content_needs_an_existing_namespace(rest: Rest) -> None:
    reply = await rest.post(config_maps("nowhere"), config_map("one"))
    assert reply.refused(404, "NotFound") == 'namespaces "nowhere" not found'


async def test_an_empty_namespace_goes(rest: Rest, namespace: str) -> None:
    marked = (await rest.delete(f"{NAMESPACES}/{namespace}")).ok()
    assert marked["status"]["phase"] == "Terminating"
    await rest.gone(f"{NAMESPACES}/{namespace}")


async def test_its_content_goes_with_it(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    (await rest.post(config_maps(widgets.namespace), config_map("two"))).ok()
    (await rest.delete(f"{NAMESPACES}/{widgets.namespace}")).ok()
    await rest.gone(f"{NAMESPACES}/{widgets.namespace}")
    assert (await rest.get(widgets.at("one"))).code == 404
    assert (await rest.get(f"{config_maps(widgets.namespace)}/two")).code == 404


async def test_finalizers_hold_it_and_are_named(rest: Rest, widgets: Widgets) -> None:
    path = f"{NAMESPACES}/{widgets.namespace}"
    (await rest.post(widgets.path, widgets.make("held", metadata={"finalizers": ["example.com/hold"]}))).ok()
    (await rest.delete(path)).ok()

    def says_what_remains(reply: Any) -> bool:
        return "NamespaceFinalizersRemaining" in {each["type"] for each in reply.body["status"].get("conditions", ())}

    body = await rest.until(path, says_what_remains)
    conditions = {each["type"]: each for each in body["status"]["conditions"]}
    remaining = conditions["NamespaceContentRemaining"]
    assert (remaining["status"], remaining["reason"]) == ("True", "SomeResourcesRemain")
    expected = f"Some resources are remaining: widgets.{widgets.group} has 1 resource instances"
    assert remaining["message"] == expected
    finalizers = conditions["NamespaceFinalizersRemaining"]
    assert finalizers["message"] == (
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
    )
    assert conditions["NamespaceDeletionContentFailure"]["status"] == "False"
    assert "deletionTimestamp" in (await rest.get(widgets.at("held"))).ok()["metadata"]
    (await rest.patch(widgets.at("held"), {"metadata": {"finalizers": None}})).ok()
    await rest.gone(path)


async def test_a_terminating_namespace_takes_no_new_content(rest: Rest, widgets: Widgets) -> None:
    (await rest.post(widgets.path, widgets.make("held", metadata={"finalizers": ["example.com/hold"]}))).ok()
    (await rest.delete(f"{NAMESPACES}/{widgets.namespace}")).ok()
    reply = await rest.post(widgets.path, widgets.make("late"))
    message = reply.refused(403, "Forbidden")
    assert message == (
        f'widgets.{widgets.group} "late" is forbidden: unable to create new content in namespace '
        f"{widgets.namespace} because it is being terminated"
    )
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {widgets.namespace} is being terminated",
        "field": "metadata.namespace",
    }
    assert cause in reply.body["details"]["causes"]
    (await rest.patch(widgets.at("held"), {"metadata": {"finalizers": None}})).ok()
    await rest.gone(f"{NAMESPACES}/{widgets.namespace}")


async def test_a_namespaces_own_finalizers_hold_it_too(rest: Rest, namespace: str) -> None:
    path = f"{NAMESPACES}/{namespace}"
    (await rest.patch(path, {"metadata": {"finalizers": ["example.com/hold"]}})).ok()
    (await rest.delete(path)).ok()
    await rest.until(path, lambda reply: "finalizers" not in reply.body["spec"])
    (await rest.patch(path, {"metadata": {"finalizers": None}})).ok()
    await rest.gone(path)


async def test_its_finalizers_are_not_for_clients_to_change(rest: Rest, namespace: str) -> None:
    path = f"{NAMESPACES}/{namespace}"
    patched = (await rest.patch(path, {"spec": {"finalizers": []}, "status": {"phase": "Odd"}})).ok()
    assert (patched["spec"], patched["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})


async def test_who_finalizes_a_namespace_changes_its_finalizers(rest: Rest, namespace: str) -> None:
    path = f"{NAMESPACES}/{namespace}"
    body = _namespace(namespace) | {"spec": {"finalizers": ["kubernetes", "example.com/mine"]}}
    held = (await rest.put(f"{path}/finalize", body)).ok()
    assert held["spec"] == {"finalizers": ["kubernetes", "example.com/mine"]}
    (await rest.delete(path)).ok()
    await rest.until(path, lambda reply: reply.body["spec"] == {"finalizers": ["example.com/mine"]})
    (await rest.put(f"{path}/finalize", _namespace(namespace))).ok()
    await rest.gone(path)
    (await rest.patch(f"{NAMESPACES}/default/finalize", {})).refused(405, "MethodNotAllowed")


async def test_its_name_is_free_again(rest: Rest, namespace: str) -> None:
    (await rest.delete(f"{NAMESPACES}/{namespace}")).ok()
    await rest.gone(f"{NAMESPACES}/{namespace}")
    (await rest.post(NAMESPACES, _namespace(namespace))).ok()


async def test_namespaces_are_not_deleted_as_a_collection(rest: Rest) -> None:
    (await rest.delete(NAMESPACES)).refused(405, "MethodNotAllowed")


@pytest.mark.parametrize("cleaner", ["namespace", "definition"])
async def test_what_the_disk_refuses_is_deleted_later(
    rest: Rest, server: ApiServer, widgets: Widgets, monkeypatch: pytest.MonkeyPatch, cleaner: str
) -> None:
    del server
    tries = 0

    async def delete_at_last(*arguments: Any) -> Outcome:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise CommitError("the disk is full")
        return await delete(*arguments)

    monkeypatch.setattr(worklist, "RETRY_DELAY_S", 0.01)
    monkeypatch.setattr(f"standalone.apiserver.cleanup.{cleaner}.delete", delete_at_last)
    for name in ("one", "two"):
        (await rest.post(widgets.path, widgets.make(name))).ok()
    path = f"{NAMESPACES}/{widgets.namespace}" if cleaner == "namespace" else widgets.definition_path
    (await rest.delete(path)).ok()
    await rest.gone(path)
