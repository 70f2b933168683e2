"""Results that must not depend on how one came to them, and bodies that must stay what they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from bodies import add_body
from loops import add_four_bar
from pendulums import torsional_pendulum
from refusals import pendulum

import varimech as vm
from varimech.schemes import choose


def base_with_pendulum(span: float = 2.0) -> vm.Mechanism:
    """A bar pinned to the ground at both ends, with a pendulum at its middle: it has to be as long
    as the pins are apart.
    """
    m = vm.Mechanism("base", gravity=(0, -9.81))
    L = m.parameter("L", 2.0)
    m.ground_point("A", (0, 0))
    m.ground_point("B", (span, 0))
    m.bar("base", "A", "B", length=L, mass=1, points={"C": (0.5, 0)})
    m.bar("pendulum", "C", "D", length=1, mass=1)
    for name in "ABC":
        m.revolute(name)
    m.start(angle={"pendulum": -1.0})
    return m


def test_a_body_held_at_two_places_has_to_fit() -> None:
    assert base_with_pendulum().simulate(0.01).position("C")[0].values == pytest.approx([0.5, 0])
    with pytest.raises(vm.AssemblyError, match=r"loop ground – base .*stays open by 1 m"):
        base_with_pendulum(3.0).simulate(0.01)
    with pytest.raises(vm.AssemblyError, match=r"stays open by 0\.1 m"):
        base_with_pendulum().simulate(0.01, parameters={"L": 1.9})


def test_a_length_that_has_to_fit_has_no_derivative() -> None:
    with pytest.raises(
        vm.AssemblyError, match=r"no derivative with respect to 'L'.*rigidity of base"
    ):
        base_with_pendulum().sensitivity(vm.final(lambda s: s.angle("pendulum")), duration=0.01)


def test_a_spatial_door_on_two_ball_joints_has_to_fit() -> None:
    m = vm.Mechanism("door", gravity=(0, 0, -9.81))
    m.ground_point("low", (0, 0, 0))
    m.ground_point("high", (0, 0, 2))
    add_body(m, "door", 1, (1, 1, 1), (0.5, 0, 0.5), low=(0, 0, 0), high=(0, 0, 1), edge=(1, 0, 0))
    m.spherical("low")
    m.spherical("high")
    m.start(position={"door.edge": (None, 0.0, None)}, near={"door.edge": (1, 0, 0)})
    with pytest.raises(vm.AssemblyError, match="stays open by 1 m"):
        m.simulate(0.01)


def four_bar() -> vm.Mechanism:
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    θ = m.parameter("θ", 0.5)
    add_four_bar(m, 2, 0.9, 2.0, 1.5)
    m.start(angle={"crank": θ}, near={"C": (2, 1.5)})
    return m


@pytest.mark.parametrize("angle", [0.52, 1.5, 4.0])
def test_the_branch_does_not_depend_on_what_was_run_before(angle: float) -> None:
    fresh, used = four_bar(), four_bar()
    used.simulate(0.01)
    Q = [
        m.simulate(0.01, parameters={"θ": angle}).position("C")[0].to_numpy() for m in (fresh, used)
    ]
    np.testing.assert_array_equal(Q[0], Q[1])
    crank = 0.9 * np.array([math.cos(angle), math.sin(angle)])
    assert np.linalg.norm(Q[0] - crank) == pytest.approx(2.0, abs=1e-12)
    assert np.linalg.norm(Q[0] - [2, 0]) == pytest.approx(1.5, abs=1e-12)
    assert Q[0][1] > 0  # the branch that `near` asks for


def test_ensembles_refuse_what_single_runs_refuse() -> None:
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    M = m.parameter("M", 1.0)
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=1, mass=M)
    m.revolute("O")
    m.start(angle={"rod": 0.0})
    ensemble = m.ensemble(vm.final(lambda s: s.energy), {"M": [1.0, -1.0, 2.0]}, duration=0.1)
    assert list(ensemble.failures) == [1]
    assert "mass = -1 must be positive" in str(ensemble.failures[1])


@pytest.mark.parametrize("every", [1, 7, 2300])
@pytest.mark.parametrize("backend", ["auto", "interpreted"])
def test_turns_are_counted_at_every_step_not_at_stored_ones(every: int, backend: str) -> None:
    """Amplitude ω₀ √(I/k) with I = 1/3: 5.5 rad for 30 rad/s."""
    settings: dict[str, Any] = {"step": 1e-3, "every": every, "backend": backend}
    run = torsional_pendulum(30.0).simulate(2.3, **settings)
    ω = math.sqrt(30.0)
    np.testing.assert_allclose(run.angle("O"), 30 / ω * np.sin(ω * run.time), atol=1e-2)


def test_equal_objectives_written_anew_are_built_once() -> None:
    m = four_bar()
    for _ in range(5):
        m.sensitivity({"end": vm.final(lambda s: s.position("C")[0])}, duration=0.01)
    assert len(m._solvers.of(choose(1.0)[0])._runners._of_expressions) == 1


def test_differences_survive_a_perturbation_that_fails() -> None:
    """The largest perturbation leaves the square root, the smaller ones do not."""
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    p = m.parameter("p", 1.0)
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=1, mass=1)
    m.revolute("O")
    m.force("push", "tip", lambda s: (0.0, vm.sqrt(p - 0.9995)))
    m.start(angle={"rod": 0.0})
    objective = vm.final(lambda s: s.angle("rod"))
    settings: dict[str, Any] = {"duration": 0.1, "step": 1e-2}
    direct, differences = (
        m.sensitivity(objective, method=k, **settings) for k in ("direct", "finite-difference")
    )
    assert np.isnan(differences.sweep.sel(relative_step=1e-3)).all()  # type: ignore[union-attr]
    np.testing.assert_allclose(direct.gradient, differences.gradient, rtol=1e-5)


def test_numpy_functions_work_on_parameters() -> None:
    m = vm.Mechanism("m", dimension=2)
    p: Any = m.parameter("p", 4.0)
    for expression, value in (
        (np.sqrt(p), 2.0),
        (np.sin(2 * p), math.sin(8)),
        (np.float64(2) * p, 8.0),
        (np.arctan2(p, 4.0), math.pi / 4),
    ):
        assert m.data.parameter_set.evaluate(expression).item() == pytest.approx(value)


def test_a_python_decision_on_the_state_names_the_remedy() -> None:
    m = torsional_pendulum(0.0)
    with pytest.raises(vm.ModelError, match=r"force 'f' decides with `if`.*varimech\.where"):
        m.force("f", "tip", lambda s: (1, 0) if s.position("tip")[1] < 0 else (0, 0))


def test_plots_label_every_curve(tmp_path: Any) -> None:
    m = four_bar()
    m.parameter("unused", 1.0)
    run = m.sensitivity(wrt="all", duration=0.05, step=1e-2).run
    labels = [
        line.get_label()
        for line in run.plot(wrt="all", position="C", angle="rocker").axes[0].get_lines()
    ]
    assert labels == ["C x / ∂ θ (m)", "C x / ∂ unused (m)", "C y / ∂ θ (m)", "C y / ∂ unused (m)"]
    run.draw(times=np.linspace(0.05, 0, 3), trace="C").savefig(tmp_path / "drawing.png")
    assert (tmp_path / "drawing.png").stat().st_size > 5000


def test_a_refused_driver_leaves_no_trace() -> None:
    m = torsional_pendulum(0.0)
    p = m.parameter("p", 1.0)
    before = (m.data.revision, len(m.data.parameter_set.requirements), list(m.drivers))
    with pytest.raises(vm.ModelError, match="the name 's' is already used"):
        m.drive_coordinate("s", "rod.tip", (p, 0), 1.0)
    assert (m.data.revision, len(m.data.parameter_set.requirements), list(m.drivers)) == before


def test_a_position_may_be_given_as_a_vector_of_parameters() -> None:
    m = torsional_pendulum(0.0)
    p = m.parameter("p", 0.6)
    m.start(position={"rod.tip": (p, None)}, near={"rod.tip": (0.6, 0.8)})
    assert m.simulate(0.01).position("rod.tip")[0].values == pytest.approx([0.6, 0.8])
    free = vm.Mechanism("free", dimension=2)
    x = free.parameter("x", 0.25)
    free.body("b", mass=1, inertia=1, points={"P": (0, 0)}, floating=True)
    free.start(position={"b.P": vm.vector(x, 2 * x)}, angle={"b": 0.0})
    assert free.simulate(0.01).position("b.P")[0].values == pytest.approx([0.25, 0.5])


@pytest.mark.parametrize("gap", [0.0, 4e-16, 1e-13])
def test_a_spring_of_no_length_is_explained(gap: float) -> None:
    m = torsional_pendulum(0.0)
    m.ground_point("Q", (1 + gap, 0))  # where the tip starts, but for rounding
    m.spring("coil", "ground.Q", "rod.tip", stiffness=1.0, natural_length=0.5)
    with pytest.raises(vm.AssemblyError, match="check 'coil': its ends coincide"):
        m.simulate(0.01)


def test_a_change_of_the_model_is_picked_up() -> None:
    m = pendulum()
    m.start(angle={"rod": 0.0})
    assert m.simulate(0.02, step=0.01).acceleration("tip")[0, 1] == pytest.approx(-9.81 * 1.5)
    m.force("lift", "tip", (0, 9.81))  # half the weight, at twice its arm
    assert m.simulate(0.02, step=0.01).acceleration("tip")[0, 1] == pytest.approx(0.0, abs=1e-12)
    m.start(angle={"rod": 1.0})
    assert m.simulate(0.02, step=0.01).angle("rod")[0] == pytest.approx(1.0)
    m.bar("second", "tip", "end", length=1, mass=1)
    m.revolute("tip")
    m.start(angle={"rod": 0.0, "second": 0.0})
    assert m.simulate(0.02, step=0.01).position("end")[0, 0] == pytest.approx(2.0)
    M = m.parameter("extra", 0.25)
    m.point("second", "mid", (2 * M, 0))
    assert m.simulate(0.02, step=0.01, parameters={"extra": 0.5}).position("mid")[
        0, 0
    ] == pytest.approx(2.0)
