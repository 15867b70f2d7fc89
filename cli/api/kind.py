"""The kinds that an API serves and the names that people call them by: plural, singular, kind, short name, category.

Owns what a word means where several groups have it: our own groups first, then the server's order. Never guesses.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cli.api.refusal import CommandError
from kube.client import Client
from kube.discovery import Discovery
from kube.resource import ResourceRef

OWN_GROUP: Final = "dns.appthrust.io"
OWN_TYPES: Final = (
    "zones",
    "recordsets",
    "zoneclasses",
    "zoneunits",
    "providers",
    "hostedzones",
    "recordwithdrawals",
    "recordwithdrawalwaivers",
    "endpointrecordsets",
    "route53identities",
    "cloudflareidentities",
)
"""What shells offer; the server has more."""
_AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


@dataclass(frozen=True, slots=True)
class Kind:
    """One served resource and its names."""

    ref: ResourceRef
    singular: str
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """What results call the kind: `zone.dns.appthrust.io`."""
        name = self.singular or self.ref.kind.lower()
        return f"{name}.{self.ref.group}" if self.ref.group else name

    @property
    def is_own(self) -> bool:
        """Whether the kind belongs to this product."""
        return self.ref.group == OWN_GROUP or self.ref.group.endswith(f".{OWN_GROUP}")

    def is_called(self, name: str, names: Iterable[str]) -> bool:
        """Whether `name` is one of `names`, alone or with the group or version and group behind it."""
        ref = self.ref
        suffixes = ("", f".{ref.group}", f".{ref.version}.{ref.group}") if ref.group else ("", f".{ref.version}")
        return any(name == each + suffix for each in names if each for suffix in suffixes)


class Kinds:
    """What the server serves, in the order in which words are looked up."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self._kinds = sorted(kinds, key=lambda kind: not kind.is_own)

    @classmethod
    async def ask(cls, client: Client) -> Kinds:
        """Ask the server, in two requests where it has aggregated discovery. Raises KubeError."""
        documents = await asyncio.gather(*(client.read(path, accept=_AGGREGATED) for path in ("/api", "/apis")))
        if all(document.get("kind") == "APIGroupDiscoveryList" for document in documents):
            return cls(kind for document in documents for kind in _parse(document))
        served = await Discovery(client).all_served()
        return cls(Kind(each.ref, each.singular, each.short_names, (), each.verbs) for each in served)

    def named(self, word: str) -> list[Kind]:
        """Return the kind that a word names, or the kinds of the category. Raises CommandError, which lists what there is."""
        name = word.lower()
        for kind in self._kinds:
            if kind.is_called(name, (kind.ref.plural, kind.singular, kind.ref.kind.lower())):
                return [kind]
        for kind in self._kinds:
            if kind.is_called(name, kind.short_names):
                return [kind]
        if found := [kind for kind in self._kinds if name in kind.categories]:
            return found
        raise CommandError(self._unknown(word))

    def of(self, api_version: str, kind: str) -> Kind:
        """Return the kind that a manifest names, in the version that the server prefers. Raises CommandError."""
        group = api_version.rpartition("/")[0]
        for each in self._kinds:
            if (each.ref.group, each.ref.kind) == (group, kind):
                return each
        raise CommandError(f"the API does not serve kind {kind!r} in {api_version!r}")

    def _unknown(self, word: str) -> str:
        listed = [kind for kind in self._kinds if "list" in kind.verbs]
        names = sorted({name for kind in listed for name in (kind.ref.plural, kind.singular, *kind.short_names)})
        close = difflib.get_close_matches(word.lower(), names, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        lines = [f"the API has no kind {word!r}{hint}", "it has:"]
        lines += [f"  {_spelled(kind)}" for kind in listed if kind.is_own]
        lines += [f"  {', '.join(_spelled(kind) for kind in listed if not kind.is_own)}"]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A kind, or one object of it."""

    kind: Kind
    name: str = ""


def parse_words(kinds: Kinds, words: Sequence[str]) -> list[Wanted]:
    """Return what `TYPE[,TYPE…] [NAME…]` or `TYPE/NAME…` names, each once. Raises CommandError."""
    if not words:
        raise CommandError("name what is wanted: TYPE, TYPE NAME or TYPE/NAME, such as zones or zone/example")
    slashed = [word for word in words if "/" in word]
    if slashed and len(slashed) < len(words):
        raise CommandError(
            f"found {slashed[0]!r} beside a name without a type: give TYPE NAME… or TYPE/NAME…, not both"
        )
    if slashed:
        return list(dict.fromkeys(wanted for word in words for wanted in _of_pair(kinds, word)))
    if "" in words:
        raise CommandError("found an empty word, allowed are types and names")
    found = [kind for word in words[0].split(",") if word for kind in kinds.named(word)]
    return list(dict.fromkeys(Wanted(kind, name) for kind in found for name in words[1:] or [""]))


def _of_pair(kinds: Kinds, word: str) -> Iterator[Wanted]:
    kind, _, name = word.partition("/")
    if not kind or not name or "/" in name:
        raise CommandError(f"found {word!r}, allowed is TYPE/NAME, such as zone/example")
    yield from (Wanted(each, name) for each in kinds.named(kind))


def _parse(document: Mapping[str, Any]) -> Iterator[Kind]:
    for group in document.get("items") or ():
        seen = set()
        for version in group.get("versions") or ():
            for entry in version.get("resources") or ():
                if entry["resource"] not in seen and "responseKind" in entry:
                    seen.add(entry["resource"])
                    yield _kind(group["metadata"].get("name", ""), version["version"], entry)


def _kind(group: str, version: str, entry: Mapping[str, Any]) -> Kind:
    namespaced = entry["scope"] == "Namespaced"
    ref = ResourceRef(group, version, entry["resource"], entry["responseKind"]["kind"], namespaced=namespaced)
    return Kind(
        ref,
        entry.get("singularResource") or "",
        tuple(entry.get("shortNames") or ()),
        tuple(entry.get("categories") or ()),
        frozenset(entry.get("verbs") or ()),
    )


def _spelled(kind: Kind) -> str:
    return f"{kind.ref.plural} ({', '.join(kind.short_names)})" if kind.short_names else kind.ref.plural


def types_that_begin(incomplete: str) -> list[str]:
    """Return the types of our own that a half-written word may mean; asks no API, so that a shell has them at once."""
    return [each for each in OWN_TYPES if each.startswith(incomplete)]
