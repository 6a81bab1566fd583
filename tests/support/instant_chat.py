"""A chat server in a process of its own that answers at once, and says how long each answer took: for benchmarks."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.chat_server import completion

TEXT = '{"analysis": "a", "subtask": {"action": "Go to", "target": "fridge", "destination": ""}, "model": "NoMaD"}'


class Instant:
    """The running server. It serves one connection after the other."""

    def __init__(self, process: subprocess.Popen[str], base_url: str) -> None:
        self._process = process
        self.base_url = base_url
        self.handling_seconds: list[float] = []
        """Of each answer, from the request's last byte to the answer's last. Known when the server has ended."""

    def end(self) -> None:
        """Stop it and hear the times."""
        output, _ = self._process.communicate(timeout=20)
        self.handling_seconds = json.loads(output)


@contextmanager
def instant_chat() -> Iterator[Instant]:
    """The server, until it is ended; its client has to hang up before."""
    command = [sys.executable, "-m", "support.instant_chat"]
    folder = Path(__file__).parents[1]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, cwd=folder) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("the server has no output")
            yield Instant(process, f"http://127.0.0.1:{int(process.stdout.readline())}/v1")
        finally:
            if process.poll() is None:
                process.kill()


def _serve() -> None:
    """One connection: answer until the client hangs up, then tell the times."""
    body = json.dumps(completion(TEXT)).encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    seconds = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)  # noqa: T201
        connection, _ = listener.accept()
    with connection, connection.makefile("rb") as stream:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while length := _body_length(stream):
            stream.read(length)
            began = time.perf_counter()
            connection.sendall(answer)
            seconds.append(time.perf_counter() - began)
    print(json.dumps(seconds))  # noqa: T201


def _body_length(stream: Iterator[bytes]) -> int:
    """Bytes of the next request's body, 0 if none is coming; the head is read."""
    length = 0
    for line in stream:
        if line == b"\r\n":
            return length
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return 0


if __name__ == "__main__":
    _serve()
