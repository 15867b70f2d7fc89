"""Patches of objects: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and Kubernetes' strategic merge patch.

Owns turning a document and a patch into a new document. Results share unchanged sub-trees with the document they came
from, so a small patch of a large object stays cheap; nothing given is ever changed.
"""

from standalone.patch.error import PatchError
from standalone.patch.json_patch import json_patch
from standalone.patch.merge_patch import merge_patch
from standalone.patch.strategic import strategic_merge_patch

__all__ = ["PatchError", "json_patch", "merge_patch", "strategic_merge_patch"]
