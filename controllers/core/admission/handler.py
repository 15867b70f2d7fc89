"""Handlers of AdmissionReviews, one for each resource and subresource: gather what the object names, judge, answer.

The same handlers stand behind the TLS server and in process in the embedded API. They have no side effects, so a dry run is
like any other request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog

from controllers.api.group import PROVIDERS, RECORD_SETS, ZONE_CLASSES, ZONE_UNITS, ZONES
from controllers.api.record_withdrawal import RECORD_WITHDRAWALS
from controllers.api.record_withdrawal_waiver import RECORD_WITHDRAWAL_WAIVERS
from controllers.core.admission.claim import Resolution, provider_ref
from controllers.core.admission.ledger import object_to_delete, validate_zone_unit, validate_zone_unit_status
from controllers.core.admission.lookup import Lookups, LookupUnavailableError
from controllers.core.admission.provider import validate_provider
from controllers.core.admission.record_set import validate_record_set
from controllers.core.admission.review import Operation, Request, allow, defer, deny, forbid, parse_request
from controllers.core.admission.status import (
    Storage,
    validate_record_set_status,
    validate_zone_class_status,
    validate_zone_status,
)
from controllers.core.admission.withdrawal import validate_waiver, validate_withdrawal
from controllers.core.admission.withdrawal_status import validate_waiver_status, validate_withdrawal_status
from controllers.core.admission.zone import validate_zone
from controllers.core.admission.zone_class import validate_zone_class
from controllers.core.providercontract.contract import Contracts
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.field import Field, is_subdomain
from controllers.core.providercontract.own_kind import Judge as OwnJudge
from controllers.core.providercontract.own_kind import OwnKind
from kube.object import ObjectKey
from kube.resource import ResourceRef

_log = structlog.get_logger(__name__)

Handler = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]
Judge = Callable[[Request], Awaitable[list[Fault]]]

UPDATES: Final = frozenset({Operation.UPDATE})
DELETES: Final = frozenset({Operation.DELETE})
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
    """Validating admission of the core kinds, and of those that providers bring along."""

    def __init__(self, lookups: Lookups, own_kinds: Iterable[OwnKind] = ()) -> None:
        self._lookups = lookups
        self._own_kinds = tuple(own_kinds)
        self._contracts = Contracts()

    def hooks(self) -> tuple[Hook, ...]:
        """Return every hook, for the embedded API to mount, the server to route and the webhook configuration to list."""
        return (
            Hook(PROVIDERS, None, WRITES, _judging("spec", self._judge_provider)),
            Hook(ZONE_CLASSES, None, WRITES, _judging("spec", self._judge_zone_class)),
            Hook(ZONE_CLASSES, "status", UPDATES, _judging("status", self._judge_zone_class_status)),
            Hook(ZONES, None, WRITES, _judging("spec", self._judge_zone)),
            Hook(ZONES, "status", UPDATES, _judging("status", self._judge_zone_status)),
            Hook(RECORD_SETS, None, WRITES, _judging("spec", self._judge_record_set)),
            Hook(RECORD_SETS, "status", UPDATES, _judging("status", self._judge_record_set_status)),
            Hook(ZONE_UNITS, None, WRITES | DELETES, self._unit_handler()),
            Hook(ZONE_UNITS, "status", UPDATES, _judging("status", self._judge_zone_unit_status)),
            # What these may have in their metadata is a rule of theirs, so that a change of it is judged too.
            Hook(RECORD_WITHDRAWALS, None, WRITES, _judging(None, self._judge_withdrawal)),
            Hook(RECORD_WITHDRAWALS, "status", UPDATES, _judging("status", self._judge_withdrawal_status)),
            Hook(RECORD_WITHDRAWAL_WAIVERS, None, WRITES, _judging(None, self._judge_waiver)),
            Hook(RECORD_WITHDRAWAL_WAIVERS, "status", UPDATES, _judging("status", self._judge_waiver_status)),
            *_own_hooks(self._own_kinds),
        )

    async def _judge_provider(self, request: Request) -> list[Fault]:
        return validate_provider(request.object)

    async def _judge_zone_class(self, request: Request) -> list[Fault]:
        return validate_zone_class(request.object, request.old, await self._resolve(request))

    async def _judge_zone_class_status(self, request: Request) -> list[Fault]:
        return validate_zone_class_status(request.object)

    async def _judge_zone(self, request: Request) -> list[Fault]:
        return validate_zone(request.object, request.old, await self._resolve(request))

    async def _judge_zone_status(self, request: Request) -> list[Fault]:
        return validate_zone_status(request.object, request.old, await self._storage(request))

    async def _judge_record_set(self, request: Request) -> list[Fault]:
        resolution, domain = await self._resolve(request), await self._domain(request)
        return validate_record_set(request.object, request.old, resolution, domain)

    async def _judge_record_set_status(self, request: Request) -> list[Fault]:
        return validate_record_set_status(request.object, request.old, await self._storage(request))

    async def _judge_zone_unit(self, request: Request) -> list[Fault]:
        return validate_zone_unit(request.object, request.old, await self._storage(request))

    async def _judge_zone_unit_status(self, request: Request) -> list[Fault]:
        return validate_zone_unit_status(request.object, request.old, await self._storage(request))

    async def _judge_withdrawal(self, request: Request) -> list[Fault]:
        resolution = None if _leaves("spec", request) else await self._resolve(request)
        return validate_withdrawal(request.object, request.old, resolution)

    async def _judge_withdrawal_status(self, request: Request) -> list[Fault]:
        return validate_withdrawal_status(request.object, request.old, await self._storage(request))

    async def _judge_waiver(self, request: Request) -> list[Fault]:
        return validate_waiver(request.object, request.old)

    async def _judge_waiver_status(self, request: Request) -> list[Fault]:
        return validate_waiver_status(request.object)

    def _unit_handler(self) -> Handler:
        judge = _judging("spec", self._judge_zone_unit)

        async def handle(review: Mapping[str, Any]) -> dict[str, Any]:
            request = parse_request(review)
            if request.operation is not Operation.DELETE:
                return await judge(review)
            return await _answering(request, self._judge_unit_delete)

        return handle

    async def _judge_unit_delete(self, request: Request) -> dict[str, Any]:
        ref = Field("", request.old).at("spec.zone.ref")
        namespace, name = ref.child("namespace").text, ref.child("name").text
        zone = await self._lookups.zone(ObjectKey(namespace, name)) if namespace and name else None
        objection = object_to_delete(request.old or {}, zone is not None and not zone.deleting)
        return forbid(request, objection) if objection else allow(request.uid)

    async def _resolve(self, request: Request) -> Resolution:
        """Return what `spec.provider` of an object means."""
        ref = provider_ref(request.object)
        return self._contracts.resolve(await self._lookups.provider(ref.name), ref) if ref else None

    async def _storage(self, request: Request) -> Storage:
        """Return the storage version of an object's Provider."""
        ref = provider_ref(request.object)
        return self._contracts.storage(await self._lookups.provider(ref.name), ref.name) if ref else None

    async def _domain(self, request: Request) -> str | None:
        """Return the domain name of the Zone that a RecordSet names, None when the Zone is not there."""
        zone_ref = Field("", request.object).at("spec.zoneRef")
        namespace, name = zone_ref.child("namespace").text or request.namespace, zone_ref.child("name").text
        if not namespace or not name or not is_subdomain(name):
            return None
        zone = await self._lookups.zone(ObjectKey(namespace, name))
        return zone.spec.domain_name if zone else None


