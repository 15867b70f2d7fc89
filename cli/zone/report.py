"""What an import tells people: the lines for the terminal and the comment on top of the manifests.

Owns words only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import yaml

from cli.zone.importing import ZoneImport
from controllers.api.reference import NamespacedRef
from kube.quantity import counted


def report(found: ZoneImport) -> Iterator[str]:
    """Yield one line for each record set that is left out or changed, then counts for each reason."""
    for each in found.left_out:
        yield f"left out: {each.name} {each.type} ({counted(each.records, 'record')}): {each.reason}; {each.detail}"
    for changed in found.rejoined:
        yield f"changed: {changed.name} TXT: its strings will be split every 255 octets; together they spell the same"
    yield from summary(found)


def summary(found: ZoneImport) -> Iterator[str]:
    """Yield what became of the zone in counts."""
    yield f"{found.domain}: {counted(len(found.record_sets), 'record set')} imported"
    if found.left_out:
        yield f"left out: {counted(len(found.left_out), 'record set')}"
        for reason, count in sorted(Counter(each.reason for each in found.left_out).items()):
            yield f"  {count:>7,}  {reason}"
    if found.rejoined:
        yield f"changed: {counted(len(found.rejoined), 'TXT set')}, split into strings anew"
    if found.over_limit:
        yield f"not taken because of --limit: {counted(found.over_limit, 'record set')}"


def apex_lines(found: ZoneImport, zone_class: NamespacedRef) -> Iterator[str]:
    """Yield where the SOA and the apex NS set went: to the class, which serves them for all of its zones."""
    yield f"SOA and NS of {found.domain} (serial {found.apex.serial}) belong to the ZoneClass {zone_class.name}."
    yield "For the hosted provider its parameters would be:"
    text = yaml.safe_dump({"parameters": dict(found.apex.parameters)}, sort_keys=False)
    yield from (f"  {line}" for line in text.splitlines())


def comment(found: ZoneImport, source: str, zone_class: NamespacedRef) -> str:
    """Return the head of a YAML file of manifests."""
    lines = [f"Zone {found.domain}, imported from {source}.", "", *summary(found), "", *apex_lines(found, zone_class)]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)
