"""The process that runs llama.cpp for the planner `gguf`, which starts it. Needs the extra ``gguf``.

It is a process of its own because llama.cpp takes SIGINT and SIGTERM for itself, ends its process where it finds a
fault of its own, and reads a prompt to its end whoever has given it up: what kills this process stops all of it. It is
run as a script, with the descriptor of its connection, so that it holds nothing else of the planner.
"""

from __future__ import annotations

import os
import queue
import secrets
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

import xllamacpp

_ERRORS_ONLY = 1


def _server(settings: dict[str, Any]) -> xllamacpp.Server:
    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.mmproj.path = settings["mmproj"]
    params.n_ctx = settings["n_ctx"]
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.n_batch = params.n_ubatch = settings["n_batch"]
    params.n_parallel = 1
    params.cache_ram_mib = 0  # old prompts would be kept in up to 8 GiB
    params.verbosity = _ERRORS_ONLY
    # The library opens a port in any case: any free one, of this machine alone, with a key that nobody knows.
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [secrets.token_hex()]
    params.ui = False
    params.offline = True
    return xllamacpp.Server(params)


def _read(connection: Connection, requests: queue.Queue[dict[str, Any]]) -> None:
    """Pass requests on; the end of the planner's process is the end of this one, whatever it does just then."""
    try:
        while True:
            requests.put(connection.recv())
    except (EOFError, OSError):
        os._exit(0)


def main() -> None:
    """Load the model that the first message describes, then answer each further one."""
    connection = Connection(int(sys.argv[1]))
    requests: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_read, args=(connection, requests), daemon=True).start()
    try:
        server = _server(requests.get())
    except RuntimeError as error:
        connection.send({"error": {"message": str(error)}})
        return
    connection.send({})
    while True:
        try:
            reply = server.handle_chat_completions(requests.get())
        except RuntimeError as error:
            reply = {"error": {"message": str(error)}}
        connection.send(reply)


if __name__ == "__main__":
    main()
