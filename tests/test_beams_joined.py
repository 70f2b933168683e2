"""Beams among other bodies: on hubs, on supports, with bars at inner nodes, next to each other; on
all backends and in both regimes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import test_regimes as regimes
import varimech as vm
from test_beams_dynamic import beam, mass_matrix, nodes, vibrations
from test_beams_static import orders

Array = np.ndarray
RADIUS = 0.2
HUB = 0.3


def hub_with_beam(
    dimension: int, torque: float, speed: float = 0.0, **options: Any
) -> vm.Mechanism:
    """A hub that turns about its centre (about z in space), with a beam of 4 segments clamped at
    its rim.
    """
    m = vm.Mechanism("hub", dimension=dimension)
    x, inertia = np.eye(dimension)[0], HUB if dimension == 2 else (HUB, HUB, HUB)
    m.ground_point("O", np.zeros(dimension))
    m.body("hub", mass=2, inertia=inertia, points={"O": np.zeros(dimension), "A": RADIUS * x})
    beam(m, 4, area=0.1, inertia=2e-6, **options)
    m.revolute("O", axis=None if dimension == 2 else (0, 0, 1))
    m.clamp("A", "hub.A", "beam.A", direction=x)
    m.torque("motor", "hub", torque if dimension == 2 else (0, 0, torque))
    m.start(angle={"O": 0.4}, speed={"O": speed})
    return m


def angular_momentum(m: vm.Mechanism, run: vm.Run) -> Array:
    """Of hub and beam about the axis, over time."""
    r, v = (
        np.stack([measure(p).to_numpy()[:, :2] for p in nodes(m)], axis=1)
        for measure in (run.position, run.velocity)
    )
    p = np.einsum("ij,tjc->tic", mass_matrix(m.data.beams[0].segments, 1.0), v)
    about = (r[..., 0] * p[..., 1] - r[..., 1] * p[..., 0]).sum(axis=1)
    return np.asarray(about + HUB * run.angular_velocity("O").to_numpy())


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_beam_on_a_turning_hub(dimension: int) -> None:
    """What the motor gives is what both have; the beam lags behind and pulls with the clamp's
    moment.
    """
    m = hub_with_beam(dimension, torque=1.5, speed=2.0)
    run = m.simulate(0.8, tolerance=1e-10, output=0.05)
    H = angular_momentum(m, run)
    np.testing.assert_allclose(H, H[0] + 1.5 * run.time, rtol=1e-8)
    turned = run.angle("O").to_numpy() - 0.4
    np.testing.assert_allclose(run.energy() - run.energy()[0], 1.5 * turned, atol=1e-7)
    moment = run.reaction_torque("A").to_numpy().reshape(run.time.size, -1)[:, -1]
    force = run.reaction("A").to_numpy()
    arm = run.position("A").to_numpy()
    on_hub = 1.5 - moment - (arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0])
    np.testing.assert_allclose(on_hub, HUB * run.angular_acceleration("O").to_numpy(), atol=1e-6)


def test_a_hub_in_space_moves_as_one_in_the_plane() -> None:
    tips = [
        hub_with_beam(d, 1.5).simulate(0.8, step=2e-3).position("B").to_numpy()[:, :2]
        for d in (2, 3)
    ]
    np.testing.assert_allclose(tips[0], tips[1], atol=1e-9)


# supports and bars at inner nodes


def two_spans(n: int, gravity: float = 0.0) -> vm.Mechanism:
    m = vm.Mechanism("two spans", gravity=(0, -gravity))
    for name, x in (("A", 0.0), ("S", 0.5), ("B", 1.0)):
        m.ground_point(name, (x, 0))
    beam(m, n, area=100)
    m.revolute("A")
    m.point_on_line("S", "ground.S", f"beam.n{n // 2}", axis=(1, 0))
    m.point_on_line("B", "ground.B", "beam.B", axis=(1, 0))
    return m


def test_a_support_at_an_inner_node_leaves_the_mode_that_has_a_node_there() -> None:
    """The second mode of the simply supported beam, in closed form."""
    n = 8
    x = 2 * math.pi / (2 * n)
    square = (1 + 2 / n**2) * (math.sin(x) / x) ** 4 / (1 - 2 / 3 * math.sin(x) ** 2)
    assert vibrations(two_spans(n), 1)[0] == pytest.approx(
        10 * (2 * math.pi) ** 2 * math.sqrt(square), rel=1e-6
    )


def test_a_beam_of_two_spans_leans_on_the_middle_by_five_eighths() -> None:
    errors = []
    for n in (8, 16, 32):
        run = two_spans(n, 1e-3).equilibrium()
        results = [run.reaction(name).sel(component="y").item() / 1e-3 for name in ("A", "S", "B")]
        assert sum(results) == pytest.approx(1, rel=1e-7)
        errors.append(results[1] - 5 / 8)
    assert abs(errors[-1]) < 2e-3
    np.testing.assert_allclose(orders(errors), 2, atol=0.1)


def cantilever_with(load: str) -> vm.Mechanism:
    m = vm.Mechanism("loaded", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    beam(m, 6, inertia=2e-5)
    m.clamp("A", direction=(1, 0))
    if load == "bar":
        m.bar("bar", "top", "low", length=0.4, mass=0.5)
        m.revolute("hinge", "beam.n3", "bar.top")
        m.start(angle={"bar": -1.0})
    else:
        m.force("weight", "beam.n3", (0, -0.5 * 9.81))
    return m


def test_a_bar_that_hangs_from_an_inner_node() -> None:
    hanging, weighed = (cantilever_with(load).equilibrium() for load in ("bar", "force"))
    for point in ("beam.n3", "B"):
        np.testing.assert_allclose(hanging.position(point), weighed.position(point), atol=1e-11)
    np.testing.assert_allclose(hanging.reaction("hinge")[0], [0, 0.5 * 9.81], atol=1e-8)
    assert hanging.angle("bar").item() == pytest.approx(-math.pi / 2, abs=1e-9)
    run = cantilever_with("bar").simulate(0.5, tolerance=1e-10, output=0.05)
    np.testing.assert_allclose(run.energy(), run.energy()[0].item(), atol=1e-7)


def test_two_beams_in_series_through_a_small_body_are_one_beam() -> None:
    """Two clamps at one body are a whole cell, so n and n segments are 2n, with the
    stiffness of n.
    """
    for n in (4, 8):
        m = vm.Mechanism("series", dimension=2)
        m.ground_point("A", (0, 0))
        m.body("link", mass=1e-3, inertia=1e-6, points={"C": (0, 0)})
        for name, start, end in (("first", "A", "C"), ("second", "C", "B")):
            m.beam(
                name, start, end, segments=n, length=0.5, E=1e6, area=100, inertia=1e-4, mass=0.5
            )
        m.clamp("A", "ground.A", "first.A", direction=(1, 0))
        m.clamp("C1", "link.C", "first.C", direction=(-1, 0))
        m.clamp("C2", "link.C", "second.C", direction=(1, 0))
        m.force("P", "B", (0, -1e-3))
        run, N = m.equilibrium(), 2 * n
        expected = 1e-3 / 300 * (1 + 1 / (2 * N**2)) / (1 + 2 / n**2)
        assert run.position("B").sel(component="y").item() == pytest.approx(-expected, rel=1e-7)
        assert run.reaction_torque("C2").item() == pytest.approx(1e-3 * 0.5, rel=1e-7)


def test_beams_that_share_an_inner_node_cross() -> None:
    """Two simply supported beams, one across the other in space, share a load at their middles."""
    m = vm.Mechanism("cross", dimension=3)
    for name, direction in (("x", (1, 0, 0)), ("y", (0, 1, 0))):
        d = np.array(direction, float)
        m.ground_point(f"{name}1", -d / 2)
        m.ground_point(f"{name}2", d / 2)
        m.beam(
            name,
            f"{name}1",
            f"{name}2",
            segments=4,
            length=1,
            E=1e6,
            area=100,
            inertia=1e-4,
            mass=1,
        )
        m.spherical(f"{name}1")
        m.point_on_line(f"roller {name}", f"ground.{name}2", f"{name}.{name}2", axis=d)
    m.spherical("middle", "x.n2", "y.n2")
    m.force("P", "x.n2", (0, 0, -1e-3))
    run = m.equilibrium()
    assert run.position("y.n2").sel(component="z").item() == pytest.approx(
        -1e-3 / 2 / 4800, rel=1e-8
    )
    np.testing.assert_allclose(run.reaction("middle")[0], [0, 0, -5e-4], atol=1e-10)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("ends", ["pins", "clamps"])
@pytest.mark.parametrize("span", [1.0, 1.2, 0.8])
def test_a_beam_held_at_both_ends_starts_as_far_stretched_as_they_are_apart(
    span: float, ends: str, dimension: int
) -> None:
    x = np.eye(dimension)[0]
    m = vm.Mechanism("held", dimension=dimension)
    m.ground_point("A", 0 * x)
    m.ground_point("B", span * x)
    beam(m, 4, inertia=1e-1)  # thick, so that it does not buckle
    for name, direction in (("A", x), ("B", -x)):
        if ends == "clamps":
            m.clamp(name, direction=direction)
        else:
            (m.revolute if dimension == 2 else m.spherical)(name)
    run = m.simulate(0.01, step=1e-3)
    for k in range(1, 4):
        np.testing.assert_allclose(
            run.position(f"beam.n{k}"), np.outer(np.ones(11), k / 4 * span * x), atol=1e-12
        )
    np.testing.assert_allclose(run.axial_force("beam"), 1e6 * math.log(span) / span, atol=1e-5)
    np.testing.assert_allclose(m.equilibrium().position("beam.n2")[0], span / 2 * x, atol=1e-12)


# ways to run


def with_parameters(dimension: int, n: int, *, curved: bool = False) -> vm.Mechanism:
    """A beam on a pin with a mass at its tip, and parameters."""
    m = vm.Mechanism("parameters", gravity=[0, -9.81, 0][:dimension])
    modulus, length = m.parameter("E", 1e6), m.parameter("L", 1.0)
    m.ground_point("A", np.zeros(dimension))
    options: dict[str, Any] = {"length": length}
    if curved:
        options = {
            "shape": lambda s: [length * s, 0.3 * s * (1 - s), 0.1 * s**2][:dimension],
            "length": None,
        }
    beam(m, n, E=modulus, area=1e-2, inertia=1e-6, damping=(0.1, 1e-4), **options)
    (m.revolute if dimension == 2 else m.spherical)("A")
    if dimension == 2:
        m.start(angle={"beam": 0.0})
    elif curved:
        m.start(
            position={"B": (None, 0, 0.1), f"beam.n{n // 2}": (None, None, 0.1)},
            near={"B": (1, 0, 0)},
        )
    else:
        m.start(position={"B": (None, 0, 0)}, near={"B": (1, 0, 0)})
    return m


CASES = [(2, False), (2, True), (3, False), (3, True)]


@pytest.mark.parametrize(("dimension", "curved"), CASES)
def test_written_out_and_assembled_are_the_same(dimension: int, curved: bool) -> None:
    """Rounding of q comes back in q̇ and q̈ as the fastest vibrations have it, by ω and ω²; the
    same for derivatives.
    """
    m = with_parameters(dimension, 4, curved=curved)
    small, large = regimes.solvers(m)
    first, second = (regimes.run(solver) for solver in (small, large))
    assert first.iterations == second.iterations
    n, ω = (
        small.equations.q.numel(),
        m.data.parameter_set.evaluate(m.data.beams[0].fastest_vibration()).item(),
    )
    q, v, a = (slice(k * n, (k + 1) * n) for k in range(3))
    assert first.sensitivities is not None and second.sensitivities is not None
    places = np.abs(first.states[:, q]).max()
    for one, other, unit in (
        (first.states[:, :, None], second.states[:, :, None], 1.0),
        (first.sensitivities, second.sensitivities, m.data.parameter_set.nominal),
    ):
        size = np.maximum(np.abs(one[:, q]).max(axis=(0, 1)), places / unit)
        for rows, scale in ((q, 1.0), (v, ω), (a, ω**2)):
            apart = np.abs(one[:, rows] - other[:, rows]).max(axis=(0, 1))
            assert np.all(apart < 2e-14 * scale * size), rows


@regimes.needs_compiler
@pytest.mark.parametrize(("dimension", "curved"), CASES[1:3])
def test_backends_are_the_same(dimension: int, curved: bool) -> None:
    settings: dict[str, Any] = {"duration": 0.1, "step": 5e-3, "wrt": ["E", "L"]}
    runs = [
        with_parameters(dimension, 3, curved=curved).sensitivity(backend=b, **settings).run
        for b in ("interpreted", "native")
    ]
    for measure in (
        lambda r: r.position("B"),
        lambda r: r.axial_force("beam"),
        lambda r: r.velocity("B", wrt="L"),
    ):
        values = [measure(r).to_numpy() for r in runs]
        np.testing.assert_allclose(
            values[0], values[1], rtol=1e-10, atol=1e-10 * np.abs(values[0]).max()
        )
