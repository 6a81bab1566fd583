"""Native skills: final states, preconditions with ExecuteSkill's codes, and bad luck."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from homie_core import fetch
from homie_core.skill import SkillErrorCode, SkillOutcome, SkillTry
from homie_core.world_state import FLOOR, GRIPPER, Kind, WorldState
from homie_sim.commands import GripperCommand, JointTrajectoryCommand, NavigateCommand, run
from homie_sim.native import editor, skills
from homie_sim.native.misfortune import ASTRAY
from homie_sim.native.skills import NEAR, NativeSkills
from homie_sim.native.standing import COMFORTABLE_GAP, level_distance
from homie_sim.native.success_rates import SuccessRates
from homie_sim.world import MujocoWorld

Do = Callable[..., SkillOutcome]

CAN, TUNA, ORANGE, BOWL = "potted_meat_can_1", "tuna_fish_can_1", "orange_1", "bowl_1"
DRAWER = "kitchen_counter/drawer_1"
OBJECTS_IN_THE_OPEN = (CAN, "banana_1", "mug_1", "cracker_box_1", "apple_1", BOWL, "sugar_box_1", "sponge_1", "lemon_1")


def symbols(state: WorldState) -> dict[str, tuple[str, bool]]:
    """Where everything is, and whether it is open."""
    return {thing.id: (thing.parent, thing.is_open) for thing in state.objects}


def gap(world: MujocoWorld, id: str) -> float:
    """Between the base's circle and a thing."""
    return level_distance(world.world_state()[id], world.base_pose()) - fetch.BASE_RADIUS


def faces(world: MujocoWorld, id: str) -> bool:
    x, y, yaw = world.base_pose()
    center = world.world_state()[id].box_center
    return abs(math.remainder(math.atan2(center[1] - y, center[0] - x) - yaw, math.tau)) < 1.2


def overlaps(world: MujocoWorld, depth: float = 0.004) -> list[tuple[str, str]]:
    """Bodies that stick in each other, fingers and what they hold aside."""
    contact = world.data.contact
    names = [
        tuple(world.model.body(int(world.model.geom_bodyid[geom])).name for geom in pair)
        for pair in contact.geom[contact.dist < -depth].tolist()
    ]
    return [(one, other) for one, other in names if "finger" not in one + other]


# --- going


@pytest.mark.parametrize("target", ["fridge", "sink", "sofa", "brown_table", "tv_stand", DRAWER, CAN, TUNA, ORANGE])
def test_go_to_a_thing(do: Do, world: MujocoWorld, target: str) -> None:
    before = symbols(world.world_state())
    do("go_to", target)
    assert level_distance(world.world_state()[target], world.base_pose()) <= NEAR
    assert gap(world, target) >= 0.1
    assert faces(world, target)
    assert world.occupancy().clearance_at(*world.base_pose()[:2]) >= fetch.BASE_RADIUS
    assert overlaps(world) == []
    assert symbols(world.world_state()) == before


@pytest.mark.parametrize("room", ["living_room", "kitchen"])
def test_go_to_a_room(do: Do, world: MujocoWorld, room: str) -> None:
    do("go_to", room)
    assert level_distance(world.world_state()[room], world.base_pose()) == 0.0
    here = world.base_pose()
    do("go_to", room)
    assert world.base_pose() == here


def test_what_is_held_comes_along(do: Do, world: MujocoWorld) -> None:
    do("pick", CAN)
    do("go_to", "fridge")
    world.tick(50)
    state = world.world_state()
    assert state.held == CAN
    assert state[CAN].parent == GRIPPER
    assert level_distance(state[CAN], state.robot_pose) < 0.5


