"""Semantic versions (semver.org 2.0.0) as rules compare them.

Owns parsing, normal form and precedence. Build metadata does not count in comparisons.
"""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = r"(0|[1-9][0-9]*)"
_LABEL: Final = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_LABEL}(?:\.{_LABEL})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_LEADING_ZEROS: Final = re.compile(r"(^|\.)0+(?=[0-9])")


def canonical(text: str, normalize: bool = False) -> str:
    """Return the version; `normalize` first drops a leading `v`, adds missing numbers and drops leading zeros.

    Raises ValueError when the text is no version.
    """
    candidate = _normalized(text) if normalize else text
    if _VERSION.fullmatch(candidate) is None:
        raise ValueError(f"No Major.Minor.Patch elements found in {candidate}")
    return candidate


def is_version(text: str, normalize: bool = False) -> bool:
    return _VERSION.fullmatch(_normalized(text) if normalize else text) is not None


def _normalized(text: str) -> str:
    bare = text.removeprefix("v")
    core = re.split(r"[-+]", bare, maxsplit=1)[0]
    parts = [*core.split("."), "0", "0"][: max(3, core.count(".") + 1)]
    return _LEADING_ZEROS.sub(r"\1", ".".join(parts)) + bare[len(core) :]


def numbers(text: str) -> tuple[int, int, int]:
    """Return major, minor and patch."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError(f"No Major.Minor.Patch elements found in {text}")
    return int(match[1]), int(match[2]), int(match[3])


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1 by precedence (section 11)."""
    mine, theirs = _precedence(left), _precedence(right)
    return (mine > theirs) - (mine < theirs)


def _precedence(text: str) -> tuple[tuple[int, int, int], bool, list[tuple[bool, int, str]]]:
    match = _VERSION.fullmatch(text)
    labels = (match[4] or "").split(".") if match is not None and match[4] else []
    ranked = [(False, int(label), "") if label.isdigit() else (True, 0, label) for label in labels]
    return numbers(text), not labels, ranked
