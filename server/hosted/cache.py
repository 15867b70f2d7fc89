"""The last good snapshots on disk, so that a restart while the API is away still serves.

Owns one folder: a file for each manifest, pages by their digest, and the time of the last contact with the API. A file is either whole
or not there; what does not have its digest any more is left out. Blocking: the caller takes it off the event loop.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson
import structlog

from kube.object import ObjectKey
from server.cache_folder import CacheError, CacheFolder
from server.durable import sync_folder, write_whole
from server.hosted.content import Content, Head, PageLines
from zonemodel.hosted_zone import HostedZoneSpec, PageRef, Transfer
from zonemodel.name import Fqdn

__all__ = ["CacheError", "CachedZone", "SnapshotCache"]

_FORMAT: Final = 1
_MANIFEST_SUFFIX: Final = ".zone"
_PAGE_SUFFIX: Final = ".page"
_CONTACT: Final = "contact"

_MALFORMED: Final = (ValueError, LookupError, TypeError)
_BROKEN: Final = (OSError, *_MALFORMED)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CachedZone:
    """One snapshot as it was last served."""

    key: ObjectKey
    content: Content


class SnapshotCache:
    """One folder, used by one server at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken = CacheFolder(folder)

    def close(self) -> None:
        """Let another server have the folder."""
        self._taken.close()

    def open(self) -> None:
        """Make the folder and take it; raises CacheError when it cannot be made or written, or when another server has it."""
        self._taken.open()

    def load(self) -> list[CachedZone]:
        """Return every snapshot that is still whole."""
        return list(self._read_all())

    def store(self, key: ObjectKey, content: Content) -> None:
        """Keep this snapshot in place of the manifest's previous one; it survives a crash once this returns."""
        new = [(self._page_path(digest), page) for digest, page in content.pages.items()]
        for path, page in new:
            if not path.exists():
                write_whole(path, page.text)
        sync_folder(self._folder)  # the manifest must not outlive a crash that its pages do not
        head = content.head
        spec = HostedZoneSpec(
            domain_name=head.domain,
            serial=head.serial,
            soa=head.soa,
            name_servers=head.name_servers,
            transfer=head.transfer,
            digest=content.digest,
            pages=tuple(PageRef(name=digest, digest=digest) for digest in sorted(content.pages)),
        )
        file = {"format": _FORMAT, "namespace": key.namespace, "name": key.name, "spec": spec.dump()}
        write_whole(self._manifest_path(key), orjson.dumps(file))
        sync_folder(self._folder)

    def forget(self, key: ObjectKey) -> None:
        """Drop a manifest's snapshot."""
        self._manifest_path(key).unlink(missing_ok=True)
        sync_folder(self._folder)

    def drop_unused(self, used: Iterable[str]) -> None:
        """Remove the pages whose digests are not among `used`."""
        kept = {self._page_path(digest) for digest in used}
        for path in self._folder.glob(f"*{_PAGE_SUFFIX}"):
            if path not in kept:
                path.unlink(missing_ok=True)

    def kept_pages(self) -> set[str]:
        """Return the digests of the pages that the snapshots here are made of; raises OSError for one that cannot be read now."""
        return {page.digest for _, _, spec in self._manifests(_MALFORMED) for page in spec.pages}

    def note_contact(self, unix_time_s: float) -> None:
        """Remember when the API was last heard of."""
        write_whole(self._folder / _CONTACT, str(int(unix_time_s)).encode())

    def last_contact(self) -> float | None:
        """Return when the API was last heard of, in Unix time, or None when that is not known."""
        try:
            return float((self._folder / _CONTACT).read_text())
        except (OSError, ValueError):
            return None

    def _read_all(self) -> Iterator[CachedZone]:
        for path, key, spec in self._manifests():
            try:
                yield self._read(key, spec)
            except _BROKEN as error:
                _leave_out(path, error)

    def _manifests(
        self, left_out: tuple[type[Exception], ...] = _BROKEN
    ) -> Iterator[tuple[Path, ObjectKey, HostedZoneSpec]]:
        for path in sorted(self._folder.glob(f"*{_MANIFEST_SUFFIX}")):
            try:
                file = orjson.loads(path.read_bytes())
                if file["format"] != _FORMAT:
                    raise ValueError(f"found format {file['format']!r}, allowed is {_FORMAT}")
                yield path, ObjectKey(file["namespace"], file["name"]), HostedZoneSpec.model_validate(file["spec"])
            except left_out as error:
                _leave_out(path, error)

    def _read(self, key: ObjectKey, spec: HostedZoneSpec) -> CachedZone:
        if spec.domain_name is None or spec.serial is None or spec.soa is None or spec.digest is None:
            raise ValueError("the manifest is incomplete")
        head = Head(Fqdn(spec.domain_name), spec.serial, spec.soa, spec.name_servers, spec.transfer or Transfer())
        pages = {ref.digest: self._read_page(ref.digest) for ref in spec.pages}
        if head.digest_with(pages) != spec.digest:
            raise ValueError("the snapshot does not have the digest that it is stored under")
        return CachedZone(key, Content(head, spec.digest, pages))

    def _read_page(self, digest: str) -> PageLines:
        path = self._page_path(digest)
        page = PageLines(path.read_bytes())
        if page.digest != digest:
            path.unlink(missing_ok=True)  # `store` writes a page only where there is none
            raise ValueError(f"the page {digest} does not have the digest that it is stored under")
        return page

    def _manifest_path(self, key: ObjectKey) -> Path:
        return self._folder / (hashlib.sha256(str(key).encode()).hexdigest()[:32] + _MANIFEST_SUFFIX)

    def _page_path(self, digest: str) -> Path:
        return self._folder / (digest.removeprefix("sha256:") + _PAGE_SUFFIX)


def _leave_out(path: Path, error: Exception) -> None:
    log.warning("cached snapshot is left out", file=str(path), reason=" ".join(str(error).split())[:300])
