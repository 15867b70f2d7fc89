"""Publishing: from a zone's ledger to the HostedZone that the name servers follow.

Owns the order of writes (pages, then the manifest, which commits), the deletion of pages that nobody needs, and the recovery of
what is published after a restart. Never judges a result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused
from controllers.api.zone_unit import ZoneUnit
from controllers.ledger.echo import Echo
from controllers.providers.hosted.content import Content, Lines, as_written, needs_base
from controllers.providers.hosted.history import History
from controllers.providers.hosted.hosted_object import HostedObject, Manifest, PageObject
from controllers.providers.hosted.item import Items, Line, RecordKey
from controllers.providers.hosted.layout import Layout, PagePlan, lay_out, page_count_of
from controllers.providers.hosted.parameters import Head, hosts_of, without_addresses
from controllers.providers.hosted.serial import Serials
from controllers.providers.hosted.standing import Course, Standing
from controllers.providers.hosted.view import ZoneView
from controllers.providers.hosted.writer import HostedWriter
from controllers.providers.hosted.zone_state import ZoneState
from controllers.runtime.metrics import DRIFT_REPAIRS
from controllers.runtime.parallel import in_parallel
from kube.errors import AlreadyExists, Conflict, Forbidden, KubeError, NotFound, ResourceNotServed, RetryableError
from kube.object import ObjectKey
from zonemodel.hosted_zone import HostedZoneSpec, Page, ServerState
from zonemodel.record import RecordType
from zonemodel.snapshot import Snapshot, SnapshotError, assemble

_log = structlog.get_logger(__name__)

MESSAGE_LIMIT_CHARS: Final = 512
UNKNOWN_BASE: Final = refused(
    Reason.RECONCILE_ERROR,
    "A page of the published snapshot is missing, so that it is not known what has to stay served; nothing is changed.",
)


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published now, for which content, and why that is not what the ledger asks for (None when it is).

    With `wait_s`, the content is published after that time.
    """

    manifest: Manifest | None
    content: Content | None
    obstacle: Verdict | None = None
    created: bool = False
    wait_s: float = 0.0


