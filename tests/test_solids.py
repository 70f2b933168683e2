"""Shapes of bodies, and what elements have beside links: volumes, radii, files, errors."""

from __future__ import annotations

import base64
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.results.plan import drawing_plan
from varimech.web.animation import moving

OUTLINE = [(0, 0), (0.3, 0), (0.3, 0.1), (0.1, 0.1), (0.1, 0.2), (0, 0.2)]
"""An L, which is not convex."""
TETRAHEDRON = """v 0 0 0
v 100 0 0
v 0 100 0
v 0 0 100
f 1 3 2
f 1 2 4
f 2 3 4
f 1 4 3
"""


def body_with(shape: Any, **options: Any) -> vm.Mechanism:
    m = vm.Mechanism("block", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("block", mass=1.0, inertia=(1, 1, 1), points={"O": (0.5, 0, 0)}, shape=shape, **options)
    m.spherical("O")
    return m


def triangles(m: vm.Mechanism) -> np.ndarray:
    """Corners of all triangles of the first surface in the frame of its body, (triangle, corner, component)."""
    plan: Any = drawing_plan(m.data)
    surface = plan["surfaces"][0]
    body, name = surface["point"].split(".")
    local = m.data.parameter_set.evaluate(m.data.bodies[body].points[name].local).ravel()
    vertices = np.frombuffer(base64.b64decode(surface["vertices"]), "<f4").reshape(-1, 3)
    corners = np.frombuffer(base64.b64decode(surface["triangles"]), "<u4").reshape(-1, 3)
    return np.asarray((vertices.astype(float) + local)[corners])


def volume_and_centre(m: vm.Mechanism) -> tuple[float, np.ndarray]:
    """By the divergence theorem: only a closed surface with its outside outside has these."""
    t = triangles(m)
    volumes = np.einsum("ti,ti->t", t[:, 0], np.cross(t[:, 1], t[:, 2])) / 6
    return float(volumes.sum()), (volumes[:, None] * t.sum(axis=1) / 4).sum(axis=0) / volumes.sum()


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (vm.box((0.3, 0.2, 0.1), at=(0.1, 0.2, 0.3)), 0.006),
        (vm.cylinder(0.1, 0.4, at=(0.1, 0.2, 0.3)), 40 / 2 * math.sin(2 * math.pi / 40) * 0.004),
    ],
)
def test_volumes_and_places(shape: vm.Solid, volume: float) -> None:
    found, centre = volume_and_centre(body_with(shape))
    assert found == pytest.approx(volume, rel=1e-5)
    assert centre == pytest.approx([0.1, 0.2, 0.3], abs=1e-6)


@pytest.mark.parametrize("outline", [OUTLINE, OUTLINE[::-1]])
def test_an_outline_that_is_not_convex(outline: list[tuple[float, float]]) -> None:
    found, centre = volume_and_centre(body_with(vm.extrusion(outline, 0.05)))
    assert found == pytest.approx((0.03 + 0.01) * 0.05, rel=1e-5)
    expected = (0.03 * np.array([0.15, 0.05]) + 0.01 * np.array([0.05, 0.15])) / 0.04
    assert centre == pytest.approx([*expected, 0], abs=1e-6)


def test_a_shape_is_turned_and_has_units_and_parameters() -> None:
    m = vm.Mechanism("block", gravity=(0, 0, -9.81))
    m.parameter("L", 0.4, unit="m")
    m.ground_point("O", (0, 0, 0))
    turned = vm.cylinder("20 mm", "L", rotation=vm.rotation((0, 1, 0), math.pi / 2))
    m.bar("rod", "O", "E", length="L", mass=1.0, shape=[turned])
    corners = triangles(m).reshape(-1, 3)
    assert np.ptp(corners, axis=0) == pytest.approx([0.4, 0.04, 0.04], rel=1e-3)


def test_a_mesh_from_a_file(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "part.obj").write_text(TETRAHEDRON)
    found, centre = volume_and_centre(body_with(vm.mesh(tmp_path / "part.obj", scale=1e-3)))
    assert found == pytest.approx(0.1**3 / 6, rel=1e-5)
    assert centre == pytest.approx([0.025] * 3, rel=1e-5)


