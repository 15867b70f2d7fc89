"""Manifests as text: nothing changes on the way out and in, for no YAML reader."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.zone.manifest import Format, Manifest, dump, load

TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"])),
    st.sampled_from(
        ["y", "No", "1e3", "0x1f", "010", "1:30", "2030-01-01", ".5", "~", "null", "-", "*", "@", "a: b", "# a", ""]
    ),
)
VALUES = st.recursive(TEXTS | st.integers(-(2**53), 2**53) | st.booleans(), st.lists, max_leaves=8)
MANIFESTS = st.builds(lambda value: {"kind": "Zone", "spec": {"value": value}}, VALUES)


@settings(deadline=None)
@given(st.lists(MANIFESTS, max_size=4), st.sampled_from(Format))
def test_manifests_survive_their_text(manifests: list[Manifest], form: Format) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "manifests"
        path.write_text(dump(manifests, form, "# a comment\n"), encoding="utf-8")
        assert load([str(path)]) == manifests


@settings(deadline=None)
@given(st.lists(MANIFESTS, max_size=4))
def test_other_readers_see_the_same(manifests: list[Manifest]) -> None:
    assert list(yaml.safe_load_all(dump(manifests, Format.YAML))) == manifests
    assert orjson.loads(dump(manifests, Format.JSON))["items"] == manifests


@pytest.mark.parametrize(
    "text", ["1e3", "1E-3", "y", "N", "0o17", "0x1f", "1_000", "+1", ".5", "12:30:45", "2030-01-01"]
)
def test_texts_that_some_reader_takes_for_something_else_are_quoted(text: str) -> None:
    assert f'value: "{text}"\n' in dump([{"kind": "Zone", "value": text}], Format.YAML)


def test_plain_texts_stay_plain() -> None:
    values = ["192.0.2.1", "www.example.com", "v=spf1 -all"]
    assert dump([{"kind": "Zone", "values": values}], Format.YAML) == (
        "---\nkind: Zone\nvalues:\n- 192.0.2.1\n- www.example.com\n- v=spf1 -all\n"
    )


def test_dates_are_texts() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "z.yaml"
        path.write_text("kind: Zone\nvalue: 2030-01-01\n", encoding="utf-8")
        assert load([folder]) == [{"kind": "Zone", "value": "2030-01-01"}]
