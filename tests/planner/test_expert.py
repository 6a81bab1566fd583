"""The expert on the shipped tasks, from the usual and from awkward beginnings."""

import json
from dataclasses import replace

import pytest

from homie_core import goals
from homie_core.episode import EpisodeResult, Outcome, Step
from homie_core.errors import ErrorCode
from homie_core.goals import WorldScene
from homie_core.key_path import task_progress
from homie_core.subtask import Subtask
from homie_eval.emmoe.tasks import Task, load_task, shipped_tasks
from homie_planner.backend import Deadline, PlannerError, PlanRequest
from homie_planner.backends.expert import Expert
from homie_planner.config import read_config
from homie_planner.loop import EpisodeLoop
from homie_planner.parsing import parse
from homie_planner.registry import make_planner
from support.episodes import Disturbance, InstantPorts, Log, episode_info
from support.suite_episodes import initial_state
from support.toy_house import ToyWorld, house, put

CAN = "potted_meat_can_1"


def run(
    task: Task, world: ToyWorld, disturb: Disturbance | None = None, forget: float = 0.0
) -> tuple[EpisodeResult, list[Step]]:
    ports, log = InstantPorts(world, disturb), Log()
    info = episode_info(task.instruction, task.to_json())
    return EpisodeLoop(ports, ports, log, Expert(forget)).run(info), log.steps


def assert_solved(task: Task, world: ToyWorld, result: EpisodeResult, steps: list[Step]) -> None:
    assert result.outcome is Outcome.ENDED, result.cause
    assert task_progress(task.paths, steps, world.state.categories).success, [str(step.subtask) for step in steps]
    assert goals.satisfied(task.conditions, WorldScene(world.state))


@pytest.mark.parametrize("id", shipped_tasks())
def test_solves_every_shipped_task_without_an_error(id: str) -> None:
    task = load_task(id)
    world = ToyWorld(initial_state(task))
    result, steps = run(task, world)
    assert_solved(task, world, result, steps)
    assert all(step.success for step in steps)
    assert len(steps) == task.expert_length


BEGINNINGS = {
    "can on the table": ToyWorld(house({CAN: "brown_table"})),
    "fridge open": ToyWorld(house({CAN: "brown_table"}, opened=("fridge",))),
    "can on the sofa": ToyWorld(house({CAN: "sofa"})),
    "can in a closed drawer": ToyWorld(house({CAN: "kitchen_counter/drawer_2"})),
    "can in the closed fridge": ToyWorld(house({CAN: "fridge"})),
    "can in the open fridge": ToyWorld(house({CAN: "fridge"}, opened=("fridge",))),
    "can on the floor": ToyWorld(house({CAN: "floor"})),
    "can in the hand": ToyWorld(house(held=CAN)),
    "something else in the hand": ToyWorld(house(held="apple_1")),
    "something else in the hand, fridge open": ToyWorld(house(held="apple_1", opened=("fridge",))),
    "drawers open": ToyWorld(house(opened=("kitchen_counter/drawer_1", "kitchen_counter/drawer_2"))),
}


@pytest.mark.parametrize("world", BEGINNINGS.values(), ids=BEGINNINGS.keys())
def test_solves_case_1_from_awkward_beginnings(world: ToyWorld) -> None:
    task = load_task("100")
    result, steps = run(task, world)
    assert_solved(task, world, result, steps)
    assert all(step.success for step in steps)


def close_the_fridge(step: int, world: ToyWorld) -> None:
    if step == 6:
        world.act("close", "fridge")


def move_the_can(step: int, world: ToyWorld) -> None:
    if step == 4:
        world.state = put(world.state, CAN, "sofa")


@pytest.mark.parametrize(
    ("disturb", "code"),
    [(close_the_fridge, ErrorCode.CONTAINER_CLOSED), (move_the_can, ErrorCode.TOO_FAR)],
)
def test_replans_when_the_world_changes_behind_its_back(disturb: Disturbance, code: ErrorCode) -> None:
    task = load_task("100")
    world = ToyWorld(house({CAN: "brown_table"}))
    result, steps = run(task, world, disturb)
    assert code in [step.error_code for step in steps]
    assert_solved(task, world, result, steps)


