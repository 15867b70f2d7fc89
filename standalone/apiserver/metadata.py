"""Object metadata on create and update (meta/v1 ObjectMeta): names, identity, generation and what may not change.

Owns the rules common to all kinds. Pure: works on decoded objects, takes the time as an argument.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Mapping
from typing import Any

from standalone.apiserver.status import ApiError, bad_request
from standalone.apiserver.target import Target
from standalone.schema.fault import Fault, forbidden, invalid, required

JsonObject = dict[str, Any]

MAX_NAME_LENGTH = 253
_GENERATED_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"  # no vowels: no words; nothing that reads as something else
_MAX_GENERATED_PREFIX = 58
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def check_identity(target: Target, obj: JsonObject) -> JsonObject:
    """Hold apiVersion, kind and namespace against the URL and return the metadata. Raises ApiError 400."""
    resource = target.resource
    found = obj.get("apiVersion")
    if found != resource.api_version:
        raise bad_request(
            f"the API version in the data ({found or ''}) does not match the expected API version ({resource.api_version})"
        )
    if obj.get("kind") != resource.kind:
        raise bad_request(
            f"the kind in the data ({obj.get('kind') or ''}) does not match the expected kind ({resource.kind})"
        )
    metadata = obj.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        raise bad_request("metadata must be an object")
    if resource.namespaced:
        namespace = metadata.setdefault("namespace", target.namespace)
        if namespace != target.namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    else:
        metadata.pop("namespace", None)
    return metadata


def prepare_create(target: Target, obj: JsonObject, now: str) -> str:
    """Give a new object its name and identity in place and return the name. Raises ApiError 400."""
    metadata = check_identity(target, obj)
    if metadata.get("resourceVersion"):
        raise bad_request("resourceVersion should not be set on objects to be created")
    if target.name and metadata.setdefault("name", target.name) != target.name:
        raise name_mismatch(metadata["name"], target.name)
    prefix = metadata.get("generateName")
    if not metadata.get("name") and isinstance(prefix, str) and prefix:
        metadata["name"] = generated_name(prefix)
    for name in ("selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "generation"):
        metadata.pop(name, None)
    metadata["uid"] = str(uuid.uuid4())
    metadata["creationTimestamp"] = now
    if target.resource.has_generation:
        metadata["generation"] = 1
    given = metadata.get("name")
    return given if isinstance(given, str) else ""


def generated_name(prefix: str) -> str:
    """`generateName` with five random characters."""
    suffix = "".join(random.choices(_GENERATED_CHARACTERS, k=5))
    return f"{prefix[:_MAX_GENERATED_PREFIX]}{suffix}"


def name_mismatch(found: str, expected: str) -> ApiError:
    return bad_request(f"the name of the object ({found}) does not match the name on the URL ({expected})")


def carry_over(target: Target, live: JsonObject, proposed: JsonObject) -> None:
    """Put the fields that only the server sets from the stored object into an update, in place. Raises ApiError 400."""
    metadata = check_identity(target, proposed)
    stored = live["metadata"]
    if metadata.setdefault("name", target.name) != target.name:
        raise name_mismatch(metadata["name"], target.name)
    if not metadata.get("uid"):
        metadata["uid"] = stored["uid"]
    metadata["creationTimestamp"] = stored["creationTimestamp"]
    metadata.pop("selfLink", None)
    for name in ("generation", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"):
        if name in stored:
            metadata[name] = stored[name]
        else:
            metadata.pop(name, None)


def count_generation(live: JsonObject, proposed: JsonObject, *, has_status: bool) -> None:
    """Raise `metadata.generation` in place when anything but metadata (and a separate status) differs."""
    ignored = ("metadata", "status", "apiVersion") if has_status else ("metadata", "apiVersion")
    names = (live.keys() | proposed.keys()).difference(ignored)
    if any(live.get(name) != proposed.get(name) for name in names):
        proposed["metadata"]["generation"] = live["metadata"].get("generation", 0) + 1


def judge_create(target: Target, metadata: JsonObject) -> list[Fault]:
    """The faults of a new object's metadata."""
    name = metadata.get("name")
    if not name:
        return [required("metadata.name", "name or generateName is required"), *_judge_content(metadata)]
    if not isinstance(name, str):
        return [invalid("metadata.name", name, "must be a string")]
    return [*_judge_name(target, name), *_judge_content(metadata)]


