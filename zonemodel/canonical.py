"""The one JSON form that digests and comparisons of record sets rest on."""

from __future__ import annotations

from typing import Any

import orjson


def encode_canonical(value: Any) -> bytes:
    """Return JSON as UTF-8 with sorted keys and without spaces; raises TypeError for what has no JSON form."""
    # Copied, because the encoder's own result keeps its spare room, which is most of it for something short.
    return bytes(memoryview(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)))
