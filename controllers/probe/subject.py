"""What is to be found out about a name of a zone, and the questions that this takes.

Pure. A wildcard is asked for under a label that nobody has used before: what counts is what it makes of names, and no name of its own
may stand in the way (RFC 4592 section 3.3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controllers.probe.answer import Answer, Outcome, Question, is_within
from zonemodel.name import MAX_NAME_OCTETS, Fqdn, OwnerName, owner_fqdn

LONGEST_NAME_CHARS: Final = MAX_NAME_OCTETS - 2
"""Of a name in text, without its last dot: on the wire it has the first label's length and the root more."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A relative name and the number of a type.

    With `proof`, every way counts that leads from the name to data: the star of a wildcard is asked for as it is written too, and aliases
    are followed inside the zone.
    """

    name: str
    type: int
    proof: bool = False


def question_about(name: str, type_code: int, domain: Fqdn, label: str) -> Question:
    """Return the question about a relative name; `label`, or as much of it as fits into a name, stands for the star of a wildcard."""
    asked = name
    if name == "*" or name.startswith("*."):
        room = LONGEST_NAME_CHARS - len(owner_fqdn(OwnerName(name), domain)) + 1
        asked = f"{label[: max(room, 1)]}{name[1:]}"
    return Question(owner_fqdn(OwnerName(asked), domain), type_code)


def questions_of(subject: Subject, domain: Fqdn, label: str) -> list[Question]:
    """Return the questions about a subject, in a round with that label."""
    asked = [question_about(subject.name, subject.type, domain, label)]
    if subject.proof and subject.name.startswith("*"):
        asked.append(Question(owner_fqdn(OwnerName(subject.name), domain), subject.type))
    return asked


def target_of(answer: Answer, question: Question, zone: str) -> Question | None:
    """Return the question that an alias leads to and that its server has not answered along with it, None when there is none."""
    if answer.outcome is not Outcome.ALIAS or answer.values or not is_within(answer.chain[-1], zone):
        return None
    return Question(answer.chain[-1], question.type)
