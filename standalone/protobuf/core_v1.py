"""Field numbers of the core group's kinds."""

from __future__ import annotations

from standalone.protobuf.message import (
    Field,
    base64_bytes,
    boolean,
    int_or_string,
    integer,
    map_entry,
    message,
    micro_time,
    seconds_time,
    string,
)
from standalone.protobuf.meta_v1 import CONDITION, METADATA

_NAMESPACE_CONDITION = {
    1: Field("type", string),
    2: Field("status", string),
    4: Field("lastTransitionTime", seconds_time),
    5: Field("reason", string),
    6: Field("message", string),
}
_NAMESPACE_STATUS = {
    1: Field("phase", string),
    2: Field("conditions", message(_NAMESPACE_CONDITION), repeated=True),
}
NAMESPACE = {
    1: METADATA,
    2: Field("spec", message({1: Field("finalizers", string, repeated=True)})),
    3: Field("status", message(_NAMESPACE_STATUS)),
}

SECRET = {
    1: METADATA,
    2: Field("data", map_entry(base64_bytes), is_map=True),
    3: Field("type", string),
    4: Field("stringData", map_entry(string), is_map=True),
    5: Field("immutable", boolean, optional=True),
}

CONFIG_MAP = {
    1: METADATA,
    2: Field("data", map_entry(string), is_map=True),
    3: Field("binaryData", map_entry(base64_bytes), is_map=True),
    4: Field("immutable", boolean, optional=True),
}

OBJECT_REFERENCE = {
    1: Field("kind", string),
    2: Field("namespace", string),
    3: Field("name", string),
    4: Field("uid", string),
    5: Field("apiVersion", string),
    6: Field("resourceVersion", string),
    7: Field("fieldPath", string),
}

SERVICE_ACCOUNT = {
    1: METADATA,
    2: Field("secrets", message(OBJECT_REFERENCE), repeated=True),
    3: Field("imagePullSecrets", message({1: Field("name", string)}), repeated=True),
    4: Field("automountServiceAccountToken", boolean, optional=True),
}

EVENT_SOURCE = {1: Field("component", string), 2: Field("host", string)}
EVENT_SERIES = {1: Field("count", integer), 2: Field("lastObservedTime", micro_time)}
EVENT = {
    1: METADATA,
    2: Field("involvedObject", message(OBJECT_REFERENCE)),
    3: Field("reason", string),
    4: Field("message", string),
    5: Field("source", message(EVENT_SOURCE)),
    6: Field("firstTimestamp", seconds_time),
    7: Field("lastTimestamp", seconds_time),
    8: Field("count", integer),
    9: Field("type", string),
    10: Field("eventTime", micro_time),
    11: Field("series", message(EVENT_SERIES), optional=True),
    12: Field("action", string),
    13: Field("related", message(OBJECT_REFERENCE), optional=True),
    14: Field("reportingComponent", string),
    15: Field("reportingInstance", string),
}

_SERVICE_PORT = {
    1: Field("name", string),
    2: Field("protocol", string),
    3: Field("port", integer),
    4: Field("targetPort", int_or_string),
    5: Field("nodePort", integer),
    6: Field("appProtocol", string, optional=True),
}
_CLIENT_IP = {1: Field("timeoutSeconds", integer, optional=True)}
_SERVICE_SPEC = {
    1: Field("ports", message(_SERVICE_PORT), repeated=True),
    2: Field("selector", map_entry(string), is_map=True),
    3: Field("clusterIP", string),
    4: Field("type", string),
    5: Field("externalIPs", string, repeated=True),
    7: Field("sessionAffinity", string),
    8: Field("loadBalancerIP", string),
    9: Field("loadBalancerSourceRanges", string, repeated=True),
    10: Field("externalName", string),
    11: Field("externalTrafficPolicy", string),
    12: Field("healthCheckNodePort", integer),
    13: Field("publishNotReadyAddresses", boolean),
    14: Field(
        "sessionAffinityConfig",
        message({1: Field("clientIP", message(_CLIENT_IP), optional=True)}),
        optional=True,
    ),
    17: Field("ipFamilyPolicy", string, optional=True),
    18: Field("clusterIPs", string, repeated=True),
    19: Field("ipFamilies", string, repeated=True),
    20: Field("allocateLoadBalancerNodePorts", boolean, optional=True),
    21: Field("loadBalancerClass", string, optional=True),
    22: Field("internalTrafficPolicy", string, optional=True),
    23: Field("trafficDistribution", string, optional=True),
}
_PORT_STATUS = {
    1: Field("port", integer),
    2: Field("protocol", string),
    3: Field("error", string, optional=True),
}
_INGRESS = {
    1: Field("ip", string),
    2: Field("hostname", string),
    3: Field("ipMode", string, optional=True),
    4: Field("ports", message(_PORT_STATUS), repeated=True),
}
_SERVICE_STATUS = {
    1: Field("loadBalancer", message({1: Field("ingress", message(_INGRESS), repeated=True)})),
    2: Field("conditions", message(CONDITION), repeated=True),
}
SERVICE = {
    1: METADATA,
    2: Field("spec", message(_SERVICE_SPEC)),
    3: Field("status", message(_SERVICE_STATUS)),
}
