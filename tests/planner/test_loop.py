"""The episode loop: what it records, and that it always ends with one result."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from homie_core.episode import EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode
from homie_core.inventory import Inventory
from homie_core.subtask import Subtask
from homie_planner.backend import Capabilities, Deadline, PlannerCancelled, PlannerError, PlanReply, PlanRequest
from homie_planner.instruction import InstructionOptions, ObservationKind
from homie_planner.loop import Cancelled, EpisodeLoop, Executed, InfrastructureError, Observed
from homie_planner.prompting import Prompter
from support.episodes import InstantPorts, Log, episode_info
from support.toy_house import ToyWorld

BRING_MUG = (
    "Analysis: a\nSubtask: [Go to, fridge]\nModel: NoMaD",
    "Analysis: b\nSubtask: [Open, fridge]\nModel: octo",
    "Analysis: c\nSubtask: [Pick, mug]\nModel: RT-1-X",
    "Analysis: d\nSubtask: [Go to, sofa]\nModel: NoMaD",
    "Analysis: e\nSubtask: [Put, mug, sofa]\nModel: RT-1-X",
    "Analysis: f\nSubtask: [End]\nModel: NoMaD",
)


@dataclass
class Script:
    """A planner that says what it is told to, and keeps what it was asked."""

    replies: tuple[str, ...]
    capabilities: Capabilities = field(default_factory=Capabilities)
    before_reply: Callable[[PlanRequest, Deadline], None] = lambda request, deadline: None
    name: str = "script"
    requests: list[PlanRequest] = field(default_factory=list)

    def reset(self) -> None:
        self.requests.clear()

    def close(self) -> None:
        """Nothing to give back."""

    def plan(self, request: PlanRequest, deadline: Deadline) -> PlanReply:
        self.requests.append(request)
        self.before_reply(request, deadline)
        return PlanReply(self.replies[(request.step - 1) % len(self.replies)], tokens_in=7, tokens_out=3)


def run(backend: Script, ports: InstantPorts | None = None, max_steps: int = 20) -> tuple[EpisodeResult, list[Step]]:
    ports = ports or InstantPorts(ToyWorld())
    log = Log()
    result = EpisodeLoop(ports, ports, log, backend).run(episode_info(max_steps=max_steps))
    assert log.results == [result]
    assert len(log.infos) == 1
    assert [step.index for step in log.steps] == list(range(1, result.steps + 1))
    return result, log.steps


def test_an_episode_runs_to_its_end() -> None:
    result, steps = run(Script(BRING_MUG))
    assert result.outcome is Outcome.ENDED
    assert result.cause == ""
    assert result.steps == 6
    assert result.sim_seconds == pytest.approx(5.0)
    assert all(step.success for step in steps)
    assert [step.sim_seconds for step in steps] == [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    assert [step.inventory_after for step in steps] == [(), (), ("mug",), ("mug",), (), ()]
    assert steps[0].subtask == Subtask("Go to", "fridge", model="NoMaD")
    assert (steps[0].analysis, steps[0].raw_output) == ("a", BRING_MUG[0])
    assert (steps[0].tokens_in, steps[0].tokens_out) == (7, 3)


def test_what_was_handled_is_recorded_with_what_was_said() -> None:
    _, steps = run(Script(BRING_MUG))
    handled = [(step.target_id, step.destination_id) for step in steps]
    assert handled == [("fridge", ""), ("fridge", ""), ("mug_1", ""), ("sofa", ""), ("mug_1", "sofa"), ("", "")]
    assert {step.note for step in steps} == {""}


def test_notes_of_the_parser_and_of_the_resolver() -> None:
    plan = "Analysis: a\nSubtask: [Go to, can]\nModel: NoMaD\nSubtask: [End]\nModel: NoMaD"
    _, steps = run(Script((plan, "What?", "Subtask: [End]")))
    assert steps[0].target_id == "potted_meat_can_1"
    assert steps[0].note == (
        "a whole plan of 2 subtasks: the first was taken; "
        "'can' is ambiguous; of potted_meat_can, tuna_fish_can it means potted_meat_can"
    )
    assert (steps[1].target_id, steps[1].note) == ("", "the reply names no subtask")


def test_each_request_carries_the_past() -> None:
    backend = Script(BRING_MUG)
    _, steps = run(backend)
    assert [request.step for request in backend.requests] == [1, 2, 3, 4, 5, 6]
    assert "Historical Execution: None\nFeedback: None\n" in backend.requests[0].prompt
    fourth = backend.requests[3]
    assert fourth.history == "(1) Go to, fridge(success) (2) Open, fridge(success) (3) Pick, mug(success) "
    assert f"Inventory: mug\nHistorical Execution: {fourth.history}\nFeedback: None\n" in fourth.prompt
    assert fourth.steps == tuple(steps[:3])
    assert steps[3].prompt.endswith(fourth.prompt)
    assert steps[3].prompt.startswith("[system]\nYou are a powerful housework assistant")


def test_a_failed_subtask_is_fed_back_and_the_episode_goes_on() -> None:
    backend = Script(("Subtask: [Pick, mug]\nModel: RT-1-X", *BRING_MUG))
    result, steps = run(backend)
    assert result.outcome is Outcome.ENDED
    assert steps[0].error_code is ErrorCode.CONTAINER_CLOSED
    assert "Feedback: Unable to pick, the fridge is closed, you should open it first" in backend.requests[1].prompt
    assert backend.requests[1].history == "(1) Pick, mug(fail) "


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("I do not know.\nSorry.", "I do not know. Sorry."),
        ("Subtask: [Put, mug]", "[Put, mug]"),
        ("", "an empty reply"),
    ],
)
def test_an_unreadable_reply_is_a_failed_step(reply: str, name: str) -> None:
    backend = Script((reply, "Subtask: [End]"))
    result, steps = run(backend)
    assert result.outcome is Outcome.ENDED
    assert steps[0].error_code is ErrorCode.NOT_IN_LIST
    assert steps[0].feedback == f"{name} is not in the action list! You should only choose actions in the list."
    assert not steps[0].success
    assert steps[0].attempts == 0
    assert steps[0].raw_output == reply
    assert backend.requests[1].history == f"(1) {name}(fail) "


def test_an_unreadable_reply_never_ends_the_episode() -> None:
    result, _ = run(Script(("the end", "Subtask: [End, the task]")), max_steps=4)
    assert result.outcome is Outcome.STEP_LIMIT


def test_the_step_limit() -> None:
    result, steps = run(Script(("Subtask: [Go to, kitchen]",)))
    assert result.outcome is Outcome.STEP_LIMIT
    assert result.steps == len(steps) == 20


def test_end_at_the_last_step_counts() -> None:
    result, _ = run(Script(BRING_MUG), max_steps=6)
    assert result.outcome is Outcome.ENDED


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (PlannerError("out of credit\nsorry"), "script: out of credit sorry"),
        (TimeoutError("read"), "script: no reply within 300 s: read"),
        (KeyError("choices"), "script: KeyError: 'choices'"),
    ],
)
def test_a_planner_that_gives_up_is_a_planner_failure(error: Exception, cause: str) -> None:
    def fail(request: PlanRequest, deadline: Deadline) -> None:
        if request.step == 3:
            raise error

    result, steps = run(Script(BRING_MUG, before_reply=fail))
    assert result.outcome is Outcome.PLANNER_FAILURE
    assert result.cause == cause
    assert len(steps) == 2


@dataclass
class BrokenPorts(InstantPorts):
    """Ports of which one call raises, from its n-th time on."""

    broken: str = ""
    error: Exception = field(default_factory=lambda: InfrastructureError("get_observation: the server is gone"))
    working: int = 0

    def _use(self, name: str) -> None:
        if name == self.broken:
            self.working -= 1
            if self.working < 0:
                raise self.error

    def reset(self) -> int:
        self._use("reset")
        return super().reset()

    def observe(self) -> Observed:
        self._use("observe")
        return super().observe()

    def execute(self, step: int, subtask: Subtask, inventory: Inventory) -> Executed:
        self._use("execute")
        return super().execute(step, subtask, inventory)


@pytest.mark.parametrize(
    ("broken", "working", "steps"), [("reset", 0, 0), ("observe", 0, 0), ("observe", 2, 2), ("execute", 3, 3)]
)
def test_a_dead_neighbour_is_an_infrastructure_failure(broken: str, working: int, steps: int) -> None:
    result, _ = run(Script(BRING_MUG), BrokenPorts(ToyWorld(), broken=broken, working=working))
    assert result.outcome is Outcome.INFRASTRUCTURE_FAILURE
    assert result.cause == "get_observation: the server is gone"
    assert result.steps == steps


@pytest.mark.parametrize("broken", ["reset", "observe", "execute"])
def test_a_port_that_was_interrupted_leaves_the_episode_cancelled(broken: str) -> None:
    result, _ = run(Script(BRING_MUG), BrokenPorts(ToyWorld(), broken=broken, error=Cancelled()))
    assert result.outcome is Outcome.CANCELLED


def test_cancellation_while_the_planner_thinks() -> None:
    cancelled = threading.Event()

    def think(request: PlanRequest, deadline: Deadline) -> None:
        if request.step == 2:
            cancelled.set()
            assert deadline.cancelled.is_set()
            raise PlannerCancelled

    ports, log, backend = InstantPorts(ToyWorld()), Log(), Script(BRING_MUG, before_reply=think)
    result = EpisodeLoop(ports, ports, log, backend, cancelled=cancelled).run(episode_info())
    assert result.outcome is Outcome.CANCELLED
    assert result.steps == 1


def test_cancellation_between_reply_and_execution_stops_before_the_robot_moves() -> None:
    cancelled = threading.Event()
    ports, log = InstantPorts(ToyWorld()), Log()
    backend = Script(BRING_MUG, before_reply=lambda request, deadline: cancelled.set())
    result = EpisodeLoop(ports, ports, log, backend, cancelled=cancelled).run(episode_info())
    assert result.outcome is Outcome.CANCELLED
    assert log.steps == []
    assert ports.world.state.stamp == 0


def test_a_cancelled_episode_does_not_start() -> None:
    cancelled = threading.Event()
    cancelled.set()
    ports, log = InstantPorts(ToyWorld()), Log()
    result = EpisodeLoop(ports, ports, log, Script(BRING_MUG), cancelled=cancelled).run(episode_info())
    assert result.outcome is Outcome.CANCELLED
    assert len(log.infos) == len(log.results) == 1


@pytest.mark.parametrize("privileged", [False, True])
def test_only_a_privileged_planner_sees_the_world_and_the_task(privileged: bool) -> None:
    backend = Script(BRING_MUG, capabilities=Capabilities(privileged=privileged))
    ports = InstantPorts(ToyWorld())
    EpisodeLoop(ports, ports, Log(), backend).run(episode_info(task_json='{"goal": []}'))
    assert all((request.world is not None) == privileged for request in backend.requests)
    assert all(bool(request.task_json) == privileged for request in backend.requests)


def test_a_planner_without_sight_is_no_planner_failure() -> None:
    result, steps = run(Script(BRING_MUG, Capabilities(images=True)))
    assert (result.outcome, steps) == (Outcome.INFRASTRUCTURE_FAILURE, [])
    assert result.cause == "planner script looks at images, but the world shows none"


def test_a_world_that_describes_nothing_is_an_infrastructure_failure() -> None:
    ports, log = InstantPorts(ToyWorld()), Log()
    prompter = Prompter(InstructionOptions(observation=ObservationKind.TEXT))
    result = EpisodeLoop(ports, ports, log, Script(BRING_MUG), prompter=prompter).run(episode_info())
    assert result.outcome is Outcome.INFRASTRUCTURE_FAILURE
    assert result.cause == "instruction.observation is text, but the world describes nothing"
