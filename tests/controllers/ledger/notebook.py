"""A provider written on the ledger package alone: it keeps zones in a notebook in memory, written with a pen that is its identity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from pydantic import Field

from controllers.api.condition import ConditionStatus
from controllers.api.crd import AGE, Kind
from controllers.api.group import PROVIDERS
from controllers.api.object import ApiObject, parser
from controllers.api.reason import Reason
from controllers.api.verdict import Verdict, refused, waiting
from controllers.api.zone_class import ZoneClass
from controllers.core.providercontract.conversion.desk import ConversionDesk
from controllers.core.providercontract.fault import Fault
from controllers.core.providercontract.own_kind import OwnKind
from controllers.ledger.binding import Binding
from controllers.ledger.context import LedgerContext
from controllers.ledger.controllers import LedgerControllers
from controllers.ledger.registration import AttachedProvider, Choice, EnabledProvider, Registration, Setting
from controllers.ledger.reporter import Reporter
from controllers.ledger.result import Hold, ItemResult, PlainItem, ZoneResult, plain_items
from controllers.ledger.standing import IDENTITY_REASONS, PASSED_ON, Stage, judge_class_of, stage_of
from controllers.ledger.surroundings import Surroundings
from controllers.ledger.view import gather_ledger
from controllers.runtime.controller import Controller, Requeue
from kube.informer import Informer
from kube.object import ObjectKey
from kube.resource import ResourceRef
from kube.store import Change
from zonemodel.model import Model

GROUP = "notebook.example"
BINDING = Binding.of(GROUP)
PENS = ResourceRef(GROUP, "v1alpha1", "pens", "Pen")
LOOK_AGAIN_S = 60.0
WRITTEN = Verdict(ConditionStatus.TRUE, Reason.PROGRAMMED)


class PenSpec(Model):
    """What a pen is."""

    colour: Annotated[str, Field(description="Colour of the ink.")]


class PenStatus(Model):
    """Pens have nothing to say."""


Pen = ApiObject[PenSpec, PenStatus]


@dataclass
class Notebook:
    """What the outside world holds, by domain: the page's number, and its lines by owner name and type."""

    pages: dict[str, int] = field(default_factory=dict)
    lines: dict[str, dict[tuple[str, str], Any]] = field(default_factory=dict)
    torn: bool = False
    """Whether writing is impossible at the moment."""


def judge_pen(obj: Mapping[str, Any], former: Mapping[str, Any] | None) -> Sequence[Fault]:
    colour = obj["spec"].get("colour")
    return [] if colour in {"blue", "black"} else [Fault("spec.colour", f'"{colour}"', "blue or black")]


KINDS = (OwnKind(Kind(PENS, "A pen.", PenSpec, PenStatus, (AGE,)), judge_pen),)


def provider_manifest() -> dict[str, Any]:
    anything = {
        "openAPIV3Schema": {"type": "object", "description": "Anything.", "x-kubernetes-preserve-unknown-fields": True}
    }
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "identity": {"resource": {"group": GROUP, "kind": "Pen", "scope": "Namespaced"}},
        "zoneClass": {"schemas": {"parameters": anything}},
        "zone": {"schemas": {"adoption": anything, "statusProviderData": anything}},
        "recordSet": {
            "supportedTypes": ["A", "TXT"],
            "schemas": {"options": anything, "adoption": anything, "statusProviderData": anything},
        },
    }
    return {
        "apiVersion": PROVIDERS.api_version,
        "kind": PROVIDERS.kind,
        "metadata": {"name": GROUP},
        "spec": {"display": {"name": "Notebook"}, "versions": [version]},
    }


