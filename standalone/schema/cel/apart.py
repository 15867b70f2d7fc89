"""Rules that may take long are evaluated in a process of their own, which can be ended.

Owns which rules those are, that process, and how long it may take. The engine counts the turns of loops, but not what
one turn costs, and lets nobody else in this process go on meanwhile.
"""

from __future__ import annotations

import atexit
import pickle
import resource
import select
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from threading import Lock
from typing import IO, Any, Final

import orjson

from standalone.schema.cel.evaluate import BUDGET_S, OUT_OF_BUDGET, rule_faults
from standalone.schema.cel.rules import RuleNode, compile_rules
from standalone.schema.fault import Fault, invalid
from standalone.schema.path import spelled_with_keys

SMALL_BYTES: Final = 1024
"""Loops over less than this are over before it matters."""
LIMIT_START_S: Final = 30.0
LIMIT_MEMORY_BYTES: Final = 1024 * 1024 * 1024


def faults_of(tree: RuleNode, obj: Any, old: Any) -> list[Fault]:
    """Return a fault for each rule that does not hold, and one when it takes too long to find out.

    `old` is the object before the update, or ABSENT. Blocks; call it beside an event loop when `tree.may_take_long`.
    """
    if not tree.may_take_long or _size(obj) + tree.longest_rule <= SMALL_BYTES:
        return rule_faults(tree, obj, old)
    found = _WORKER.ask(tree, obj, old)
    return [invalid(spelled_with_keys(None), "object", OUT_OF_BUDGET)] if found is None else found


def _size(value: Any) -> int:
    return len(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS))


class _Worker:
    """The process: started when it is first needed, ended when a question takes too long."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, tree: RuleNode, obj: Any, old: Any) -> list[Fault] | None:
        """Return what the process finds; None when it took longer or more memory than it may."""
        with self._lock:
            try:
                return self._asked(tree, obj, old)
            except (TimeoutError, EOFError):
                self.end()
                return None

    def end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()

    def _asked(self, tree: RuleNode, obj: Any, old: Any) -> list[Fault]:
        if self._process is None or self._process.poll() is not None:
            self.end()
            command = [sys.executable, "-m", __name__]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        questions, answers = self._process.stdin, self._process.stdout
        assert questions is not None
        assert answers is not None
        _send(questions, (_schema_of(tree), obj, old))
        _await(answers, LIMIT_START_S)
        pickle.load(answers)  # it has compiled the rules
        _await(answers, BUDGET_S)
        found: list[Fault] = pickle.load(answers)
        return found


_WORKER: Final = _Worker()
atexit.register(_WORKER.end)


@lru_cache(maxsize=256)
def _schema_of(tree: RuleNode) -> bytes:
    return pickle.dumps((tree.node, tree.is_resource))


def _send(stream: IO[bytes], message: Any) -> None:
    content = memoryview(pickle.dumps(message))
    while content:
        content = content[stream.write(content) :]


def _await(stream: IO[bytes], limit_s: float) -> None:
    """Wait for an answer. Raises TimeoutError, which is an OSError."""
    if not select.select([stream], [], [], limit_s)[0]:
        raise TimeoutError


@lru_cache(maxsize=64)
def _compiled(schema: bytes) -> RuleNode:
    node, is_resource = pickle.loads(schema)
    tree = compile_rules(node, "", is_resource=is_resource)
    assert tree is not None, "only schemas with rules are asked about"
    return tree


def _serve() -> None:
    """Answer questions until nobody asks any more."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_MEMORY_BYTES, LIMIT_MEMORY_BYTES))
    questions, answers = open(0, "rb", closefd=False), open(1, "wb", buffering=0, closefd=False)  # noqa: SIM115 - to the end
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            schema, obj, old = pickle.load(questions)
            tree = _compiled(schema)
            _send(answers, None)
            _send(answers, rule_faults(tree, obj, old))


if __name__ == "__main__":
    _serve()
