"""Forces and integrands that jump where the motion, the time or a parameter says so: steps end there, and
derivatives know that parameters move the jump. Expected values are closed forms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from both_backends import both_backends

import varimech as vm
from varimech.backends.chain_calls import AttemptFailure, ChainCalls
from varimech.backends.failures import NO_CONVERGENCE
from varimech.backends.jumps import Jumps
from varimech.sensitivity.switching import jumps_of

T = 1.0
END = {
    "x": vm.final(lambda s: s.displacement("guide")),
    "v": vm.final(lambda s: s.velocity("block.P")[0]),
}


def block(force: Any = None, **more: Any) -> vm.Mechanism:
    """1 kg on a guide, at 0, with 1 m/s."""
    m = vm.Mechanism("block", dimension=2)
    p, v = m.parameter("p", 0.5), m.parameter("v0", 1.0)
    m.ground_point("O", (0, 0))
    m.body("block", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
    if force is not None:
        m.force("force", "block.P", lambda s: (force(s, p), 0))
    m.start(displacement={"guide": 0.0}, speed={"guide": v}, **more)
    return m


def brake(s: Any, p: Any) -> Any:
    """−1 N beyond p."""
    return vm.where(s.displacement("guide") > p, -1.0, 0.0)


def after(t: float, p: float = 0.5, v: float = 1.0) -> tuple[list[float], list[list[float]]]:
    """x and v of the braked block, and their derivatives with respect to p and v₀, after it has been
    braked for a while: x = p + v d − d²/2,  d = t − p/v.
    """
    d = t - p / v
    x, speed = p + v * d - d * d / 2, v - d
    d_p, d_v = -1 / v, p / v**2
    return [x, speed], [[1 + (v - d) * d_p, d + (v - d) * d_v], [-d_p, 1 - d_v]]


METHODS: dict[str, dict[str, Any]] = {
    "direct": {"method": "direct"},
    "adjoint": {"method": "adjoint"},
    "order 5": {"method": "direct", "integrator": "dopri5"},
    "relative": {"method": "adjoint", "coordinates": "rtdyn1"},
    "stabilised": {"method": "direct", "formulation": "index1-stabilised"},
    "independent": {"method": "adjoint", "formulation": "independent", "integrator": "dop853"},
}


@both_backends
@pytest.mark.parametrize("options", METHODS.values(), ids=METHODS.keys())
def test_a_jump_in_the_motion(options: dict[str, Any], backend: str) -> None:
    g = block(brake).sensitivity(END, duration=T, backend=backend, **options)
    values, gradient = after(T)
    np.testing.assert_allclose(g.final_values, values, rtol=1e-12)
    np.testing.assert_allclose(g.final_gradient, gradient, rtol=1e-11, atol=1e-12)
    assert g.run.info["steps"] < 90 and g.run.info["rejected"] < 12


def test_both_backends_pass_it_alike() -> None:
    runs = [
        block(brake).sensitivity(END, duration=T, backend=backend, method=method)
        for backend in ("native", "interpreted")
        for method in ("direct", "adjoint")
    ]
    for other in runs[1:]:
        np.testing.assert_array_equal(other.final_values, runs[0].final_values)
    for k in range(2):
        np.testing.assert_allclose(
            runs[k].final_gradient, runs[k + 2].final_gradient, rtol=1e-14, atol=1e-15
        )


def test_the_second_run_over_the_same_steps_passes_it_too() -> None:
    g = block(brake).sensitivity(END, duration=T)
    np.testing.assert_array_equal(g.gradient_history[-1], g.final_gradient)
    late = g.time > 0.51
    exact = np.array([after(t)[1] for t in g.time[late]])
    np.testing.assert_allclose(g.gradient_history[late], exact, rtol=1e-9, atol=1e-11)
    before = g.gradient_history[g.time < 0.49]
    np.testing.assert_allclose(before[:, :, 0], 0.0, atol=1e-14)


def test_a_part_of_a_run_passes_it_with_the_same_steps() -> None:
    """As an interrupted gradient does: its steps are longer shares of it than they were of all."""
    whole = block(brake).sensitivity(END, duration=10 * T, longest_step=0.05)
    ends = np.asarray(whole.run.step_ends)
    last = int(np.searchsorted(ends, 0.8))
    for backend in ("auto", "interpreted"):
        part = block(brake).sensitivity(
            END, duration=float(ends[last]), ends=ends[: last + 1], backend=backend
        )
        exact = after(float(ends[last]))
        np.testing.assert_allclose(part.final_gradient, exact[1], rtol=1e-10, atol=1e-11)


def test_differences_know_it() -> None:
    g = block(brake).sensitivity(END, duration=T, method="finite-difference")
    np.testing.assert_allclose(g.final_gradient, after(T)[1], rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("method", ["direct", "adjoint", "finite-difference"])
def test_a_time_that_a_parameter_moves(method: str) -> None:
    """A push between p and p + 0.2 changes the velocity by 0.6 m/s."""

    def push(s: Any, p: Any) -> Any:
        return vm.where(s.time > p, 3.0, 0.0) - vm.where(s.time > p + 0.2, 3.0, 0.0)

    g = block(push).sensitivity(END, duration=T, method=method)
    np.testing.assert_allclose(g.final_values, [1.0 + 0.06 + 0.6 * 0.3, 1.6], rtol=1e-9)
    np.testing.assert_allclose(g.final_gradient, [[-0.6, 1.0], [0.0, 1.0]], rtol=1e-7, atol=1e-8)


@both_backends
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_integrands_that_jump(method: str, backend: str) -> None:
    """Distance covered beyond 0.3 p while nothing brakes, and impulse of the brake."""

    def beyond(s: Any) -> Any:
        return vm.where(
            s.displacement("guide") > 0.3 * s.parameter("p"), s.velocity("block.P")[0], 0
        )

    goals = {
        "beyond": vm.integral(beyond),
        "impulse": vm.integral(lambda s: s.acceleration("block.P")[0]),
    }
    g = block(brake).sensitivity(goals, duration=T, method=method, backend=backend)
    (x, _), ((x_p, x_v), _) = after(T)
    np.testing.assert_allclose(g.final_values, [x - 0.15, -0.5], rtol=1e-12)
    np.testing.assert_allclose(g.final_gradient, [[x_p - 0.3, x_v], [1.0, -0.5]], rtol=1e-11)


def test_a_loop_with_a_jump_agrees_with_differences() -> None:
    """A four-bar whose crank is driven only on one side, passed several times in both directions."""
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    L = m.parameter("L", 1.1)
    m.ground_point("A", (0, 0))
    m.ground_point("D", (1.2, 0))
    m.bar("crank", "A", "B", length=0.5, mass=m.parameter("m", 1.0))
    m.bar("rod", "B", "C", length=L, mass=1.0)
    m.bar("rocker", "D", "C", length=0.9, mass=1.0)
    for name in "ABCD":
        m.revolute(name)
    m.torque("drive", "crank", lambda s: vm.where(s.position("B")[1] > 0.1, 4.0, -2.0))
    m.start(angle={"crank": 1.0}, near={"C": (1.2, 0.9)})
    goals = {
        "angle": vm.final(lambda s: s.angle("rocker")),
        "work": vm.integral(lambda s: s.energy),
    }
    gradients = {
        method: m.sensitivity(goals, duration=1.5, tolerance=1e-11, method=method)
        for method in ("direct", "adjoint", "finite-difference")
    }
    direct = gradients["direct"]
    crossed = direct.run.live.computed.crossed
    assert crossed is not None and (crossed > 0).sum() >= 2
    for method, bound in (("adjoint", 1e-10), ("finite-difference", 1e-5)):
        np.testing.assert_allclose(
            gradients[method].final_gradient, direct.final_gradient, rtol=bound
        )


def test_a_large_chain_passes_jumps() -> None:
    """Assembled programs: forty pendulums in a row of which one meets a brake."""
    m = vm.Mechanism("pendulums", gravity=(0, -9.81))
    c = m.parameter("c", 0.3)
    for k in range(20):
        m.ground_point(f"O{k}", (3.0 * k, 0))
        m.bar(f"rod{k}", f"O{k}", f"P{k}", length=1.0, mass=1.0)
        m.revolute(f"O{k}")
    m.torque("brake", "rod0", lambda s: vm.where(s.position("P0")[0] > c, -3.0, 0.0))
    m.start(angle={f"rod{k}": -math.pi / 2 - 0.5 for k in range(20)})
    place = {"x": vm.final(lambda s: s.position("P0")[0])}
    options: dict[str, Any] = {"duration": 1.0, "coordinates": "natural", "tolerance": 1e-10}
    direct, adjoint, differences = (
        m.sensitivity(place, method=method, **options).final_gradient.item()
        for method in ("direct", "adjoint", "finite-difference")
    )
    assert direct == pytest.approx(adjoint, rel=1e-9)
    assert direct == pytest.approx(differences, rel=1e-5) and abs(direct) > 1e-2


def test_continuous_branches_are_no_jumps() -> None:
    """A one-sided spring written with `where` has a kink only: all methods take it."""

    def spring(s: Any, p: Any) -> Any:
        return vm.where(s.displacement("guide") > p, -10 * (s.displacement("guide") - p), 0.0)

    ω, d = math.sqrt(10), 0.5
    exact = [1 - math.cos(ω * d), math.sin(ω * d) / ω + 0.5 * math.cos(ω * d)]
    for method in ("direct", "adjoint", "complex-step", "finite-difference"):
        g = block(spring).sensitivity({"x": END["x"]}, duration=T, method=method)
        assert g.final_values[0] == pytest.approx(0.5 + math.sin(ω * d) / ω, rel=1e-9)
        np.testing.assert_allclose(g.final_gradient[0], exact, rtol=1e-6, err_msg=method)


@pytest.mark.parametrize("method", ["complex-step", "composite"])
def test_other_methods_include_jumps(method: str) -> None:
    g = block(brake).sensitivity(END, duration=T, method=method)
    np.testing.assert_allclose(g.final_gradient, after(T)[1], rtol=1e-11, atol=1e-12)


def test_the_same_jump_in_two_places_counts_once() -> None:
    def twice(s: Any, p: Any) -> Any:
        return 0.5 * brake(s, p) + vm.where(s.displacement("guide") > p, -0.5, 0.0)

    m = block(twice)
    assert len(jumps_of(m.problem(END, duration=T)._simulation.solver().equations, {})) == 1
    g = m.sensitivity(END, duration=T)
    np.testing.assert_allclose(g.final_gradient, after(T)[1], rtol=1e-11, atol=1e-12)


def test_a_sliding_mode_ends_with_a_message() -> None:
    """Dry friction as a sign: the motion would switch without end."""
    m = block(lambda s, p: -2.0 * vm.sign(s.velocity("block.P")[0]))
    with pytest.raises(vm.SimulationError, match="steps brought less than"):
        m.simulate(T)


def test_a_jump_at_the_very_end_of_a_run() -> None:
    """The block passes p = 0.5 at 0.5 s, where the run ends: nothing of the brake is left."""
    for backend in ("auto", "interpreted"):
        run = block(brake).simulate(0.5, backend=backend)
        assert run.displacement("guide").values[-1] == pytest.approx(0.5, abs=1e-14)


def test_accelerations_without_a_solution_beyond_a_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is named, at its time, as where a step fails."""
    differentiate = Jumps._differentiate

    def failing(self: Jumps, begin: float, end: float) -> None:
        def solve(self: ChainCalls) -> int:
            raise AttemptFailure(NO_CONVERGENCE)

        with monkeypatch.context() as patch:
            patch.setattr(ChainCalls, "solve", solve)
            differentiate(self, begin, end)

    monkeypatch.setattr(Jumps, "_differentiate", failing)
    with pytest.raises(vm.SimulationError, match="no convergence") as error:
        block(brake).sensitivity(END, duration=T, backend="interpreted")
    assert error.value.time == pytest.approx(0.5, rel=1e-9)


