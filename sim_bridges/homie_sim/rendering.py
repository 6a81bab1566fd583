"""Pictures of the world: the planner's four views, the head camera, and a third person's view of the scene.

One :class:`Viewer` belongs to one thread, which creates, uses and closes it. Drawing changes nothing in the physics.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_sim.fetch_model import ROBOT_GROUP, TRUNK_GROUP
from homie_sim.furniture.parts import DECORATION_GROUP
from homie_sim.gl import INSTALL_HINT, choose_backend
from homie_sim.house import House
from homie_sim.house_builder import CUTAWAY_GROUP

Image = NDArray[np.uint8]
Depth = NDArray[np.float32]
Vector = NDArray[np.float64]

VIEW_SIZE = 256
VIEW_FOV = 90.0
"""Degrees, horizontally and vertically."""

VIEW_PITCH = math.radians(20)
"""How far the four views look down."""

VIEW_HEADINGS = {"front": 0.0, "left": 0.5 * math.pi, "back": math.pi, "right": 1.5 * math.pi}
"""Counter-clockwise from the robot's heading."""

HEAD_WIDTH, HEAD_HEIGHT = 640, 480
HEAD_FOV = 50.0
"""Degrees, vertically."""

THIRD_WIDTH, THIRD_HEIGHT = 640, 360
THIRD_FOV = 38.0

TOP_WIDTH, TOP_HEIGHT = 640, 480
TOP_FOV = 30.0
"""Degrees, vertically: so little that walls hide next to nothing."""

_TOP_MARGIN = 1.06
_THIRD_ASIDE, _THIRD_AHEAD = 1.5, 0.25
_THIRD_FROM_WALL = 0.4

_NEAR, _FAR = 0.03, 30.0
_EYE_ABOVE_PAN = 0.0805
"""Height of the head camera above the head's pan joint."""

_BASE_GROUPS = (0, ROBOT_GROUP, DECORATION_GROUP)
_VIEW_GROUPS = (*_BASE_GROUPS, CUTAWAY_GROUP)
_HEAD_CAMERA_GROUPS = (*_VIEW_GROUPS, TRUNK_GROUP)
_THIRD_GROUPS = (*_BASE_GROUPS, TRUNK_GROUP)


class RenderError(RuntimeError):
    """Nothing can be drawn on this machine. One line that says what to install."""


@dataclass(frozen=True, slots=True)
class Camera:
    """A pinhole camera: place, direction, upward direction, vertical field of view in degrees, picture size."""

    position: Vector
    forward: Vector
    up: Vector
    fov: float
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Segmentation:
    """What a camera sees, pixel by pixel, (height, width) each: ids of geoms, -1 for none; metres along its axis."""

    geoms: NDArray[np.int32]
    depth: Depth
    camera: Camera