def test_two_episodes_are_alike() -> None:
    task = load_task("94")
    first, second = (run(task, ToyWorld(initial_state(task)))[1] for _ in range(2))
    assert [step.raw_output for step in first] == [step.raw_output for step in second]


def test_explains_itself_and_names_the_models_of_the_paper() -> None:
    _, steps = run(load_task("100"), ToyWorld(house({CAN: "brown_table"})))
    assert steps[0].analysis == "According to my final task, I should go to the fridge to open it next."
    assert steps[3].analysis == "I successfully arrived at the green_can, so I should pick the green_can next."
    assert steps[-1].analysis.endswith("so the task is done and it is time to end.")
    assert [step.subtask.model for step in steps] == ["NoMaD", "octo", "PixNav", "RT-1-X", "NoMaD", "RT-1-X", ""]


def request(task_json: str) -> PlanRequest:
    return PlanRequest(task="", system="", prompt="", world=house(), task_json=task_json)


def test_does_not_try_again_what_was_too_difficult_if_there_is_another_way() -> None:
    fruit = [["[Pick, apple]", "[Put, apple, sofa]"], ["[Pick, lemon]", "[Put, lemon, sofa]"]]
    goal = [{"object": ["apple", "lemon"], "in": "sofa"}]
    written = {**json.loads(load_task("33").to_json()), "key_paths": [[{"any_of": fruit}, "[End]"]], "goal": goal}

    def first_act(*steps: Step) -> str:
        asked = replace(request(json.dumps(written)), steps=steps)
        return parse(Expert().plan(asked, Deadline.after(10)).text).subtask.target

    def given_up(index: int, name: str) -> Step:
        code = ErrorCode.TOO_DIFFICULT
        return Step(index, Subtask("Pick", name), False, error_code=code, attempts=3, target_id=f"{name}_1")

    assert first_act() == "apple"
    assert first_act(given_up(1, "apple")) == "lemon"
    assert first_act(given_up(1, "lemon")) == "apple"
    assert first_act(given_up(1, "apple"), given_up(2, "lemon")) == "apple", "there is no other way left"
    failed = replace(given_up(1, "apple"), error_code=ErrorCode.TOO_FAR)
    assert first_act(failed) == "apple", "nothing says that it is difficult"


def test_a_task_that_cannot_be_done_is_a_planner_failure() -> None:
    task = load_task("100")
    impossible = json.dumps({**json.loads(task.to_json()), "key_paths": [["[Pick, banana]", "[End]"]]})
    with pytest.raises(PlannerError, match="no plan"):
        Expert().plan(request(impossible), Deadline.after(10))


def test_needs_the_task() -> None:
    with pytest.raises(PlannerError, match="needs the task"):
        Expert().plan(request(""), Deadline.after(10))


def test_who_forgets_every_failure_follows_the_first_plan_to_its_end() -> None:
    task, world = load_task("100"), ToyWorld(house({CAN: "brown_table"}))
    undisturbed = [step.subtask for step in run(task, ToyWorld(house({CAN: "brown_table"})))[1]]
    result, steps = run(task, world, close_the_fridge, forget=1.0)
    assert result.outcome is Outcome.ENDED
    assert [step.subtask for step in steps] == undisturbed
    assert not steps[5].success
    assert not task_progress(task.paths, steps, world.state.categories).success


def test_who_forgets_nothing_is_the_expert() -> None:
    assert Expert().name == Expert(0.0).name == "expert"
    assert make_planner(read_config("expert", ["options.forget=0.5"])).name == "expert, forget=0.5"
    with pytest.raises(PlannerError, match=r"options of planner expert: forget 2: .*less than or equal to 1"):
        make_planner(read_config("expert", ["options.forget=2"]))


def test_what_is_forgotten_depends_on_the_seed_alone() -> None:
    task = load_task("100")
    outcomes = set()
    for _ in range(2):
        _, steps = run(task, ToyWorld(house({CAN: "brown_table"})), close_the_fridge, forget=0.5)
        outcomes.add(tuple(step.subtask for step in steps))
    assert len(outcomes) == 1
