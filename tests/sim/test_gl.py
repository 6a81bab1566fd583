"""Which OpenGL is taken."""

from __future__ import annotations

import pytest

from homie_sim import gl


@pytest.mark.parametrize(
    ("present", "chosen"),
    [
        ({"libEGL.so.1", "libOpenGL.so.0", "libOSMesa.so.8"}, "egl"),
        ({"libEGL.so.1", "libOSMesa.so.8"}, "osmesa"),
        ({"libOSMesa.so.8"}, "osmesa"),
        ({"libEGL.so.1"}, "disable"),
    ],
)
def test_egl_before_osmesa_if_complete(monkeypatch: pytest.MonkeyPatch, present: set[str], chosen: str) -> None:
    monkeypatch.delenv(gl.VARIABLE, raising=False)
    monkeypatch.setattr(gl, "_loads", present.__contains__)
    assert gl.choose_backend() == chosen


def test_a_choice_made_by_the_user_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gl.VARIABLE, "osmesa")
    monkeypatch.setattr(gl, "_loads", lambda library: True)
    assert gl.choose_backend() == "osmesa"


def test_a_choice_that_cannot_work_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gl.VARIABLE, "osmesa")
    monkeypatch.setattr(gl, "_loads", lambda library: False)
    with pytest.raises(gl.GraphicsError, match=r"MUJOCO_GL: 'osmesa' needs libOSMesa.so.8.*apt-get install") as caught:
        gl.choose_backend()
    assert "\n" not in str(caught.value)
