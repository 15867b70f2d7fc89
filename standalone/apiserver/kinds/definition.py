"""CustomResourceDefinitions (apiextensions.k8s.io/v1): defaults, rules, and the conditions that let them serve.

Owns when a definition's names are accepted and it becomes Established. A definition is judged completely when it is
written, so both conditions are in the answer to the write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from standalone.apiserver.kinds.custom_resource import Definition, has_condition
from standalone.apiserver.kinds.kind import Kind, Writing
from standalone.apiserver.metadata.name import label_1035_objections
from standalone.schema.fault import Fault, SchemaError, duplicate, invalid, not_supported, required
from standalone.schema.structural import StructuralSchema

JsonObject = dict[str, Any]

SCOPES = ("Cluster", "Namespaced")
STRATEGIES = ("None", "Webhook")
COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
FINALIZER = "customresourcecleanup.apiextensions.k8s.io"


def _prepare(writing: Writing) -> None:
    obj = writing.obj
    spec = obj.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict) or not isinstance(names.get("kind"), str):
        return  # judged to be invalid later
    defaults = {"singular": names["kind"].lower(), "listKind": f"{names['kind']}List"}
    obj["spec"] = {"conversion": {"strategy": "None"}, **spec, "names": {**defaults, **names}}
    metadata = obj["metadata"]
    if writing.old is None:
        finalizers = metadata.get("finalizers") or []
        obj["metadata"] = {**metadata, "finalizers": [*(each for each in finalizers if each != FINALIZER), FINALIZER]}
    obj["status"] = _status(writing)


def _status(writing: Writing) -> JsonObject:
    """The status that follows from the spec: accepted names, conditions, and the versions objects were stored in."""
    spec = writing.obj["spec"]
    old_status: Mapping[str, Any] = (writing.old or {}).get("status", {})
    taken = _taken_name(writing)
    names = spec["names"] if taken is None else old_status.get("acceptedNames", {"plural": "", "kind": ""})
    given = writing.obj.get("status") or old_status  # who has migrated all objects takes a version from the list
    stored = list(given.get("storedVersions", ()))
    storage = _storage_version(spec)
    if storage is not None and storage not in stored:
        stored.append(storage)
    if taken is None:
        accepted = ("NamesAccepted", "True", "NoConflicts", "no conflicts found")
        established = ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
    else:
        accepted = ("NamesAccepted", "False", taken[0], taken[1])
        established = ("Established", "False", "NotAccepted", "not all names are accepted")
        if writing.old is not None and has_condition(writing.old, "Established"):
            established = ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
    previous = {each["type"]: each for each in old_status.get("conditions", ())}
    conditions = {each[0]: _condition(previous.get(each[0]), *each, writing.now) for each in (accepted, established)}
    return {
        "conditions": list((previous | conditions).values()),
        "acceptedNames": names,
        "storedVersions": stored,
    }


def _condition(
    previous: Mapping[str, Any] | None, condition_type: str, status: str, reason: str, message: str, now: str
) -> JsonObject:
    since = previous["lastTransitionTime"] if previous is not None and previous["status"] == status else now
    return {"type": condition_type, "status": status, "lastTransitionTime": since, "reason": reason, "message": message}


def _taken_name(writing: Writing) -> tuple[str, str] | None:
    """The reason and message of a name that other definitions of the group already have; the last one found."""
    names = writing.obj["spec"]["names"]
    own_name = writing.obj["metadata"].get("name")
    accepted = [
        other.get("status", {}).get("acceptedNames", {})
        for other in writing.registry.definitions_of_group(writing.obj["spec"].get("group", ""))
        if other["metadata"]["name"] != own_name
    ]
    taken = {each.get(field) for each in accepted for field in ("plural", "singular")}
    taken.update(short for each in accepted for short in each.get("shortNames", ()))
    kinds = {each.get(field) for each in accepted for field in ("kind", "listKind")}
    claims = [
        ("PluralNameConflict", names.get("plural"), taken),
        ("SingularNameConflict", names.get("singular"), taken),
        *(("ShortNamesConflict", short, taken) for short in names.get("shortNames") or ()),
        ("KindConflict", names["kind"], kinds),
        ("ListKindConflict", names["listKind"], kinds),
    ]
    conflicts = [(reason, f'"{name}" is already in use') for reason, name, others in claims if name in others]
    return conflicts[-1] if conflicts else None


def _storage_version(spec: Mapping[str, Any]) -> str | None:
    versions = spec.get("versions")
    found = (each.get("name") for each in versions if each.get("storage")) if isinstance(versions, list) else ()
    return next(iter(found), None)


def _judge(writing: Writing) -> list[Fault]:
    spec = writing.obj.get("spec")
    if not isinstance(spec, dict):
        return [required("spec")]
    return [*_judge_names(writing.obj, spec), *_judge_versions(spec), *_judge_change(writing)]


def _judge_names(obj: Definition, spec: Mapping[str, Any]) -> Iterator[Fault]:
    names = spec.get("names") or {}
    for field in ("plural", "kind"):
        if not names.get(field):
            yield required(f"spec.names.{field}")
    for field in ("plural", "singular", "kind", "listKind"):
        if isinstance(names.get(field), str) and names[field]:
            yield from _judge_name(names[field], f"spec.names.{field}", mixed_case=field in ("kind", "listKind"))
    for field in ("shortNames", "categories"):
        for index, name in enumerate(names.get(field) or ()):
            yield from _judge_name(name, f"spec.names.{field}[{index}]", mixed_case=False)
    if not spec.get("group"):
        yield required("spec.group")
    elif "." not in spec["group"]:
        yield invalid("spec.group", spec["group"], "should be a domain with at least one dot")
    if spec.get("scope") not in SCOPES:
        yield not_supported("spec.scope", spec.get("scope", ""), SCOPES)
    strategy = (spec.get("conversion") or {}).get("strategy")
    if strategy not in STRATEGIES:
        yield not_supported("spec.conversion.strategy", strategy, STRATEGIES)
    name = obj["metadata"].get("name")
    if name and name != f"{names.get('plural')}.{spec.get('group')}":
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


def _judge_name(name: str, field: str, *, mixed_case: bool) -> Iterator[Fault]:
    prefix = "may have mixed case, but should otherwise match: " if mixed_case else ""
    for objection in label_1035_objections(name.lower() if mixed_case else name):
        yield invalid(field, name, f"{prefix}{objection}")


def _judge_versions(spec: Mapping[str, Any]) -> Iterator[Fault]:
    versions = spec.get("versions")
    if not isinstance(versions, list) or not versions:
        yield required("spec.versions", "must have exactly one version marked as storage version")
        return
    if sum(bool(each.get("storage")) for each in versions) != 1:
        yield invalid("spec.versions", versions, "must have exactly one version marked as storage version")
    seen: set[str] = set()
    for index, version in enumerate(versions):
        field = f"spec.versions[{index}]"
        name = version.get("name", "")
        yield from (invalid(f"{field}.name", name, each) for each in label_1035_objections(name))
        if name in seen:
            yield duplicate(f"{field}.name", name)
        seen.add(name)
        yield from _judge_schema(version, f"{field}.schema.openAPIV3Schema")
        yield from _judge_columns(version.get("additionalPrinterColumns") or (), f"{field}.additionalPrinterColumns")
        if version.get("deprecationWarning") and not version.get("deprecated"):
            why = "can only be set for deprecated versions"
            yield invalid(f"{field}.deprecationWarning", version["deprecationWarning"], why)


def _judge_schema(version: Mapping[str, Any], field: str) -> Iterator[Fault]:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if not isinstance(schema, dict):
        yield required(field)
        return
    try:
        StructuralSchema.parse(schema, field)
    except SchemaError as error:
        yield from error.faults


def _judge_columns(columns: Sequence[Mapping[str, Any]], field: str) -> Iterator[Fault]:
    for index, column in enumerate(columns):
        for name in ("name", "type", "jsonPath"):
            if not column.get(name):
                yield required(f"{field}[{index}].{name}")
        kind, path = column.get("type"), column.get("jsonPath") or "."
        if kind and kind not in COLUMN_TYPES:
            yield invalid(f"{field}[{index}].type", kind, f"must be one of {','.join(COLUMN_TYPES)}")
        if not path.startswith("."):
            yield invalid(f"{field}[{index}].jsonPath", path, "must be a simple json path starting with .")


def _judge_change(writing: Writing) -> Iterator[Fault]:
    """What an established definition may not change, and stored versions that may not vanish."""
    old, spec = writing.old, writing.obj["spec"]
    if old is None:
        return
    for field in ("group", "scope"):
        if spec.get(field) != old["spec"].get(field):
            yield invalid(f"spec.{field}", spec.get(field), "field is immutable")
    names = spec.get("names") or {}
    for field in ("plural", "kind"):
        if names.get(field) != old["spec"]["names"].get(field):
            yield invalid(f"spec.names.{field}", names.get(field), "field is immutable")
    declared = {version.get("name") for version in spec.get("versions") or ()}
    for index, name in enumerate(old.get("status", {}).get("storedVersions", ())):
        if name not in declared:
            yield invalid(f"status.storedVersions[{index}]", name, "missing from spec.versions")


KIND = Kind(prepare=_prepare, judge=_judge)
