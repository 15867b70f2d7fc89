"""The one pydantic configuration of every type that crosses an API edge.

Owns spelling (camelCase outside, snake_case inside) and immutability. Never owns a field.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """A frozen API value. Unknown fields are ignored on input, since the API server has pruned or refused them already."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore")

    def dump(self) -> dict[str, Any]:
        """Return the JSON shape of the API: camelCase keys, absent for None."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
