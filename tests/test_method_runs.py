"""Runs with every formulation and integrator: backends agree to the last bit, and runs to a
tolerance keep what they promise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loops import EQUAL_ONLY, OBJECTIVES, TOLERANCE_ONLY, four_bar, pendulum, trajectory

import varimech as vm
from varimech.backends import compiler, native
from varimech.backends.native import NativeProgram
from varimech.schemes import FORMULATIONS, INTEGRATORS, choose, integrators_of
from varimech.solving.programs import LONG

needs_compiler = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="no C compiler on this machine"
)


# backends


def combinations(
    formulations: tuple[str, ...], integrators: tuple[str, ...]
) -> list[tuple[str, str, dict[str, Any]]]:
    """Formulation, integrator and times of all that go together."""
    results: list[tuple[str, str, dict[str, Any]]] = []
    for formulation in formulations:
        for integrator in integrators_of(FORMULATIONS[formulation]):
            if integrator not in integrators:
                continue
            if integrator in EQUAL_ONLY[:4]:
                results.append(
                    (formulation, integrator, {"duration": 0.3, "step": 2e-3, "every": 7})
                )
            elif integrator not in TOLERANCE_ONLY:
                results.append(
                    (formulation, integrator, {"duration": 1.0, "step": 5e-3, "every": 7})
                )
            if integrator not in EQUAL_ONLY:
                results.append(
                    (formulation, integrator, {"duration": 1.0, "tolerance": 1e-6, "output": 0.03})
                )
    return results


def check_same(first: vm.Gradient, second: vm.Gradient) -> None:
    one, other = trajectory(first.run), trajectory(second.run)
    for name in (
        "time",
        "states",
        "objectives",
        "sensitivities",
        "gradients",
        "residuals",
        "step_ends",
    ):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    ignored = ("seconds", "execution")
    infos = [{k: v for k, v in g.run.info.items() if k not in ignored} for g in (first, second)]
    assert infos[0] == infos[1]
    assert (
        np.isfinite(one.states).all()
        and one.sensitivities is not None
        and np.abs(one.sensitivities).max() > 0
    )


def check_backends(
    m: vm.Mechanism, formulation: str, integrator: str, times: dict[str, Any]
) -> vm.Gradient:
    native, slow = (
        m.sensitivity(
            OBJECTIVES, formulation=formulation, integrator=integrator, backend=backend, **times
        )
        for backend in ("native", "interpreted")
    )
    check_same(native, slow)
    return native


@needs_compiler
@pytest.mark.parametrize(
    ("formulation", "integrator", "times"), combinations(tuple(FORMULATIONS), tuple(INTEGRATORS))
)
def test_backends_agree_to_the_last_bit(
    formulation: str, integrator: str, times: dict[str, Any]
) -> None:
    info = check_backends(four_bar(), formulation, integrator, times).run.info
    if "tolerance" in times and integrator == "dop853":
        assert info["rejected"] > 0  # so that trials that fail are compared too
    if formulation == "independent":
        assert info["selections"] > 1
    else:
        assert "selections" not in info


@needs_compiler
@pytest.mark.parametrize(
    ("formulation", "integrator", "times"),
    combinations(("ali3p", "index1", "independent"), ("trapezoidal", "rk4", "dop853"))
    + combinations(("index1-stabilised", "penalty"), ("dopri5",)),
)
def test_backends_agree_with_redundant_constraints(
    formulation: str, integrator: str, times: dict[str, Any]
) -> None:
    g = check_backends(four_bar(twin=True), formulation, integrator, times)
    if formulation != "penalty":
        plain = four_bar().sensitivity(
            OBJECTIVES,
            formulation=formulation,
            integrator=integrator,
            backend="interpreted",
            **times,
        )
        np.testing.assert_allclose(g.values, plain.values, rtol=1e-6)
        np.testing.assert_allclose(g.gradient, plain.gradient, rtol=1e-4, atol=1e-6)


def swept_chain() -> vm.Mechanism:
    """Just long enough for sweeps, with names that the objectives know."""
    m = vm.Mechanism("chain", gravity=(0, -9.81))
    L = m.parameter("L", 0.4)
    points = [f"P{k}" for k in range(LONG + 1)] + ["C"]
    m.ground_point("P0", (0, 0))
    for k, (first, second) in enumerate(pairwise(points)):
        m.bar("rocker" if second == "C" else f"b{k}", first, second, length=L, mass=1 + k / 10)
        m.revolute(first)
    m.torsional_spring("coil", "P3", stiffness=20.0, damping=m.parameter("c", 0.1))
    m.start(
        angle={name: 0.1 * k for k, name in enumerate(b.name for b in m.data.moving_bodies)},
        speed={"rocker": 2.0},
    )
    return m


@needs_compiler
@pytest.mark.parametrize("coordinates", ["rtdyn0", "rtdyn1"])
@pytest.mark.parametrize(
    ("make", "recursive"), [(four_bar, False), (swept_chain, True)], ids=["loop", "swept"]
)
def test_backends_agree_in_relative_coordinates(
    make: Callable[[], vm.Mechanism], recursive: bool, coordinates: str
) -> None:
    m, times = (
        make(),
        {"duration": 0.3, "tolerance": 1e-6, "output": 0.03, "coordinates": coordinates},
    )
    check_backends(m, "index1", "dopri5", times)
    assert (
        m._solvers.of(
            choose(1.0, integrator="dopri5", coordinates=coordinates)[0]
        ).programs.recursive
        == recursive
    )


@needs_compiler
@pytest.mark.parametrize(
    "force", [lambda t: 1 / (2 - t), lambda t: (2 - t) ** -2, lambda t: vm.exp(-t) / (1 + t**2)]
)
def test_backends_agree_with_quotients_in_forces(force: Callable[[Any], Any]) -> None:
    """Compilers like to contract what follows a quotient."""
    m = vm.Mechanism("pushed", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=1, mass=3.0)
    m.revolute("O")
    m.force("push", "tip", lambda s: (force(s.time), 0))
    m.start(angle={"rod": -1.0})
    native, slow = (
        trajectory(m.simulate(0.9, tolerance=1e-6, output=0.1, backend=b))
        for b in ("native", "interpreted")
    )
    np.testing.assert_array_equal(native.states, slow.states)
    np.testing.assert_array_equal(native.step_ends, slow.step_ends)


@needs_compiler
@pytest.mark.parametrize("formulation", ["index1", "independent"])
def test_backends_agree_in_ensembles_to_a_tolerance(formulation: str) -> None:
    """Samples close to the nominal one, which are carried out together, and one that is not; each
    as if it were alone.
    """
    lengths, m = [1.8, 1.82, 1.75, 2.1], four_bar()
    options: dict[str, Any] = {"duration": 0.5, "tolerance": 1e-6, "formulation": formulation}
    native, slow = (
        m.ensemble(OBJECTIVES, {"L": lengths}, wrt="L", backend=b, threads=2, **options)
        for b in ("native", "interpreted")
    )
    assert not native.failures and not slow.failures
    np.testing.assert_array_equal(native.values, slow.values)
    assert native.gradient is not None and slow.gradient is not None
    np.testing.assert_array_equal(native.gradient, slow.gradient)
    for k, L in enumerate(lengths):
        alone = m.sensitivity(OBJECTIVES, "L", parameters={"L": L}, backend="native", **options)
        np.testing.assert_array_equal(alone.values, native.values[k])
        np.testing.assert_array_equal(alone.gradient, native.gradient[k])


@needs_compiler
@pytest.mark.parametrize("formulation", ["index1", "independent"])
def test_compiled_code_takes_over_in_the_middle_of_a_run(
    formulation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {
        "duration": 0.5,
        "tolerance": 1e-6,
        "output": 0.05,
        "formulation": formulation,
    }
    advance, compiled = NativeProgram.advance, list[bool]()

    def advance_and_build(self: NativeProgram, run: Any, last: int) -> None:
        advance(self, run, last)
        compiled.append(bool(run.entry_points))
        self.build()

    monkeypatch.setattr(NativeProgram, "load", lambda self: False)
    four_bar.cache_clear()
    interpreted = four_bar().sensitivity(OBJECTIVES, backend="interpreted", **options)
    by_machine = four_bar().sensitivity(OBJECTIVES, **options)
    monkeypatch.setattr(native, "FIRST_SLICE", 3)
    monkeypatch.setattr(native, "next_slice", lambda *arguments: 3)
    monkeypatch.setattr(NativeProgram, "advance", advance_and_build)
    four_bar.cache_clear()
    mixed = four_bar().sensitivity(OBJECTIVES, **options)
    assert len(compiled) > 2 and not compiled[0] and all(compiled[1:])
    check_same(by_machine, interpreted)
    check_same(mixed, interpreted)
    four_bar.cache_clear()


# runs to a tolerance


@cache
def to_tolerance(
    tolerance: float, output: float, duration: float = 1.0, integrator: str = "dop853"
) -> vm.Gradient:
    return four_bar().sensitivity(
        OBJECTIVES,
        duration=duration,
        tolerance=tolerance,
        output=output,
        integrator=integrator,
        backend="interpreted",
    )


@pytest.mark.parametrize("integrator", ["dopri5", "dop853", "cvodes", "idas"])
def test_stored_times_are_those_asked_for(integrator: str) -> None:
    run = pendulum().simulate(
        1.0, tolerance=1e-6, output=0.3, integrator=integrator, backend="interpreted"
    )
    np.testing.assert_allclose(run.time, [0, 0.25, 0.5, 0.75, 1.0], rtol=1e-15)
    assert run.time[-1] == 1.0
    info = run.info
    assert info["tolerance"] == 1e-6
    assert info["steps"] > 5 and info["rejected"] >= 0


@pytest.mark.parametrize("integrator", ["dopri5", "dop853"])
def test_steps_of_a_run_to_a_tolerance(integrator: str) -> None:
    counts = []
    for tolerance in (1e-4, 1e-8):
        info = (run := to_tolerance(tolerance, 0.25, integrator=integrator).run).info
        ends = trajectory(run).step_ends
        assert info["steps"] == ends.size - 1
        assert info["step"] == [
            pytest.approx(np.diff(ends).min()),
            pytest.approx(np.diff(ends).max()),
        ]
        assert ends[0] == 0 and ends[-1] == 1.0 and info["step"][0] > 0
        assert info["tolerance"] == tolerance
        counts.append(info["steps"])
    assert counts[1] > 1.5 * counts[0]


@pytest.mark.parametrize("integrator", ["dopri5", "dop853"])
def test_more_outputs_change_nothing(integrator: str) -> None:
    """At times that are binary fractions, not a bit."""
    few, many = (
        trajectory(to_tolerance(1e-6, output, integrator=integrator).run)
        for output in (0.25, 0.0625)
    )
    np.testing.assert_array_equal(few.step_ends, many.step_ends)
    assert few.rejected == many.rejected
    for name in ("time", "states", "objectives", "sensitivities", "gradients"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name)[::4], err_msg=name)


@pytest.mark.parametrize("integrator", ["dopri5", "dop853"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_dense_output_is_as_good_as_a_run_that_ends_there(
    integrator: str, tolerance: float
) -> None:
    whole = to_tolerance(tolerance, 0.125, integrator=integrator)
    for k in range(1, 8):
        part = to_tolerance(tolerance, 0.125 * k, 0.125 * k, integrator=integrator)
        exact = to_tolerance(1e-12, 0.125 * k, 0.125 * k)
        for point in "BC":
            one, other, best = (np.asarray(g.run.position(point)) for g in (whole, part, exact))
            np.testing.assert_allclose(one[k], best[-1], rtol=0, atol=10 * tolerance)
            np.testing.assert_allclose(one[k], other[-1], rtol=0, atol=10 * tolerance)
        velocities = [np.asarray(g.run.velocity("C")) for g in (whole, exact)]
        np.testing.assert_allclose(
            velocities[0][k], velocities[1][-1], rtol=0, atol=10 * tolerance * 6
        )
        values = [g.value_history for g in (whole, part, exact)]
        np.testing.assert_allclose(
            values[0][k], values[2][-1], rtol=100 * tolerance, atol=10 * tolerance
        )
        np.testing.assert_allclose(
            values[0][k], values[1][-1], rtol=100 * tolerance, atol=10 * tolerance
        )


@pytest.mark.parametrize("formulation", ["index1", "independent"])
@pytest.mark.parametrize("integrator", ["dopri5", "dop853"])
def test_constraints_hold_between_steps(formulation: str, integrator: str) -> None:
    run = four_bar().simulate(
        1.0,
        tolerance=1e-6,
        output=0.0137,
        formulation=formulation,
        integrator=integrator,
        backend="interpreted",
    )
    between = ~np.isin(run.time, trajectory(run).step_ends)
    assert between.sum() > 60
    for first, second, length in (("A", "B", 0.5), ("B", "C", 1.8), ("D", "C", 1.2)):
        np.testing.assert_allclose(run.distance(first, second), length, rtol=0, atol=1e-11)

    def stretching(s: vm.State) -> Any:
        return vm.dot(s.position("C") - s.position("B"), s.velocity("C") - s.velocity("B"))

    np.testing.assert_allclose(run.measure(stretching), 0, atol=1e-11)


@pytest.mark.parametrize("formulation", ["index1", "independent", "index1-stabilised"])
def test_derivatives_to_a_tolerance_are_those_of_the_steps_taken(formulation: str) -> None:
    """Steps held, they are those of the discrete solution, however coarse, and at dense outputs
    too.
    """
    direct, differences = (
        four_bar().sensitivity(
            OBJECTIVES,
            duration=0.4,
            tolerance=1e-3,
            output=0.1,
            formulation=formulation,
            method=method,
            backend="interpreted",
        )
        for method in ("direct", "finite-difference")
    )
    np.testing.assert_allclose(
        direct.gradient_history, differences.gradient_history, rtol=1e-6, atol=1e-7
    )


def test_a_run_reports_its_steps(tmp_path: Path) -> None:
    run = four_bar().simulate(0.5, tolerance=1e-6, output=0.25)
    assert run.step_ends is not None
    lengths = np.diff(run.step_ends)
    assert (run.step_ends[0], run.step_ends[-1]) == (0.0, 0.5)
    assert run.info["step"] == [lengths.min(), lengths.max()]
    assert run.info["steps"] == lengths.size
    assert (
        f"in {lengths.size} steps of {lengths.min():.3g} to {lengths.max():.3g} s for a tolerance"
        " of 1e-06" in repr(run)
    )
    run.save(tmp_path / "run.nc")
    loaded = vm.load_run(tmp_path / "run.nc")
    assert repr(loaded) == repr(run)
    assert loaded.step_ends is None
    equal = four_bar().simulate(0.5, step=0.01)
    assert equal.step_ends is not None
    np.testing.assert_allclose(equal.step_ends, np.linspace(0, 0.5, 51))
    assert "in 50 steps of 0.01 s, ALI3-P" in repr(equal)
    assert four_bar().simulate(0.5, integrator="cvodes").step_ends is None
