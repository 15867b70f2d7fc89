"""Handlers of AdmissionReviews, one for each resource and subresource: gather what the object names, judge, answer.

The same handlers stand behind the TLS server and in process in the embedded API. They have no side effects, so a dry run is
like any other request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog

from controllers.api.group import RECORD_SETS, ZONE_CLASSES, ZONES
from controllers.core.admission.claim import Manifest, Resolution, provider_ref
from controllers.core.admission.lookup import Lookups, LookupUnavailableError
from controllers.core.admission.record_set import validate_record_set
from controllers.core.admission.review import Operation, Request, ReviewError, allow, defer, deny, parse_request
from controllers.core.admission.zone import validate_zone
from controllers.core.admission.zone_class import validate_zone_class
from controllers.core.providercontract.contract import Contract
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.field import Field, is_subdomain
from controllers.core.providercontract.resolution import Unresolved, resolve_version
from kube.object import ObjectKey
from kube.resource import ResourceRef

_log = structlog.get_logger(__name__)

Handler = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
Judge = Callable[[Request], Awaitable[list[Fault]]]

WRITES: Final = frozenset({Operation.CREATE, Operation.UPDATE})


@dataclass(frozen=True, slots=True)
class Hook:
    """One place where admission stands: the resource, its subresource, the operations it is asked about, and the handler."""

    resource: ResourceRef
    subresource: str | None
    operations: frozenset[Operation]
    handler: Handler

    @property
    def path(self) -> str:
        """URL path of the hook below the webhook server."""
        path = f"/validate/{self.resource.group}/{self.resource.version}/{self.resource.plural}"
        return f"{path}/{self.subresource}" if self.subresource else path


class Admission:
    """Validating admission of the core kinds."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    def hooks(self) -> tuple[Hook, ...]:
        """Return every hook, for the embedded API to mount, the server to route and the webhook configuration to list."""
        return (
            Hook(ZONE_CLASSES, None, WRITES, _handler(self._judge_zone_class)),
            Hook(ZONES, None, WRITES, _handler(self._judge_zone)),
            Hook(RECORD_SETS, None, WRITES, _handler(self._judge_record_set)),
        )

    async def _judge_zone_class(self, request: Request) -> list[Fault]:
        new = request.new or {}
        return validate_zone_class(new, request.old, await self._resolve(new))

    async def _judge_zone(self, request: Request) -> list[Fault]:
        new = request.new or {}
        return validate_zone(new, request.old, await self._resolve(new))

    async def _judge_record_set(self, request: Request) -> list[Fault]:
        new = request.new or {}
        return validate_record_set(new, request.old, await self._resolve(new), await self._domain(request))

    async def _resolve(self, manifest: Manifest) -> Resolution:
        """Return what `spec.provider` of a manifest means."""
        ref = provider_ref(manifest)
        if ref is None:
            return None
        version = resolve_version(await self._lookups.provider(ref.name), ref)
        return version if isinstance(version, Unresolved) else Contract(ref.name, version)

    async def _domain(self, request: Request) -> str | None:
        """Return the domain name of the Zone that a RecordSet names, None when the Zone is not there."""
        zone_ref = Field("", request.new).at("spec.zoneRef")
        namespace, name = zone_ref.child("namespace").text or request.namespace, zone_ref.child("name").text
        if not namespace or not name or not is_subdomain(name):
            return None
        zone = await self._lookups.zone(ObjectKey(namespace, name))
        return zone.spec.domain_name if zone else None


def _handler(judge: Judge) -> Handler:
    async def handle(review: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one AdmissionReview. Raises ReviewError for a body that is none."""
        request = parse_request(review)
        if request.operation not in WRITES:
            return allow(request.uid)
        if request.new is None:
            raise ReviewError(f"request.object: missing, required for {request.operation}")
        if _leaves_spec(request):
            return allow(request.uid)
        try:
            faults = await judge(request)
        except LookupUnavailableError as error:
            _log.warning("admission.lookup_unavailable", kind=request.kind, name=request.name, error=str(error))
            return defer(request, f"{request.kind} {request.name} cannot be judged at the moment, try again: {error}")
        return deny(request, faults) if faults else allow(request.uid)

    return handle


def _leaves_spec(request: Request) -> bool:
    """Say whether only metadata changes: what was admitted stays so, and no finalizer hangs on a Provider that has gone."""
    return request.old is not None and request.new is not None and request.new.get("spec") == request.old.get("spec")
