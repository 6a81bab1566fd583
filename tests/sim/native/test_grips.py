"""What fits between the fingers, and how."""

import numpy as np
import pytest

from homie_sim.house import House
from homie_sim.native.grips import MAX_WIDTH, grips
from homie_sim.world import MujocoWorld


def test_every_object_of_the_house_fits(world: MujocoWorld, house: House) -> None:
    for entry in house.objects:
        assert list(grips(world.model, world.data, entry.object)), entry.object


@pytest.mark.parametrize(("id", "width"), [("potted_meat_can_1", 0.066), ("cracker_box_1", 0.060), ("apple_1", 0.074)])
def test_whole_objects_are_held_by_a_level_width(world: MujocoWorld, id: str, width: float) -> None:
    found = list(grips(world.model, world.data, id))
    assert min(grip.width for grip in found) == pytest.approx(width, abs=1e-6)
    for grip in found:
        assert grip.width <= MAX_WIDTH
        # The closing direction is level in the object as it stands: its z axis is not along the fingers' y.
        assert abs(grip.pose[1, 2]) < 1e-9
        np.testing.assert_allclose(grip.pose[:3, :3] @ grip.pose[:3, :3].T, np.eye(3), atol=1e-9)


def test_a_bowl_is_held_by_its_rim(world: MujocoWorld) -> None:
    for grip in grips(world.model, world.data, "bowl_1"):
        assert grip.width < 0.03
        # The hand comes from above: its approach runs against the bowl's z axis, and its middle is beside the fingers.
        assert grip.pose[0, 2] == pytest.approx(-1)
        assert np.linalg.norm(grip.pose[:3, 3]) > 0.03


def test_a_box_that_is_too_wide_has_none(world: MujocoWorld) -> None:
    geoms = np.flatnonzero(world.model.geom_bodyid == world.model.body("cracker_box_1").id)
    before = world.model.geom_aabb[geoms].copy()
    world.model.geom_aabb[geoms, 3:] = 0.06, 0.06, 0.06
    found = list(grips(world.model, world.data, "cracker_box_1"))
    world.model.geom_aabb[geoms] = before
    assert found == []