@pytest.mark.parametrize("kind", ["stl", "glb", "ply"])
def test_meshes_of_other_formats(tmp_path: Path, kind: str) -> None:
    trimesh = pytest.importorskip("trimesh")
    part = trimesh.creation.box(extents=(30, 20, 10))
    part.apply_translation((5, 10, 15))
    part.export(tmp_path / f"part.{kind}")
    shape = vm.mesh(tmp_path / f"part.{kind}", scale="1e-3", at=(0.1, 0, 0))
    found, centre = volume_and_centre(body_with(shape))
    assert found == pytest.approx(0.03 * 0.02 * 0.01, rel=1e-5)
    assert centre == pytest.approx([0.105, 0.01, 0.015], abs=1e-6)


def test_a_scene_of_parts_is_one_mesh(tmp_path: Path) -> None:
    """glTF files are scenes, whose parts have places of their own."""
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.Scene()
    away = np.eye(4)
    away[0, 3] = 4.0
    scene.add_geometry(trimesh.creation.box(extents=(1, 1, 1)))
    scene.add_geometry(trimesh.creation.box(extents=(2, 1, 1)), transform=away)
    scene.export(tmp_path / "parts.glb")
    found, centre = volume_and_centre(body_with(vm.mesh(tmp_path / "parts.glb")))
    assert found == pytest.approx(3.0, rel=1e-6)
    assert centre == pytest.approx([8 / 3, 0, 0], abs=1e-6)


def test_shapes_in_files(tmp_path: Path) -> None:
    m = body_with([vm.box((0.3, 0.2, 0.1), at=(0.1, 0, 0)), vm.extrusion(OUTLINE, "5 mm")])
    path = m.to_file(tmp_path / "block.yaml")
    again = vm.Mechanism.from_file(path)
    assert drawing_plan(again.data)["surfaces"] == drawing_plan(m.data)["surfaces"]
    text = path.read_text(encoding="utf-8").replace("thickness: 5 mm", "")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(vm.FileError, match="thickness"):
        vm.Mechanism.from_file(path)


