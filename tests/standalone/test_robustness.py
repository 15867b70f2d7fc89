"""Whatever is sent, the answer is an answer: never an internal error, and never a change of what stays unnamed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from aiohttp import ClientSession, ServerDisconnectedError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from standalone.apiserver.server import ApiServer
from tests.standalone.conftest import REAL_URL
from tests.standalone.rest import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Reply, Rest
from tests.standalone.test_event import core_event, newer_event
from tests.standalone.widget import DEFINITIONS, Widgets, config_map, config_maps

WIDGETS = Widgets("fuzz.example.com", "default")
SPEC = {"ports": [{"name": "dns", "port": 53, "protocol": "UDP"}], "selector": {"a": "b"}}
MANIFESTS: dict[str, dict[str, Any]] = {
    "/api/v1/namespaces": {"apiVersion": "v1", "kind": "Namespace"},
    "/api/v1/namespaces/default/configmaps": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}},
    "/api/v1/namespaces/default/secrets": {
        "apiVersion": "v1",
        "kind": "Secret",
        "data": {"a": "Yg=="},
        "stringData": {"c": "d"},
        "type": "Opaque",
    },
    "/api/v1/namespaces/default/services": {"apiVersion": "v1", "kind": "Service", "spec": SPEC},
    "/api/v1/namespaces/default/events": core_event("x", "default", "a"),
    "/apis/events.k8s.io/v1/namespaces/default/events": newer_event("x", "default", "a"),
    "/apis/coordination.k8s.io/v1/namespaces/default/leases": {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "spec": {"holderIdentity": "me", "leaseDurationSeconds": 5},
    },
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["192.0.2.1"]}],
        "ports": [{"port": 53}],
    },
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
    },
    DEFINITIONS: WIDGETS.definition,
}
METADATA: dict[str, Any] = {
    "labels": {"a": "b"},
    "annotations": {"a": "b"},
    "finalizers": ["example.com/a"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "1", "controller": True}],
}
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, width=16) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
PARAMETERS = (
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "includeObject",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
)
ARGUMENTS = ("", "0", "1", "-1", "a", "a=b", "a in (b)", "=", ",", "(", "Exact", "NotOlderThan", "true", "é")
FUZZ = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path inside a JSON value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


def spoiled(manifest: dict[str, Any], path: tuple[Any, ...], junk: Any) -> dict[str, Any]:
    """A copy with junk at one place."""
    result = copy.deepcopy(manifest)
    inner: Any = result
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = junk
    return result


def whole(path: str, name: str) -> dict[str, Any]:
    manifest = copy.deepcopy(MANIFESTS[path])
    manifest["metadata"] = {**copy.deepcopy(METADATA), "name": name} | (manifest.get("metadata") or {})
    return manifest


def answered(reply: Reply) -> bool:
    """Whether the server knew what to make of the request.

    kube-apiserver answers 500 when types do not fit a server-side apply, or the lists of a strategic merge patch, or have no key there.
    """
    known = ("failed to ", "list element", "merge key")
    return reply.code in (200, 201, 400, 404, 409, 422) or any(each in str(reply.body) for each in known)


def declared(obj: dict[str, Any]) -> dict[str, Any]:
    """What a person says of an object, without what controllers of a real server write beside it."""
    labels = {key: obj["metadata"].get(key) for key in ("labels", "annotations", "generation", "deletionTimestamp")}
    return {**{key: value for key, value in obj.items() if key not in ("metadata", "status")}, "metadata": labels}


@pytest.mark.parametrize("path", MANIFESTS)
@FUZZ
@given(data=st.data())
async def test_a_spoiled_manifest_of_a_built_in_kind_is_answered(rest: Rest, path: str, data: st.DataObject) -> None:
    manifest = whole(path, "one")
    place = data.draw(st.sampled_from([*places(manifest)]))
    reply = await rest.post(path, spoiled(manifest, place, data.draw(JUNK)), dryRun="All")
    assert answered(reply), reply


@pytest.mark.parametrize("path", [path for path in MANIFESTS if "reviews" not in path])
@FUZZ
@given(data=st.data())
async def test_a_patch_of_junk_to_a_built_in_kind_is_answered(rest: Rest, path: str, data: st.DataObject) -> None:
    manifest = whole(path, "default" if path.endswith("/namespaces") else "one")
    manifest["metadata"].pop("ownerReferences", None)
    target = f"{path}/{manifest['metadata']['name']}"
    if (await rest.get(target)).code == 404:
        (await rest.post(path, manifest)).ok()
    stored = (await rest.get(target)).ok()
    content_type = data.draw(st.sampled_from([MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH, JSON_PATCH]))
    place = data.draw(st.sampled_from([*places(manifest)]))
    junk = data.draw(JUNK)
    patch: Any = spoiled(manifest, place, junk)
    if content_type == JSON_PATCH:
        pointer = "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in place)
        patch = [{"op": data.draw(st.sampled_from(["add", "replace", "test"])), "path": pointer, "value": junk}]
    force = {"fieldManager": "fuzz", "force": "true"} if content_type == APPLY_PATCH else {}
    try:
        reply = await rest.patch(target, patch, content_type, dryRun="All", **force)
        assert answered(reply), reply
    except ServerDisconnectedError:
        # kube-apiserver panics over a strategic merge patch that has a list or a map for the key of a list's item
        if not (REAL_URL and content_type == STRATEGIC_PATCH and isinstance(junk, list | dict)):
            raise
    assert declared((await rest.get(target)).ok()) == declared(stored)


@FUZZ
@given(data=st.data())
async def test_a_spoiled_custom_resource_is_answered(rest: Rest, widgets: Widgets, data: st.DataObject) -> None:
    manifest = widgets.make("one", color="red", tags=["a"], parts=[{"name": "a", "weight": 1}], frozen="x")
    manifest["metadata"] |= METADATA
    place = data.draw(st.sampled_from([*places(manifest)]))
    sent = spoiled(manifest, place, data.draw(JUNK))
    for reply in (
        await rest.post(widgets.path, sent, dryRun="All"),
        await rest.post(widgets.path, sent, dryRun="All", fieldValidation="Strict"),
        await rest.apply(widgets.at("one"), sent, "me", dryRun="All"),
    ):
        assert answered(reply), reply


@FUZZ
@given(query=st.dictionaries(st.sampled_from(PARAMETERS), st.sampled_from(ARGUMENTS)))
async def test_any_query_is_answered(rest: Rest, query: dict[str, str]) -> None:
    if query.get("watch"):
        query["timeoutSeconds"] = "x"
    reply = await rest.get("/api/v1/namespaces/default/configmaps", **query)
    assert reply.code in (200, 400, 410, 422, 504), reply


@pytest.mark.parametrize(
    "path",
    [
        "//",
        "/api//v1",
        "/api/v1/namespaces//configmaps",
        "/apis/%2e%2e/v1/x",
        "/api/v1/namespaces/a%2Fb",
        "/api/v1/%ff",
    ],
)
async def test_odd_paths_are_answered(rest: Rest, path: str) -> None:
    assert (await rest.get(path)).code in (200, 404)


@pytest.mark.timeout(90)
async def test_a_body_that_nests_too_deeply_is_refused(rest: Rest, server: ApiServer, widgets: Widgets) -> None:
    del server  # a real one takes more
    definition = (await rest.get(widgets.definition_path)).ok()
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["any"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    (await rest.put(widgets.definition_path, definition)).ok()
    head = orjson.dumps(widgets.make("one", any=0))
    for depth in (320, 400, 900):
        body = head.replace(b'"any":0', b'"any":' + b'{"a":' * depth + b"1" + b"}" * depth)
        for options in ({}, {"fieldValidation": "Strict", "dryRun": "All"}):
            reply = await rest.post(widgets.path, body, **options)
            assert "nested too deeply" in reply.refused(400, "BadRequest")
    shallow = head.replace(b'"any":0', b'"any":' + b'{"a":' * 200 + b"1" + b"}" * 200)
    (await rest.post(widgets.path, shallow)).ok()
    stored = (await rest.get(widgets.at("one"))).ok()
    (await rest.put(widgets.at("one"), stored)).ok()


@pytest.mark.timeout(90)
async def test_a_client_may_wait_to_be_asked_for_its_body(rest: Rest, server: ApiServer) -> None:
    body = orjson.dumps(config_map("one", text="x" * 100_000))
    async with ClientSession() as session:
        for code in (201, 409):
            path = f"{server.url}{config_maps('default')}"
            headers = {"Content-Type": "application/json"}
            async with session.post(path, data=body, headers=headers, expect100=True) as response:
                assert response.status == code
    (await rest.get(f"{config_maps('default')}/one")).ok()


async def test_a_fault_of_the_server_is_not_put_down_to_the_body(
    rest: Rest, server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise TypeError("found None")

    monkeypatch.setattr("standalone.apiserver.create.prepare_create", fail)
    reply = await rest.post(config_maps("default"), config_map("one"))
    assert "TypeError: found None" in reply.refused(500, "InternalError")
    del server
