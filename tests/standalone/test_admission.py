"""Admission handlers: what they are shown, and what a refusal becomes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from standalone.apiserver.server import ApiServer
from tests.standalone.rest import JSON_PATCH, Rest
from tests.standalone.widget import NAMESPACES, Widgets

Review = dict[str, Any]
NAME = "widgets.example.com"


class Recorder:
    """A handler that keeps what it saw and answers as it is told."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.response: dict[str, Any] = {"allowed": True}

    async def __call__(self, review: Review) -> Review:
        assert (review["kind"], review["apiVersion"]) == ("AdmissionReview", "admission.k8s.io/v1")
        self.requests.append(review["request"])
        return {**review, "response": {"uid": review["request"]["uid"], **self.response}}


@pytest.fixture
def recorder(server: ApiServer, widgets: Widgets) -> Recorder:
    """Sees every write to widgets and their status."""
    handler = Recorder()
    for subresource in (None, "status"):
        server.register_admission(widgets.group, "v1", "widgets", subresource, ["*"], handler, name=NAME)
    return handler


async def test_a_create_is_shown_defaulted_and_pruned(rest: Rest, widgets: Widgets, recorder: Recorder) -> None:
    (await rest.post(widgets.path, widgets.make("one", wight=1))).ok()
    (request,) = recorder.requests
    assert request["operation"] == "CREATE"
    assert request["object"]["spec"] == {"size": 1, "color": "grey"}
    assert request["object"]["metadata"]["uid"]
    assert request["oldObject"] is None
    assert (request["name"], request["namespace"], request["dryRun"]) == ("one", widgets.namespace, False)
    assert request["kind"] == {"group": widgets.group, "version": "v1", "kind": "Widget"}
    assert request["resource"] == {"group": widgets.group, "version": "v1", "resource": "widgets"}
    assert request["userInfo"]["username"] == "system:admin"
    assert request["options"]["kind"] == "CreateOptions"


async def test_every_kind_of_change_is_shown_with_what_was_there(
    rest: Rest, widgets: Widgets, recorder: Recorder
) -> None:
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    (await rest.patch(widgets.at("one"), {"spec": {"size": 2}})).ok()
    (await rest.patch(widgets.at("one"), [{"op": "replace", "path": "/spec/size", "value": 3}], JSON_PATCH)).ok()
    (await rest.apply(widgets.at("one"), widgets.make("one", size=4), "me", force="true")).ok()
    (await rest.patch(widgets.at("one", "status"), {"status": {"seen": 1}})).ok()
    (await rest.delete(widgets.at("one"))).ok()
    seen = [
        (
            request["operation"],
            request.get("subResource", ""),
            (request["oldObject"] or {}).get("spec", {}).get("size"),
            (request["object"] or {}).get("spec", {}).get("size"),
        )
        for request in recorder.requests
    ]
    assert seen == [
        ("CREATE", "", None, 1),
        ("UPDATE", "", 1, 2),
        ("UPDATE", "", 2, 3),
        ("UPDATE", "", 3, 4),
        ("UPDATE", "status", 4, 4),
        ("DELETE", "", 4, None),
    ]
    assert recorder.requests[4]["object"]["status"] == {"seen": 1}


async def test_a_denial_is_told_as_the_handler_worded_it(rest: Rest, widgets: Widgets, recorder: Recorder) -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "too red", "field": "spec.color"}]
    status = {"code": 422, "reason": "Invalid", "message": "no red today", "details": {"causes": causes}}
    recorder.response = {"allowed": False, "status": status}
    reply = await rest.post(widgets.path, widgets.make("one", color="red"))
    message = reply.refused(422, "Invalid")
    assert message == f'admission webhook "{NAME}" denied the request: no red today'
    assert reply.body["details"]["causes"] == causes
    assert (await rest.get(widgets.at("one"))).code == 404


async def test_a_denial_without_a_word(rest: Rest, widgets: Widgets, recorder: Recorder) -> None:
    recorder.response = {"allowed": False}
    reply = await rest.post(widgets.path, widgets.make("one"))
    assert reply.code == 400
    assert reply.body["message"] == f'admission webhook "{NAME}" denied the request without explanation'


