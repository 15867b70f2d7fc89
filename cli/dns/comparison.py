"""What was wanted and what was got, server by server: as a table and as a JSON document.

Owns words and counts. Never asks anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cli.table import Layout
from controllers.api.record_set import RecordSet
from controllers.api.verdict import Verdict
from controllers.probe.answer import Answer, Outcome
from controllers.probe.round import Round
from controllers.probe.subject import question_about
from controllers.providers.external.observation import describe, judge_records, list_values
from controllers.providers.external.wanted import Wanted
from kube.quantity import counted
from zonemodel.name import Fqdn

HEADER: Final = ("SERVER", "NAME", "TYPE", "RESULT", "WANT", "GOT")
RESULTS: Final = {
    "Programmed": "ok",
    "ExternalResourceMismatch": "differs",
    "ExternalResourceNotFound": "missing",
    "ProviderConflict": "lame",
    "ProviderUnavailable": "no answer",
}
CELL_LIMIT_CHARS: Final = 60


@dataclass(frozen=True, slots=True)
class Row:
    """One server's word on one record set."""

    server: str
    wanted: Wanted
    verdict: Verdict
    answer: Answer

    @property
    def good(self) -> bool:
        return self.verdict.accepted

    @property
    def result(self) -> str:
        return RESULTS.get(self.verdict.reason, self.verdict.reason.value)

    def cells(self) -> tuple[str, ...]:
        """Return the row of the table."""
        wanted = self.wanted
        got = describe(self.answer)
        if self.answer.outcome is Outcome.DATA and wanted.ttl_s not in (None, self.answer.ttl_s):
            got += f" (TTL {self.answer.ttl_s})"
        return self.server, wanted.owner, wanted.type.value, self.result, _cut(list_values(wanted.values)), _cut(got)

    def document(self) -> dict[str, Any]:
        """Return the row as JSON; `got` has the records, `answer` says in words what came."""
        wanted, answer = self.wanted, self.answer
        is_data = answer.outcome is Outcome.DATA
        return {
            "server": self.server,
            "name": wanted.owner,
            "type": wanted.type.value,
            "result": self.result,
            "want": {"values": sorted(wanted.values), "ttl": wanted.ttl_s},
            "got": {
                "values": sorted(answer.values if is_data else answer.glue),
                "ttl": answer.ttl_s if is_data else None,
            },
            "answer": describe(answer),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every server's word on every record set of a zone; `warnings` are about the way to the servers."""

    found: Round
    rows: Sequence[Row]
    warnings: Sequence[str] = ()

    @property
    def bad(self) -> list[Row]:
        return [row for row in self.rows if not row.good]

    @property
    def exit_code(self) -> int:
        """0 when every server has answered with everything, else 1."""
        return int(bool(self.bad) or not all(each.addresses for each in self.found.servers))

    def lines(self, *, differences: bool) -> Iterator[str]:
        """Yield the table, or only its rows that are not as wanted, and its sum."""
        shown = self.bad if differences else self.rows
        if shown:
            yield from Layout().lines([HEADER, *(row.cells() for row in shown)])
        bad = len(self.bad)
        count = f"{counted(len(self.rows), 'answer')} of {counted(len(self.found.servers), 'server')}"
        yield f"{count}: {len(self.rows) - bad:,} as wanted, {bad:,} not"

    def document(self, *, differences: bool) -> dict[str, Any]:
        """Return the same as JSON."""
        servers = [
            {"name": each.name, "addresses": [str(address) for address in each.addresses]}
            for each in self.found.servers
        ]
        return {
            "zone": self.found.zone,
            "servers": servers,
            "answers": [row.document() for row in (self.bad if differences else self.rows)],
            "warnings": list(self.warnings),
            "summary": {"answers": len(self.rows), "asWanted": len(self.rows) - len(self.bad), "not": len(self.bad)},
        }


def compare(found: Round, claims: Sequence[RecordSet], wanted: Sequence[Wanted]) -> Iterator[Row]:
    """Yield a row for each record set and server."""
    for claim, each in zip(claims, wanted, strict=True):
        question = question_about(claim.spec.name, claim.spec.type.code, Fqdn(found.zone), found.label)
        for server, answer in found.told(question):
            yield Row(server, each, judge_records(each, [(server, answer)], require_all=True).programmed, answer)


def _cut(text: str) -> str:
    return text if len(text) <= CELL_LIMIT_CHARS else f"{text[: CELL_LIMIT_CHARS - 1]}…"