class Units:
    """The reconciler of zones."""

    def __init__(self, context: LedgerContext, provider: NotebookProvider) -> None:
        self._context = context
        self._provider = provider
        self._reporter = Reporter(context, {Hold.PENDING: 0.0, Hold.OUTAGE: 0.2})

    def forget_unit(self, key: ObjectKey) -> None:
        self._reporter.forget_unit(key)

    async def reconcile(self, key: ObjectKey) -> Requeue | None:
        view, reporter = gather_ledger(self._context, key), self._reporter
        book, main = self._provider.book, view.main
        match stage_of(view, self._context.binding):
            case Stage.LEAVE:
                reporter.forget_zone(key)
                return None
            case Stage.WAIT:
                return Requeue(LOOK_AGAIN_S)
            case Stage.CLEAN_UP:
                book.lines.pop(view.parts[0].spec.zone.domain_name, None)
                await reporter.let_go(key, view.parts)
                return None
        assert main is not None
        passed_on = PASSED_ON | IDENTITY_REASONS
        judgement = judge_class_of(view, main, self._context.binding, self._provider.rule, passed_on)
        items, domain = plain_items(view.parts), main.spec.zone.domain_name
        if judgement.parameters is None or book.torn:
            down = refused(Reason.PROVIDER_UNAVAILABLE, "The notebook is torn.")
            results = [[ItemResult(down) for _ in part] for part in items]
            await reporter.report(key, view.parts, ZoneResult(judgement.verdict, down), items, results)
            return reporter.look_again(key, LOOK_AGAIN_S)
        await reporter.hold(view.parts)
        noted = reporter.status_of(main).provider
        page = (noted.state or {}).get("page") if noted is not None else None
        if page is None:
            page = book.pages.setdefault(domain, len(book.pages) + 1)
            await reporter.note(main, {"page": page})
        written = [[self._write(domain, item) for item in part] for part in items]
        zone = ZoneResult(judgement.verdict, WRITTEN, ("shelf.example",), data={"page": page}, state={"ink": "wet"})
        await reporter.report(key, view.parts, zone, items, written)
        await reporter.release_spent(view.parts)
        return reporter.look_again(key, LOOK_AGAIN_S)

    def _write(self, domain: str, item: PlainItem) -> ItemResult:
        lines, at = self._provider.book.lines.setdefault(domain, {}), (item.source.name, item.source.type.value)
        if item.source.deletion_requested:
            lines.pop(at, None)
            return ItemResult(WRITTEN, gone=True)
        lines[at] = item.source.dump()
        return ItemResult(WRITTEN, data={"line": sorted(lines).index(at)}, state={"secret": True})


class NotebookProvider:
    """What the manager runs while it leads."""

    def __init__(self, surroundings: Surroundings, pens: Informer[Pen], book: Notebook, binding: Binding) -> None:
        self.book = book
        self._shared = surroundings.informers
        self._pens = pens
        self._ledger = LedgerControllers(
            "notebook", surroundings, binding, self.rule, lambda context: Units(context, self)
        )
        self._ledger.follow(pens, self._zones_for_pen)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ledger.close()

    @property
    def controllers(self) -> Sequence[Controller[Any]]:
        return self._ledger.controllers

    @property
    def conversions(self) -> ConversionDesk:
        return self._ledger.conversions

    def rule(self, zone_class: ZoneClass) -> PenSpec | Verdict:
        ref = zone_class.spec.identity_ref
        pen = self._pens.get(ObjectKey(zone_class.meta.namespace, ref.name)) if ref is not None else None
        return pen.spec if pen is not None else waiting(Reason.IDENTITY_NOT_RESOLVED, "There is no such pen.")

    def _zones_for_pen(self, change: Change[Pen]) -> Iterator[ObjectKey]:
        for key, zone_class in self._shared.zone_classes.items():
            ref = zone_class.spec.identity_ref
            if ref is not None and ObjectKey(key.namespace, ref.name) == change.key:
                self._ledger.look_at_class(key)
        yield from ()


def registration(book: Notebook) -> Registration:
    """The provider as a part of the product."""

    def configure(choice: Choice) -> EnabledProvider:
        def attach(surroundings: Surroundings) -> AttachedProvider:
            pens = Informer(surroundings.client, PENS, parser(PenSpec, PenStatus))
            return AttachedProvider(lambda: NotebookProvider(surroundings, pens, book, choice.binding), (pens,))

        return EnabledProvider(attach, KINDS)

    return Registration(
        "notebook",
        "Notebook",
        BINDING,
        provider_manifest,
        configure,
        KINDS,
        settings=(Setting("page_size", 10, "Lines on a page."),),
    )
