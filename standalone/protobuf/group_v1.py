"""Field numbers of the named groups' kinds: coordination, discovery, events, and the self reviews."""

from __future__ import annotations

from standalone.protobuf.core_v1 import EVENT_SERIES, EVENT_SOURCE, OBJECT_REFERENCE
from standalone.protobuf.message import (
    Field,
    boolean,
    integer,
    map_entry,
    message,
    micro_time,
    seconds_time,
    string,
)
from standalone.protobuf.meta_v1 import METADATA, SELECTOR_REQUIREMENT

_LEASE_SPEC = {
    1: Field("holderIdentity", string, optional=True),
    2: Field("leaseDurationSeconds", integer, optional=True),
    3: Field("acquireTime", micro_time),
    4: Field("renewTime", micro_time),
    5: Field("leaseTransitions", integer, optional=True),
    6: Field("strategy", string, optional=True),
    7: Field("preferredHolder", string, optional=True),
}
LEASE = {1: METADATA, 2: Field("spec", message(_LEASE_SPEC))}

_ENDPOINT_CONDITIONS = {
    1: Field("ready", boolean, optional=True),
    2: Field("serving", boolean, optional=True),
    3: Field("terminating", boolean, optional=True),
}
_NAMED = {1: Field("name", string)}
_HINTS = {
    1: Field("forZones", message(_NAMED), repeated=True),
    2: Field("forNodes", message(_NAMED), repeated=True),
}
_ENDPOINT = {
    1: Field("addresses", string, repeated=True),
    2: Field("conditions", message(_ENDPOINT_CONDITIONS)),
    3: Field("hostname", string, optional=True),
    4: Field("targetRef", message(OBJECT_REFERENCE), optional=True),
    5: Field("deprecatedTopology", map_entry(string), is_map=True),
    6: Field("nodeName", string, optional=True),
    7: Field("zone", string, optional=True),
    8: Field("hints", message(_HINTS), optional=True),
}
_ENDPOINT_PORT = {
    1: Field("name", string, optional=True),
    2: Field("protocol", string, optional=True),
    3: Field("port", integer, optional=True),
    4: Field("appProtocol", string, optional=True),
}
ENDPOINT_SLICE = {
    1: METADATA,
    2: Field("endpoints", message(_ENDPOINT), repeated=True),
    3: Field("ports", message(_ENDPOINT_PORT), repeated=True),
    4: Field("addressType", string),
}

EVENT = {
    1: METADATA,
    2: Field("eventTime", micro_time),
    3: Field("series", message(EVENT_SERIES), optional=True),
    4: Field("reportingController", string),
    5: Field("reportingInstance", string),
    6: Field("action", string),
    7: Field("reason", string),
    8: Field("regarding", message(OBJECT_REFERENCE)),
    9: Field("related", message(OBJECT_REFERENCE), optional=True),
    10: Field("note", string),
    11: Field("type", string),
    12: Field("deprecatedSource", message(EVENT_SOURCE)),
    13: Field("deprecatedFirstTimestamp", seconds_time),
    14: Field("deprecatedLastTimestamp", seconds_time),
    15: Field("deprecatedCount", integer),
}

_SELECTOR_ATTRIBUTES = {
    1: Field("rawSelector", string),
    2: Field("requirements", message(SELECTOR_REQUIREMENT), repeated=True),
}
_RESOURCE_ATTRIBUTES = {
    1: Field("namespace", string),
    2: Field("verb", string),
    3: Field("group", string),
    4: Field("version", string),
    5: Field("resource", string),
    6: Field("subresource", string),
    7: Field("name", string),
    8: Field("fieldSelector", message(_SELECTOR_ATTRIBUTES), optional=True),
    9: Field("labelSelector", message(_SELECTOR_ATTRIBUTES), optional=True),
}
_ACCESS_REVIEW_SPEC = {
    1: Field("resourceAttributes", message(_RESOURCE_ATTRIBUTES), optional=True),
    2: Field("nonResourceAttributes", message({1: Field("path", string), 2: Field("verb", string)}), optional=True),
}
# The status of a review is the server's answer: what a client may have put there is not read.
SELF_SUBJECT_ACCESS_REVIEW = {1: METADATA, 2: Field("spec", message(_ACCESS_REVIEW_SPEC))}
SELF_SUBJECT_RULES_REVIEW = {1: METADATA, 2: Field("spec", message({1: Field("namespace", string)}))}
SELF_SUBJECT_REVIEW = {1: METADATA}