def judge_update(metadata: JsonObject, stored: Mapping[str, Any]) -> list[Fault]:
    """The faults of an update's metadata beside what create already allowed."""
    faults = [
        invalid(f"metadata.{name}", metadata.get(name), "field is immutable")
        for name in _IMMUTABLE
        if metadata.get(name) != stored.get(name)
    ]
    if "deletionTimestamp" in stored:
        added = sorted(set(metadata.get("finalizers") or ()) - set(stored.get("finalizers") or ()))
        if added:
            detail = "no new finalizers can be added if the object is being deleted, found new finalizers "
            detail += "[]string{" + ", ".join(f'"{name}"' for name in added) + "}"
            faults.append(forbidden("metadata.finalizers", detail))
    return [*faults, *_judge_content(metadata)]


def _judge_name(target: Target, name: str) -> list[Fault]:
    if target.resource.plural == "namespaces" and not target.resource.group:
        if len(name) > 63 or not _DNS_LABEL.fullmatch(name):
            rule = (
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
                "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
                "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            )
            return [invalid("metadata.name", name, rule)]
        return []
    if len(name) > MAX_NAME_LENGTH:
        return [invalid("metadata.name", name, f"must be no more than {MAX_NAME_LENGTH} characters")]
    if not _SUBDOMAIN.fullmatch(name):
        return [invalid("metadata.name", name, _SUBDOMAIN_RULE)]
    return []


_LABEL_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")

_KEY_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def _judge_content(metadata: Mapping[str, Any]) -> list[Fault]:
    return [
        *_judge_labels(metadata.get("labels")),
        *_judge_annotations(metadata.get("annotations")),
        *_judge_finalizers(metadata.get("finalizers")),
        *_judge_owners(metadata.get("ownerReferences")),
    ]


def _judge_labels(labels: Any) -> list[Fault]:
    if labels is None:
        return []
    if not isinstance(labels, dict):
        return [invalid("metadata.labels", labels, "must be a map of strings")]
    faults = []
    for key, value in labels.items():
        if not _LABEL_KEY.fullmatch(key):
            faults.append(
                invalid(
                    "metadata.labels",
                    key,
                    _KEY_RULE,
                )
            )
        if not isinstance(value, str) or not _LABEL_VALUE.fullmatch(value):
            faults.append(
                invalid(
                    "metadata.labels",
                    value,
                    _VALUE_RULE,
                )
            )
    return faults


def _judge_annotations(annotations: Any) -> list[Fault]:
    if annotations is None:
        return []
    if not isinstance(annotations, dict) or not all(isinstance(value, str) for value in annotations.values()):
        return [invalid("metadata.annotations", annotations, "must be a map of strings")]
    return []


def _judge_finalizers(finalizers: Any) -> list[Fault]:
    if finalizers is None:
        return []
    if not isinstance(finalizers, list) or not all(isinstance(each, str) for each in finalizers):
        return [invalid("metadata.finalizers", finalizers, "must be a list of strings")]
    return []


def _judge_owners(owners: Any) -> list[Fault]:
    if owners is None:
        return []
    if not isinstance(owners, list):
        return [invalid("metadata.ownerReferences", owners, "must be a list")]
    return [
        required(f"metadata.ownerReferences[{index}].{name}", "must not be empty")
        for index, owner in enumerate(owners)
        for name in ("apiVersion", "kind", "name", "uid")
        if not isinstance(owner, dict) or not isinstance(owner.get(name), str) or not owner[name]
    ]
