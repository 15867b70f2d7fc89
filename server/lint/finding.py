"""One remark about a master file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from zonemodel.zone_error import Place


class Severity(Enum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """Where, how bad, and what: found and allowed."""

    severity: Severity
    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.severity.value}: {self.message}"


def error(place: Place, message: str) -> Finding:
    return Finding(Severity.ERROR, place, message)


def warning(place: Place, message: str) -> Finding:
    return Finding(Severity.WARNING, place, message)
