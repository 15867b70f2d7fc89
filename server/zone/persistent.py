"""A mapping whose next version shares nearly all of this one: an edit copies what it touches, not the whole.

Owns how entries are divided up. Never knows what they are. Pages are as many as each has entries, so that the list of pages and one page,
which is what an edit copies, are both as small as they can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from math import isqrt
from typing import Final, TypeVar, overload

Key = TypeVar("Key")
Value = TypeVar("Value")
Default = TypeVar("Default")

_FEWEST_PAGES: Final = 8
_ABSENT: Final = object()
_GONE: Final = object()
_CROWDED: Final = 4
"""A mapping that has grown by so much is divided up anew."""


class Persistent(Mapping[Key, Value]):
    """Never changes. `edit` begins the next version."""

    __slots__ = ("_mask", "_size", "pages")

    def __init__(self, pages: list[dict[Key, Value]], size: int) -> None:
        self.pages = pages
        self._mask = len(pages) - 1
        self._size = size

    @classmethod
    def sized(cls, entries: int) -> Persistent[Key, Value]:
        """Return an empty mapping that is divided up for so many entries."""
        return cls([{} for _ in range(_pages_for(entries))], 0)

    @classmethod
    def of(cls, found: Mapping[Key, Value]) -> Persistent[Key, Value]:
        """Return a mapping of these entries."""
        later = cls.sized(len(found)).edit()
        later.update(found)
        return later.finish()

    def edit(self) -> Edit[Key, Value]:
        """Return a copy that may be changed."""
        return Edit(self)

    def __getitem__(self, key: Key) -> Value:
        return self.pages[hash(key) & self._mask][key]

    @overload
    def get(self, key: Key, /) -> Value | None: ...
    @overload
    def get(self, key: Key, /, default: Value | Default) -> Value | Default: ...
    def get(self, key: Key, /, default: object = None) -> object:
        return self.pages[hash(key) & self._mask].get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self.pages[hash(key) & self._mask]

    def __iter__(self) -> Iterator[Key]:
        for page in self.pages:
            yield from page

    def __len__(self) -> int:
        return self._size


class Edit(MutableMapping[Key, Value]):
    """The next version of a mapping, which stays as it is; nobody else may change this one."""

    __slots__ = ("_mask", "_own", "_pages", "_size")

    def __init__(self, before: Persistent[Key, Value]) -> None:
        self._pages = list(before.pages)
        self._mask = len(self._pages) - 1
        self._own: set[int] = set()
        self._size = len(before)

    def finish(self) -> Persistent[Key, Value]:
        """Return the version; this must not be changed after that."""
        if self._size > _CROWDED * _CROWDED * len(self._pages) ** 2:
            wider = Persistent[Key, Value].sized(self._size).edit()
            wider.update(self)
            return wider.finish()
        return Persistent(self._pages, self._size)

    def __getitem__(self, key: Key) -> Value:
        return self._pages[hash(key) & self._mask][key]

    def __setitem__(self, key: Key, value: Value) -> None:
        page = self._page(key)
        self._size += key not in page
        page[key] = value

    def __delitem__(self, key: Key) -> None:
        del self._page(key)[key]
        self._size -= 1

    def __contains__(self, key: object) -> bool:
        return key in self._pages[hash(key) & self._mask]

    def __iter__(self) -> Iterator[Key]:
        for page in self._pages:
            yield from page

    def __len__(self) -> int:
        return self._size

    def _page(self, key: Key) -> dict[Key, Value]:
        """Return the page of a key for a change: copied the first time."""
        number = hash(key) & self._mask
        if number not in self._own:
            self._own.add(number)
            self._pages[number] = self._pages[number].copy()
        return self._pages[number]


class Layered(Persistent[Key, Value]):
    """The same over another mapping, which holds most of it and never changes; what is gone from that is marked."""

    __slots__ = ("base",)

    def __init__(self, pages: list[dict[Key, Value]], size: int, base: Mapping[Key, Value]) -> None:
        super().__init__(pages, size)
        self.base = base

    @classmethod
    def over(cls, base: Mapping[Key, Value], later: Mapping[Key, Value]) -> Layered[Key, Value]:
        """Return the mapping of both; of a key in both, the later value holds."""
        edit = LayeredEdit(cls(Persistent[Key, Value].sized(len(base) + len(later)).pages, len(base), base))
        edit.update(later)
        return edit.finish()

    def edit(self) -> LayeredEdit[Key, Value]:
        return LayeredEdit(self)

    def later(self) -> Iterator[tuple[Key, Value]]:
        """Yield the entries that do not come from the base."""
        for page in self.pages:
            yield from ((key, value) for key, value in page.items() if value is not _GONE)

    def touched(self) -> Iterator[Key]:
        """Yield the keys for which the base no longer holds."""
        for page in self.pages:
            yield from page

    def __getitem__(self, key: Key) -> Value:
        found = self.get(key, _ABSENT)
        if found is _ABSENT:
            raise KeyError(key)
        return found  # type: ignore[return-value]  # nothing else is absent

    def get(self, key: Key, /, default: object = None) -> object:  # type: ignore[override]  # the overloads above
        found = self.pages[hash(key) & self._mask].get(key, _ABSENT)
        if found is _ABSENT:
            return self.base.get(key, default)
        return default if found is _GONE else found

    def __contains__(self, key: object) -> bool:
        page: dict[object, object] = self.pages[hash(key) & self._mask]  # type: ignore[assignment]  # any key may be asked for
        found = page.get(key, _ABSENT)
        return key in self.base if found is _ABSENT else found is not _GONE

    def __iter__(self) -> Iterator[Key]:
        for page in self.pages:
            yield from (key for key, value in page.items() if value is not _GONE)
        yield from (key for key in self.base if key not in self.pages[hash(key) & self._mask])


class LayeredEdit(Edit[Key, Value]):
    """The next version of a layered mapping."""

    __slots__ = ("_base",)

    def __init__(self, before: Layered[Key, Value]) -> None:
        super().__init__(before)
        self._base = before.base

    def finish(self) -> Layered[Key, Value]:
        return Layered(self._pages, self._size, self._base)

    def __getitem__(self, key: Key) -> Value:
        found = self._pages[hash(key) & self._mask].get(key, _ABSENT)
        if found is _ABSENT:
            return self._base[key]
        if found is _GONE:
            raise KeyError(key)
        return found  # type: ignore[return-value]  # nothing else is absent

    def __setitem__(self, key: Key, value: Value) -> None:
        self._size += key not in self
        self._page(key)[key] = value

    def __delitem__(self, key: Key) -> None:
        if key not in self:
            raise KeyError(key)
        if key in self._base:
            self._page(key)[key] = _GONE  # type: ignore[assignment]  # a mark that nobody else sees
        else:
            del self._page(key)[key]
        self._size -= 1

    def __contains__(self, key: object) -> bool:
        page: dict[object, object] = self._pages[hash(key) & self._mask]  # type: ignore[assignment]  # any key may be asked for
        found = page.get(key, _ABSENT)
        return key in self._base if found is _ABSENT else found is not _GONE

    def __iter__(self) -> Iterator[Key]:
        return iter(self.finish())


def _pages_for(entries: int) -> int:
    """Return a power of two near the square root, at least a few."""
    return max(_FEWEST_PAGES, 1 << isqrt(entries).bit_length())
