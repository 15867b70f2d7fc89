"""What an examination brings: findings, each with what to do about it, and how they are shown.

Pure. Never asks anybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from cli.table import Layout


class Result(StrEnum):
    """How something stands; only FAILED makes the command end with 1."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `remedy` is what to do, empty for what is well."""

    check: str
    subject: str
    result: Result
    message: str
    remedy: str = ""

    def dump(self) -> dict[str, str]:
        """Return the finding as JSON has it."""
        return {name: str(value) for name, value in asdict(self).items()}


def ok(check: str, subject: str, message: str) -> Finding:
    return Finding(check, subject, Result.OK, message)


def failed(check: str, subject: str, message: str, remedy: str) -> Finding:
    return Finding(check, subject, Result.FAILED, message, remedy)


def warning(check: str, subject: str, message: str, remedy: str) -> Finding:
    return Finding(check, subject, Result.WARNING, message, remedy)


def skipped(check: str, subject: str, message: str, remedy: str) -> Finding:
    return Finding(check, subject, Result.SKIPPED, message, remedy)


def is_healthy(findings: Iterable[Finding]) -> bool:
    """Say whether nothing has failed."""
    return all(each.result is not Result.FAILED for each in findings)


def lines(findings: Sequence[Finding]) -> list[str]:
    """Return the table, then what to do about each thing that is not well, then a sum."""
    rows = [(each.result.value.upper(), each.check, each.subject, each.message) for each in findings]
    shown = Layout().lines([("RESULT", "CHECK", "SUBJECT", "FOUND"), *rows])
    remedies = [
        f"{each.result.value}: {each.check} {each.subject}\n  {each.remedy}" for each in findings if each.remedy
    ]
    counts = Counter(each.result for each in findings)
    total = ", ".join(f"{counts[result]} {result.value}" for result in Result)
    return [*shown, *([""] if remedies else []), *remedies, "", total]
