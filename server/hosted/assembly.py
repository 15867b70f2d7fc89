"""A manifest and its pages put together: a whole snapshot, or what is missing, or what is wrong.

Owns the judgement whether a snapshot is the one that its manifest names. Pure; each page was digested once, when it arrived.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kube.object import ObjectKey
from server.hosted.content import Content, PageLines
from server.hosted.object import Manifest, PageObject


@dataclass(frozen=True, slots=True)
class Missing:
    """Pages that the manifest counts in and that have not arrived: the previous snapshot is served until they do."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a snapshot cannot be served; `message` is what the server reports."""

    message: str


def assemble(manifest: Manifest, page_at: Callable[[ObjectKey], PageObject | None]) -> Content | Missing | Rejected:
    """Return the content that a manifest names; `page_at` finds pages by object name in the manifest's namespace."""
    if manifest.head is None:
        return Rejected(manifest.fault)
    found: dict[str, PageLines] = {}
    missing = []
    for ref in manifest.pages:
        page = page_at(ObjectKey(manifest.key.namespace, ref.name))
        if page is None:
            missing.append(ref.name)
        elif page.lines is None:
            return Rejected(f"page {ref.name} cannot be read: {page.fault}")
        elif page.lines.digest != ref.digest:
            return Rejected(f"page {ref.name} has the digest {page.lines.digest}, the manifest names {ref.digest}")
        else:
            found[ref.digest] = page.lines.lines
    if missing:
        return Missing(tuple(missing))
    if manifest.inline is not None:
        found[manifest.inline.digest] = manifest.inline.lines
    actual = manifest.head.digest_with(found)
    if actual != manifest.digest:
        return Rejected(f"the snapshot has the digest {actual}, the manifest names {manifest.digest}")
    return Content(manifest.head, manifest.digest, found)