def test_there_is_no_way_out_of_a_cage(do: Do, world: MujocoWorld) -> None:
    fence = ("cracker_box_1", "sugar_box_1", CAN, "mug_1", BOWL, "master_chef_can_1", "lemon_1", "apple_1", "sponge_1")
    x, y, _ = world.base_pose()
    for id, turn in zip(fence, np.linspace(0, math.tau, len(fence), endpoint=False), strict=True):
        start = int(world.model.joint(id).qposadr[0])
        world.data.qpos[start : start + 3] = x + 0.45 * math.cos(turn), y + 0.45 * math.sin(turn), 0.11
    world.tick(20)
    here = world.base_pose()
    assert do("go_to", "sofa", must=False).error_code is SkillErrorCode.NO_PATH
    assert world.base_pose() == here


# --- picking


@pytest.mark.parametrize("target", OBJECTS_IN_THE_OPEN)
def test_pick_holds_it_between_the_fingers(do: Do, world: MujocoWorld, target: str) -> None:
    do("go_to", target)
    do("pick", target)
    world.tick(100)
    state = world.world_state()
    assert (state.held, state[target].parent) == (target, GRIPPER)
    assert world.grasp.assisted
    grip = world.data.site(fetch.GRIP_SITE).xpos
    low = np.array(state[target].box_center) - np.array(state[target].box_size) / 2
    assert np.all(grip > low - 0.02)
    assert np.all(grip < low + np.array(state[target].box_size) + 0.02)
    touching = {world.model.body(int(world.model.geom_bodyid[geom])).name for geom in _contacts_of(world, target)}
    assert touching >= {"fetch/l_gripper_finger_link", "fetch/r_gripper_finger_link"}
    assert overlaps(world) == []


def _contacts_of(world: MujocoWorld, id: str) -> set[int]:
    body = world.model.body(id).id
    pairs = world.data.contact.geom.tolist()
    return {geom for pair in pairs for geom in pair if body in {int(world.model.geom_bodyid[each]) for each in pair}}


def test_pick_keeps_the_arm_folded(do: Do, world: MujocoWorld) -> None:
    do("pick", CAN)
    positions = world.joint_positions()
    assert {joint: positions[joint] for joint in fetch.STOWED_ARM} == pytest.approx(dict(fetch.STOWED_ARM), abs=0.02)


def test_pick_from_an_open_container(do: Do, world: MujocoWorld) -> None:
    for container, target in ((DRAWER, TUNA), ("fridge", ORANGE)):
        do("open", container)
        do("pick", target)
        do("put", target, "brown_table")
        assert world.world_state()[target].parent == "brown_table"


def test_picking_twice_changes_nothing(do: Do, world: MujocoWorld) -> None:
    do("pick", CAN)
    before = symbols(world.world_state())
    do("pick", CAN)
    assert symbols(world.world_state()) == before


def test_what_the_gripper_holds_can_be_put_down_physically(do: Do, world: MujocoWorld) -> None:
    do("go_to", "brown_table")
    do("pick", CAN)
    run(world, GripperCommand(fetch.MAX_OPENING))
    world.tick(100)
    state = world.world_state()
    assert state.held == ""
    assert state[CAN].parent == FLOOR


# --- putting


@pytest.mark.parametrize("target", [CAN, "banana_1", "mug_1", "cracker_box_1", "apple_1", BOWL])
@pytest.mark.parametrize("receptacle", ["sofa", "sink", "tv_stand", "kitchen_counter", "brown_table"])
def test_put_rests_on_the_receptacle(do: Do, world: MujocoWorld, target: str, receptacle: str) -> None:
    do("pick", target)
    do("put", target, receptacle)
    before = world.world_state()
    assert (before.held, before[target].parent) == ("", receptacle)
    world.tick(100)
    after = world.world_state()
    assert after[target].parent == receptacle
    assert after[target].box_center == pytest.approx(before[target].box_center, abs=0.01)
    assert overlaps(world) == []


def test_put_into_containers(do: Do, world: MujocoWorld) -> None:
    for container, target in ((DRAWER, "lemon_1"), ("fridge", CAN)):
        do("open", container)
        do("pick", target)
        do("put", target, container)
        do("close", container)
        assert world.world_state()[target].parent == container


