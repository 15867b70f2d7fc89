"""The rules that metadata must keep, as faults by field path.

Owns which fields may not change, and the rules for labels, annotations, finalizers and owner references. Types were
checked before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from standalone.apiserver.metadata.name import (
    is_qualified_finalizer,
    label_1035_objections,
    label_objections,
    label_value_objections,
    qualified_objections,
    subdomain_objections,
)
from standalone.apiserver.target import Target
from standalone.schema.fault import Fault, forbidden, invalid, required, too_long
from standalone.schema.gotext import quote

Metadata = Mapping[str, Any]

LIMIT_ANNOTATIONS_BYTES = 256 * 1024
_IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_NAME_FORMS = {("", "namespaces"): label_objections, ("", "services"): label_1035_objections}


def judge_create(target: Target, metadata: Metadata) -> list[Fault]:
    """The faults of a new object's metadata."""
    name = metadata.get("name", "")
    if not name:
        return [required("metadata.name", "name or generateName is required"), *_judge_content(target, metadata)]
    objections = _NAME_FORMS.get(target.resource.storage_key, subdomain_objections)(name)
    return [*(invalid("metadata.name", name, each) for each in objections), *_judge_content(target, metadata)]


def judge_update(target: Target, metadata: Metadata, stored: Metadata) -> list[Fault]:
    """The faults of an update's metadata; what did not change is not judged again."""
    faults = [
        invalid(f"metadata.{name}", metadata.get(name), "field is immutable")
        for name in _IMMUTABLE
        if metadata.get(name) != stored.get(name)
    ]
    if "deletionTimestamp" in stored:
        added = sorted(set(metadata.get("finalizers", ())) - set(stored.get("finalizers", ())))
        if added:
            listed = ", ".join(quote(name) for name in added)
            detail = "no new finalizers can be added if the object is being deleted, found new finalizers "
            faults.append(forbidden("metadata.finalizers", f"{detail}[]string{{{listed}}}"))
    changed = {name: value for name, value in metadata.items() if value != stored.get(name)}
    return [*faults, *_judge_content(target, changed)]


def _judge_content(target: Target, metadata: Metadata) -> Iterator[Fault]:
    yield from _judge_labels(metadata.get("labels", {}))
    yield from _judge_annotations(metadata.get("annotations", {}))
    yield from _judge_owners(metadata.get("ownerReferences", ()))
    yield from _judge_finalizers(metadata.get("finalizers", ()), core=not target.resource.group)


def _judge_labels(labels: Mapping[str, str]) -> Iterator[Fault]:
    for key, value in labels.items():
        yield from (invalid("metadata.labels", key, each) for each in qualified_objections(key))
        yield from (invalid("metadata.labels", value, each) for each in label_value_objections(value))


def _judge_annotations(annotations: Mapping[str, str]) -> Iterator[Fault]:
    size_bytes = 0
    for key, value in annotations.items():
        size_bytes += len(key.encode()) + len(value.encode())
        yield from (invalid("metadata.annotations", key, each) for each in qualified_objections(key.lower()))
    if size_bytes > LIMIT_ANNOTATIONS_BYTES:
        yield too_long("metadata.annotations", LIMIT_ANNOTATIONS_BYTES)


def _judge_owners(owners: list[Mapping[str, Any]]) -> Iterator[Fault]:
    controllers = []
    for index, owner in enumerate(owners):
        field = f"metadata.ownerReferences[{index}]"
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                yield required(f"{field}.{name}", "must not be empty")
        if owner.get("apiVersion") == "v1" and owner.get("kind") == "Event":
            yield invalid(field, owner, "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            controllers.append(f"{owner.get('kind')}/{owner.get('name')}")
    for other in controllers[1:]:
        detail = 'Only one reference can have Controller set to true. Found "true" in references for '
        yield invalid("metadata.ownerReferences", owners, f"{detail}{controllers[0]} and {other}")


def _judge_finalizers(finalizers: list[str], *, core: bool) -> Iterator[Fault]:
    for index, name in enumerate(finalizers):
        yield from (invalid("metadata.finalizers", name, each) for each in qualified_objections(name))
        if core and not is_qualified_finalizer(name):
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"metadata.finalizers[{index}]", name, detail)
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        yield invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set")
