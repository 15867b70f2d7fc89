"""Garbage collection by owner references, and the three ways of propagation."""

from __future__ import annotations

from typing import Any

from tests.standalone.rest import Reply, Rest
from tests.standalone.widget import Widgets, config_map, config_maps


def owned_by(*owners: dict[str, Any], blocking: bool = False) -> dict[str, Any]:
    """Metadata that names these stored objects as owners."""
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": blocking,
        }
        for owner in owners
    ]
    return {"ownerReferences": references}


async def _owner(rest: Rest, widgets: Widgets, name: str = "owner") -> dict[str, Any]:
    body: dict[str, Any] = (await rest.post(widgets.path, widgets.make(name))).ok()
    return body


async def test_what_is_owned_goes_after_its_owner(rest: Rest, widgets: Widgets) -> None:
    owner = await _owner(rest, widgets)
    path = config_maps(widgets.namespace)
    dependent = (await rest.post(path, config_map("dependent", metadata=owned_by(owner)))).ok()
    (await rest.post(path, config_map("grandchild", metadata=owned_by(dependent)))).ok()
    (await rest.post(path, config_map("stranger"))).ok()
    (await rest.delete(widgets.at("owner"))).ok()
    await rest.gone(f"{path}/dependent")
    await rest.gone(f"{path}/grandchild")
    (await rest.get(f"{path}/stranger")).ok()


async def test_one_living_owner_is_enough(rest: Rest, widgets: Widgets) -> None:
    first, second = await _owner(rest, widgets, "first"), await _owner(rest, widgets, "second")
    path = config_maps(widgets.namespace)
    (await rest.post(path, config_map("dependent", metadata=owned_by(first, second)))).ok()
    (await rest.delete(widgets.at("first"))).ok()

    def released(reply: Any) -> bool:
        return [each["name"] for each in reply.body["metadata"]["ownerReferences"]] == ["second"]

    await rest.until(f"{path}/dependent", released)
    (await rest.delete(widgets.at("second"))).ok()
    await rest.gone(f"{path}/dependent")


def _waits_for_its_holder_only(reply: Reply) -> bool:
    """Nothing belongs to the dependent itself, so the collector's own finalizer goes from it in time."""
    metadata = reply.body["metadata"]
    return "deletionTimestamp" in metadata and metadata["finalizers"] == ["example.com/hold"]


async def test_an_owner_waits_in_the_foreground(rest: Rest, widgets: Widgets) -> None:
    owner = await _owner(rest, widgets)
    held = owned_by(owner, blocking=True) | {"finalizers": ["example.com/hold"]}
    (await rest.post(widgets.path, widgets.make("dependent", metadata=held))).ok()
    marked = (await rest.delete(widgets.at("owner"), propagationPolicy="Foreground")).ok()
    assert marked["metadata"]["finalizers"] == ["foregroundDeletion"]
    await rest.until(widgets.at("dependent"), _waits_for_its_holder_only)
    (await rest.get(widgets.at("owner"))).ok()
    (await rest.patch(widgets.at("dependent"), {"metadata": {"finalizers": []}})).ok()
    await rest.gone(widgets.at("dependent"))
    await rest.gone(widgets.at("owner"))


async def test_orphans_stay(rest: Rest, widgets: Widgets) -> None:
    owner = await _owner(rest, widgets)
    path = config_maps(widgets.namespace)
    (await rest.post(path, config_map("dependent", metadata=owned_by(owner)))).ok()
    (await rest.delete(widgets.at("owner"), propagationPolicy="Orphan")).ok()
    await rest.gone(widgets.at("owner"))
    assert "ownerReferences" not in (await rest.get(f"{path}/dependent")).ok()["metadata"]


async def test_a_reference_to_an_owner_that_never_was_is_collected(rest: Rest, widgets: Widgets) -> None:
    owner = await _owner(rest, widgets)
    owner["metadata"]["uid"] = "11111111-2222-3333-4444-555555555555"
    path = config_maps(widgets.namespace)
    (await rest.post(path, config_map("dependent", metadata=owned_by(owner)))).ok()
    await rest.gone(f"{path}/dependent")


async def test_an_owner_of_an_unknown_kind_counts_as_there(rest: Rest, widgets: Widgets) -> None:
    ghost = {"apiVersion": "nowhere.example.com/v1", "kind": "Ghost", "metadata": {"name": "g", "uid": "1234"}}
    path = config_maps(widgets.namespace)
    (await rest.post(path, config_map("kept", metadata=owned_by(ghost)))).ok()
    owner = await _owner(rest, widgets)
    (await rest.post(path, config_map("dependent", metadata=owned_by(owner)))).ok()
    (await rest.delete(widgets.at("owner"))).ok()
    await rest.gone(f"{path}/dependent")
    (await rest.get(f"{path}/kept")).ok()
