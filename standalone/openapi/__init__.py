"""OpenAPI documents of the served resources: version 3 per group version, and the one version 2 document.

Owns how a resource's schema becomes published components, operations and hashes. Never validates objects.
"""

from standalone.openapi.document import v3_document, v3_index
from standalone.openapi.swagger import v2_document

__all__ = ["v2_document", "v3_document", "v3_index"]
