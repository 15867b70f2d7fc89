"""The API that a test's own manager works on: an embedded server, or a real one when DNS_API_KUBE_PROGRAMS names its programs.

A real one is started once for all tests of a process; each finds it empty. It calls the hooks and conversions of the test over TLS, as
its webhook configurations and APIServices say.
"""

from __future__ import annotations

import asyncio
import atexit
import base64
import json
import secrets
import shutil
import ssl
import tempfile
import threading
import urllib.error
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Self, cast

from aiohttp import web

from controllers.api.group import ZONES
from kube.access import Access, with_token
from kube.client import Client
from kube.resource import ResourceRef
from standalone.apiserver.server import ApiServer
from standalone.up.install import install
from tests.cluster.audit import fresh_log
from tests.cluster.control_plane import ControlPlane, programs
from tests.cluster.installation import Installation, host_address
from tests.controllers.core.admission.authority import Authority, ServingPair
from tests.helm.place import NAMESPACE as SYSTEM
from tests.product.patience import until
from tests.standalone.installed import Install, installed

NAME: Final = "hooks-of-a-test"
SERVICE_PORT: Final = 443
WEBHOOKS: Final = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{NAME}"
API_SERVICES: Final = "/apis/apiregistration.k8s.io/v1/apiservices"
SERVICES: Final = "/api/v1/namespaces/default/services"
SLICES: Final = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
CONFIG_MAPS: Final = "/api/v1/namespaces/default/configmaps"
RIGHTS: Final = "/apis/rbac.authorization.k8s.io/v1"
MARKER: Final = "/marker"
MANAGER: Final = "dns-api-manager"
SERVED: Final = "/registry/apiregistration.k8s.io/apiservices/"
KEPT: Final = ("/registry/apiextensions.k8s.io/", SERVED)

Review = Mapping[str, Any]
Judge = Callable[[Review], Awaitable[Any]]
Answer = Callable[[Review], Mapping[str, Any]]


@asynccontextmanager
async def installed_api(data_dir: Path, how: Install = install) -> AsyncIterator[ApiServer]:
    """Run the API for one test after `how` has written to it."""
    if programs() is None:
        async with installed(data_dir, how) as embedded:
            yield embedded
        return
    async with RealApi() as api, Client(access_to(api), field_manager="test") as client:
        await how(client)
        yield cast(ApiServer, api)  # it has that part of it which tests of controllers need


def access_to(api: ApiServer | RealApi) -> Access:
    """Return how a client with every right reaches the API."""
    return api.access if isinstance(api, RealApi) else Access(api.url)


def manager_access_to(api: ApiServer | RealApi) -> Access:
    """Return how a manager reaches the API: on a real one under its ServiceAccount, with the rights of the chart."""
    return api.manager_access if isinstance(api, RealApi) else Access(api.url)


def allow_manager(api: ApiServer | RealApi, ref: ResourceRef, *verbs: str) -> None:
    """Give the manager what the chart of a test's own provider would give it; an embedded API gives everybody everything."""
    if isinstance(api, RealApi):
        api.allow_manager(ref, verbs)


