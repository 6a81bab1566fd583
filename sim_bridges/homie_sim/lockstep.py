"""The thread that owns a world: time advances only while a command runs.

Whoever wants something of the world asks the loop: :meth:`LockstepLoop.submit` for commands, :meth:`LockstepLoop.call`
for anything else. Between two control ticks the loop serves the calls that wait, so a picture or a state is always that
of a moment between ticks, the same on a slow machine and on a fast one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from homie_sim.commands.base import CANCELLED, Command, Outcome
from homie_sim.world import MujocoWorld

Result = TypeVar("Result")

Observer = Callable[[MujocoWorld], None]


class LoopError(RuntimeError):
    """The simulation thread has stopped; its cause is chained."""


class LoopDeadlineError(TimeoutError):
    """The loop did not answer in time. The line says what was waited for."""


class Handle:
    """A submitted command. Any thread may wait for it or cancel it."""

    def __init__(self, loop: LockstepLoop, command: Command) -> None:
        self.command = command
        self._loop = loop
        self._future: Future[Outcome] = Future()

    @property
    def done(self) -> bool:
        """Whether the command has ended."""
        return self._future.done()

    def add_done_callback(self, callback: Callable[[Outcome], None]) -> None:
        """Call ``callback`` in the simulation thread once the command has ended and its observers have run."""

        def forward(future: Future[Outcome]) -> None:
            if future.exception() is None:
                callback(future.result())

        self._future.add_done_callback(forward)

    def wait(self, deadline: float) -> Outcome:
        """The outcome, after at most ``deadline`` seconds of wall time.

        Raises:
            LoopDeadlineError: the command still runs.
            LoopError: the simulation thread has stopped.
        """
        return _result(self._future, deadline, f"the end of {type(self.command).__name__}")

    def cancel(self) -> None:
        """Ask the loop to stop the command before the next tick; ``wait`` then gives a cancelled outcome.

        Raises:
            LoopError: the simulation thread has stopped.
        """
        self._loop.post(lambda world: self._loop.stop_command(self))

    def finish(self, outcome: Outcome) -> None:
        """Resolve the handle; for the loop."""
        self._future.set_result(outcome)

    def fail(self, error: BaseException) -> None:
        """Fail the handle; for the loop."""
        if not self._future.done():
            self._future.set_exception(error)


@dataclass(slots=True)
class _Periodic:
    """An observer at fixed simulation times: every ``period`` ticks."""

    observer: Observer
    period: int


@dataclass(slots=True)
class _Call(Generic[Result]):
    """Something to run in the simulation thread."""

    function: Callable[[MujocoWorld], Result]
    future: Future[Result] = field(default_factory=Future)

    def run(self, world: MujocoWorld) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.function(world)
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to the caller, not to the loop
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

    def fail(self, error: BaseException) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


class LockstepLoop:
    """Runs one world in one thread. A context manager; ``close`` ends the thread and frees the world's renderer."""

    def __init__(self, world: MujocoWorld) -> None:
        self._world = world
        self._wake = threading.Condition()
        self._calls: deque[_Call[object]] = deque()
        self._active: list[Handle] = []
        self._periodic: list[_Periodic] = []
        self._at_end: list[Observer] = []
        self._closing = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, name="simulation", daemon=True)
        self._thread.start()

    def __enter__(self) -> LockstepLoop:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    # --- from any thread

    def observe(self, observer: Observer, period: float) -> None:
        """Call ``observer`` in the simulation thread every ``period`` seconds of simulation; also right after a reset.

        Add observers before the first command.
        """
        ticks = max(1, round(period / self._world.control_period))
        self._periodic.append(_Periodic(observer, ticks))

    def observe_ends(self, observer: Observer) -> None:
        """Call ``observer`` in the simulation thread when a command has ended, before anybody learns of its outcome."""
        self._at_end.append(observer)

    def submit(self, command: Command) -> Handle:
        """Start ``command`` before the next tick. A running command for the same part is cancelled.

        Raises:
            LoopError: the simulation thread has stopped.
        """
        handle = Handle(self, command)
        self.post(lambda world: self._start(handle), handle)
        return handle

    def call(self, function: Callable[[MujocoWorld], Result], deadline: float, what: str = "a call") -> Result:
        """Run ``function`` in the simulation thread between two ticks; its result, or its exception, comes back.

        Raises:
            LoopDeadlineError: not served within ``deadline`` seconds of wall time; ``what`` names it.
            LoopError: the simulation thread has stopped.
        """
        call = _Call(function)
        self._enqueue(call)
        try:
            return _result(call.future, deadline, what)
        except LoopDeadlineError:
            call.future.cancel()
            raise

    def reset(self, seed: int, placements: list[object], deadline: float) -> None:
        """Cancel everything that runs and reset the world.

        Raises:
            HouseError, WorldError, PhysicsError: as ``MujocoWorld.reset`` says.
            LoopDeadlineError, LoopError: as for ``call``.
        """

        def work(world: MujocoWorld) -> None:
            for handle in list(self._active):
                self.stop_command(handle)
            world.reset(seed, placements)
            self._observe_periodic(everything=True)

        self.call(work, deadline, "a reset")

    def close(self, deadline: float = 10.0) -> None:
        """End the thread; running commands are cancelled.

        Raises:
            LoopDeadlineError: the thread does not end.
        """
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join(deadline)
        if self._thread.is_alive():
            raise LoopDeadlineError(f"the simulation thread did not end within {deadline:.0f} s")

    def post(self, function: Callable[[MujocoWorld], object], handle: Handle | None = None) -> None:
        """Run ``function`` in the simulation thread, without waiting; its exception fails ``handle``.

        Raises:
            LoopError: the simulation thread has stopped.
        """
        call = _Call(function)
        if handle is not None:
            call.future.add_done_callback(lambda future: _pass_error(future, handle))
        self._enqueue(call)

    def _enqueue(self, call: _Call[Result]) -> None:
        with self._wake:
            if self._error is not None or self._closing:
                raise LoopError(f"the simulation has stopped: {self._error or 'closed'}") from self._error
            self._calls.append(call)  # type: ignore[arg-type]
            self._wake.notify()

    # --- in the simulation thread

    def stop_command(self, handle: Handle) -> None:
        """Stop a running command; one that has ended already stays as it is. Call it in the simulation thread."""
        if handle in self._active:
            handle.command.stop(self._world)
            self._end(handle, CANCELLED)

    def _main(self) -> None:
        try:
            while self._wait_for_work():
                self._serve_calls()
                self._update_commands()
                if self._active:
                    self._world.tick()
                    self._observe_periodic()
        except BaseException as error:  # noqa: BLE001 - every waiter must learn of it
            self._error = error
        finally:
            self._shut_down()

    def _wait_for_work(self) -> bool:
        """Block while nothing is to do; False when the loop is to end."""
        with self._wake:
            while not (self._closing or self._calls or self._active):
                self._wake.wait()
            return not self._closing

    def _serve_calls(self) -> None:
        while self._calls:
            self._calls.popleft().run(self._world)

    def _start(self, handle: Handle) -> None:
        for other in [other for other in self._active if other.command.part is handle.command.part]:
            self.stop_command(other)
        outcome = handle.command.start(self._world)
        self._active.append(handle)
        if outcome is not None:
            self._end(handle, outcome)

    def _update_commands(self) -> None:
        for handle in list(self._active):
            outcome = handle.command.update(self._world)
            if outcome is not None:
                self._end(handle, outcome)

    def _end(self, handle: Handle, outcome: Outcome) -> None:
        self._active.remove(handle)
        for observer in self._at_end:
            observer(self._world)
        handle.finish(outcome)

    def _observe_periodic(self, everything: bool = False) -> None:
        for entry in self._periodic:
            if everything or self._world.ticks % entry.period == 0:
                entry.observer(self._world)

    def _shut_down(self) -> None:
        cause = self._error
        error = LoopError(f"the simulation has stopped: {cause or 'closed'}")
        error.__cause__ = cause
        with self._wake:
            self._closing = True
            waiting = list(self._calls)
            self._calls.clear()
        for handle in self._active:
            handle.fail(error)
        for call in waiting:
            call.fail(error)
        self._world.close()


def _pass_error(future: Future[object], handle: Handle) -> None:
    error = None if future.cancelled() else future.exception()
    if error is not None:
        handle.fail(error)


def _result(future: Future[Result], deadline: float, what: str) -> Result:
    try:
        return future.result(deadline)
    except FutureTimeoutError as error:
        if future.done():
            raise
        raise LoopDeadlineError(f"waited {deadline:g} s for {what}") from error
    except CancelledError as error:
        raise LoopError(f"{what} was dropped") from error