@pytest.mark.parametrize("subresource", ["", "status"])
async def test_a_denied_update_changes_nothing(
    rest: Rest, widgets: Widgets, recorder: Recorder, subresource: str
) -> None:
    stored = (await rest.post(widgets.path, widgets.make("one"))).ok()
    recorder.response = {"allowed": False, "status": {"code": 403, "reason": "Forbidden", "message": "no"}}
    patch = {"spec": {"size": 2}, "status": {"seen": 1}}
    (await rest.patch(widgets.at("one", subresource), patch)).refused(403, "Forbidden")
    assert (await rest.get(widgets.at("one"))).ok() == stored


async def test_a_denied_delete_changes_nothing(rest: Rest, widgets: Widgets, recorder: Recorder) -> None:
    stored = (await rest.post(widgets.path, widgets.make("one"))).ok()
    recorder.response = {"allowed": False, "status": {"code": 403, "message": "no", "reason": "Forbidden"}}
    (await rest.delete(widgets.at("one"))).refused(403, "Forbidden")
    (await rest.delete(widgets.path)).refused(403, "Forbidden")
    assert (await rest.get(widgets.at("one"))).ok() == stored


async def test_an_invalid_object_is_refused_before_the_handlers(
    rest: Rest, widgets: Widgets, recorder: Recorder
) -> None:
    (await rest.post(widgets.path, widgets.make("one", size=0))).refused(422, "Invalid")
    assert recorder.requests == []


async def test_dry_runs_are_asked_too(rest: Rest, widgets: Widgets, recorder: Recorder) -> None:
    (await rest.post(widgets.path, widgets.make("one"), dryRun="All")).ok()
    assert [request["dryRun"] for request in recorder.requests] == [True]


async def test_warnings_reach_the_client(rest: Rest, widgets: Widgets, recorder: Recorder) -> None:
    recorder.response = {"allowed": True, "warnings": ['say "no" to grey']}
    reply = await rest.post(widgets.path, widgets.make("one"))
    assert reply.warnings == ('299 - "say \\"no\\" to grey"',)


async def test_a_failing_handler_refuses_the_write(rest: Rest, server: ApiServer, widgets: Widgets) -> None:
    async def broken(review: Review) -> Review:
        raise RuntimeError("out of order")

    server.register_admission(widgets.group, "v1", "widgets", None, ["CREATE"], broken, name=NAME)
    message = (await rest.post(widgets.path, widgets.make("one"))).refused(500, "InternalError")
    assert f'failed calling webhook "{NAME}": out of order' in message
    assert (await rest.get(widgets.at("one"))).code == 404


async def test_only_what_was_asked_for_is_shown(rest: Rest, server: ApiServer, widgets: Widgets) -> None:
    handler = Recorder()
    server.register_admission(widgets.group, "v1", "widgets", None, ["DELETE"], handler, name=NAME)
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    (await rest.delete(widgets.at("one"))).ok()
    assert [request["operation"] for request in handler.requests] == ["DELETE"]


async def test_the_namespace_may_end_while_a_handler_thinks(rest: Rest, server: ApiServer, widgets: Widgets) -> None:
    """The object must not slip into a namespace that has gone in the meantime."""
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def slow(review: Review) -> Review:
        reached.set()
        await go_on.wait()
        return {"response": {"uid": review["request"]["uid"], "allowed": True}}

    server.register_admission(widgets.group, "v1", "widgets", None, ["CREATE"], slow, name=NAME)
    write = asyncio.create_task(rest.post(widgets.path, widgets.make("late")))
    await reached.wait()
    (await rest.delete(f"{NAMESPACES}/{widgets.namespace}")).ok()
    await rest.gone(f"{NAMESPACES}/{widgets.namespace}")
    go_on.set()
    (await write).refused(404, "NotFound")
    assert (await rest.get(widgets.everywhere)).ok()["items"] == []


async def test_a_denied_delete_shows_in_a_terminating_namespace(
    rest: Rest, widgets: Widgets, recorder: Recorder
) -> None:
    (await rest.post(widgets.path, widgets.make("one"))).ok()
    recorder.response = {"allowed": False, "status": {"code": 403, "message": "not yet", "reason": "Forbidden"}}
    path = f"{NAMESPACES}/{widgets.namespace}"
    (await rest.delete(path)).ok()
    body = await rest.until(path, lambda reply: reply.body["status"].get("conditions"))
    (failure,) = (each for each in body["status"]["conditions"] if each["type"] == "NamespaceDeletionContentFailure")
    assert failure["status"] == "True"
    assert "not yet" in failure["message"]
    recorder.response = {"allowed": True}
    await rest.gone(path)