class RealApi:
    """A real API server, empty when it is entered."""

    def __init__(self) -> None:
        self._plane = _plane()
        self._hooks = _hook_server()
        self._judges: dict[str, Judge] = {}
        self._rules: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, tuple[str, str, Answer]] = {}
        self._state = ""

    async def __aenter__(self) -> Self:
        self._test_loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._begin)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._end)

    @property
    def url(self) -> str:
        return self._plane.url

    @property
    def access(self) -> Access:
        return with_token(self.url, self._plane.token, self._context)

    @property
    def _context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cadata=self._plane.ca_pem.decode())

    @property
    def manager_access(self) -> Access:
        return with_token(self.url, self._plane.account_token(SYSTEM, MANAGER), self._context)

    def allow_manager(self, ref: ResourceRef, verbs: Sequence[str]) -> None:
        name = f"{MANAGER}-{ref.plural}"
        rules = [{"apiGroups": [ref.group], "resources": [ref.plural, f"{ref.plural}/status"], "verbs": verbs}]
        subject = {"kind": "ServiceAccount", "namespace": SYSTEM, "name": MANAGER}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
        for kind, body in (
            ("ClusterRole", {"rules": rules}),
            ("ClusterRoleBinding", {"roleRef": role, "subjects": [subject]}),
        ):
            manifest = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}, **body}
            self._plane.request("POST", f"{RIGHTS}/{kind.lower()}s", manifest)
        until(
            lambda: _manager_may(self._plane, ref.group, ref.plural, verbs[0]), "an API server that has read the role"
        )

    def register_admission(
        self,
        group: str,
        version: str,
        plural: str,
        subresource: str | None,
        wanted: Iterable[str],
        handler: Judge,
        *,
        name: str,
    ) -> None:
        """Have the API server ask `handler` about writes; from the next turn of the loop on."""
        resource = plural if subresource is None else f"{plural}/{subresource}"
        path = f"/judge/{len(self._judges)}"
        self._judges[path] = handler
        rule = {"apiGroups": [group], "apiVersions": [version], "operations": list(wanted), "resources": [resource]}
        self._rules[f"{name}-{len(self._judges)}.test.example.com"] = self._webhook(path, rule)
        self._state = secrets.token_hex(8)
        self._test_loop.call_soon(self._admit, self._state)

    def register_answered(
        self, group: str, version: str, plural: str, kind: str, schema: Mapping[str, Any], handler: Answer
    ) -> None:
        """Have the API server pass on what is created of a kind."""
        self._answers[f"/apis/{group}/{version}"] = (plural, kind, handler)
        spec = {
            "group": group,
            "version": version,
            "groupPriorityMinimum": 1000,
            "versionPriority": 15,
            "caBundle": self._hooks.bundle,
            "service": {"namespace": "default", "name": NAME, "port": SERVICE_PORT},
        }
        metadata = {"name": f"{version}.{group}"}
        body = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": metadata, "spec": spec}
        self._plane.request("POST", API_SERVICES, body)
        until(lambda: self._is_available(metadata["name"]), f"an API server that finds {group}")

    def _begin(self) -> None:
        _empty(self._plane)
        self._hooks.serve = self._serve
        self._announce()

    def _end(self) -> None:
        for path in self._answers:
            group, version = path.removeprefix("/apis/").split("/")
            self._plane.remove(f"{SERVED}{version}.{group}")
        _empty(self._plane)

    def _announce(self) -> None:
        ports = [{"name": "https", "port": SERVICE_PORT, "protocol": "TCP"}]
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": NAME}, "spec": {"ports": ports}}
        self._plane.request("POST", SERVICES, service)
        slice_ = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": NAME, "labels": {"kubernetes.io/service-name": NAME}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [host_address()], "conditions": {"ready": True}}],
            "ports": [{"name": "https", "port": self._hooks.port, "protocol": "TCP"}],
        }
        self._plane.request("POST", SLICES, slice_)

    def _webhook(self, path: str, rule: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "clientConfig": {
                "url": f"https://{host_address()}:{self._hooks.port}{path}",
                "caBundle": self._hooks.bundle,
            },
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 20,
        }

    def _admit(self, state: str) -> None:
        """Write the configuration that stands now, and wait until the API server heeds it."""
        if state != self._state:
            return  # another registration came in the same turn
        config_maps = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
        hooks = {**self._rules, "marker.test.example.com": self._webhook(f"{MARKER}/{state}", config_maps)}
        body = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": NAME},
            "webhooks": [{"name": name, **each} for name, each in hooks.items()],
        }
        try:
            metadata = self._plane.request("GET", WEBHOOKS)["metadata"]
            self._plane.request("PUT", WEBHOOKS, {**body, "metadata": metadata})
        except urllib.error.HTTPError:
            self._plane.request("POST", WEBHOOKS.rpartition("/")[0], body)
        until(lambda: self._heeds(state), "an API server that asks the hooks")

    def _heeds(self, state: str) -> bool:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "marker"}}
        try:
            self._plane.request("POST", f"{CONFIG_MAPS}?dryRun=All", body)
        except urllib.error.HTTPError as error:
            with error:
                return state in json.load(error)["message"]
        return False

    def _is_available(self, name: str) -> bool:
        status = self._plane.request("GET", f"{API_SERVICES}/{name}").get("status", {})
        told = {each["type"]: each["status"] for each in status.get("conditions", ())}
        return told.get("Available") == "True"

    async def _serve(self, request: web.Request) -> web.Response:
        if request.path.startswith(MARKER):
            return web.json_response(_denied(await request.json(), request.path.rpartition("/")[2]))
        if request.path in self._judges:
            judging = self._judges[request.path](await request.json())
            judged = asyncio.run_coroutine_threadsafe(_awaited(judging), self._test_loop)
            return web.json_response(await asyncio.wrap_future(judged))
        base, _, plural = request.path.rpartition("/")
        if request.method == "POST" and base in self._answers and self._answers[base][0] == plural:
            return web.json_response(dict(self._answers[base][2](await request.json())), status=201)
        if request.path in self._answers:
            plural, kind, _ = self._answers[request.path]
            resource = {"name": plural, "singularName": "", "namespaced": False, "kind": kind, "verbs": ["create"]}
            served = {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": request.path.removeprefix("/apis/"),
            }
            return web.json_response({**served, "resources": [resource]})
        return web.json_response({"kind": "Status", "status": "Failure", "code": 404}, status=404)


