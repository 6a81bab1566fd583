"""Materials of one model: made on first use, with textures or, for planning models, as plain colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import mujoco
import numpy as np

from homie_sim import textures
from homie_sim.textures import Color, Image


@dataclass(frozen=True, slots=True)
class Finish:
    """How a surface looks: average colour, opacity, material name (empty: colour only)."""

    color: Color
    alpha: float = 1.0
    material: str = ""

    def apply(self, geom: mujoco.MjsGeom) -> None:
        """Give ``geom`` this finish."""
        if self.material:
            geom.material = self.material
        else:
            geom.rgba = (*self.color, self.alpha)


@dataclass(slots=True)
class Palette:
    """Adds materials to ``spec``. Untextured, it only hands out colours, so the model needs no picture at all."""

    spec: mujoco.MjSpec
    textured: bool = True
    _finishes: dict[str, Finish] = field(default_factory=dict)

    def plain(self, color: Color, gloss: float = 0.2, alpha: float = 1.0, glow: float = 0.0) -> Finish:
        """One colour. ``gloss`` 0 matt to 1 polished, ``glow`` light of its own."""
        if not self.textured:
            return Finish(color, alpha)
        name = f"plain_{'_'.join(f'{part:.3f}' for part in (*color, gloss, alpha, glow))}"
        if name not in self._finishes:
            self.spec.add_material(
                name=name, rgba=(*color, alpha), specular=gloss, shininess=0.1 + 0.6 * gloss, emission=glow
            )
            self._finishes[name] = Finish(color, alpha, name)
        return self._finishes[name]

    def wood(self, color: Color) -> Finish:
        """Grained wood on every side of a box or cylinder."""
        return self._around(f"wood_{_key(color)}", color, lambda rng: textures.wood(color, rng), gloss=0.15)

    def stone(self, color: Color) -> Finish:
        """A worktop."""
        name = f"stone_{_key(color)}"
        return self._around(name, color, lambda rng: textures.speckled(color, rng, 0.09), gloss=0.5)

    def cloth(self, color: Color) -> Finish:
        """Upholstery."""
        return self._around(f"cloth_{_key(color)}", color, lambda rng: textures.woven(color, rng), gloss=0.0)

    def plaster(self, color: Color) -> Finish:
        """A painted wall."""
        name = f"plaster_{_key(color)}"
        return self._around(name, color, lambda rng: textures.speckled(color, rng, 0.012, 2.0), gloss=0.05)

    def boards(self, color: Color) -> Finish:
        """A floor of planks; one picture covers 2 m."""
        return self._flat(f"boards_{_key(color)}", color, lambda rng: textures.wood(color, rng, planks=10), repeat=0.5)

    def tiles(self, color: Color) -> Finish:
        """A tiled floor; one picture covers 1.6 m, four tiles."""
        grout = (0.62, 0.61, 0.58)
        return self._flat(f"tiles_{_key(color)}", color, lambda rng: textures.tiles(color, grout, rng), repeat=0.625)

    def label(self, text: str, paper: Color, ink: Color, band: Color | None = None, *, on_top: bool = False) -> Finish:
        """Print ``text`` on the four sides; the ends keep the paper's colour, unless it is printed ``on_top`` too."""
        name = f"label_{_key(paper)}_{text}".replace("\n", "_")
        side = textures.label(text, paper, ink, band)
        end = side if on_top else textures.canvas(paper)
        # MuJoCo's cube faces are +x, -x, +y, -y, +z, -z, each with its own upward direction.
        faces = [np.rot90(side), np.rot90(side, -1), np.rot90(side, 2), side, end, end]
        return self._cube(name, paper, faces, gloss=0.3)

    def sky(self, high: Color, low: Color) -> None:
        """What is seen above the walls."""
        if self.textured:
            self.spec.add_texture(
                name="sky",
                type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
                builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
                rgb1=high,
                rgb2=low,
                width=64,
                height=64,
            )

    def _around(self, name: str, color: Color, draw: Callable[[np.random.Generator], Image], gloss: float) -> Finish:
        if not self.textured:
            return Finish(color)
        return self._cube(name, color, [draw(np.random.default_rng(0))] * 6, gloss)

    def _cube(self, name: str, color: Color, faces: list[Image], gloss: float) -> Finish:
        """A texture with a picture for each side of a box."""
        if not self.textured:
            return Finish(color)
        if name not in self._finishes:
            kind = mujoco.mjtTexture.mjTEXTURE_CUBE
            self._add(name, np.concatenate(faces), kind, gloss)
            self._finishes[name] = Finish(color, 1.0, name)
        return self._finishes[name]

    def _flat(self, name: str, color: Color, draw: Callable[[np.random.Generator], Image], repeat: float) -> Finish:
        if not self.textured:
            return Finish(color)
        if name not in self._finishes:
            material = self._add(name, draw(np.random.default_rng(0)), mujoco.mjtTexture.mjTEXTURE_2D, gloss=0.1)
            material.texuniform = True
            material.texrepeat = (repeat, repeat)
            self._finishes[name] = Finish(color, 1.0, name)
        return self._finishes[name]

    def _add(self, name: str, picture: Image, kind: mujoco.mjtTexture, gloss: float) -> mujoco.MjsMaterial:
        height, width, channels = picture.shape
        texture = self.spec.add_texture(name=name, type=kind, width=width, height=height, nchannel=channels)
        texture.data = picture.tobytes()
        material = self.spec.add_material(name=name, specular=gloss, shininess=0.1 + 0.6 * gloss)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
        return material


def _key(color: Color) -> str:
    return "_".join(f"{part:.2f}" for part in color)
