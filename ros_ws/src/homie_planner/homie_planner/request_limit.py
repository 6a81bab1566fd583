"""A limit that all requests to one endpoint share: those of parallel episodes, in other processes too.

It lives in a folder: one lock file per request that may run at a time, which the kernel unlocks when its process ends,
and a file with the starts of the last minute and the moment until which all have to wait.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

POLL_SECONDS = 0.02
"""How soon to try again when all places are taken, or the file is: who gives one back tells nobody."""

MAX_PAUSE_SECONDS = 3600.0
"""A longer pause in the file is of another time, or nonsense."""

_WINDOW_SECONDS = 60.0


class LimitError(Exception):
    """The folder of the limit cannot be used. One line."""


class Permit:
    """The right to have one request running, until it is given back or the process ends."""

    def __init__(self, lock: int) -> None:
        self._lock = lock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        os.close(self._lock)


@dataclass(frozen=True, slots=True)
class RequestLimit:
    """At most ``concurrent`` requests at a time, and ``per_minute`` starts in any minute (0: as many as wanted).

    Those who share ``folder`` share the limit; ``clock`` gives seconds since 1970, the same for all of them.
    """

    folder: Path
    concurrent: int
    per_minute: int = 0
    clock: Callable[[], float] = field(default=time.time)

    def try_start(self) -> Permit | float:
        """A permit, or the seconds after which it is worth to ask again.

        Raises:
            LimitError: the folder cannot be used.
        """
        with self._state() as state:
            if state is None:
                return POLL_SECONDS
            now = self.clock()
            if now < state.paused_until <= now + MAX_PAUSE_SECONDS:
                return state.paused_until - now
            recent = [start for start in state.starts if now - _WINDOW_SECONDS < start <= now]
            if self.per_minute and len(recent) >= self.per_minute:
                return max(POLL_SECONDS, recent[-self.per_minute] + _WINDOW_SECONDS - now)
            lock = self._free_place()
            if lock is None:
                return POLL_SECONDS
            state.starts = [*recent, now] if self.per_minute else []
            return Permit(lock)

    def try_pause(self, seconds: float) -> bool:
        """Let nobody start for ``seconds``; a longer pause that is on already stays. False: try again soon.

        Raises:
            LimitError: the folder cannot be used.
        """
        with self._state() as state:
            if state is None:
                return False
            now = self.clock()
            before = state.paused_until if state.paused_until <= now + MAX_PAUSE_SECONDS else 0.0
            state.paused_until = max(before, now + min(seconds, MAX_PAUSE_SECONDS))
            return True

    def _free_place(self) -> int | None:
        for place in range(self.concurrent):
            lock = self._open(f"place_{place}")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                continue
            return lock
        return None

    @contextmanager
    def _state(self) -> Iterator[_State | None]:
        """What all share; nobody else has it meanwhile, and changes to it are written at the end.

        None if somebody else has it just now: it is not waited for, because only the caller knows how long it may.
        """
        file = self._open("state.json")
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield None
                return
            before = os.pread(file, _MAX_STATE_BYTES, 0)
            state = _State.read(before)
            yield state
            after = state.written()
            if after != before:
                os.pwrite(file, after, 0)
                os.truncate(file, len(after))
        finally:
            os.close(file)

    def _open(self, name: str) -> int:
        try:
            return os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise LimitError(f"the request limit cannot use {self.folder / name}: {error.strerror}") from error


_MAX_STATE_BYTES = 1 << 20


@dataclass
class _State:
    """Moments in seconds since 1970."""

    paused_until: float = 0.0
    starts: list[float] = field(default_factory=list)

    @classmethod
    def read(cls, content: bytes) -> _State:
        """The state in a file. One that a dying process left half written counts as none."""
        try:
            fields = json.loads(content)
            return cls(float(fields["paused_until"]), [float(start) for start in fields["starts"]])
        except (ValueError, TypeError, KeyError):
            return cls()

    def written(self) -> bytes:
        return json.dumps({"paused_until": self.paused_until, "starts": self.starts}).encode()


def endpoint_folder(endpoint: str) -> Path:
    """The folder of the limit of ``endpoint``, below the user's runtime folder; made if there is none.

    Raises:
        LimitError: it cannot be made, or belongs to somebody else.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    base = Path(runtime) / "homie" if runtime else Path(tempfile.gettempdir()) / f"homie-{os.getuid()}"
    digest = hashlib.sha256(endpoint.encode()).hexdigest()[:16]
    folder = base / f"requests-{digest}"
    try:
        base.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        owner = base.lstat().st_uid
    except OSError as error:
        raise LimitError(f"the request limit cannot make {folder}: {error.strerror}") from error
    if owner != os.getuid():
        raise LimitError(f"the request limit cannot use {base}: it belongs to another user")
    return folder