class _HookServer:
    """One HTTPS server for the tests of a process, on a thread of its own: the API server keeps its connections."""

    def __init__(self, folder: Path) -> None:
        authority, pair = Authority(), ServingPair(folder)
        authority.write(pair, 2, f"{NAME}.default.svc", host_address())
        self.bundle = base64.b64encode(authority.pem).decode()
        self.serve: Callable[[web.Request], Awaitable[web.Response]] | None = None
        self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._tls.load_cert_chain(pair.certificate, pair.key)
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, name="hooks", daemon=True).start()
        self.port = asyncio.run_coroutine_threadsafe(self._listen(), loop).result(30)

    async def _listen(self) -> int:
        application = web.Application(client_max_size=16 * 2**20)
        application.router.add_route("*", "/{rest:.*}", self._answer)
        self._runner = web.AppRunner(application, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, host_address(), 0, ssl_context=self._tls).start()
        return int(self._runner.addresses[0][1])

    async def _answer(self, request: web.Request) -> web.Response:
        assert self.serve is not None
        return await self.serve(request)


@lru_cache(maxsize=1)
def _hook_server() -> _HookServer:
    return _HookServer(Path(_kept_until_the_end()))


def _kept_until_the_end() -> str:
    folder = tempfile.mkdtemp(prefix="dns-api-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


async def _awaited(judging: Awaitable[Any]) -> Any:
    return await judging


def _denied(review: Review, message: str) -> dict[str, Any]:
    response = {"uid": review["request"]["uid"], "allowed": False, "status": {"message": message}}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


@lru_cache(maxsize=1)
def _plane() -> ControlPlane:
    """Return the control plane of this process, which ends with it."""
    named = programs()
    assert named is not None
    plane = ControlPlane(named, Path(_kept_until_the_end()), fresh_log())
    atexit.register(plane.stop)
    plane.start()
    Installation(plane).grant()
    until(lambda: _manager_may(plane, ZONES.group, ZONES.plural, "list"), "an API server that has read the roles")
    _of_the_cluster(plane)
    return plane


def _manager_may(plane: ControlPlane, group: str, resource: str, verb: str) -> bool:
    attributes = {"group": group, "resource": resource, "verb": verb}
    spec = {"user": f"system:serviceaccount:{SYSTEM}:{MANAGER}", "resourceAttributes": attributes}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    answer = plane.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer["status"]["allowed"])


@lru_cache(maxsize=1)
def _of_the_cluster(plane: ControlPlane) -> frozenset[str]:
    """Return the keys of what a cluster has by itself."""
    return frozenset(plane.stored_keys())


def _empty(plane: ControlPlane) -> None:
    """Take away whatever tests have made, finalizers or not; definitions stay, which take a server seconds to take in."""
    kept = _of_the_cluster(plane)
    for key in plane.stored_keys():
        if key not in kept and not key.startswith(KEPT):
            plane.remove(key)
