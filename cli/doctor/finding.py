"""What an examination brings: findings, each with what to do about it, and how they are shown.

Pure. Never asks anybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from cli.table import Layout
from kube.errors import Forbidden, KubeError, NotFound, ResourceNotServed

INSTALL: Final = (
    "install the chart of this version, its definitions first (helm show crds CHART | kubectl apply --server-side --force-conflicts "
    "-f -), or start `dns-api up` of this version"
)


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


def unanswered(check: str, subject: str, error: KubeError) -> Finding:
    """Return what comes of a part that the API did not answer, or not to these credentials."""
    if isinstance(error, Forbidden):
        return skipped(check, subject, error.message, "run it as somebody who may read that: kubectl auth can-i --list")
    if isinstance(error, ResourceNotServed):
        return failed(check, subject, error.message, INSTALL)
    if isinstance(error, NotFound):
        return failed(check, subject, error.message, "see that the chart is installed there: helm list -A")
    return failed(check, subject, error.message, "see that the API answers: kubectl get --raw /readyz?verbose")


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