def _judging(part: str | None, judge: Judge) -> Handler:
    """Return the handler that refuses what `judge` finds faults with, unless `part` of the object stays as it was; None is all of it.

    What was admitted stays so: a change of metadata needs no Provider, and no finalizer hangs on one that has gone.
    """

    async def answer(request: Request) -> dict[str, Any]:
        if request.operation not in WRITES or (part is not None and _leaves(part, request)):
            return allow(request.uid)
        faults = await judge(request)
        return deny(request, faults) if faults else allow(request.uid)

    async def handle(review: Mapping[str, Any]) -> dict[str, Any]:
        return await _answering(parse_request(review), answer)

    return handle


async def _answering(request: Request, answer: Callable[[Request], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Answer a request; one that needs an object that cannot be read at the moment is refused as one to repeat."""
    try:
        return await answer(request)
    except LookupUnavailableError as error:
        _log.warning("admission.lookup_unavailable", kind=request.kind, name=request.name, error=str(error))
        return defer(request, f"{request.kind} {request.name} cannot be judged at the moment, try again: {error}")


def _own_hooks(kinds: Iterable[OwnKind]) -> Iterator[Hook]:
    """Yield the hooks at which the kinds of providers are judged, none for those that their schema says enough of."""
    for own in kinds:
        if own.judge_spec is not None:
            yield Hook(own.kind.ref, None, WRITES, _judging("spec", _asking(own.judge_spec)))
        if own.judge_status is not None:
            yield Hook(own.kind.ref, "status", UPDATES, _judging("status", _asking(own.judge_status)))


def _asking(judge: OwnJudge) -> Judge:
    async def ask(request: Request) -> list[Fault]:
        return list(judge(request.object, request.old))

    return ask


def _leaves(part: str, request: Request) -> bool:
    return request.old is not None and request.object.get(part) == request.old.get(part)
