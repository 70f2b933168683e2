"""Drawings and animations of mode shapes, modes from files, and the commands for small motions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import varimech as vm
from varimech.benchmarks import bicycle
from varimech.cli.app import app
from varimech.results.mode_drawing import ModeDrawing


def double_pendulum() -> vm.Mechanism:
    m = vm.Mechanism("double pendulum", gravity=(0, -9.81))
    L = m.parameter("L", 0.7)
    m.ground_point("O", (0, 0))
    m.bar("one", "O", "P", length=L, mass=2.0)
    m.bar("two", "P", "Q", length=1.1, mass=3.0)
    m.revolute("O")
    m.revolute("P")
    m.start(angle={"one": -1.0, "two": -1.4})
    return m


def test_a_drawn_shape_is_the_eigenvector() -> None:
    """Small angles of M φ̈ + K φ = 0: P moves by L φ₁, Q by L φ₁ + 1.1 φ₂; the farthest by the
    amplitude."""
    modes = double_pendulum().modes()
    L1, L2, m1, m2, g = 0.7, 1.1, 2.0, 3.0, 9.81
    M = np.array([[(m1 / 3 + m2) * L1**2, m2 * L1 * L2 / 2], [m2 * L1 * L2 / 2, m2 * L2**2 / 3]])
    K = g * np.diag([(m1 / 2 + m2) * L1, m2 * L2 / 2])
    squares, shapes = np.linalg.eig(np.linalg.solve(M, K))
    for k, j in enumerate(np.argsort(squares)):
        moves = np.array([L1 * shapes[0, j], L1 * shapes[0, j] + L2 * shapes[1, j]])
        moves *= 0.2 / np.abs(moves).max()
        drawing = ModeDrawing.of(modes, k + 1, 0.2)
        frame = drawing.frame(0.0)
        drawn = np.array([frame["one.P"][0], frame["two.Q"][0]])
        np.testing.assert_allclose(drawn * np.sign(drawn[1] * moves[1]), moves, rtol=1e-9)
        np.testing.assert_allclose([frame["one.P"][1], frame["two.Q"][1]], [-0.7, -1.8], rtol=1e-9)
        np.testing.assert_allclose(drawing.frame(np.pi)["one.P"][0], -frame["one.P"][0], rtol=1e-9)
        np.testing.assert_array_equal(frame["ground.O"], [0, 0])


def test_figures_and_animations(tmp_path: Path) -> None:
    modes = double_pendulum().modes()
    (axes,) = modes.draw(2, trace="Q").axes
    assert "mode 2" in axes.get_title()
    assert modes.draw(1, style="paper").axes
    path = modes.animate(1, tmp_path / "mode.gif", frames=4, seconds=0.4)
    with Image.open(path) as picture:
        assert (picture.format, picture.info["duration"]) == ("GIF", 100)
        assert getattr(picture, "n_frames", 1) == 4
    spatial = bicycle.mechanism(tap=0.0).modes("start")
    assert spatial.draw(spatial.values.size).axes[0].name == "3d"


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    modes = double_pendulum().modes()
    with pytest.raises(vm.ModelError, match="from 1 to 2"):
        modes.draw(3)
    with pytest.raises(vm.ModelError, match="amplitude"):
        modes.draw(1, amplitude=-1.0)
    with pytest.raises(vm.ModelError, match="'R'"):
        modes.draw(1, trace="R")
    with pytest.raises(vm.ModelError, match=r"must end with \.gif or \.mp4"):
        modes.animate(1, tmp_path / "mode.avi")
    with pytest.raises(vm.ModelError, match="frames = 1"):
        modes.animate(1, tmp_path / "mode.gif", frames=1)
    m = vm.Mechanism("wheel", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("wheel", mass=1.0, inertia=0.1, points={"C": (0, 0)})
    m.revolute("O", "ground.O", "wheel.C")
    m.torsional_spring("spring", "O", stiffness=2.0)
    m.start(angle={"O": 0.0})
    with pytest.raises(vm.ModelError, match="mode 1 of 'wheel' moves no point"):
        m.modes().draw(1)


@pytest.mark.parametrize("ending", ["nc", "json"])
def test_modes_from_files_are_modes(tmp_path: Path, ending: str) -> None:
    modes = double_pendulum().modes(wrt="L")
    loaded = vm.Modes.load(modes.save(tmp_path / f"modes.{ending}"))
    assert isinstance(loaded, vm.Modes)
    assert loaded.dataset.identical(modes.dataset)
    assert str(loaded) == str(modes)
    assert loaded.info == modes.info
    np.testing.assert_allclose(loaded.eigenvalues, modes.eigenvalues, rtol=1e-15)
    np.testing.assert_array_equal(loaded.shapes, modes.shapes)
    np.testing.assert_array_equal(loaded.eigenvalue_derivatives, modes.eigenvalue_derivatives)
    assert loaded.draw(2).axes


def test_problems_have_modes() -> None:
    m = double_pendulum()
    p = m.problem(wrt="L", duration=0.1, parameters={"L": 0.8})
    other = m.modes(wrt="L", parameters={"L": 0.8})
    np.testing.assert_array_equal(p.modes().values, other.values)
    assert p.modes().parameter_names == ("L",)
    assert p.modes(time=0.1).at == "run"


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_commands(tmp_path: Path) -> None:
    out = tmp_path / "out"
    text = invoke("modes", "rotating-pendulum", "--at", "steady", "--wrt", "a", "--out", str(out))
    assert "2.1793188" in text
    assert sorted(p.name for p in out.iterdir()) == ["mode_1.png", "modes.csv", "modes.nc"]
    pendulum = ("linearize", "rotating-pendulum", "--at", "steady", "--input", "motor", "--json")
    data = json.loads(invoke(*pendulum, "--output", "tip=position('Q')"))
    assert data["coords"]["output"]["data"] == ["tip.x", "tip.y"]
    assert data["coords"]["input"]["data"] == ["motor acceleration"]
    bike = ("--from", "5", "--to", "7", "--count", "3", "--at", "start", "--set", "tap=0")
    assert "6.024262" in invoke("root-locus", "bicycle", "--parameter", "v", *bike)
    speeds = ("campbell", "bicycle", "--speed", "v", "--revolutions", "0.15", *bike, "--json")
    data = json.loads(invoke(*speeds))
    (v,), (f,) = (data["data_vars"][f"critical_{x}"]["data"] for x in ("value", "frequency"))
    assert f == pytest.approx(0.15 * v, rel=1e-12)
