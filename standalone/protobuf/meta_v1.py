"""Field numbers of meta.k8s.io/v1."""

from __future__ import annotations

from standalone.protobuf.message import (
    Field,
    boolean,
    integer,
    json_object,
    map_entry,
    message,
    seconds_time,
    string,
)

_OWNER_REFERENCE = {
    1: Field("kind", string),
    3: Field("name", string),
    4: Field("uid", string),
    5: Field("apiVersion", string),
    6: Field("controller", boolean, optional=True),
    7: Field("blockOwnerDeletion", boolean, optional=True),
}

_MANAGED_FIELDS_ENTRY = {
    1: Field("manager", string),
    2: Field("operation", string),
    3: Field("apiVersion", string),
    4: Field("time", seconds_time),
    6: Field("fieldsType", string),
    7: Field("fieldsV1", json_object),
    8: Field("subresource", string),
}

OBJECT_META = {
    1: Field("name", string),
    2: Field("generateName", string),
    3: Field("namespace", string),
    4: Field("selfLink", string),
    5: Field("uid", string),
    6: Field("resourceVersion", string),
    7: Field("generation", integer),
    8: Field("creationTimestamp", seconds_time),
    9: Field("deletionTimestamp", seconds_time),
    10: Field("deletionGracePeriodSeconds", integer, optional=True),
    11: Field("labels", map_entry(string), is_map=True),
    12: Field("annotations", map_entry(string), is_map=True),
    13: Field("ownerReferences", message(_OWNER_REFERENCE), repeated=True),
    14: Field("finalizers", string, repeated=True),
    17: Field("managedFields", message(_MANAGED_FIELDS_ENTRY), repeated=True),
}
METADATA = Field("metadata", message(OBJECT_META))

CONDITION = {
    1: Field("type", string),
    2: Field("status", string),
    3: Field("observedGeneration", integer),
    4: Field("lastTransitionTime", seconds_time),
    5: Field("reason", string),
    6: Field("message", string),
}

SELECTOR_REQUIREMENT = {
    1: Field("key", string),
    2: Field("operator", string),
    3: Field("values", string, repeated=True),
}

_PRECONDITIONS = {
    1: Field("uid", string, optional=True),
    2: Field("resourceVersion", string, optional=True),
}

DELETE_OPTIONS = {
    1: Field("gracePeriodSeconds", integer, optional=True),
    2: Field("preconditions", message(_PRECONDITIONS), optional=True),
    3: Field("orphanDependents", boolean, optional=True),
    4: Field("propagationPolicy", string, optional=True),
    5: Field("dryRun", string, repeated=True),
    6: Field("ignoreStoreReadErrorWithClusterBreakingPotential", boolean, optional=True),
}
