"""What became of a conversion, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Converted:
    """Payloads by name; what a webhook gave is unchecked until `judge_output` has looked at it."""

    payloads: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failed:
    """No retry of the same question helps; the message completes "the conversion failed: "."""

    message: str


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The same question may be answered later; `reached` is true when the webhook itself said so."""

    message: str
    reached: bool = False


Outcome = Converted | Failed | Unavailable
