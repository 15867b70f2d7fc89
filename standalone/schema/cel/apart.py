"""Rules that may take long are evaluated in a process of their own, which can be ended.

Owns which rules those are, that process, and how long it may take. The engine counts the turns of loops, but not what
one turn costs, and lets nobody else in this process go on meanwhile.
"""

from __future__ import annotations

import atexit
import os
import pickle
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from math import ceil
from multiprocessing.connection import Connection, Pipe
from threading import Lock
from typing import Any, Final

import orjson

from standalone.schema.cel.evaluate import BUDGET_S, OUT_OF_BUDGET, rule_faults
from standalone.schema.cel.rules import RuleNode, compile_rules
from standalone.schema.fault import Fault, invalid
from standalone.schema.node import ABSENT
from standalone.schema.path import spelled_with_keys

LIMIT_START_S: Final = 30.0
LIMIT_MEMORY_BYTES: Final = 1024 * 1024 * 1024


def faults_of(tree: RuleNode, obj: Any, old: Any) -> list[Fault]:
    """Return a fault for each rule that does not hold, and one when it takes too long to find out.

    `old` is the object before the update, or ABSENT. Blocks; call it beside an event loop when `tree.may_take_long`.
    """
    if not tree.may_take_long or _size(obj) + _size(old) <= tree.quick_bytes:
        return rule_faults(tree, obj, old)
    found = _WORKER.ask(tree, obj, old)
    return [invalid(spelled_with_keys(None), "object", OUT_OF_BUDGET)] if found is None else found


def _size(value: Any) -> int:
    return 0 if value is ABSENT else len(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS))


class _Worker:
    """The process: started when it is first needed, ended when a question takes too long."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def ask(self, tree: RuleNode, obj: Any, old: Any) -> list[Fault] | None:
        """Return what the process finds; None when it took longer or more memory than it may."""
        question = (_schema_of(tree), obj, old)
        with self._lock:
            served_before = self._process is not None
            try:
                try:
                    return self._asked(question)
                except (EOFError, ConnectionError):
                    if not served_before:
                        raise
                    self.end()  # somebody may have ended it for reasons of his own: that is not to this question's blame
                    return self._asked(question)
            except (TimeoutError, EOFError, ConnectionError):
                self.end()
                return None
            except BaseException:
                self.end()  # the next answer would be to this question
                raise

    def end(self) -> None:
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        if process is not None:
            process.kill()
            process.wait()

    def _asked(self, question: tuple[bytes, Any, Any]) -> list[Fault]:
        if self._connection is None:
            self._process, self._connection = _started()
        self._connection.send(question)
        _received(self._connection, LIMIT_START_S)  # it has compiled the rules
        found: list[Fault] = _received(self._connection, BUDGET_S)
        return found


def _started() -> tuple[subprocess.Popen[bytes], Connection]:
    """Start the process, which finds the same modules as this one, and is no concern of a terminal's Ctrl-C."""
    ours, theirs = Pipe()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            process_group=0,
        )
    return process, ours


def _received(connection: Connection, limit_s: float) -> Any:
    """Wait for an answer. Raises TimeoutError, EOFError and ConnectionError."""
    if not connection.poll(limit_s):
        raise TimeoutError
    return connection.recv()


_WORKER: Final = _Worker()
atexit.register(_WORKER.end)


@lru_cache(maxsize=256)
def _schema_of(tree: RuleNode) -> bytes:
    return pickle.dumps((tree.node, tree.is_resource))


@lru_cache(maxsize=64)
def _compiled(schema: bytes) -> RuleNode:
    node, is_resource = pickle.loads(schema)
    tree = compile_rules(node, "", is_resource=is_resource)
    assert tree is not None, "only schemas with rules are asked about"
    return tree


def _serve(connection: Connection) -> None:
    """Answer questions until nobody asks any more, or one takes too much memory.

    Who asked may be gone while a rule is evaluated, which then has its end, too.
    """
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_MEMORY_BYTES, LIMIT_MEMORY_BYTES))
    with suppress(EOFError, ConnectionError, MemoryError):
        while True:
            schema, obj, old = connection.recv()
            tree = _compiled(schema)
            connection.send(None)
            signal.alarm(ceil(BUDGET_S) + 1)
            connection.send(rule_faults(tree, obj, old))
            signal.alarm(0)


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