def test_put_next_to_what_is_there(do: Do, world: MujocoWorld) -> None:
    for target in OBJECTS_IN_THE_OPEN:
        do("pick", target)
        do("put", target, "sofa")
    assert {world.world_state()[target].parent for target in OBJECTS_IN_THE_OPEN} == {"sofa"}
    assert overlaps(world) == []


# --- opening and closing


@pytest.mark.parametrize("container", ["fridge", DRAWER])
def test_open_and_close(do: Do, world: MujocoWorld, container: str) -> None:
    do("open", container)
    world.tick(50)
    assert world.world_state()[container].open_fraction > 0.75
    assert gap(world, container) >= COMFORTABLE_GAP - 0.01
    assert overlaps(world) == []
    do("close", container)
    world.tick(50)
    assert world.world_state()[container].open_fraction < 0.05


def test_the_contents_of_a_drawer_move_with_it(do: Do, world: MujocoWorld) -> None:
    start = world.world_state()[TUNA].position
    do("open", DRAWER)
    opened = world.world_state()[TUNA]
    assert opened.parent == DRAWER
    assert start[1] - opened.position[1] == pytest.approx(0.38, abs=0.03)
    do("close", DRAWER)
    assert world.world_state()[TUNA].position == pytest.approx(start, abs=0.01)


def test_opening_twice_changes_nothing(do: Do, world: MujocoWorld) -> None:
    do("open", "fridge")
    before = repr(world.world_state()["fridge"])
    do("open", "fridge")
    assert repr(world.world_state()["fridge"]) == before


def test_a_drawer_that_is_jammed_is_stalled(do: Do, world: MujocoWorld) -> None:
    do("open", DRAWER)
    # Too tall for the drawer: it sticks out above, where the counter's top is when the drawer closes.
    start = int(world.model.joint("cracker_box_1").qposadr[0])
    inside = world.world_state()[DRAWER].box_center
    world.data.qpos[start : start + 3] = inside[0], inside[1] + 0.05, inside[2] + 0.07
    world.tick(100)
    before = symbols(world.world_state())
    assert before["cracker_box_1"][0] == DRAWER
    outcome = do("close", DRAWER, must=False)
    assert outcome.error_code is SkillErrorCode.STALLED, outcome.error_msg
    assert "kitchen_counter" in outcome.error_msg
    assert symbols(world.world_state()) == before


# --- errors


@pytest.mark.parametrize(
    ("preparation", "skill", "target", "receptacle", "code", "word"),
    [
        ((), "fly", "", "", SkillErrorCode.UNKNOWN_SKILL, "fly"),
        ((), "go_to", "moon", "", SkillErrorCode.UNKNOWN_TARGET, "moon"),
        ((), "pick", "moon", "", SkillErrorCode.UNKNOWN_TARGET, "moon"),
        ((), "pick", "sofa", "", SkillErrorCode.UNKNOWN_TARGET, "sofa"),
        ((), "open", "sofa", "", SkillErrorCode.UNKNOWN_TARGET, "sofa"),
        ((), "close", CAN, "", SkillErrorCode.UNKNOWN_TARGET, CAN),
        ((("pick", CAN),), "put", CAN, "kitchen", SkillErrorCode.UNKNOWN_TARGET, "kitchen"),
        ((("pick", CAN),), "put", CAN, "moon", SkillErrorCode.UNKNOWN_TARGET, "moon"),
        ((), "put", CAN, "sofa", SkillErrorCode.OBJECT_LOST, "nothing"),
        ((("pick", "mug_1"),), "put", CAN, "sofa", SkillErrorCode.OBJECT_LOST, "mug_1"),
        ((("pick", "mug_1"),), "pick", CAN, "", SkillErrorCode.NO_GRASP, "mug_1"),
        ((("pick", "mug_1"),), "open", "fridge", "", SkillErrorCode.NO_GRASP, "mug_1"),
        ((), "pick", TUNA, "", SkillErrorCode.NO_GRASP, "closed"),
        ((("pick", CAN),), "put", CAN, "fridge", SkillErrorCode.NO_GRASP, "closed"),
    ],
)
def test_what_cannot_be_done(
    do: Do,
    world: MujocoWorld,
    preparation: tuple[tuple[str, str], ...],
    skill: str,
    target: str,
    receptacle: str,
    code: SkillErrorCode,
    word: str,
) -> None:
    for first, thing in preparation:
        do(first, thing)
    before = symbols(world.world_state())
    outcome = do(skill, target, receptacle, must=False)
    assert (outcome.success, outcome.error_code) == (False, code)
    assert word in outcome.error_msg
    assert "\n" not in outcome.error_msg
    assert symbols(world.world_state()) == before


