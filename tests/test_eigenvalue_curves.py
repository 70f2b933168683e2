"""Root loci and Campbell diagrams: branches that are continuous, crossings and critical speeds
against closed forms, and files of the results.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import varimech as vm
from varimech.benchmarks import bicycle, bicycle_matrices
from varimech.solving.eigenvalue_branches import Condition, crossings, track
from varimech.solving.eigenvalues import Spectrum, spectrum
from varimech.solving.motion_jumps import jumps


def pairs_that_pass(v: float) -> Spectrum:
    """λ = −1 + 2v ± i(1 + v) and −2 ± i(2 − v), uncoupled: frequencies pass each other at v = ½."""
    A, A_ = np.zeros((4, 4)), np.zeros((4, 4, 2))
    for k, (σ, σ_, ω, ω_) in enumerate([(-1 + 2 * v, 2, 1 + v, 1), (-2, 0, 2 - v, -1)]):
        at = slice(2 * k, 2 * k + 2)
        A[at, at] = [[σ, ω], [-ω, σ]]
        A_[at, at, 0] = [[σ_, ω_], [-ω_, σ_]]
        A_[at, at, 1] = np.eye(2) * (k == 0)  # a parameter that moves the first pair to the right
    rng = np.random.default_rng(0)
    T = rng.normal(size=(4, 4))
    inverse = np.linalg.inv(T)
    return spectrum(T @ A @ inverse, np.einsum("ij,jkp,kl->ilp", T, A_, inverse))


def test_branches_are_followed_through_frequencies_that_pass() -> None:
    """Sorted by frequency, they would change places."""
    values = np.linspace(0, 1, 4)
    branches = track(pairs_that_pass, values)
    for j in range(4):
        λ = branches.eigenvalues[:, j]
        first = λ[0].real > -1.5
        np.testing.assert_allclose(λ.real, -1 + 2 * values if first else -2, atol=1e-10)
        np.testing.assert_allclose(np.abs(λ.imag), 1 + values if first else 2 - values, atol=1e-10)


def test_a_crossing_and_its_derivative() -> None:
    """−1 + 2v + p = 0."""
    (found,) = crossings(
        pairs_that_pass, track(pairs_that_pass, np.array([0.0, 0.7])), Condition(1.0)
    )
    assert found.value == pytest.approx(0.5, abs=1e-13)
    assert found.eigenvalue == pytest.approx(1.5j, abs=1e-10)
    np.testing.assert_allclose(found.derivatives, [-0.5], rtol=1e-10)


def test_undamped_oscillations_stay_on_the_axis() -> None:
    def at(v: float) -> Spectrum:
        A_ = np.zeros((2, 2, 1))
        A_[1, 0, 0] = -1.0
        return spectrum(np.array([[0, 1], [-1 - v, 0]]), A_)

    values = np.linspace(0, 1, 7)
    assert crossings(at, track(at, values), Condition(1.0)) == []


@pytest.fixture(scope="module")
def locus() -> vm.RootLocus:
    m = bicycle.mechanism(tap=0.0)
    return m.root_locus("v", (0.0, 8.0, 9), at="start", wrt=["w", "c"])


def test_the_root_locus_of_a_bicycle(locus: vm.RootLocus) -> None:
    """At all speeds the eigenvalues of the published matrices; two crossings."""
    assert locus.neutral == 6
    assert locus.steady
    for v, λ in zip(locus.values, locus.branches.eigenvalues, strict=True):
        expected = np.linalg.eigvals(bicycle_matrices.matrices({}).state_matrix(v))
        for value in expected:
            assert np.abs(λ - value).min() < 1e-9 * abs(value)
    found = locus.dataset
    np.testing.assert_allclose(found["crossing_value"], list(bicycle.CRITICAL.values()), rtol=1e-11)
    references = [
        [bicycle_matrices.critical_speed_derivative(kind, p) for p in "wc"]
        for kind in bicycle.CRITICAL
    ]
    slopes = found["crossing_derivative"].sel(parameter=["w", "c"])
    np.testing.assert_allclose(slopes, references, rtol=1e-9)
    assert list(locus.crossings["beyond"]) == ["dies away", "grows"]
    assert found["crossing_frequency"][1] == 0


def test_finer_values_give_the_same_branches(locus: vm.RootLocus) -> None:
    """Up to conjugation, which is arbitrary where two branches become a pair (0.7 m/s)."""
    fine = bicycle.mechanism(tap=0.0).root_locus("v", (0.0, 8.0, 33), at="start")
    coarse, same = locus.branches.eigenvalues, fine.branches.eigenvalues[::4]
    np.testing.assert_allclose(same.real, coarse.real, atol=1e-10)
    np.testing.assert_allclose(np.abs(same.imag), np.abs(coarse.imag), atol=1e-10)


def test_root_loci_are_saved_and_shown(locus: vm.RootLocus, tmp_path: Path) -> None:
    for ending in ("nc", "json"):
        path = locus.save(tmp_path / f"locus.{ending}")
        assert vm.RootLocus.load(path).dataset.identical(locus.dataset)
    assert (locus.save(tmp_path / "locus.csv")).read_text().startswith("value (m/s),")
    assert locus.to_dataframe().shape == (36, 2)
    assert "6.024262" in str(locus)
    assert len(locus.plot().axes) == 2


def rotor() -> vm.Mechanism:
    """A rotor with spin Ω in two gimbals with springs."""
    m = vm.Mechanism("rotor", dimension=3)
    Ω = m.parameter("Omega", 40.0, unit="rad/s")
    k = m.parameter("k", 900.0, unit="N*m/rad")
    m.ground_point("O", (0, 0, 0))
    for name, inertia in (("outer", (0.02, 0.03, 0.04)), ("inner", (0.01, 0.02, 0.03))):
        m.body(name, mass=1.0, inertia=inertia, points={"C": (0, 0, 0)})
    m.body("rotor", mass=1.0, inertia=(0.3, 0.2, 0.3), points={"C": (0, 0, 0)})
    m.revolute("z", "ground.O", "outer.C", axis=(0, 0, 1))
    m.revolute("x", "outer.C", "inner.C", axis=(1, 0, 0))
    m.revolute("y", "inner.C", "rotor.C", axis=(0, 1, 0))
    for joint in "xz":
        m.torsional_spring(f"spring {joint}", joint, stiffness=k)
    m.start(angle={"z": 0.0, "x": 0.0, "y": 0.0}, speed={"y": Ω})
    return m


def test_a_campbell_diagram_of_a_rotor(tmp_path: Path) -> None:
    """I₁ I₂ ω⁴ − (k (I₁ + I₂) + J² Ω²) ω² + k² = 0; critical speeds are ∝ √k."""
    diagram = rotor().campbell("Omega", ("0 rpm", 120.0, 7), orders=(1, 2), wrt="k")
    I1, I2, J, k = 0.37, 0.31, 0.2, 900.0
    for Ω, f in zip(diagram.values, diagram.frequency.to_numpy(), strict=True):
        squares = np.roots([I1 * I2, -(k * (I1 + I2) + (J * Ω) ** 2), k**2])
        np.testing.assert_allclose(
            np.sort(f), np.sort(np.sqrt(squares.real)) / (2 * np.pi), rtol=1e-9
        )
    expected = [
        (n, Ω)
        for n in (1, 2)
        for Ω in np.sqrt(
            np.roots([I1 * I2 * n**4 - (J * n) ** 2, -k * (I1 + I2) * n**2, k**2]).real
        )
    ]
    expected.sort(key=lambda each: each[1])
    found = diagram.dataset
    np.testing.assert_array_equal(found["critical_order"], [n for n, _ in expected])
    speeds = np.array([Ω for _, Ω in expected])
    np.testing.assert_allclose(found["critical_value"], speeds, rtol=1e-11)
    slopes = found["critical_derivative"].sel(parameter="k")
    np.testing.assert_allclose(slopes, speeds / (2 * k), rtol=1e-9)
    assert vm.Campbell.load(diagram.save(tmp_path / "c.nc")).dataset.identical(found)
    assert "80.826863" in str(diagram)
    assert diagram.plot().axes


def test_bad_input_is_refused() -> None:
    m = rotor()
    with pytest.raises(vm.ModelError, match="increasing or decreasing"):
        m.root_locus("k", [1.0, 3.0, 2.0])
    with pytest.raises(vm.ModelError, match="increasing or decreasing"):
        m.root_locus("k", [1.0])
    with pytest.raises(vm.ModelError, match="'kk'"):
        m.root_locus("kk", (1.0, 2.0, 3))
    with pytest.raises(vm.ModelError, match="at = 'rest'"):
        m.root_locus("k", (1.0, 2.0, 3), at="rest")
    with pytest.raises(vm.ModelError, match="positive numbers"):
        m.campbell("Omega", (1.0, 2.0, 3), orders=(0,))
    with pytest.raises(vm.ModelError, match=r"'N\*m/rad', not that of a rotation.*revolutions"):
        m.campbell("k", (1.0, 2.0, 3))


@pytest.mark.parametrize(
    ("positions", "rows"),
    [
        (lambda v: [v**3, np.sin(9 * v)], ()),
        (lambda v: [v, float(v > 0.33)], (7,)),
        (lambda v: [np.sqrt(max(0.0, v - 0.301))], ()),  # a pitchfork: steep, and no jump
        (lambda v: [1.0, 0.2 * (v > 0.12) - 0.3 * (v > 0.87)], (3, 18)),
        (lambda v: [2.0], ()),
    ],
)
def test_jumps_of_motions_are_told_from_steep_changes(
    positions: Any, rows: tuple[int, ...]
) -> None:
    assert jumps(lambda v: np.array(positions(v)), np.linspace(0, 1, 21)) == rows
    assert jumps(lambda v: np.array(positions(1 - v)), np.linspace(0, 1, 21)) == tuple(
        21 - row for row in reversed(rows)
    )


def test_another_equilibrium_does_not_continue_the_branches(tmp_path: Path) -> None:
    """The crank of the starter file comes to rest below, and from some length on above."""
    m = vm.Mechanism.from_file(files("varimech.files") / "starter.yaml")  # type: ignore[arg-type]
    locus = m.root_locus("crank", (0.08, 0.12, 9), progress=False)
    (row,) = locus.branches.jumps
    angles = [float(m.equilibrium(parameters={"crank": c}).angle("crank")[0]) for c in locus.values]
    assert all(a < -0.9 for a in angles[:row]) and all(a > 0.5 for a in angles[row:])
    assert "becomes another one" in str(locus)
    line = locus.plot().axes[1].lines[0]
    assert np.flatnonzero(np.isnan(np.asarray(line.get_ydata()))).tolist() == [row]
