"""Pictures: four different views, and a world that does not notice them."""

from __future__ import annotations

import importlib
import math

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from homie_sim.fetch_model import ROBOT_GROUP
from homie_sim.furniture.parts import DECORATION_GROUP
from homie_sim.gl import choose_backend
from homie_sim.house_builder import CUTAWAY_GROUP
from homie_sim.rendering import (
    TOP_FOV,
    TOP_HEIGHT,
    TOP_WIDTH,
    VIEW_HEADINGS,
    RenderError,
    Viewer,
    ray_directions,
    renderer_name,
    top_down_camera,
    view_cameras,
)
from homie_sim.world import MujocoWorld


def test_four_different_pictures(drawn: MujocoWorld) -> None:
    views = drawn.views()
    assert list(views) == ["front", "left", "back", "right"]
    for picture in views.values():
        assert picture.shape == (256, 256, 3) and picture.dtype == np.uint8
        assert picture.std() > 10
    pictures = list(views.values())
    for index, picture in enumerate(pictures):
        for other in pictures[:index]:
            assert np.abs(picture.astype(int) - other).mean() > 5


def test_views_turn_counter_clockwise_with_the_robot(drawn: MujocoWorld) -> None:
    drawn.set_joint_positions({"base_yaw": 0.0})
    left = drawn.views()["left"]
    drawn.set_joint_positions({"base_yaw": math.pi / 2})
    front = drawn.views()["front"]
    forward = view_cameras(drawn.data)["front"].forward
    drawn.reset(0)
    assert forward[1] > 0.9
    # The head's axis is not the base's middle, so the pictures differ a little.
    assert np.abs(left.astype(int) - front).mean() < 25
    assert list(VIEW_HEADINGS.values()) == pytest.approx([0, math.pi / 2, math.pi, 3 * math.pi / 2])


def test_rays_meet_what_the_segmentation_shows(drawn: MujocoWorld) -> None:
    """Ray casting, which draws nothing, meets the same geoms at the same distances, but for pixels at edges."""
    drawn.reset(0)
    seen = np.isin(np.arange(6), (0, ROBOT_GROUP, DECORATION_GROUP, CUTAWAY_GROUP)).astype(np.uint8)
    rng = np.random.default_rng(0)
    agree = []
    for view in drawn.viewer.segmented_views(drawn.data).values():
        assert view.geoms.shape == view.depth.shape == (256, 256)
        rays = ray_directions(view.camera)
        for row, column in rng.integers(0, 256, (100, 2)):
            hit = np.full(1, -1, dtype=np.int32)
            distance = mujoco.mj_ray(drawn.model, drawn.data, view.camera.position, rays[row, column], seen, 1, -1, hit)
            geom = int(hit[0])
            if geom >= 0 and drawn.model.geom_rgba[geom][3] == 1:  # what can be looked through is left out
                agree.append(view.geoms[row, column] == geom and abs(view.depth[row, column] - distance) < 0.02)
    assert len(agree) > 200
    assert np.mean(agree) > 0.97


def test_pictures_do_not_touch_the_physics(drawn: MujocoWorld) -> None:
    drawn.reset(5)
    drawn.tick(20)
    undisturbed = drawn.data.qpos.copy()
    drawn.reset(5)
    for _ in range(20):
        drawn.views()
        drawn.third_person()
        drawn.tick()
    assert np.array_equal(drawn.data.qpos, undisturbed)


def test_a_world_with_textures_moves_like_one_without(drawn: MujocoWorld, world: MujocoWorld) -> None:
    drawn.reset(2)
    world.reset(2)
    drawn.tick(30)
    world.tick(30)
    assert np.array_equal(drawn.data.qpos, world.data.qpos)


def test_head_camera_and_depth(drawn: MujocoWorld) -> None:
    drawn.reset(0)
    assert drawn.head_camera().shape == (480, 640, 3)
    depth = drawn.head_depth()
    assert depth.shape == (480, 640)
    # East of the start the living room's far wall is at x = 9.8.
    assert 5.0 < float(np.median(depth[200:240, 300:340])) < 6.5


def test_third_person_sees_the_robot(drawn: MujocoWorld) -> None:
    picture = drawn.third_person()
    assert picture.shape == (360, 640, 3)
    blue = (picture[..., 2] > 120) & (picture[..., 0] < 60)
    assert blue.sum() > 50


def test_from_above_all_rooms_are_seen_north_up(drawn: MujocoWorld) -> None:
    drawn.reset(0)
    picture = drawn.top_down()
    assert picture.shape == (480, 640, 3)
    camera = top_down_camera(drawn.house)
    scale = 0.5 * TOP_HEIGHT / (np.tan(np.radians(TOP_FOV) / 2) * camera.position[2])

    def color(x: float, y: float) -> NDArray[np.int_]:
        row = TOP_HEIGHT / 2 - (y - camera.position[1]) * scale
        return picture[round(row), round(TOP_WIDTH / 2 + (x - camera.position[0]) * scale)].astype(int)

    tiles, boards = color(1.0, 1.0), color(8.5, 1.0)
    assert np.ptp(tiles) < 40 and boards[0] > boards[2] + 40
    for room in drawn.house.rooms:
        for x in room.x:
            for y in room.y:
                offset = np.abs(np.array([x, y]) - camera.position[:2]) * scale
                assert offset[0] < TOP_WIDTH / 2 and offset[1] < TOP_HEIGHT / 2


def test_a_driver_has_a_name(drawn: MujocoWorld) -> None:
    before = drawn.top_down()
    assert "OpenGL" in renderer_name()
    assert np.array_equal(drawn.top_down(), before)


def test_a_driver_that_refuses_is_a_render_error(drawn: MujocoWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[str] = []

    class Context:
        def __init__(self, width: int, height: int) -> None:
            """An OpenGL context that opens, but is good for nothing."""

        def make_current(self) -> None:
            pass

        def free(self) -> None:
            freed.append("context")

    def refuse(*details: object) -> None:
        raise mujoco.FatalError("Offscreen framebuffer is not complete, error 0x8cdd")

    backend = importlib.import_module(f"mujoco.{choose_backend()}")
    monkeypatch.setattr(backend, "GLContext", Context)
    monkeypatch.setattr(mujoco, "MjrContext", refuse)
    with pytest.raises(RenderError, match="framebuffer is not complete"):
        Viewer(drawn.model, drawn.house)
    assert freed == ["context"]


def test_drawing_is_counted(drawn: MujocoWorld) -> None:
    before, images = drawn.render_wall_seconds, drawn.viewer.images
    drawn.views()
    assert drawn.render_wall_seconds > before and drawn.viewer.images == images + 4