def test_meshes_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the model in another folder still finds the mesh."""
    pytest.importorskip("trimesh")
    (tmp_path / "part.obj").write_text(TETRAHEDRON)
    monkeypatch.chdir(tmp_path)
    m = body_with(vm.mesh("part.obj", scale=1e-3))
    (tmp_path / "copies").mkdir()
    again = vm.Mechanism.from_file(m.to_file(tmp_path / "copies" / "block.yaml"))
    assert drawing_plan(again.data)["surfaces"] == drawing_plan(m.data)["surfaces"]


@pytest.mark.parametrize(
    ("shape", "match"),
    [
        ("box", "is not a shape"),
        (vm.box((1, 2)), "three sides"),
        (vm.box((1, 2, -3)), "must be positive"),
        (vm.cylinder(0.1, 0), "must be positive"),
        (vm.extrusion([(0, 0), (1, 1), (1, 0), (0, 1)], 1), "crosses itself"),
        (vm.extrusion([(0, 0), (1, 1)], 1), "three or more"),
        (vm.mesh("nowhere.stl"), "no such file|needs the package"),
    ],
)
def test_what_is_no_shape(shape: Any, match: str) -> None:
    with pytest.raises(vm.ModelError, match=match):
        body_with(shape)


def gears(mesh: str = "external") -> vm.Mechanism:
    m = vm.Mechanism("gears", dimension=2)
    apart = 0.3 if mesh == "external" else 0.1
    m.ground_point("A", (0, 0))
    m.ground_point("B", (apart, 0))
    for body, point in (("a", "A"), ("b", "B")):
        m.body(body, mass=1.0, inertia=0.01, points={point: (0, 0)})
        m.revolute(point)
    m.gear("mesh", "A", "B", teeth=(20, 40), mesh=mesh)
    m.start(angle={"A": 0.0}, speed={"A": 1.0})
    return m


@pytest.mark.parametrize(("mesh", "radii"), [("external", (0.1, 0.2)), ("internal", (0.1, 0.2))])
def test_wheels_that_mesh_touch_each_other(mesh: str, radii: tuple[float, float]) -> None:
    """By their teeth and the distance of their axes; the ring reaches beyond its pitch circle."""
    data: Any = moving(gears(mesh).simulate(0.1, step=0.01, backend="interpreted"), [])
    wheels = data["figures"]
    assert [w["radius"] for w in wheels] == pytest.approx(radii)
    assert [w["teeth"] for w in wheels] == [20, 40]
    assert [w["ring"] for w in wheels] == [False, mesh == "internal"]


def belt(crossed: bool = False) -> vm.Mechanism:
    m = vm.Mechanism("belt", dimension=2)
    m.ground_point("A", (0, 0))
    m.ground_point("B", (0.5, 0.1))
    for body, point in (("a", "A"), ("b", "B")):
        m.body(body, mass=1.0, inertia=0.01, points={point: (0, 0)})
        m.revolute(point)
    m.belt("belt", "A", "B", radii=(0.08, 0.16), crossed=crossed)
    m.start(angle={"A": 0.0}, speed={"A": 3.0})
    return m


def rack(reverse: bool = False) -> vm.Mechanism:
    m = vm.Mechanism("rack", dimension=2)
    m.ground_point("A", (0, 0))
    m.ground_point("C", (0, -0.05))
    m.body("pinion", mass=1.0, inertia=0.01, points={"A": (0, 0)})
    m.bar("rack", "C", "E", length=0.3, mass=1.0)
    m.revolute("A")
    m.prismatic("slide", "ground.C", "rack.C", axis=(1, 0))
    m.rack_and_pinion("mesh", "A", "slide", radius=0.05, reverse=reverse)
    m.start(angle={"A": 0.0}, speed={"A": 2.0})
    return m


def test_belts_and_racks_are_drawn() -> None:
    data: Any = moving(belt(crossed=True).simulate(0.1, step=0.01, backend="interpreted"), [])
    band = data["figures"][2]
    assert [f["kind"] for f in data["figures"]] == ["wheel", "wheel", "belt"]
    assert (band["radius"], band["mate_radius"], band["reversed"]) == (0.08, 0.16, True)
    assert data["points"][band["mate"]] == "b.B"
    run = rack().simulate(0.5, step=0.01, backend="interpreted")
    data = moving(run, [])
    (bar,) = data["figures"]
    assert bar["half"] == pytest.approx(run.displacement("slide")[-1].item() + 1.5 * 0.05)
    bodies = {name: bar[name] for name in ("body", "mate_body", "axis_body")}
    assert bodies == {"body": "rack", "mate_body": "pinion", "axis_body": None}
    assert len({bar[name] for name in ("frame", "mate_frame", "axis_frame")}) == 3


def test_the_picture_contains_what_bodies_have(tmp_path: Path) -> None:
    data: Any = moving(gears().simulate(0.1, step=0.01, backend="interpreted"), [])
    (left, low), (right, high) = data["box"]
    assert right - left == pytest.approx(0.1 + 0.3 + 0.2)
    assert high - low == pytest.approx(2 * 0.2)


def test_reactions_and_bending_moments_are_those_of_the_run() -> None:
    run = gears().simulate(0.1, step=0.01, backend="interpreted")
    data: Any = moving(run, [])
    values = np.frombuffer(base64.b64decode(data["reactions"]["values"]), "<f4").reshape(-1, 2, 2)
    assert values[:, 1] == pytest.approx(run.reaction("B").to_numpy(), rel=1e-5)
    assert data["bending"] is None


def test_movies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image, ImageSequence

    run = gears().simulate(0.1, step=0.01, backend="interpreted")
    with Image.open(run.animate(tmp_path / "run.gif", frames=3, seconds=0.6)) as movie:
        assert len([*ImageSequence.Iterator(movie)]) == 3
        assert movie.info["duration"] == 200
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(vm.ModelError, match="ffmpeg"):
        run.animate(tmp_path / "run.mp4")
    fake = tmp_path / "ffmpeg"  # keeps what it is given
    fake.write_text('#!/bin/sh\nfor last; do :; done\nexec /bin/cat > "$last"\n')
    fake.chmod(0o755)
    pixels = run.animate(tmp_path / "run.mp4", frames=3, seconds=0.6).read_bytes()
    assert len(pixels) % (3 * 3) == 0
    assert len(pixels) > 3 * 100 * 100
    with pytest.raises(vm.ModelError, match=r"\.gif or \.mp4"):
        run.animate(tmp_path / "run.avi")
