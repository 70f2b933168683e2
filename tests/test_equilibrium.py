"""Equilibria that a start leads to: downhill, to where a mechanism stays."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from pendulums import two_bars
from scipy.special import jn_zeros

import varimech as vm
from varimech.benchmarks import chain
from varimech.solving import vibrations


def pendulum(angle: float) -> vm.Mechanism:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("bar", "O", "tip", length=0.4, mass=0.5)
    m.revolute("O")
    m.start(angle={"bar": angle})
    return m


@pytest.mark.parametrize("angle", [-3.0, -2.0, -0.5, 0.0, 0.5, 1.5, 2.0])
def test_a_pendulum_comes_to_hang(angle: float) -> None:
    m = pendulum(angle)
    run = m.equilibrium()
    np.testing.assert_allclose(run.position("tip")[0], [0, -0.4], atol=1e-9)
    np.testing.assert_allclose(run.reaction("O")[0], [0, 0.5 * 9.81], rtol=1e-9)
    assert m.frequencies(1).item() == pytest.approx(
        math.sqrt(1.5 * 9.81 / 0.4) / (2 * math.pi), rel=1e-9
    )


@pytest.mark.parametrize("angles", [(0.0, -1.0), (0.0, 0.0), (0.5, 1.0)])
def test_two_bars_come_to_hang(angles: tuple[float, float]) -> None:
    np.testing.assert_allclose(two_bars(*angles).equilibrium().position("Q")[0], [0, -2], atol=1e-9)


def test_a_beam_pressed_beyond_its_buckling_load_buckles() -> None:
    m = vm.Mechanism("pressed", gravity=(0, -1e-3))
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    m.beam(
        "beam",
        "A",
        "B",
        segments=8,
        length=1,
        natural_length=1.05,
        E=1e9,
        section=vm.circle(0.01),
        density=1000,
    )
    m.revolute("A")
    m.revolute("B")
    assert m.equilibrium().position("beam.n4").sel(component="y").item() < -0.1
    assert m.frequencies(1).item() > 0


@pytest.mark.parametrize("moment", [math.pi, 2 * math.pi])
@pytest.mark.parametrize("slenderness", [1e5, 1e9])
def test_a_slender_beam_is_rolled_up_by_a_moment(moment: float, slenderness: float) -> None:
    m = vm.Mechanism("cantilever", dimension=2)
    m.ground_point("A", (0, 0))
    m.beam(
        "beam", "A", "B", segments=32, E=1.0, area=slenderness, inertia=1.0, mass=1.0, length=1.0
    )
    m.clamp("A", direction=(1, 0))
    m.torque("M", "beam.B", moment)
    run = m.equilibrium()
    assert run.info["iterations"] < 100
    np.testing.assert_allclose(
        run.position("B")[0],
        [math.sin(moment) / moment, (1 - math.cos(moment)) / moment],
        atol=0.03,
    )


def column(n: int, ratio: float) -> vm.Mechanism:
    """A pinned column under so many times its Euler load, with a touch to the side."""
    m = vm.Mechanism("column", dimension=2)
    m.ground_point("A", (0, 0))
    m.ground_point("B", (1, 0))
    m.beam("beam", "A", "B", segments=n, length=1.0, E=70e9, section=vm.circle(0.01), density=2700)
    m.revolute("A", "ground.A", "beam.A")
    m.point_on_line("B", "ground.B", "beam.B", axis=(1, 0))
    m.force("P", "beam.B", (-ratio * math.pi**2 * 70e9 * math.pi * 0.01**4 / 64, 0))
    m.force("touch", f"beam.n{n // 2}", (0, -1e-2))
    return m


@pytest.mark.parametrize(("ratio", "distance"), [(1.063, 0.881), (1.152, 0.741), (1.293, 0.560)])
def test_a_column_buckles_as_the_elastica(ratio: float, distance: float) -> None:
    """Distances of the ends from S. P. Timoshenko and J. M. Gere, Theory of Elastic Stability,
    table 2-5, to their three digits.
    """
    ends = [column(n, ratio).equilibrium().position("beam.B")[0, 0].item() for n in (16, 32)]
    assert (4 * ends[1] - ends[0]) / 3 == pytest.approx(distance, abs=3e-3)


def test_a_beam_that_folds_over_asks_for_more_segments() -> None:
    with pytest.raises(
        vm.VarimechError,
        match=r"beam 'beam' folds over by more than 90° at node 4, more than 8 segments can represent",
    ):
        column(8, 1.152).equilibrium()


def test_what_is_free_to_move_has_no_equilibrium() -> None:
    falling = vm.Mechanism("falling", gravity=(0, -9.81))
    falling.body("body", mass=1, inertia=1, floating=True)
    falling.start(position={"body.com": (0, 0)}, angle={"body": 0})
    sliding = vm.Mechanism("sliding", gravity=(0, -9.81))
    sliding.ground_point("O", (0, 0))
    sliding.body("block", mass=1, inertia=1, points={"P": (0, 0)})
    sliding.prismatic("slide", "ground.O", "block.P", axis=(1, -1))
    sliding.start(displacement={"slide": 0})
    for m in (falling, sliding):
        with pytest.raises(vm.VarimechError, match="free to move away"):
            m.equilibrium()


@pytest.mark.parametrize("load", [1.0, 1.8, 3.0])
def test_frequencies_under_a_load_that_follows(load: float) -> None:
    """Ziegler's column: two massive joints on torsional springs, and a force along the second bar;
    above a load it flutters.
    """
    m = vm.Mechanism("Ziegler", dimension=2)
    m.ground_point("O", (0, 0))
    for name, start, end in (("one", "O", "P"), ("two", "P", "Q")):
        m.bar(name, start, end, length=1.0, mass=1.0)
        m.revolute(start)
        m.torsional_spring(f"spring {start}", start, stiffness=1.0)
    m.force("follower", "two.Q", (-load, 0), frame="body")
    m.start(angle={"one": 0, "two": 0})
    M = np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]])
    K = np.array([[2 - load, -1 + load], [-1, 1]])
    squares = np.sort_complex(np.linalg.eigvals(np.linalg.solve(M, K)))
    computed = 2 * math.pi * m.frequencies(2).to_numpy()
    if np.abs(squares.imag).max() > 0:
        assert np.isnan(computed).all()
    else:
        np.testing.assert_allclose(computed, np.sqrt(squares.real), rtol=1e-8)


def test_a_long_chain_hangs_and_swings_as_a_rope() -> None:
    """Frequencies of a hanging rope are j_k √(g/L)/2 with the zeros j_k of the Bessel function J₀
    (D. Bernoulli).
    """
    m = chain.mechanism(100)
    np.testing.assert_allclose(m.equilibrium().position("P100")[0], [0, -100], atol=1e-9)
    rope = jn_zeros(0, 3) * math.sqrt(9.81 / 100) / 2 / (2 * math.pi)
    np.testing.assert_allclose(m.frequencies(3), rope, rtol=2e-3)


def test_equal_frequencies_of_a_large_system_without_stiffness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All squares are 0; whether the iteration ends depends on the vector that it starts from."""
    from scipy.sparse.linalg import ArpackNoConvergence

    n = vibrations.DENSE + 1
    H, M = ca.DM(n, n), ca.DM.eye(n)

    def without_end(*_: object, **__: object) -> None:
        raise ArpackNoConvergence("no convergence", np.zeros(0), np.zeros((n, 0)))

    assert vibrations.slowest(H, M)[0] == 0.0
    monkeypatch.setattr("scipy.sparse.linalg.eigsh", without_end)
    square, shape = vibrations.slowest(H, M)
    assert square == 0.0
    assert np.linalg.norm(shape) == pytest.approx(1.0)


