"""What every source shares: keeping the one EndpointRecordSet of an object as the object has it, and touching nobody else's.

Owns the writes. Never decides which hostnames or targets an object has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from controllers.api.endpoint import (
    ENDPOINT_RECORD_SETS,
    LEFT_OUT_ANNOTATION,
    MANAGED_BY_LABEL,
    EndpointRecordSet,
    EndpointRecordSetSpec,
    Target,
)
from controllers.apps.hostname_list import Hostnames
from controllers.apps.left_out import tell_left_out
from controllers.apps.surroundings import AppSurroundings
from controllers.runtime.recorder import EventType
from kube.errors import BadRequest, Forbidden, Invalid, NotFound
from kube.informer import Informer
from kube.object import ObjectKey, ObjectReference

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The EndpointRecordSet of an object; `labels` say whose it is, the managed-by label among them.

    `annotations` are those that it takes over from the object, None for those that the object has not.
    """

    key: ObjectKey
    labels: Mapping[str, str]
    hostnames: Hostnames
    targets: tuple[Target, ...]
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to publish."""
        return not self.hostnames.published or not self.targets

    def spec(self) -> EndpointRecordSetSpec:
        return EndpointRecordSetSpec(hostnames=self.hostnames.published, targets=self.targets)

    def all_annotations(self) -> dict[str, str]:
        found = dict(self.annotations)
        if self.hostnames.left_out:
            found[LEFT_OUT_ANNOTATION] = tell_left_out(self.hostnames.left_out)
        return found


class EndpointKeeper:
    """Writes the EndpointRecordSets of one source; `manager` is its field manager and managed-by label."""

    def __init__(self, surroundings: AppSurroundings, endpoints: Informer[EndpointRecordSet], manager: str) -> None:
        self._surroundings = surroundings
        self._endpoints = endpoints
        self._manager = manager

    async def keep(self, wanted: Endpoint, regarding: ObjectReference) -> None:
        """Make the EndpointRecordSet equal to what is wanted, or have none when it is empty. Raises KubeError."""
        there = self._endpoints.get(wanted.key)
        if there is not None and not _holds(there.meta.labels, wanted.labels):
            if not wanted.empty:
                self._warn(
                    regarding, "EndpointNotOwned", f"EndpointRecordSet {wanted.key} exists already; it stays as it is."
                )
            return
        if wanted.empty:
            for each in wanted.hostnames.left_out[:10]:
                self._warn(regarding, "EndpointHostnameLeftOut", f"{each.hostname}: {each.message}")
            await self.remove(there)
            return
        if there is None or not _is_up_to_date(there, wanted):
            await self._apply(wanted, there, regarding)

    async def remove(self, there: EndpointRecordSet | None) -> None:
        """Delete an EndpointRecordSet of this source, in the very state that was seen. Raises KubeError."""
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

    async def _apply(self, wanted: Endpoint, there: EndpointRecordSet | None, regarding: ObjectReference) -> None:
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
        except (BadRequest, Forbidden, Invalid, NotFound) as error:
            _log.warning("endpoint refused", endpoint=str(wanted.key), message=error.message)
            self._warn(regarding, "EndpointRejected", f"EndpointRecordSet {wanted.key} was refused: {error.message}")

    def _warn(self, regarding: ObjectReference, reason: str, message: str) -> None:
        self._surroundings.recorder.event(regarding, EventType.WARNING, reason, message)


def _is_up_to_date(there: EndpointRecordSet, wanted: Endpoint) -> bool:
    annotations = wanted.all_annotations()
    own = {LEFT_OUT_ANNOTATION, *wanted.annotations}
    stale = any(name in there.meta.annotations and name not in annotations for name in own)
    return not stale and there.spec == wanted.spec() and _holds(there.meta.annotations, annotations)


def _holds(there: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(there.get(name) == value for name, value in wanted.items())
