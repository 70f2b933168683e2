"""Beams in motion: frequencies, conservation, the flexible pendulum, damping, the rigid limit, and
beams among other bodies.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import flexible_pendulum_reference as pendulum
import numpy as np
import pytest
from beam_reference import frequencies

import varimech as vm
from test_beams_static import orders, simply_supported

Array = np.ndarray
E, INERTIA = 1e6, 1e-4
BENDING = E * INERTIA
"""For beams of length 1 m and mass 1 kg: ω = (β L)² √(E I) = 10 (β L)²."""


def beam(m: vm.Mechanism, n: int, start: str = "A", end: str = "B", **options: Any) -> None:
    defaults = {"length": 1, "E": E, "area": 1.0, "inertia": INERTIA, "mass": 1}
    m.beam("beam", start, end, segments=n, **(defaults | options))


# small vibrations


def vibrations(m: vm.Mechanism, count: int) -> Array:
    """In rad/s."""
    return np.asarray(2 * math.pi * m.frequencies(count).to_numpy())


@pytest.mark.parametrize("masses", ["consistent", "lumped"])
@pytest.mark.parametrize("n", [2, 8, 32])
def test_frequencies_of_a_simply_supported_beam_are_those_of_the_closed_form(
    n: int, masses: str
) -> None:
    k = np.arange(1, min(n, 6))
    x = k * math.pi / (2 * n)
    mass = 1 - 2 / 3 * np.sin(x) ** 2 if masses == "consistent" else 1.0
    expected = 10 * (k * math.pi) ** 2 * np.sqrt((1 + 2 / n**2) * (np.sin(x) / x) ** 4 / mass)
    modes = vibrations(simply_supported(n, "none", masses=masses, area=100), k.size)
    np.testing.assert_allclose(modes, expected, rtol=1e-6)


def supported(kind: str, n: int) -> vm.Mechanism:
    m = vm.Mechanism(kind, dimension=2)
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    beam(m, n, "A", "B", floating=kind == "free-free", area=100)
    if kind in ("cantilever", "clamped-clamped", "clamped-pinned"):
        m.clamp("A", direction=(1, 0))
    if kind == "clamped-clamped":
        m.clamp("B", direction=(-1, 0))
    if kind == "clamped-pinned":
        m.revolute("B")
    if kind == "free-free":
        m.start(position={"beam.A": (0, 0)}, angle={"beam": 0.3})
    return m


@pytest.mark.parametrize("kind", ["cantilever", "clamped-clamped", "clamped-pinned", "free-free"])
def test_frequencies_converge_to_those_of_euler_and_bernoulli_at_order_2(kind: str) -> None:
    rigid = 3 if kind == "free-free" else 0
    exact = 10 * frequencies(kind, 3) ** 2
    computed = np.array([vibrations(supported(kind, n), 3 + rigid)[rigid:] for n in (16, 32, 64)])
    errors = computed / exact - 1
    assert np.abs(errors[1]).max() < 0.01
    np.testing.assert_allclose(orders(errors), 2, atol=0.1)


# conservation


def nodes(m: vm.Mechanism) -> list[str]:
    return [p.label for p in m.data.beams[0].nodes]


def mass_matrix(n: int, mass: float) -> Array:
    M = np.zeros((n + 1, n + 1))
    for k in range(n):
        M[k : k + 2, k : k + 2] += mass / n / 6 * np.array([[2, 1], [1, 2]])
    return M


def momenta(m: vm.Mechanism, run: vm.Run) -> tuple[Array, Array, Array]:
    """Momentum, angular momentum about the origin and kinetic energy of the beam over time, from
    its nodes.
    """
    r, v = (
        np.stack([measure(p).to_numpy() for p in nodes(m)], axis=1)
        for measure in (run.position, run.velocity)
    )
    M = mass_matrix(m.data.beams[0].segments, 1.0)
    if m.dimension == 2:
        r, v = (np.concatenate([x, np.zeros((*x.shape[:2], 1))], axis=2) for x in (r, v))
    p = np.einsum("ij,tjc->tic", M, v)
    return p.sum(axis=1), np.cross(r, p).sum(axis=1), np.einsum("tic,tic->t", p, v) / 2


@pytest.mark.parametrize(
    ("dimension", "material"), [(2, "logarithmic"), (2, "linear"), (3, "logarithmic")]
)
def test_a_spinning_beam_in_free_fall_keeps_what_it_has(dimension: int, material: str) -> None:
    g = np.array([0.0, -9.81, 0.0])[:dimension]
    m = vm.Mechanism("thrown", gravity=g)
    beam(m, 4, area=1e-2, inertia=1e-6, material=material, floating=True)
    if dimension == 2:
        m.start(
            position={"A": (0, 0), "B": (None, 0)},
            speed={"A": (1, 2), "B": (None, 14)},
            near={"B": (1, 0)},
        )
    else:
        m.start(
            position={"A": (0, 0, 0), "B": (None, 0, 0)},
            speed={"A": (1, 2, 0.5), "B": (None, 14, -3)},
            near={"B": (1, 0, 0)},
        )
    run = m.simulate(0.5, tolerance=1e-11, output=0.05)
    p, H, T = momenta(m, run)
    t, down = run.time[:, None], np.array([0.0, -9.81, 0.0])
    centre = np.array([0.5, 0.0, 0.0])
    np.testing.assert_allclose(p, p[0] + down * t, atol=1e-9)
    np.testing.assert_allclose(
        H, H[0] + np.cross(centre, down) * t + np.cross(p[0], down) * t**2 / 2, atol=1e-9
    )
    np.testing.assert_allclose(run.energy("kinetic"), T, rtol=1e-12)
    np.testing.assert_allclose(run.energy(), run.energy()[0].item(), rtol=1e-8)
    assert np.ptp(run.distance("beam.A", "beam.B").to_numpy()) > 1e-3  # it is not rigid


@pytest.mark.parametrize("support", ["clamp", "pin"])
def test_a_falling_beam_keeps_its_energy(support: str) -> None:
    m = vm.Mechanism("falling", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    beam(m, 8, area=0.1, inertia=1e-6)
    if support == "clamp":
        m.clamp("A", direction=(1, 0))
    else:
        m.revolute("A")
        m.start(angle={"beam": 0.0})
    run = m.simulate(1.0, tolerance=1e-10, output=0.1)
    assert run.energy("kinetic").max() > 0.5
    np.testing.assert_allclose(run.energy(), 0, atol=1e-7)


# the flexible pendulum


def swinging(p: pendulum.Pendulum, n: int) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -p.gravity))
    m.ground_point("A", (0, 0))
    options: dict[str, Any] = {
        "length": p.length,
        "E": p.axial,
        "inertia": p.bending / p.axial,
        "mass": p.mass * p.length,
    }
    beam(m, n, material="linear", **options)
    m.revolute("A")
    m.start(angle={"beam": 0.0})
    return m


def tip_errors(p: pendulum.Pendulum, n: int, table: Array, step: float) -> Array:
    """At each time of a table, 0.1 s apart."""
    run = swinging(p, n).simulate(float(table[-1, 0]), step=step, every=round(0.1 / step))
    return np.asarray(np.linalg.norm(run.position("B")[1:] - table[:, 1:], axis=1))


def test_a_stiff_pendulum_is_that_of_the_reference() -> None:
    errors = np.array(
        [tip_errors(pendulum.STIFF_PENDULUM, n, pendulum.STIFF_TIP, 1e-4) for n in (8, 16, 32)]
    )
    assert errors[1].max() < 3e-4
    np.testing.assert_allclose(orders(np.linalg.norm(errors, axis=1)), 2, atol=0.1)


def test_a_soft_pendulum_is_that_of_a_beam_whose_bending_stiffness_grows_with_its_stretch() -> None:
    """Bending is measured by a × b, so what n → ∞ leads to is E I (r' × r'')²/2, with the tip 3 mm
    off that of E I θ'²/2 at 0.6 s.
    """
    errors = np.array(
        [
            tip_errors(pendulum.SOFT_PENDULUM, n, pendulum.SOFT_TIP_BENT_BY_AREA, 1e-4)
            for n in (32, 64)
        ]
    )
    assert errors[1].max() < 5e-3
    np.testing.assert_allclose(orders(np.linalg.norm(errors, axis=1)), 2, atol=0.1)
    exact, own = pendulum.SOFT_TIP[:6], pendulum.SOFT_TIP_BENT_BY_AREA
    assert np.linalg.norm(exact - own, axis=1).max() == pytest.approx(2.9e-3, abs=1e-4)


def test_the_reference_makes_its_tables() -> None:
    motion = pendulum.flexible_pendulum(pendulum.STIFF_PENDULUM, [0.1, 0.2, 0.3], 20, 4e-3)
    np.testing.assert_allclose(motion.tip, pendulum.STIFF_TIP[:3, 1:], atol=1e-6)


# damping


@pytest.mark.parametrize(
    ("γ", "β", "masses"),
    [
        (10.0, 0.0, "consistent"),
        (10.0, 0.0, "lumped"),
        (0.0, 2e-3, "lumped"),
        (4.0, 1e-3, "consistent"),
    ],
)
def test_the_first_mode_decays_as_rayleigh_says(γ: float, β: float, masses: str) -> None:
    """Loads along the first mode from rest: nothing else moves, and that as an oscillator with ζ =
    γ/(2ω) + βω/2.
    """
    n = 4
    m = simply_supported(n, "none", area=1.0, masses=masses, damping=(γ, β))
    for k in range(1, n):
        m.force(f"P{k}", f"beam.n{k}", (0, 1e-3 * math.sin(math.pi * k / n)))
    ω = float(vibrations(m, 1)[0])
    run, ζ = m.simulate(0.3, tolerance=1e-9, output=2e-3), γ / (2 * ω) + β * ω / 2
    y = run.position("beam.n2").sel(component="y").to_numpy()
    at_rest = m.equilibrium().position("beam.n2").sel(component="y").item()
    ωd, t = ω * math.sqrt(1 - ζ**2), run.time
    expected = at_rest * (1 - np.exp(-ζ * ω * t) * (np.cos(ωd * t) + ζ * ω / ωd * np.sin(ωd * t)))
    np.testing.assert_allclose(y, expected, atol=1e-5 * abs(at_rest))


MASS, STIFFNESS = (1.0, 0.0), (0.0, 1e-3)


@pytest.mark.parametrize(
    ("dimension", "damping", "curved"),
    [
        (2, MASS, False),
        (2, STIFFNESS, True),
        (3, MASS, True),
        (3, STIFFNESS, False),
        (3, STIFFNESS, True),
    ],
)
def test_damping_takes_energy_and_gives_none(
    dimension: int, damping: tuple[float, float], curved: bool
) -> None:
    shape = [np.array([0.25 * k, 0.05 * k * (4 - k), 0.02 * k**2])[:dimension] for k in range(5)]
    m = vm.Mechanism("damped", gravity=[0, -9.81, 0][:dimension])
    m.ground_point("A", np.zeros(dimension))
    form: dict[str, Any] = {"length": None, "shape": shape} if curved else {}
    beam(m, 4, area=0.1, inertia=1e-6, damping=damping, **form)
    m.clamp("A", direction=(shape[1] if curved else np.eye(dimension)[0]))
    if curved and dimension == 3:
        m.start(position={"B": (None, None, shape[-1][2])}, near={"B": shape[-1]})
    energies = m.simulate(0.5, tolerance=1e-9, output=0.005).energy().to_numpy()
    assert np.all(np.diff(energies) < 1e-9)
    assert energies[-1] < energies[0] - 1e-3


# the rigid limit


def test_a_stiff_beam_moves_as_a_bar_with_an_error_that_goes_with_one_over_its_modulus() -> None:
    def pushed(make: Any) -> vm.Mechanism:
        m = vm.Mechanism("pushed", gravity=(0, -9.81))
        m.ground_point("A", (0, 0))
        make(m)
        m.revolute("A")
        m.start(angle={"beam": -math.pi / 2})
        m.force("push", "B", lambda s: (2 * (1 - vm.cos(3 * s.time)) ** 2, 0))
        return m

    rigid = pushed(
        partial(vm.Mechanism.bar, name="beam", start="A", end="B", length=1, mass=1)
    ).simulate(1.0, tolerance=1e-11, output=0.1)
    errors = []
    for modulus in (1e7, 4e7):
        run = pushed(partial(beam, n=2, E=modulus)).simulate(1.0, tolerance=1e-11, output=0.1)
        errors.append(np.linalg.norm(run.position("B").to_numpy() - rigid.position("B").to_numpy()))
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.02)
    assert errors[-1] < 1e-3