def test_motions_without_stiffness_have_no_frequency() -> None:
    m = vm.Mechanism("free", dimension=2)
    m.beam(
        "beam",
        "A",
        "B",
        segments=8,
        length=1.0,
        E=70e9,
        section=vm.circle(0.01),
        density=2700,
        floating=True,
    )
    m.start(position={"A": (0, 0)}, angle={"beam": 0.0})
    computed = m.frequencies(4).to_numpy()
    np.testing.assert_array_equal(computed[:3], 0)
    assert computed[3] > 1
    assert len(m.frequencies(500)) == 18
    with pytest.raises(vm.ModelError, match=r"count = 2.5 must be a whole number"):
        m.frequencies(2.5)  # type: ignore[arg-type]


def spinning(speed: float, motion: object = None) -> vm.Mechanism:
    """A pendulum that hangs from a shaft, which turns freely or is driven."""
    m = vm.Mechanism("governor", gravity=(0, 0, -9.81))
    m.ground_point("O", (0, 0, 0))
    m.body("shaft", mass=1.0, inertia=(0.1, 0.1, 0.1), points={"O": (0, 0, 0), "A": (0.1, 0, 0)})
    m.body("arm", mass=1.0, inertia=(0.01, 0.01, 0.01), com=(0, 0, -0.5), points={"A": (0, 0, 0)})
    m.revolute("O", axis=(0, 0, 1))
    m.revolute("A", axis=(0, 1, 0))
    if motion is None:
        m.start(angle={"O": 0.0, "A": 0.1}, speed={"O": speed})
    else:
        m.drive_angle("motor", "O", motion)
        m.start(angle={"A": 0.1})
    return m


def test_frequencies_about_a_motion_are_refused() -> None:
    at_rest = math.sqrt(9.81 * 0.5 / (0.25 + 0.01)) / (2 * math.pi)
    assert spinning(0.0).frequencies(2).to_numpy() == pytest.approx(
        [0.0, at_rest], rel=0.1
    )  # the shaft gives way a little
    assert spinning(0.0, 0.3).frequencies(1).item() == pytest.approx(at_rest, rel=1e-9)
    with pytest.raises(
        vm.ModelError, match=r"start gives it a speed, and nothing resists .* leave speed= out"
    ):
        spinning(20.0).frequencies()
    with pytest.raises(
        vm.ModelError, match=r"driver 'motor' moves it; hold the driver at a constant value"
    ):
        spinning(0.0, lambda t: 20.0 * t).frequencies()


def test_a_speed_at_the_start_does_not_matter_where_stiffness_resists_it() -> None:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=0.4, mass=1.0)
    m.revolute("O")
    m.start(angle={"rod": -1.0}, speed={"rod": 2.0})
    assert m.frequencies(1).item() == pytest.approx(
        math.sqrt(1.5 * 9.81 / 0.4) / (2 * math.pi), rel=1e-9
    )
