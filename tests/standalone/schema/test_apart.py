"""Rules that are evaluated in a process of their own: what it says comes back whole, whatever happens to it."""

from __future__ import annotations

import os
import resource
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from standalone.schema.cel import apart
from standalone.schema.fault import Fault
from standalone.schema.structural import StructuralSchema
from tests.standalone.schema.builder import messages, obj, root, ruled

TEXTS = {"type": "array", "items": {"type": "string"}}
LOOP = "self.texts.all(text, text != 'no')"
MANY = [str(number) for number in range(1_000)]


@pytest.fixture
def looped() -> StructuralSchema:
    return ruled({"rule": LOOP, "message": "no"}, texts=TEXTS)


def test_an_answer_of_any_length_comes_whole_and_the_next_is_to_the_next_question(looped: StructuralSchema) -> None:
    texts = {
        **TEXTS,
        "items": {"type": "string", "x-kubernetes-validations": [{"rule": "[self].all(each, each == '')"}]},
    }
    strict = StructuralSchema.parse(root({"type": "object", "properties": {"texts": texts}}))
    assert len(messages(strict, obj(texts=MANY))) == len(MANY)
    assert messages(looped, obj(texts=MANY)) == []
    assert len(messages(looped, obj(texts=[*MANY, "no"]))) == 1


def test_a_process_that_somebody_has_ended_is_replaced(looped: StructuralSchema) -> None:
    assert messages(looped, obj(texts=MANY)) == []
    process = apart._WORKER._process
    assert process is not None
    process.kill()
    process.wait()
    assert messages(looped, obj(texts=MANY)) == []


def test_a_fault_on_the_way_leaves_no_answer_for_the_next(
    looped: StructuralSchema, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert messages(looped, obj(texts=MANY)) == []
    with monkeypatch.context() as patched:
        patched.setattr(apart, "_received", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            looped.validate(obj(texts=[*MANY, "no"]))
    assert messages(looped, obj(texts=MANY)) == []


def _interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def test_many_open_files_and_foreign_modules_in_the_working_directory_are_no_matter(
    looped: StructuralSchema, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("signal", "orjson", "standalone"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    apart._WORKER.end()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2_048)), hard))
    with ExitStack() as opened:
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1_100):
            opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        assert messages(looped, obj(texts=MANY)) == []
        opened.callback(apart._WORKER.end)


def test_what_was_there_before_counts_as_much_as_what_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def ask(*question: Any) -> list[Fault]:
        asked.append(question)
        return []

    monkeypatch.setattr(apart._WORKER, "ask", ask)
    checked = ruled({"rule": "oldSelf.texts.all(text, text != 'no')"}, texts=TEXTS)
    checked.validate(obj(texts=["a"]), obj(texts=["b"]))
    assert not asked
    checked.validate(obj(texts=["a"]), obj(texts=MANY))
    assert asked
