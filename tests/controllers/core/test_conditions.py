"""The page about conditions knows every reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from controllers.api.reason import RECORD_SET_REASONS, ZONE_CLASS_REASONS, ZONE_REASONS

PAGE = (Path(__file__).parents[3] / "docs" / "conditions.md").read_text(encoding="utf-8")
SECTIONS = {
    title: section for title, _, section in (part.partition("\n") for part in PAGE.replace("\n## ", "\0").split("\0"))
}
KINDS = {"Zone": ZONE_REASONS, "RecordSet": RECORD_SET_REASONS, "ZoneClass": ZONE_CLASS_REASONS}


@pytest.mark.parametrize("kind", KINDS)
def test_every_reason_of_a_kind_is_explained_with_its_status(kind: str) -> None:
    missing = []
    for (condition, status), reasons in KINDS[kind].items():
        section = SECTIONS["Programmed" if condition == "Programmed" else f"{kind}, {condition}"]
        rows = [line for line in section.splitlines() if status in line] if kind != "ZoneClass" else [section]
        missing += [f"{condition}={status}: {each}" for each in reasons if not any(f"`{each}`" in row for row in rows)]
    assert missing == []
