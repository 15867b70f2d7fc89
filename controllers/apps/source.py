"""What every source shares: keeping the one EndpointRecordSet of an object as the object has it, and touching nobody else's.

Owns the writes, and the time that an object without any address is given to get one again. Never decides which hostnames or targets an
object has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import structlog

from controllers.api.endpoint import (
    ENDPOINT_RECORD_SETS,
    LEFT_OUT_ANNOTATION,
    MANAGED_BY_LABEL,
    RETIREMENT_ANNOTATION,
    EndpointRecordSet,
    EndpointRecordSetSpec,
)
from controllers.apps.hostname_list import Hostnames
from controllers.apps.left_out import tell_left_out
from controllers.apps.surroundings import AppSurroundings
from controllers.apps.target import Targets
from controllers.runtime.controller import Requeue
from controllers.runtime.recorder import EventType
from kube.errors import BadRequest, Forbidden, Invalid, NotFound, TooLarge
from kube.informer import Informer
from kube.object import ObjectKey, ObjectReference

_log = structlog.get_logger(__name__)

NO_TARGETS_GRACE_S: Final = 300.0
WARNED: Final = 10
"""More hostnames or targets than that are not told of in events."""
REFUSED_AGAIN_S: Final = 60.0
"""Nothing tells when somebody else's object goes, or when the API server would take what it refused."""
PASSING_ANNOTATIONS: Final = (LEFT_OUT_ANNOTATION, RETIREMENT_ANNOTATION)
"""Annotations that an EndpointRecordSet has for as long as its source has a reason for them."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The EndpointRecordSet of an object; `labels` say whose it is, the managed-by label among them.

    `annotations` are those that it takes over from the object.
    """

    key: ObjectKey
    labels: Mapping[str, str]
    hostnames: Hostnames
    targets: Targets
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to publish."""
        return not self.hostnames.published or not self.targets.good

    def spec(self) -> EndpointRecordSetSpec:
        return EndpointRecordSetSpec(hostnames=self.hostnames.published, targets=self.targets.good)

    def all_annotations(self) -> dict[str, str]:
        found = dict(self.annotations)
        if self.hostnames.left_out:
            found[LEFT_OUT_ANNOTATION] = tell_left_out(self.hostnames.left_out)
        return found


class EndpointKeeper:
    """Writes the EndpointRecordSets of one source, in one leadership; `manager` is its field manager and managed-by label.

    An object that has hostnames but no targets keeps those that it publishes for `grace_s` seconds: controllers of load balancers restart,
    and tell nothing for a while.
    """

    def __init__(
        self,
        surroundings: AppSurroundings,
        endpoints: Informer[EndpointRecordSet],
        manager: str,
        grace_s: float = NO_TARGETS_GRACE_S,
    ) -> None:
        self._surroundings = surroundings
        self._endpoints = endpoints
        self._manager = manager
        self._grace_s = grace_s
        self._no_targets_since: dict[ObjectKey, float] = {}

    async def keep(self, wanted: Endpoint, regarding: ObjectReference) -> Requeue | None:
        """Make the EndpointRecordSet equal to what is wanted, or have none when it is empty; says when to look again. Raises KubeError."""
        there = self._endpoints.get(wanted.key)
        if there is not None and not _holds(there.meta.labels, wanted.labels):
            if wanted.empty:
                return None
            self._warn(
                regarding, "EndpointNotOwned", f"EndpointRecordSet {wanted.key} exists already; it stays as it is."
            )
            return Requeue(REFUSED_AGAIN_S)
        for fault in wanted.targets.faults[:WARNED] if wanted.hostnames.published else ():
            self._warn(regarding, "EndpointTargetUnusable", f"{fault}.")
        wanted, left_s = self._with_grace(wanted, there)
        if wanted.empty:
            for each in wanted.hostnames.left_out[:WARNED]:
                self._warn(regarding, "EndpointHostnameLeftOut", f"{each.hostname}: {each.message}")
            await self.remove(there)
            return None
        up_to_date = there is not None and _is_up_to_date(there, wanted)
        applied = up_to_date or await self._apply(wanted, there, regarding)
        waits_s = [*([left_s] if left_s is not None else ()), *(() if applied else (REFUSED_AGAIN_S,))]
        return Requeue(min(waits_s)) if waits_s else None

    def _with_grace(self, wanted: Endpoint, there: EndpointRecordSet | None) -> tuple[Endpoint, float | None]:
        """Return what to publish for now, and for how many seconds, None when nothing but time makes no difference.

        Without targets that is what is published already, as far as it is still wanted; for as long as it takes, when there are some that
        cannot be read.
        """
        if wanted.targets.good or not wanted.hostnames.published or there is None:
            self._no_targets_since.pop(wanted.key, None)
            return wanted, None
        left_s = None
        if wanted.targets.unknown:
            self._no_targets_since.pop(wanted.key, None)
        else:
            now = self._surroundings.clock()
            left_s = self._no_targets_since.setdefault(wanted.key, now) + self._grace_s - now
            if left_s <= 0:
                return wanted, None
        stays = tuple(each for each in wanted.hostnames.published if each in there.spec.hostnames)
        hostnames = replace(wanted.hostnames, published=stays)
        return replace(wanted, hostnames=hostnames, targets=Targets(there.spec.targets)), left_s

    async def remove(self, there: EndpointRecordSet | None) -> None:
        """Delete an EndpointRecordSet of this source, in the very state that was seen. Raises KubeError."""
        if there is not None:
            self._no_targets_since.pop(there.key, None)
        if there is None or there.deleting or there.meta.labels.get(MANAGED_BY_LABEL) != self._manager:
            return
        try:
            await self._surroundings.client.delete(
                ENDPOINT_RECORD_SETS,
                namespace=there.meta.namespace,
                name=there.meta.name,
                uid=there.meta.uid,
                resource_version=there.meta.resource_version,
            )
        except NotFound:
            return
        _log.info("endpoint no longer needed", endpoint=str(there.key))

    async def _apply(self, wanted: Endpoint, there: EndpointRecordSet | None, regarding: ObjectReference) -> bool:
        """Return whether the API server took it. A refusal is told; what was there stays."""
        metadata: dict[str, Any] = {
            "namespace": wanted.key.namespace,
            "name": wanted.key.name,
            "labels": dict(wanted.labels),
            "annotations": wanted.all_annotations(),
        }
        if there is not None:
            metadata["uid"] = there.meta.uid
        ref = ENDPOINT_RECORD_SETS
        manifest = {
            "apiVersion": ref.api_version,
            "kind": ref.kind,
            "metadata": metadata,
            "spec": wanted.spec().dump(),
        }
        try:
            await self._surroundings.client.apply(ref, manifest, manager=self._manager, force=there is not None)
        except (BadRequest, Forbidden, Invalid, NotFound, TooLarge) as error:
            _log.warning("endpoint refused", endpoint=str(wanted.key), message=error.message)
            self._warn(regarding, "EndpointRejected", f"EndpointRecordSet {wanted.key} was refused: {error.message}")
            return False
        return True

    def _warn(self, regarding: ObjectReference, reason: str, message: str) -> None:
        self._surroundings.recorder.event(regarding, EventType.WARNING, reason, message)


def _is_up_to_date(there: EndpointRecordSet, wanted: Endpoint) -> bool:
    annotations = wanted.all_annotations()
    stale = any(name in there.meta.annotations and name not in annotations for name in PASSING_ANNOTATIONS)
    return not stale and there.spec == wanted.spec() and _holds(there.meta.annotations, annotations)


def _holds(there: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(there.get(name) == value for name, value in wanted.items())
