"""Makes RecordSets as planned: applies those that differ, deletes those that are no longer needed, and nobody else's.

Owns the order: claims to withdrawn addresses first, then what is wanted, then what is left over. A refusal by the API server is told
of the hostname and keeps what was there.
"""

from __future__ import annotations

from collections.abc import Iterable

import structlog

from controllers.api.endpoint import ENDPOINT_MANAGER, EndpointReason
from controllers.api.group import RECORD_SETS
from controllers.api.record_set import RecordSet
from controllers.apps.endpoint.inputs import EndpointInputs
from controllers.apps.endpoint.leftover import leftovers
from controllers.apps.endpoint.plan import HostnamePlan, Wanted
from controllers.apps.endpoint.retirement import Retirement
from controllers.runtime.parallel import in_parallel
from kube.client import Client
from kube.errors import BadRequest, Forbidden, Invalid, KubeError, NotFound, TooLarge

_log = structlog.get_logger(__name__)

REFUSALS = (BadRequest, Forbidden, Invalid, NotFound, TooLarge)


class Writer:
    """Carries plans out; use one for each leadership."""

    def __init__(self, client: Client, retirement: Retirement) -> None:
        self._client = client
        self._retirement = retirement

    async def apply(
        self, inputs: EndpointInputs, plans: dict[str, HostnamePlan]
    ) -> tuple[dict[str, HostnamePlan], bool]:
        """Return the plans with what the API server said to them, and whether it refused a RecordSet of a former zone.

        Raises KubeError when a later attempt may do better.
        """
        going = list(leftovers(inputs, plans))
        wanted = [each for plan in plans.values() for each in plan.wanted]
        former = _staying([each for plan in plans.values() for each in plan.former], going)
        await self._retirement.leave_claims(inputs, [*wanted, *former], going)
        after = dict(plans)

        async def apply_all(plan: HostnamePlan) -> None:
            after[plan.hostname] = await self._apply_hostname(plan)

        await in_parallel(
            apply_all(plan) for plan in plans.values() if not all(each.up_to_date for each in plan.wanted)
        )
        unfollowed: list[Wanted] = []
        await in_parallel(self._follow(each, unfollowed) for each in former if not each.up_to_date)
        await in_parallel(self._delete(each) for each in list(leftovers(inputs, after)))
        return after, bool(unfollowed)

    async def _follow(self, former: Wanted, refused: list[Wanted]) -> None:
        """What has been published elsewhere stays as it was where the API server refuses a change: the hostname is judged by its zone."""
        try:
            await self._apply(former)
        except REFUSALS as error:
            _log.warning("record set of a former zone refused", record_set=str(former.key), message=error.message)
            refused.append(former)

    async def _apply_hostname(self, plan: HostnamePlan) -> HostnamePlan:
        for each in plan.wanted:
            if each.up_to_date or (each.there is not None and each.there.deleting):
                continue  # a new one follows once the old one has gone
            try:
                await self._apply(each)
            except REFUSALS as error:
                plan = plan.refused(EndpointReason.RECORD_SET_REJECTED, _told(each, error))
        return plan

    async def _apply(self, wanted: Wanted) -> None:
        """One that nobody has seen yet must not be forced: it may be somebody else's by now."""
        forced = wanted.there is not None
        await self._client.apply(RECORD_SETS, wanted.manifest(), manager=ENDPOINT_MANAGER, force=forced)

    async def _delete(self, there: RecordSet) -> None:
        """Only in the very state in which it was seen to be ours."""
        try:
            await self._client.delete(
                RECORD_SETS,
                namespace=there.meta.namespace,
                name=there.meta.name,
                uid=there.meta.uid,
                resource_version=there.meta.resource_version,
            )
        except NotFound:
            return
        _log.info("record set no longer needed", record_set=str(there.key))


def _staying(former: Iterable[Wanted], going: Iterable[RecordSet]) -> list[Wanted]:
    gone = {each.key for each in going}
    return [each for each in former if each.key not in gone and each.there is not None and not each.there.deleting]


def _told(wanted: Wanted, error: KubeError) -> str:
    causes: Iterable[str] = (f"{each.field}: {each.message}" for each in error.causes[:3])
    return f"RecordSet {wanted.key} was refused: {'; '.join(causes) or error.message}"