class Viewer:
    """Draws one model. Use it as a context manager, or call :meth:`close`."""

    def __init__(self, model: mujoco.MjModel, house: House) -> None:
        """Open an OpenGL context in the calling thread.

        Raises:
            RenderError: there is no working OpenGL here.
        """
        self._model = model
        self._house = house
        self._context, self._target = _open(model, HEAD_WIDTH, HEAD_HEIGHT)
        self._target.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._target)
        self._scene = mujoco.MjvScene(model, maxgeom=model.ngeom + 100)
        self._free_camera = mujoco.MjvCamera()
        self.wall_seconds = 0.0
        self.images = 0

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the OpenGL context; to be called in the thread that made it."""
        self._target.free()
        self._context.free()

    def views(self, data: mujoco.MjData) -> dict[str, Image]:
        """Pictures to the front, left, back and right of the current heading; (256, 256, 3) each.

        They are taken from where the head camera is, by a camera that turns alone: the robot does not move.
        """
        with self._drawing(data, _VIEW_GROUPS, len(VIEW_HEADINGS)):
            return {name: self._draw(camera) for name, camera in view_cameras(data).items()}

    def segmented_views(self, data: mujoco.MjData) -> dict[str, Segmentation]:
        """What each pixel of the four :meth:`views` shows, and how far away it is; through glass as in the pictures."""
        with self._drawing(data, _VIEW_GROUPS, len(VIEW_HEADINGS)):
            self._hide_translucent()
            return {name: self._draw_segmentation(camera) for name, camera in view_cameras(data).items()}

    def head_camera(self, data: mujoco.MjData) -> Image:
        """What the head camera sees; (480, 640, 3)."""
        with self._drawing(data, _HEAD_CAMERA_GROUPS):
            return self._draw(head_camera(data))

    def head_depth(self, data: mujoco.MjData) -> Depth:
        """Distance along the head camera's axis, metres; (480, 640)."""
        with self._drawing(data, _HEAD_CAMERA_GROUPS):
            return self._draw_depth(head_camera(data))

    def third_person(self, data: mujoco.MjData) -> Image:
        """Robot and rooms from outside, through the cut-away walls; (360, 640, 3)."""
        with self._drawing(data, _THIRD_GROUPS):
            return self._draw(third_person_camera(data, self._house))

    def top_down(self, data: mujoco.MjData) -> Image:
        """The whole house from straight above, north up; (480, 640, 3)."""
        return self.picture(data, top_down_camera(self._house))

    def picture(self, data: mujoco.MjData, camera: Camera, *, cutaway: bool = False) -> Image:
        """What a camera anywhere sees, without the cut-away walls if wanted; (height, width, 3), at most 480 x 640."""
        with self._drawing(data, _THIRD_GROUPS if cutaway else _HEAD_CAMERA_GROUPS):
            return self._draw(camera)

    @contextmanager
    def _drawing(self, data: mujoco.MjData, groups: tuple[int, ...], images: int = 1) -> Iterator[None]:
        """Make the scene ready to be drawn, and count the images and the wall time."""
        start = time.perf_counter()
        self._update_scene(data, groups)
        yield
        self.wall_seconds += time.perf_counter() - start
        self.images += images

    def _update_scene(self, data: mujoco.MjData, groups: tuple[int, ...]) -> None:
        self._context.make_current()
        option = mujoco.MjvOption()
        option.geomgroup[:] = 0
        option.geomgroup[list(groups)] = 1
        option.sitegroup[:] = 0
        mujoco.mjv_updateScene(
            self._model, data, option, None, self._free_camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene
        )

    def _draw(self, camera: Camera) -> Image:
        picture = np.empty((camera.height, camera.width, 3), dtype=np.uint8)
        mujoco.mjr_readPixels(picture, None, self._render(camera), self._target)
        return np.ascontiguousarray(picture[::-1])

    def _draw_depth(self, camera: Camera) -> Depth:
        buffer = np.empty((camera.height, camera.width), dtype=np.float32)
        mujoco.mjr_readPixels(None, buffer, self._render(camera), self._target)
        return _distance(buffer)

    def _draw_segmentation(self, camera: Camera) -> Segmentation:
        colors = np.empty((camera.height, camera.width, 3), dtype=np.uint8)
        buffer = np.empty((camera.height, camera.width), dtype=np.float32)
        flags = self._scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = True
        try:
            mujoco.mjr_readPixels(colors, buffer, self._render(camera), self._target)
        finally:
            flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = False
        # A color is the number of a drawn part, from 1 and in three bytes, red the lowest; 0 where nothing was drawn.
        part = colors.astype(np.int32) @ np.array([1, 1 << 8, 1 << 16], dtype=np.int32)
        return Segmentation(np.ascontiguousarray(self._geom_of_part()[part][::-1]), _distance(buffer), camera)

    def _geom_of_part(self) -> NDArray[np.int32]:
        """The model's geom by the number of the drawn part, -1 for what is none."""
        geoms = self._scene.geoms[: self._scene.ngeom]
        found = np.full(self._scene.ngeom + 1, -1, dtype=np.int32)
        for drawn in geoms:
            if drawn.segid >= 0 and drawn.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                found[drawn.segid + 1] = drawn.objid
        return found

    def _hide_translucent(self) -> None:
        for drawn in self._scene.geoms[: self._scene.ngeom]:
            if drawn.rgba[3] < 1:
                drawn.segid = -1  # it is not drawn in a segmentation

    def _render(self, camera: Camera) -> mujoco.MjrRect:
        half_height = _NEAR * math.tan(math.radians(camera.fov) / 2)
        for eye in self._scene.camera:
            eye.pos = camera.position
            eye.forward = camera.forward
            eye.up = camera.up
            eye.frustum_center = 0
            eye.frustum_width = half_height * camera.width / camera.height
            eye.frustum_bottom = -half_height
            eye.frustum_top = half_height
            eye.frustum_near = _NEAR
            eye.frustum_far = _FAR
        area = mujoco.MjrRect(0, 0, camera.width, camera.height)
        mujoco.mjr_render(area, self._scene, self._target)
        return area


def renderer_name() -> str:
    """What draws here, as the driver names itself, e.g. ``llvmpipe``; found out by opening a small context.

    Raises:
        RenderError: there is no working OpenGL here.
    """
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    context, target = _open(model, 16, 16)
    try:
        gl = importlib.import_module("OpenGL.GL")
        name, version = gl.glGetString(gl.GL_RENDERER), gl.glGetString(gl.GL_VERSION)
        return f"{name.decode()}, OpenGL {version.decode()}"
    finally:
        target.free()
        context.free()


def _distance(buffer: NDArray[np.float32]) -> Depth:
    """Metres along the camera's axis, top row first.

    Depth is kept reversed, 1 at the near plane and 0 at the far one: that is where floats are fine.
    """
    distance = _NEAR * _FAR / (_NEAR + buffer * (_FAR - _NEAR))
    return np.ascontiguousarray(distance[::-1])


def view_cameras(data: mujoco.MjData) -> dict[str, Camera]:
    """The cameras of the four views, level but for ``VIEW_PITCH``."""
    head = data.body(fetch.mjcf_name("head_pan_link")).xpos
    position = head + np.array([0, 0, _EYE_ABOVE_PAN])
    heading = math.atan2(*data.body(fetch.BASE_BODY).xmat.reshape(3, 3)[1::-1, 0])
    return {
        name: _looking(position, heading + turn, -VIEW_PITCH, VIEW_FOV, VIEW_SIZE, VIEW_SIZE)
        for name, turn in VIEW_HEADINGS.items()
    }


