"""The TXT registry of external-dns: which record sets of a zone it says are its own. Pure.

A registry entry is a TXT value `heritage=external-dns,external-dns/owner=…,external-dns/resource=…`. It stands beside the record set,
at the name with the record type before its first label (`a-www` for the A records of `www`), or, as older releases wrote it, at the
very name. A prefix or suffix may be set, in which `%{record_type}` stands for the type. Values that external-dns encrypted are no
entries to anybody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from zonemodel.record import RecordType

HERITAGE: Final = "heritage=external-dns"
TYPE_TEMPLATE: Final = "%{record_type}"
TYPES: Final = (RecordType.AAAA, RecordType.A, RecordType.CNAME, RecordType.NS, RecordType.MX)


@dataclass(frozen=True, slots=True)
class Affix:
    """How the registry is set up: `--txt-prefix`, `--txt-suffix` and `--txt-wildcard-replacement` of external-dns."""

    prefix: str = ""
    suffix: str = ""
    wildcard: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One registry entry: the record set that it speaks of, whose it is, and the object that it was made for.

    `type` is None in entries of older releases, which speak of every record set at the name. `txt_name` is where it stands.
    """

    name: str
    type: RecordType | None
    owner: str
    resource: str
    txt_name: str


def entries_of(texts: Iterable[tuple[str, str]], affix: Affix) -> Iterator[Entry]:
    """Yield the entries among TXT values, given as (absolute name, text)."""
    for name, text in texts:
        fields = read_value(text)
        found = record_set_of(name, affix) if fields is not None else None
        if fields is not None and found is not None:
            owner, resource = fields.get("owner", ""), fields.get("resource", "")
            yield Entry(found[0], found[1], owner, resource, name)


def read_value(text: str) -> Mapping[str, str] | None:
    """Return the fields of a TXT value, None when it is no registry entry."""
    parts = text.strip().strip('"').split(",")
    if parts[0] != HERITAGE:
        return None
    pairs = (part.partition("=") for part in parts[1:])
    return {key.removeprefix("external-dns/"): value for key, _, value in pairs}


def record_set_of(txt_name: str, affix: Affix) -> tuple[str, RecordType | None] | None:
    """Return the name and type that an entry at `txt_name` speaks of, None when the affix does not fit."""
    templated = TYPE_TEMPLATE in affix.prefix + affix.suffix
    for record_type in TYPES if templated else ():
        found = _strip(txt_name, affix, record_type.lower())
        if found is not None:
            return _with_wildcard(found, affix), record_type
    found = _strip(txt_name, affix, "")
    if found is None:
        return None
    first, dot, rest = found.partition(".")
    kind, dash, label = first.partition("-")
    for record_type in TYPES:
        if dash and kind == record_type.lower() and label and not templated:
            return _with_wildcard(f"{label}{dot}{rest}", affix), record_type
    return _with_wildcard(found, affix), None


def txt_names(name: str, affix: Affix) -> list[str]:
    """Return the names at which entries for a name may stand, for whoever cannot list a zone."""
    first, dot, rest = name.partition(".")
    label = affix.wildcard if affix.wildcard and first == "*" else first
    templated = TYPE_TEMPLATE in affix.prefix + affix.suffix
    found = [f"{affix.prefix}{label}{affix.suffix}{dot}{rest}".replace(TYPE_TEMPLATE, "")]
    for record_type in TYPES:
        kind = record_type.lower()
        middle = label if templated else f"{kind}-{label}"
        found.append(f"{affix.prefix}{middle}{affix.suffix}".replace(TYPE_TEMPLATE, kind) + f"{dot}{rest}")
    return found


def _strip(txt_name: str, affix: Affix, kind: str) -> str | None:
    prefix, suffix = (each.replace(TYPE_TEMPLATE, kind) for each in (affix.prefix, affix.suffix))
    if not txt_name.startswith(prefix):
        return None
    name = txt_name.removeprefix(prefix)
    if not suffix:
        return name or None
    first, separator, rest = name.partition(f"{suffix}.")
    return f"{first}.{rest}" if separator and first and "." not in first else None


def _with_wildcard(name: str, affix: Affix) -> str:
    first, dot, rest = name.partition(".")
    return f"*{dot}{rest}" if affix.wildcard and first == affix.wildcard else name
