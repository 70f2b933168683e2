"""Beams at rest: closed forms of the discrete beam, Euler–Bernoulli and the elastica as limits,
arcs, tension, derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from beam_reference import STATIC, elastica_end_moment, elastica_tip
from scipy.integrate import quad

import varimech as vm
from varimech.model.sections import SHAPES, Section

E, A, INERTIA = 1e6, 1e-2, 1e-4
BENDING = E * INERTIA
TINY = 1e-4
"""A load (N, N·m or N/m) that deflects by 1e-6 of the length: geometric nonlinearity is of the
order of its square.
"""
SLENDER: dict[str, Any] = {"area": 1e3}
"""Stretches by next to nothing, for comparison with inextensible beams."""


def beam(m: vm.Mechanism, n: int, start: str = "A", end: str = "B", **options: Any) -> None:
    """Of length 1 m and mass 1 kg."""
    options = {"length": 1, "E": E, "area": A, "inertia": INERTIA, "mass": 1} | options
    m.beam("beam", start, end, segments=n, **options)


def simply_supported(n: int, load: str, **options: Any) -> vm.Mechanism:
    m = vm.Mechanism("simply supported", gravity=(0, -TINY if load == "uniform" else 0))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    beam(m, n, **options)
    m.revolute("A")
    m.point_on_line("roller", "ground.B", "beam.B", axis=(1, 0))
    if load == "mid load":
        m.force("P", f"beam.n{n // 2}", (0, -TINY))
    return m


def cantilever(n: int, load: str, size: Any = TINY, **options: Any) -> vm.Mechanism:
    m = vm.Mechanism("cantilever", gravity=(0, -size if load == "uniform" else 0))
    m.ground_point("A", (0, 0))
    beam(m, n, **options)
    m.clamp("A", direction=(1, 0))
    if load == "end load":
        m.force("P", "B", (0, -size))
    if load == "end moment":
        m.torque("M", "beam.B", -size)
    return m


def clamped(n: int, load: str, **options: Any) -> vm.Mechanism:
    m = vm.Mechanism("clamped", gravity=(0, -TINY if load == "uniform" else 0))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    beam(m, n, **options)
    m.clamp("A", direction=(1, 0))
    m.clamp("B", direction=(-1, 0))
    if load == "mid load":
        m.force("P", f"beam.n{n // 2}", (0, -TINY))
    return m


MAKERS: dict[str, Callable[..., vm.Mechanism]] = {
    "simply-supported": simply_supported,
    "cantilever": cantilever,
    "clamped-clamped": clamped,
}
CLOSED_FORMS: dict[str, Callable[[int], float]] = {
    "simply-supported mid load": lambda n: 1.0,
    "simply-supported uniform": lambda n: (n**2 + 4 / 5) / (n**2 + 2),
    "cantilever end load": lambda n: (2 * n**2 + 1) / (2 * n**2 + 4),
    "cantilever end moment": lambda n: n**2 / (n**2 + 2),
    "cantilever uniform": lambda n: (n**2 + 1) / (n**2 + 2),
    "clamped-clamped mid load": lambda n: (n**2 + 8) / (n**2 + 2),
    "clamped-clamped uniform": lambda n: (n**2 + 8) / (n**2 + 2),
}
"""Deflection of n segments over that of Euler and Bernoulli."""


def deflection(case: str, n: int, **options: Any) -> float:
    """Over that of Euler and Bernoulli."""
    kind, load = case.split(" ", 1)
    place = "B" if kind == "cantilever" else f"beam.n{n // 2}"
    y = MAKERS[kind](n, load, **options).equilibrium().position(place).sel(component="y").item()
    return float(-y / (STATIC[case] * TINY / BENDING))


def orders(errors: Sequence[float] | np.ndarray) -> np.ndarray:
    """Of errors with 8, 16, 32, … segments."""
    return np.asarray(np.log2(np.abs(errors)[:-1] / np.abs(errors)[1:]))


@pytest.mark.parametrize("case", CLOSED_FORMS)
def test_deflections_are_those_of_the_closed_forms_and_converge_at_order_2(case: str) -> None:
    numbers = (2, 4, 8, 16, 32)
    results = [deflection(case, n) for n in numbers]
    np.testing.assert_allclose(results, [CLOSED_FORMS[case](n) for n in numbers], rtol=1e-8)
    if case != "simply-supported mid load":
        np.testing.assert_allclose(orders(np.array(results[2:]) - 1), 2, atol=0.1)


@pytest.mark.parametrize(
    "options",
    [
        {"material": "linear"},
        {"masses": "lumped"},
        {"section": vm.circle((64e-4 / math.pi) ** 0.25)},
    ],
)
def test_small_deflections_depend_on_neither_material_nor_masses(options: dict[str, Any]) -> None:
    if "section" in options:
        options = options | {"area": None, "inertia": None}
    for case in ("cantilever uniform", "simply-supported uniform"):
        assert deflection(case, 8, **options) == pytest.approx(CLOSED_FORMS[case](8), rel=1e-8)


def chord(diameter: float, y: float) -> float:
    return math.sqrt(max(0.0, diameter**2 - 4 * y**2))


@pytest.mark.parametrize(
    ("section", "height", "width"),
    [
        (vm.circle(0.3), 0.3, lambda y: chord(0.3, y)),
        (vm.tube(0.3, 0.2), 0.3, lambda y: chord(0.3, y) - chord(0.2, y)),
        (vm.rectangle(0.1, 0.3), 0.3, lambda y: 0.1),
        (vm.square(0.3), 0.3, lambda y: 0.3),
    ],
    ids=SHAPES,
)
def test_area_and_inertia_of_a_section_are_sums_over_its_strips(
    section: Section, height: float, width: Callable[[float], float]
) -> None:
    area, inertia = SHAPES[section.shape].area_and_inertia(*section.sizes)
    ends = {"a": -height / 2, "b": height / 2, "points": (-0.1, 0.1), "epsabs": 1e-13}
    assert area == pytest.approx(quad(width, **ends)[0], rel=1e-7)
    assert inertia == pytest.approx(quad(lambda y: y**2 * width(y), **ends)[0], rel=1e-7)


def test_a_cantilever_is_right_to_a_thousandth_from_39_segments_on() -> None:
    assert (
        abs(deflection("cantilever end load", 38) - 1)
        > 1e-3
        > abs(deflection("cantilever end load", 39) - 1)
    )


def tip_error(m: vm.Mechanism, exact: tuple[float, float, float]) -> np.ndarray:
    return np.asarray(m.equilibrium().position("B")[0].to_numpy() - exact[:2])


@pytest.mark.parametrize("material", ["logarithmic", "linear"])
@pytest.mark.parametrize("load", [5.0, 10.0])
def test_the_elastica(load: float, material: str) -> None:
    """Clamps add an error of order 3, so that the order is 1.68 from 8 to 16 segments and 1.91
    here.
    """
    exact = elastica_tip(load)
    errors = [
        tip_error(cantilever(n, "end load", load * BENDING, material=material, **SLENDER), exact)
        for n in (32, 64)
    ]
    assert np.all(np.abs(errors[0]) < 0.01 * np.abs(exact[:2]))
    np.testing.assert_allclose(orders([float(np.linalg.norm(e)) for e in errors]), 2, atol=0.1)


@pytest.mark.parametrize("material", ["logarithmic", "linear"])
def test_an_end_moment_bends_a_beam_to_half_a_circle(material: str) -> None:
    exact = elastica_end_moment(-math.pi)
    errors = []
    for n in (16, 32):
        m = cantilever(n, "end moment", math.pi * BENDING, material=material, area=100)
        errors.append(float(np.linalg.norm(tip_error(m, exact))))
    assert errors[-1] < 0.01
    np.testing.assert_allclose(orders(errors), 2, atol=0.1)


# space

SKEW = np.array([[1.0, 2.0, 2.0], [2.0, 1.0, -2.0], [-2.0, 2.0, -1.0]]) / 3
"""Rows: the way of a beam, and two normals."""


@pytest.mark.parametrize("turn", [0.0, 0.7, math.pi / 2])
@pytest.mark.parametrize("load", [TINY, 5 * BENDING])
def test_a_cantilever_in_space_bends_alike_in_all_directions(turn: float, load: float) -> None:
    n, down = 8, math.cos(turn) * SKEW[1] + math.sin(turn) * SKEW[2]
    m = vm.Mechanism("cantilever", dimension=3)
    m.ground_point("A", (0.1, 0.2, 0.3))
    beam(m, n)
    m.clamp("A", direction=3 * SKEW[0])
    m.force("P", "B", load * down)
    computed, planar = m.equilibrium(), cantilever(n, "end load", load).equilibrium()
    tip = computed.position("B")[0].to_numpy() - (0.1, 0.2, 0.3)
    x, y = planar.position("B")[0].to_numpy()
    np.testing.assert_allclose(tip, x * SKEW[0] - y * down, atol=1e-8 * abs(y))
    np.testing.assert_allclose(computed.reaction("A")[0], -load * down, atol=1e-8 * load)
    np.testing.assert_allclose(
        computed.reaction_torque("A")[0], -np.cross(tip, load * down), atol=1e-8 * load
    )
    np.testing.assert_allclose(
        computed.bending_moment("beam")[0], -planar.bending_moment("beam")[0], atol=1e-8 * load
    )


@pytest.mark.parametrize("load", ["mid load", "uniform"])
def test_a_beam_in_space_on_a_pin_and_a_roller(load: str) -> None:
    n, down = 8, 0.6 * SKEW[1] + 0.8 * SKEW[2]
    m = vm.Mechanism("simply supported", gravity=TINY * down if load == "uniform" else (0, 0, 0))
    m.ground_point("A", (0, 0, 0))
    m.ground_point("B", SKEW[0])
    beam(m, n)
    m.spherical("A")
    m.point_on_line("roller", "ground.B", "beam.B", axis=SKEW[0])
    if load == "mid load":
        m.force("P", "beam.n4", TINY * down)
    middle = m.equilibrium().position("beam.n4")[0].to_numpy()
    expected = (
        CLOSED_FORMS[f"simply-supported {load}"](n)
        * STATIC[f"simply-supported {load}"]
        * TINY
        / BENDING
    )
    np.testing.assert_allclose(middle, SKEW[0] / 2 + expected * down, atol=1e-8 * expected)


# statics


def test_forces_and_moments_inside_are_those_of_statics() -> None:
    n, P = 8, TINY
    m = cantilever(n, "none")
    m.force("P", "B", (2 * P, -P))
    run = m.equilibrium()
    np.testing.assert_allclose(
        run.axial_force("beam")[0], 2 * P, rtol=1e-5
    )  # the beam is tilted by 1e-6, so is its tension
    np.testing.assert_allclose(
        run.bending_moment("beam")[0], [-P * (1 - k / n) for k in range(1, n)], rtol=1e-5
    )
    np.testing.assert_allclose(run.reaction("A")[0], [-2 * P, P], rtol=1e-8)
    assert run.reaction_torque("A").item() == pytest.approx(P, rel=1e-5)


def test_reactions_of_clamps_balance_large_loads() -> None:
    load = 5 * BENDING
    run = cantilever(16, "end load", load).equilibrium()
    np.testing.assert_allclose(run.reaction("A")[0], [0, load], atol=1e-9 * load)
    assert run.reaction_torque("A").item() == pytest.approx(
        load * run.position("B").sel(component="x").item(), rel=1e-9
    )
    moment = cantilever(16, "end moment", BENDING).equilibrium()
    np.testing.assert_allclose(moment.bending_moment("beam")[0], -BENDING, rtol=1e-9)
    assert moment.reaction_torque("A").item() == pytest.approx(BENDING, rel=1e-9)


TENSIONS: dict[str, Callable[[float], float]] = {
    "logarithmic": lambda λ: math.log(λ) / λ,
    "linear": lambda λ: λ - 1,
}


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("material", TENSIONS)
def test_a_beam_between_two_pins_is_as_tense_as_it_is_too_short(
    material: str, dimension: int
) -> None:
    m = vm.Mechanism("tense", dimension=dimension)
    m.ground_point("A", np.zeros(dimension))
    m.ground_point("B", np.eye(dimension)[0])
    L0 = m.parameter("L0", 0.8)
    beam(m, 4, natural_length=L0, material=material)
    for name in "AB":
        (m.revolute if dimension == 2 else m.spherical)(name)
    run = m.equilibrium("L0")
    tension, λ = TENSIONS[material], 1 / 0.8
    np.testing.assert_allclose(run.axial_force("beam")[0], E * A * tension(λ), rtol=1e-12)
    np.testing.assert_allclose(
        run.reaction("B")[0], E * A * tension(λ) * np.eye(dimension)[0], atol=1e-9 * E * A
    )
    slope = E * A * (tension(1 / (0.8 + 1e-6)) - tension(1 / (0.8 - 1e-6))) / 2e-6
    np.testing.assert_allclose(run.axial_force("beam", wrt="L0")[0], slope, rtol=1e-8)


# curved beams


def arc(
    n: int, dimension: int, load: tuple[float, float] = (0.0, 0.0), **options: Any
) -> vm.Mechanism:
    """A quarter of a circle of radius 1 m, clamped where it leaves along the first axis, loaded at
    the tip, at (1, 1).
    """
    axes = np.eye(2) if dimension == 2 else SKEW[1:]

    def place(s: float) -> Any:
        φ = s * math.pi / 2
        return np.array([math.sin(φ), 1 - math.cos(φ)]) @ axes

    m = vm.Mechanism("arc", dimension=dimension)
    m.ground_point("A", np.zeros(dimension))
    beam(m, n, length=None, shape=place, **SLENDER, **options)
    m.clamp("A", direction=axes[0])
    m.force("P", "B", np.array(load) @ axes)
    if dimension == 3:  # the plane that it lies in, which nothing else tells
        tip = unloaded(n)["B"] @ axes
        m.start(position={"B": (None, None, tip[2])}, near={"B": tip})
    return m


def unloaded(n: int) -> dict[str, np.ndarray]:
    """Where an arc in the plane starts."""
    run = arc(n, 2).simulate(1e-3, step=1e-3)
    return {point: run.position(point)[0].to_numpy() for point in ("B", "beam.n4")}


def test_nodes_are_bent_where_segments_are_not_in_line_however_long_they_are() -> None:
    m = vm.Mechanism("angle", dimension=3)
    places = [(0, 0, 0), (1, 0, 0), (3, 0, 0), (3.5, 0.5, 0), (4, 1, 0), (4, 2, 0)]
    m.beam("beam", "A", "B", segments=5, shape=places, E=E, area=A, inertia=INERTIA, mass=1)
    assert m.data.beams[0].shape.bent == (False, False, True, False, True, False)


def test_a_curved_beam_starts_along_its_tangent() -> None:
    errors = [float(np.linalg.norm(unloaded(n)["B"] - 1)) for n in (8, 16, 32)]
    assert errors[0] < 3e-3
    np.testing.assert_allclose(orders(errors), 3, atol=0.1)


def test_a_curved_beam_is_at_rest_without_load() -> None:
    run = arc(8, 2).equilibrium()
    for point, place in unloaded(8).items():
        np.testing.assert_allclose(run.position(point)[0], place, atol=1e-12)
    np.testing.assert_allclose(run.bending_moment("beam")[0], 0, atol=1e-9 * BENDING)
    assert arc(8, 2).simulate(0.5, step=1e-2).energy()[-1].item() == pytest.approx(0, abs=1e-12)


def test_an_arc_bends_as_castigliano_says() -> None:
    """Upwards load at the tip: M = P R (1 − sin φ), and by a unit load along x −R cos φ, integrated
    over φ.
    """
    expected = np.array([-1 / 2, 3 * math.pi / 4 - 2]) * TINY / BENDING
    errors = []
    for n in (32, 64, 128):
        moved = arc(n, 2, (0, TINY)).equilibrium().position("B")[0].to_numpy() - unloaded(n)["B"]
        errors.append(float(np.linalg.norm(moved / expected - 1)))
    assert errors[0] < 0.002
    np.testing.assert_allclose(orders(errors), 2, atol=0.1)


def test_an_arc_in_space_is_that_in_the_plane() -> None:
    for load in (
        0.0,
        1e-4 * BENDING,
        0.5 * BENDING,
    ):  # a much smaller one holds the arc in its plane by less than rounding
        planar, spatial = (arc(8, dimension, (0, load)).equilibrium() for dimension in (2, 3))
        for point in ("beam.n3", "B"):
            np.testing.assert_allclose(
                spatial.position(point)[0],
                planar.position(point)[0].to_numpy() @ SKEW[1:],
                atol=1e-9,
            )


# derivatives


def loaded(load: float) -> vm.Mechanism:
    """A cantilever with a parameter for each of its numbers."""
    m = vm.Mechanism("cantilever", dimension=2)
    p = {k: m.parameter(k, v) for k, v in {"E": E, "I": INERTIA, "L": 1.0, "P": load}.items()}
    m.ground_point("A", (0, 0))
    beam(m, 8, E=p["E"], inertia=p["I"], length=p["L"], area=10.0)
    m.clamp("A", direction=(1, 0))
    m.force("P", "B", (0, -p["P"]))
    return m


def test_derivatives_of_a_small_deflection_are_those_of_its_formula() -> None:
    """y = −c P L³/(E I): relative derivatives are the exponents."""
    run = loaded(TINY).equilibrium("all")
    y = run.position("B").sel(component="y").item()
    derivatives = run.position("B", wrt=["E", "I", "L", "P"]).sel(component="y")[0].to_numpy()
    np.testing.assert_allclose(derivatives * [E, INERTIA, 1.0, TINY] / y, [-1, -1, 3, 1], rtol=1e-6)


def test_derivatives_of_a_large_deflection_are_those_of_differences() -> None:
    m = loaded(5 * BENDING)
    run = m.equilibrium("all")
    for name, parameter in m.parameters.items():
        h = 1e-3 * parameter.value
        tips, moments = [], []
        for k in (-2, -1, 1, 2):
            shifted = m.equilibrium(parameters={name: parameter.value + k * h})
            tips.append(shifted.position("B")[0].to_numpy())
            moments.append(shifted.bending_moment("beam")[0].to_numpy())
        weights = np.array([1, -8, 8, -1]) / (12 * h)
        np.testing.assert_allclose(
            run.position("B", wrt=name)[0], weights @ np.array(tips), rtol=1e-8
        )
        np.testing.assert_allclose(
            run.bending_moment("beam", wrt=name)[0], weights @ np.array(moments), rtol=1e-7
        )