def test_nothing_is_put_where_no_spot_is_free(do: Do, world: MujocoWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    do("pick", CAN)
    monkeypatch.setattr(skills, "spots", lambda *_: [])
    assert do("put", CAN, "sink", must=False).error_code is SkillErrorCode.NO_GRASP
    assert world.world_state().held == CAN


def test_what_does_not_fit_between_the_fingers_stays(
    do: Do, world: MujocoWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor, "grips", lambda *_: iter(()))
    outcome = do("pick", CAN, must=False)
    assert outcome.error_code is SkillErrorCode.NO_GRASP
    assert "fingers" in outcome.error_msg
    assert world.world_state()[CAN].parent == "brown_table"


def test_too_little_time(world: MujocoWorld) -> None:
    native = NativeSkills(world)
    before, stamp = symbols(world.world_state()), world.stamp
    outcome = native.execute(SkillTry("pick", CAN, timeout=2.0))
    assert outcome.error_code is SkillErrorCode.TIMEOUT
    assert symbols(world.world_state()) == before
    assert world.stamp - stamp == pytest.approx(2e9, abs=2e8)


# --- time, order, and the physical world


def test_time_passes_for_every_try(do: Do, world: MujocoWorld) -> None:
    stamps = [world.stamp]
    for skill, target in (("go_to", "sofa"), ("pick", "lemon_1"), ("pick", CAN), ("open", "fridge")):
        do(skill, target, must=False)
        stamps.append(world.stamp)
    assert all(later > earlier for earlier, later in itertools.pairwise(stamps))
    assert all(stamp % 10_000_000 == 0 for stamp in stamps)


def test_the_same_tries_give_the_same_world(world: MujocoWorld) -> None:
    plan = [("open", "fridge", ""), ("pick", CAN, ""), ("put", CAN, "fridge"), ("close", "fridge", "")]
    ends = []
    for _ in range(2):
        world.reset(seed=5)
        native = NativeSkills(world)
        for skill, target, receptacle in plan:
            assert native.execute(SkillTry(skill, target, receptacle)).success
        ends.append(world.data.qpos.copy())
    np.testing.assert_array_equal(ends[0], ends[1])


def test_motion_goes_on_from_there(do: Do, world: MujocoWorld) -> None:
    do("pick", CAN)
    do("go_to", "sofa")
    raised = JointTrajectoryCommand(["torso_lift_joint"], [[0.2]], [3.0])
    x, y, yaw = world.base_pose()
    back = NavigateCommand(x, y - 0.5, yaw)
    assert [outcome.ok for outcome in (*run(world, raised), *run(world, back))] == [True, True]
    assert world.held == CAN


def test_an_arm_that_is_stretched_out_is_folded(do: Do, world: MujocoWorld) -> None:
    world.set_joint_positions(fetch.READY_ARM)
    do("reset_arm")
    positions = world.joint_positions()
    assert {joint: positions[joint] for joint in fetch.STOWED_ARM} == pytest.approx(dict(fetch.STOWED_ARM), abs=0.02)


# --- bad luck


def unlucky(world: MujocoWorld, rates: str, *tries: SkillTry) -> SkillOutcome:
    """The outcome of the last of ``tries``, the only one with ``rates``."""
    for each in tries[:-1]:
        assert NativeSkills(world).execute(each).success
    return NativeSkills(world, SuccessRates.parse(rates)).execute(tries[-1])


@pytest.mark.parametrize(
    ("skill", "target", "code"),
    [
        ("pick", CAN, SkillErrorCode.GRASP_FAILED),
        ("open", "fridge", SkillErrorCode.STALLED),
        ("go_to", "sofa", SkillErrorCode.NO_PATH),
    ],
)
def test_bad_luck_leaves_the_world_as_it_is(world: MujocoWorld, skill: str, target: str, code: SkillErrorCode) -> None:
    before = world.data.qpos.copy()
    assert unlucky(world, f"{skill}=0", SkillTry(skill, target)).error_code is code
    np.testing.assert_array_equal(world.data.qpos, before)
    assert world.stamp > 0


def test_a_put_that_fails_keeps_the_object(world: MujocoWorld) -> None:
    outcome = unlucky(world, "put=0", SkillTry("pick", CAN), SkillTry("put", CAN, "sofa"))
    assert outcome.error_code is SkillErrorCode.NO_MOTION
    world.tick(50)
    assert world.held == CAN


@pytest.mark.parametrize("target", [CAN, "apple_1", "banana_1"])
def test_a_put_that_loses_the_object_leaves_it_on_the_floor(world: MujocoWorld, target: str) -> None:
    tries = (SkillTry("pick", target), SkillTry("go_to", "sofa"), SkillTry("put", target, "sofa"))
    outcome = unlucky(world, "put=0,put_loss=1", *tries)
    assert outcome.error_code is SkillErrorCode.OBJECT_LOST
    state = world.world_state()
    assert (state.held, state[target].parent) == ("", FLOOR)
    assert overlaps(world) == []
    assert NativeSkills(world).execute(SkillTry("pick", target)).success


@pytest.mark.parametrize("target", ["sofa", "living_room", CAN])
def test_a_failed_go_to_does_not_end_at_its_target(world: MujocoWorld, target: str) -> None:
    ends = set()
    for seed in range(3):
        tries = (SkillTry("go_to", "sofa"), SkillTry("go_to", target), SkillTry("go_to", target, seed=seed))
        if world.world_state()[target].kind is Kind.PLACE:
            # Whoever is inside is there already: nothing is left to fail.
            assert unlucky(world, "go_to=0", *tries).success
            return
        assert unlucky(world, "go_to=0", *tries).error_code is SkillErrorCode.NO_PATH
        assert level_distance(world.world_state()[target], world.base_pose()) > ASTRAY
        assert overlaps(world) == []
        ends.add(world.base_pose())
    assert len(ends) == 3


def test_luck_has_no_say_where_nothing_is_to_be_done(world: MujocoWorld) -> None:
    assert unlucky(world, "open=0", SkillTry("open", "fridge"), SkillTry("open", "fridge")).success


def test_nothing_falls_through_the_floor_whatever_is_tried(world: MujocoWorld) -> None:
    rng = np.random.default_rng(4)
    native = NativeSkills(world, SuccessRates.parse("table_4"))
    ids = [thing.id for thing in world.world_state().objects]
    for step in range(150):
        skill = ("go_to", "pick", "put", "open", "close")[rng.integers(5)]
        target = world.held or ids[rng.integers(len(ids))]
        native.execute(SkillTry(skill, target, ids[rng.integers(len(ids))], step=step))
        state = world.world_state()
        assert all(thing.box_center[2] > 0 for thing in state.objects if thing.kind is not Kind.PLACE)
        assert np.isfinite(world.data.qpos).all()
        known = set(ids) | {GRIPPER, FLOOR, ""}
        assert all(thing.parent in known for thing in state.objects)
