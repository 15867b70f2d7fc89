"""OpenAPI documents of the served resources: version 3 per group version, and the one version 2 document.

Owns how a resource's schema becomes published components, operations and hashes. Never validates objects.
"""

from standalone.openapi.document import v3_document, v3_index
from standalone.openapi.swagger import v2_document
from standalone.openapi.swagger_protobuf import ACCEPTED as V2_PROTOBUF_ACCEPTED
from standalone.openapi.swagger_protobuf import CONTENT_TYPE as V2_PROTOBUF_CONTENT_TYPE
from standalone.openapi.swagger_protobuf import v2_protobuf

__all__ = [
    "V2_PROTOBUF_ACCEPTED",
    "V2_PROTOBUF_CONTENT_TYPE",
    "v2_document",
    "v2_protobuf",
    "v3_document",
    "v3_index",
]
