"""A dnstap collector for tests: takes Frame Streams on a socket and keeps the messages."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")

CONTENT_TYPE = b"protobuf:dnstap.Dnstap"
ACCEPT, START, STOP, READY, FINISH = range(1, 6)


def control(kind: int, content_type: bytes = b"") -> bytes:
    body = struct.pack("!I", kind)
    if content_type:
        body += struct.pack("!II", 1, len(content_type)) + content_type
    return struct.pack("!II", 0, len(body)) + body


@dataclass
class Collector:
    """Serves one connection after another until it is left; `frames` are the data of all."""

    path: Path
    accepts: bytes = CONTENT_TYPE
    frames: list[bytes] = field(default_factory=list)
    controls: list[int] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def __enter__(self) -> Collector:
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(self.path))
        self._listening.listen()
        self._connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in (self._listening, *self._connections):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(20)
        self.path.unlink()

    def wait_for(self, frames: int) -> list[bytes]:
        """Return the data once there are so many frames."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.frames) >= frames, 20), f"only {len(self.frames)} frames came"
            return list(self.frames)

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._connections.append(connection)
            with connection, connection.makefile("rb") as stream:
                while (size := stream.read(4)) and len(size) == 4:
                    length = struct.unpack("!I", size)[0]
                    if length:
                        self._note(self.frames, stream.read(length))
                        continue
                    body = stream.read(struct.unpack("!I", stream.read(4))[0])
                    kind = struct.unpack("!I", body[:4])[0]
                    self._note(self.controls, kind)
                    if kind == READY:
                        connection.sendall(control(ACCEPT, self.accepts))
                    elif kind == STOP:
                        connection.sendall(control(FINISH))
                        break

    def _note(self, kept: list[T], what: T) -> None:
        with self.changed:
            kept.append(what)
            self.changed.notify_all()


def as_file(frames: list[bytes]) -> bytes:
    """The frames as a file that programs for dnstap read."""
    data = b"".join(struct.pack("!I", len(frame)) + frame for frame in frames)
    return control(START, CONTENT_TYPE) + data + control(STOP)