class Publisher:
    """Publishes zones; `echo` is shared with whoever reads the caches."""

    def __init__(
        self,
        writer: HostedWriter,
        echo: Echo[HostedObject],
        wall_clock: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._writer = writer
        self._echo = echo
        self._serials = Serials(wall_clock)
        self._clock = clock

    async def bring_up(
        self, view: ZoneView, main: ZoneUnit, standing: Standing, state: ZoneState, items: tuple[Items, ...]
    ) -> Publication:
        """Publish the ledger's content as far as the zone's standing lets it; raises KubeError when a retry is called for."""
        history = await self._aligned(view, standing, state, items)
        frozen = standing.course is Course.FREEZE
        hosts = hosts_of(standing.head) if standing.head is not None else frozenset()
        if history.lines is None and needs_base(items, frozen, hosts):
            return Publication(view.manifest, None, UNKNOWN_BASE)
        content = state.content(items, history.lines or {}, frozen, hosts)
        if standing.head is None:
            return Publication(view.manifest, content, standing.programmed)
        # An alias that was served before its class put a name server there stays, so the addresses have to wait.
        aliases = {owner for owner in hosts if RecordKey(owner, RecordType.CNAME) in content.lines}
        layout = self._laid_out(view, without_addresses(standing.head, aliases), content.lines, state)
        started = self._clock()
        wait_s = state.publishing.wait_s(started)
        if wait_s and layout.digest != history.digest:
            return Publication(view.manifest, content, wait_s=wait_s)
        try:
            manifest = await self._commit(view, main, layout, history)
        except (RetryableError, Conflict, AlreadyExists):
            raise
        except KubeError as error:
            _log.warning("snapshot refused", zone=str(view.key), error=type(error).__name__, message=error.message)
            return Publication(view.manifest, content, _obstacle(error))
        if manifest is not view.manifest:
            state.publishing.did(started, self._clock())
        state.layout = layout
        return Publication(manifest, content, created=view.manifest is None)

    async def withdraw(self, view: ZoneView, state: ZoneState) -> int:
        """Delete everything that is published, the manifest first; returns how many objects were not being deleted yet."""
        metas = [view.manifest.meta] if view.manifest is not None else []
        metas += [page.meta for page in view.pages.values()]
        living = [meta for meta in metas if not meta.deleting]
        for meta in living:
            await self._writer.delete(meta)
            self._echo.forget(meta.key)
        state.forget_publication()
        return len(living)

    async def collect(
        self, view: ZoneView, manifest: Manifest | None, state: ZoneState, reached: int, now: float, retention_s: float
    ) -> float | None:
        """Delete the pages that no live server and no manifest needs; returns when the next one falls due, in seconds."""
        named = {ref.name for ref in manifest.spec.pages} if manifest is not None else set()
        unnamed = [page for name, page in view.pages.items() if name not in named]
        state.unnamed_since = {page.meta.name: state.unnamed_since.get(page.meta.name, now) for page in unnamed}
        history = state.history or History()
        due: list[PageObject] = []
        kept: list[PageObject] = []
        for page in unnamed:
            age_s = now - state.unnamed_since[page.meta.name]
            last_named = history.last_named(page.meta.name)
            # A page that we never saw named may be of a snapshot that is about to be published elsewhere.
            is_due = (last_named is not None and reached > last_named) or age_s >= retention_s
            (due if is_due else kept).append(page)
        await in_parallel(self._writer.delete(page.meta) for page in due)
        for page in due:
            self._echo.forget(page.meta.key)
        return min((state.unnamed_since[page.meta.name] + retention_s - now for page in kept), default=None)

    async def _aligned(self, view: ZoneView, standing: Standing, state: ZoneState, items: tuple[Items, ...]) -> History:
        """Return the history, made anew when the published snapshot is not the one that it ends with."""
        manifest, history = view.manifest, state.history
        if history is None or (manifest is not None and history.digest != manifest.spec.digest):
            history = History() if manifest is None else await self._recovered(view, manifest, standing, items)
            state.history, state.layout = history, None
        return history

    async def _recovered(
        self, view: ZoneView, manifest: Manifest, standing: Standing, items: tuple[Items, ...]
    ) -> History:
        spec = manifest.spec
        lines: Lines | None = as_written(items)
        # When the ledger as it stands has the published digest, it is what is published: no need to read it.
        if standing.head is None or lines is None or self._digest(view, standing.head, lines) != spec.digest:
            lines = await self._published_lines(view.key, spec)
        names = frozenset(ref.name for ref in spec.pages)
        return History(
            digest=spec.digest or "",
            serial=spec.serial,
            lines=lines,
            page_names=names,
            seen_generation=manifest.meta.generation,
        )

    async def _published_lines(self, key: ObjectKey, expected: HostedZoneSpec) -> Lines | None:
        """Return the content of the published snapshot, None when it is not whole. Raises Conflict when it has moved on."""
        try:
            spec = HostedZoneSpec.model_validate((await self._writer.fetch(key))["spec"])
        except NotFound as error:
            raise Conflict(f"HostedZone {key} has gone") from error
        if spec.digest != expected.digest:
            raise Conflict(f"HostedZone {key} has changed")
        pages: dict[str, Page] = {}
        try:
            for ref in spec.pages:
                found = HostedZoneSpec.model_validate(
                    (await self._writer.fetch(ObjectKey(key.namespace, ref.name)))["spec"]
                )
                if found.page is not None:
                    pages[ref.name] = found.page
            snapshot = assemble(spec, pages)
        except (NotFound, SnapshotError) as error:
            _log.warning("published snapshot is not whole", zone=str(key), error=str(error))
            return None
        if not isinstance(snapshot, Snapshot):
            return None
        lines = (Line.of(record) for record in snapshot.record_sets)
        return {line.key: line for line in lines}

    def _laid_out(self, view: ZoneView, head: Head, lines: Lines, state: ZoneState) -> Layout:
        count = state.layout.page_count if state.layout is not None else _published_page_count(view)
        return lay_out(view.key.name, head, lines, count, state.layout)

    def _digest(self, view: ZoneView, head: Head, lines: Lines) -> str:
        return lay_out(view.key.name, head, lines, _published_page_count(view), None).digest

    async def _commit(self, view: ZoneView, main: ZoneUnit, layout: Layout, history: History) -> Manifest:
        before = view.manifest
        await in_parallel(
            self._create_page(view.key, main, page) for page in layout.pages if not self._is_there(view, page)
        )
        same = before is not None and before.spec.digest == layout.digest and before.spec.serial is not None
        if before is not None and same and _is_intact(before, history) and main.meta.uid in before.meta.owner_uids:
            history.generation = before.meta.generation
            return before
        previous = before.spec.serial if before is not None else history.serial
        domain = main.spec.zone.domain_name
        serial = previous if same and previous is not None else self._serials.next(domain, previous)
        manifest = await self._writer.publish(view.key, main, layout, serial, before)
        self._echo.remember(view.key, manifest.meta.resource_version, manifest)
        history.generation = manifest.meta.generation
        if same:
            DRIFT_REPAIRS.labels("hosted").inc()
            history.restate()
        else:
            history.advance(layout.digest, serial, layout.lines, (page.name for page in layout.pages))
        return manifest

    async def _create_page(self, key: ObjectKey, main: ZoneUnit, page: PagePlan) -> None:
        meta = await self._writer.create_page(key, main, page)
        self._echo.remember(meta.key, meta.resource_version, PageObject(meta, key, page.digest))

    def _is_there(self, view: ZoneView, page: PagePlan) -> bool:
        key = ObjectKey(view.key.namespace, page.name)
        cached = view.pages.get(page.name)
        return self._echo.latest(key, cached.meta if cached is not None else None, cached) is not None


def _is_intact(manifest: Manifest, history: History) -> bool:
    """Say whether a manifest holds what its digest says: nobody has changed it since we wrote it, or a server serves it as it is."""
    generation = manifest.meta.generation
    if history.generation is not None:
        return generation == history.generation
    return any(
        report.state is ServerState.SERVING
        and (report.observed_generation, report.digest) == (generation, manifest.spec.digest)
        for report in manifest.servers
    )


def _published_page_count(view: ZoneView) -> int:
    return page_count_of(len(view.manifest.spec.pages)) if view.manifest is not None else 0


def _obstacle(error: KubeError) -> Verdict:
    match error:
        case Forbidden():
            reason = Reason.PROVIDER_ACCESS_DENIED
        case NotFound() | ResourceNotServed():
            reason = Reason.PROVIDER_UNAVAILABLE
        case _:
            reason = Reason.PROVIDER_INVALID_REQUEST
    return refused(reason, f"The API server refuses the snapshot: {error.message[:MESSAGE_LIMIT_CHARS]}")