def ray_directions(camera: Camera) -> Vector:
    """From the camera through the middle of each pixel, as far as one metre along its axis; (height, width, 3)."""
    half = math.tan(math.radians(camera.fov) / 2)
    up = half * (1 - (2 * np.arange(camera.height) + 1) / camera.height)
    right = half * ((2 * np.arange(camera.width) + 1) - camera.width) / camera.height
    sideways = np.cross(camera.forward, camera.up)
    return np.asarray(camera.forward + right[None, :, None] * sideways + up[:, None, None] * camera.up)


def head_camera(data: mujoco.MjData) -> Camera:
    """The robot's own camera, wherever its head points."""
    eye = data.camera(fetch.mjcf_name("head_camera"))
    axes = eye.xmat.reshape(3, 3)
    return Camera(eye.xpos.copy(), -axes[:, 2], axes[:, 1], HEAD_FOV, HEAD_WIDTH, HEAD_HEIGHT)


def third_person_camera(data: mujoco.MjData, house: House) -> Camera:
    """Follows the robot; see :func:`outside_camera`."""
    robot = data.body(fetch.BASE_BODY).xpos
    return outside_camera((float(robot[0]), float(robot[1])), house)


def outside_camera(robot: tuple[float, float], house: House) -> Camera:
    """South of the house and above it, moving along with the robot, a little to its east to look past its back."""
    south = min(room.y[0] for room in house.rooms)
    north = max(room.y[1] for room in house.rooms)
    west = min(room.x[0] for room in house.rooms) + _THIRD_FROM_WALL
    east = max(room.x[1] for room in house.rooms) - _THIRD_FROM_WALL
    target = np.array([robot[0] + _THIRD_AHEAD, 0.5 * robot[1] + 0.3 * north + 0.2 * south, 0.7])
    position = np.array([np.clip(robot[0] + _THIRD_ASIDE, west, east), south - 1.9 + 0.45 * (robot[1] - south), 2.8])
    direction = (target - position) / np.linalg.norm(target - position)
    up = np.array([0, 0, 1.0]) - direction * direction[2]
    return Camera(position, direction, up / np.linalg.norm(up), THIRD_FOV, THIRD_WIDTH, THIRD_HEIGHT)


def top_down_camera(house: House) -> Camera:
    """High above the middle of the house, so that all of it fits."""
    west, south = (min(getattr(room, axis)[0] for room in house.rooms) for axis in "xy")
    east, north = (max(getattr(room, axis)[1] for room in house.rooms) for axis in "xy")
    half = 0.5 * _TOP_MARGIN * max(north - south, (east - west) * TOP_HEIGHT / TOP_WIDTH)
    top = max((wall.height for wall in house.walls), default=0.0)
    height = top + half / math.tan(math.radians(TOP_FOV) / 2)
    position = np.array([(west + east) / 2, (south + north) / 2, height])
    return Camera(position, np.array([0, 0, -1.0]), np.array([0, 1.0, 0]), TOP_FOV, TOP_WIDTH, TOP_HEIGHT)


def camera_at(position: Vector, target: Vector, fov: float, width: int, height: int) -> Camera:
    """A level camera at ``position`` (3,) that looks at ``target`` (3,), which is not straight above or below."""
    ahead = target - position
    yaw = math.atan2(ahead[1], ahead[0])
    pitch = math.atan2(ahead[2], math.hypot(ahead[0], ahead[1]))
    return _looking(position, yaw, pitch, fov, width, height)


def _looking(position: Vector, yaw: float, pitch: float, fov: float, width: int, height: int) -> Camera:
    ahead = np.array([math.cos(yaw), math.sin(yaw), 0])
    above = np.array([0, 0, 1.0])
    forward = math.cos(pitch) * ahead + math.sin(pitch) * above
    up = -math.sin(pitch) * ahead + math.cos(pitch) * above
    return Camera(position, forward, up, fov, width, height)


def _open(model: mujoco.MjModel, width: int, height: int) -> tuple[Any, mujoco.MjrContext]:
    """An OpenGL context and MuJoCo's drawing context in it.

    The backend's module is named here because ``mujoco.GLContext`` was fixed when MuJoCo was imported, maybe by others.
    """
    try:
        context = importlib.import_module(f"mujoco.{choose_backend()}").GLContext(width, height)
        return context, _drawing_context(context, model)
    except (AttributeError, ImportError, RuntimeError, OSError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise RenderError(f"no OpenGL to draw with: {INSTALL_HINT} ({reason})") from error


def _drawing_context(context: Any, model: mujoco.MjModel) -> mujoco.MjrContext:
    """MuJoCo's part of it; when that fails, the OpenGL context is freed too."""
    with ExitStack() as failure:
        failure.callback(context.free)
        context.make_current()
        drawing = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        failure.pop_all()
    return drawing