@both_backends
@pytest.mark.parametrize("duration", [0.244, 0.535])
def test_contacts_far_shorter_than_the_steps_between_them(duration: float, backend: str) -> None:
    """A block that rattles between stiff buffers: each contact lasts half a period of the block on its
    buffer, a twentieth of a flight, and far less than the longest steps, at whose ends the block would
    be far beyond the buffer.
    """
    speed, stiffness, gap = 0.3, 1e8, 1e-3
    m = vm.Mechanism("rattle", dimension=2)
    m.ground_point("O", (0, 0))
    m.body("block", mass=1.0, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("guide", "ground.O", "block.P", axis=(1, 0))
    m.stop("buffers", "displacement('guide')", lower=-gap, upper=gap, stiffness=stiffness)
    m.start(displacement={"guide": 0.0}, speed={"guide": speed})
    run = m.simulate(duration, backend=backend)
    rate = math.sqrt(stiffness)
    flight, contact = 2 * gap / speed, math.pi / rate
    number, since = divmod(duration + gap / speed, flight + contact)  # since it left a buffer
    place = (
        speed * since - gap
        if since < flight
        else gap + speed / rate * math.sin(rate * (since - flight))
    )
    x = run.displacement("guide")[-1].item()
    assert x == pytest.approx((-1) ** int(number) * place, abs=1e-7)
    assert run.info["rejected"] < 40 * number
