"""Second derivatives: symmetric, the same by both ways, those of closed forms, and differences of
exact first ones.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
from loops import EQUAL_ONLY, four_bar
from scipy.special import ellipj, ellipk

import varimech as vm
from test_adjoint import GROUPS, STEPS, objectives, with_scheme
from test_adjoint_runs import many
from varimech.benchmarks import BENCHMARKS, chain, pendulum
from varimech.core.errors import ModelError
from varimech.formulations.formulation import Conditioning
from varimech.schemes import INTEGRATORS, choose
from varimech.solving.solver import Solver
from varimech.solving.task import Task
from varimech.stages.plan import Plan

Array = np.ndarray
SYMMETRIC = 1e-9
"""Largest difference of both halves of a Hessian, and of both ways, over its largest entry, each
parameter changed by its size.
"""
CHANGE = 1e-5
"""Of parameters for differences, relative."""
DIFFERENCES = 1e-7
"""The same against central differences of gradients."""


def sizes(m: vm.Mechanism, names: Sequence[str] | None = None) -> Array:
    """Of these parameters, or all."""
    nominal = m.data.parameter_set.nominal[
        m.data.parameter_set.indices(list(names or m.parameters))
    ]
    return np.where(nominal != 0, np.abs(nominal), 1.0)


def apart(first: Array, second: Array, scale: Array) -> float:
    """Largest difference of Hessians (objective, parameter, parameter), for each objective by the
    largest of its entries.
    """
    scale = scale[:, None] * scale
    largest = np.abs(first * scale).max(axis=(1, 2))
    assert (largest > 0).all()
    return float((np.abs((first - second) * scale).max(axis=(1, 2)) / largest).max())


def differences(
    m: vm.Mechanism, named: dict[str, vm.Objective], names: Sequence[str], **options: Any
) -> Array:
    """Central ones of exact gradients: (objective, parameter, parameter)."""

    def slope(name: str, size: float) -> Array:
        nominal = m.parameters[name].value
        up, down = (
            m.sensitivity(
                named,
                names,
                parameters={name: nominal + x * size},
                **options,
            ).gradient.to_numpy()
            for x in (CHANGE, -CHANGE)
        )
        return np.asarray((up - down) / (2 * CHANGE * size))

    return np.stack(
        [slope(*pair) for pair in zip(names, sizes(m, names).tolist(), strict=True)], axis=1
    )


def times(duration: float, integrator: str | None) -> dict[str, Any]:
    """Five steps, different ones where the integrator takes such."""
    if integrator is None or integrator in EQUAL_ONLY:
        return {"duration": duration, "step": duration / 5}
    return {
        "duration": duration,
        "output": duration,
        "ends": duration * np.array([0, 0.1, 0.35, 0.4, 0.75, 1]),
    }


# all methods, all benchmarks


def check(
    m: vm.Mechanism,
    named: dict[str, vm.Objective],
    wrt: Sequence[str] | None = None,
    **options: Any,
) -> None:
    names = tuple(wrt or m.parameters)
    scale = sizes(m, names)
    forward, backward = (
        m.hessian(named, names, method=scheme, **options) for scheme in ("forward", "backward")
    )
    assert (forward.method, backward.method) == ("forward over forward", "backward over forward")
    for H in (forward, backward):
        assert apart(H.curvatures, H.curvatures.transpose(0, 2, 1), scale) < SYMMETRIC
        np.testing.assert_array_equal(H.hessian, H.hessian.to_numpy().transpose(0, 2, 1))
    assert apart(forward.curvatures, backward.curvatures, scale) < SYMMETRIC
    assert not np.array_equal(forward.curvatures, backward.curvatures)
    assert apart(forward.curvatures, differences(m, named, names, **options), scale) < DIFFERENCES
    first = m.sensitivity(named, names, **options)
    for H in (forward, backward):
        np.testing.assert_allclose(H.values, first.values, rtol=1e-12)
        np.testing.assert_allclose(
            H.gradient_array * scale, first.gradient * scale, rtol=1e-9, atol=1e-10
        )


@pytest.mark.parametrize(
    ("formulation", "integrators"), GROUPS, ids=lambda x: x if isinstance(x, str) else "+".join(x)
)
def test_every_method(formulation: str, integrators: tuple[str, ...]) -> None:
    m = BENCHMARKS["five-bar"].mechanism()
    named, first = (
        {"all": objectives(m)["both"] + objectives(m)["jolt"]},
        choose(1.0, formulation=formulation, integrator=integrators[0])[0],
    )
    for integrator in integrators:
        if integrator != integrators[0]:
            m._solvers.kept[m.data.revision, replace(first, integrator=INTEGRATORS[integrator])] = (
                with_scheme(m._solvers.of(first), integrator)
            )
        check(
            m,
            named,
            ["Ls1", "L_A1"],
            formulation=formulation,
            integrator=integrator,
            **times(0.1, integrator),
        )


@pytest.mark.parametrize(
    "name",
    [
        "five-bar",
        "pendulum",
        "four-bar",
        "andrews",
        "spatial-slider-crank",
        "governor",
        "flexible-five-bar",
    ],
)
def test_benchmarks(name: str) -> None:
    """Those without redundant constraints; the tree takes too long to derive."""
    m, relative = BENCHMARKS[name].mechanism(), name in ("spatial-slider-crank", "governor")
    named = {"all": objectives(m)["swing"] + objectives(m)["both"]}
    check(m, named, coordinates="rtdyn1" if relative else "natural", **times(5 * STEPS[name], None))


def driven() -> vm.Mechanism:
    """A bar that is driven, with another one on a coil."""
    m = vm.Mechanism("driven", gravity=(0, -9.81))
    A, L, k = (m.parameter(name, value) for name, value in {"A": 0.3, "L": 1.2, "k": 20.0}.items())
    m.ground_point("O", (0, 0))
    m.bar("a", "O", "P", length=0.8, mass=1)
    m.bar("b", "P", "Q", length=L, mass=2)
    for name in "OP":
        m.revolute(name)
    m.drive_angle("turn", "a", lambda t: 0.5 + A * vm.sin(3 * t))
    m.torsional_spring("coil", "P", stiffness=k, damping=k / 10, rest_angle=0.3)
    m.start(angle={"b": A})
    return m


def test_written_out_and_assembled() -> None:
    """In one direction; written out forward, assembled backward."""
    m = driven()
    method, schedule = choose(0.02, step=5e-3)
    ρ = m.data.parameter_set.nominal
    direction = np.random.default_rng(0).uniform(0.5, 1.5, ρ.size) * sizes(m)
    results = []
    for large, scheme in ((False, "direct"), (True, "adjoint")):
        solver = Solver(m.data, method, large=large)
        task = Task(
            schedule,
            {"both": objectives(m)["both"]},
            list(range(ρ.size)),
            "interpreted",
            False,
            scheme,
        )
        second, _ = solver.run_second(task, ρ, direction)
        results.append((second.gradients[-1] * sizes(m), second.gradients_along[-1] * sizes(m)))
        assert (
            isinstance(solver.second_order._runner(task, Conditioning()).program.step.finish, Plan)
            == large
        )
    for others in results[1:]:
        for one, other in zip(results[0], others, strict=True):
            assert (np.abs(one - other).max(axis=1) < SYMMETRIC * np.abs(one).max(axis=1)).all()


def test_large_models() -> None:
    m = chain.mechanism(18)
    named: dict[str, vm.Objective] = {"both": objectives(m)["both"]}
    options: dict[str, Any] = {"duration": 0.02, "step": 1e-2}
    assert m._solvers.of(choose(**options)[0]).programs.large
    check(m, named, **options)


# closed forms


def oscillator(damping: float) -> vm.Mechanism:
    """A block on a rail, drawn back to x = 0."""
    m = vm.Mechanism("oscillator", dimension=2)
    k, M, x0 = (
        m.parameter(name, value) for name, value in {"k": 40.0, "M": 2.0, "x0": 0.3}.items()
    )
    m.ground_point("O", (0, 0))
    m.body("block", mass=M, inertia=1.0, points={"P": (0, 0)})
    m.prismatic("rail", "ground.O", "block.P", axis=(1, 0))
    m.force("spring", "P", lambda s: (-k * s.position("P")[0] - damping * s.velocity("P")[0], 0))
    m.start(displacement={"rail": x0})
    return m


@pytest.mark.parametrize("scheme", ["forward", "backward"])
@pytest.mark.parametrize("damping", [0.0, 3.0])
def test_oscillator(damping: float, scheme: str) -> None:
    """x = x₀ exp(−ζ t) (cos ωt + ζ/ω sin ωt),  ζ = c / 2M,  ω² = k/M − ζ²."""
    p, t = ca.SX.sym("p", 3), 1.0
    ζ = damping / (2 * p[1])
    ω = ca.sqrt(p[0] / p[1] - ζ**2)
    x = p[2] * ca.exp(-ζ * t) * (ca.cos(ω * t) + ζ / ω * ca.sin(ω * t))
    curvature, slope = ca.hessian(x, p)
    exact = ca.Function("exact", [p], [x, slope, curvature])([40.0, 2.0, 0.3])
    place = {"place": vm.final(lambda s: s.position("P")[0])}
    H = oscillator(damping).hessian(place, duration=t, tolerance=1e-13, method=scheme)
    for computed, expected in zip((H.psi, H.gradient_array, H.curvatures[0]), exact, strict=True):
        np.testing.assert_allclose(computed.ravel(), np.array(expected).ravel(), rtol=0, atol=1e-11)


def angle(length: float, gravity: float, amplitude: float) -> float:
    """Of a pendulum that is let go at t = 0, after 1 s: sin θ/2 = k sn(K − √(g/L) t),  k = sin
    θ₀/2.
    """
    k = np.sin(amplitude / 2)
    return float(2 * np.arcsin(k * ellipj(ellipk(k**2) - np.sqrt(gravity / length), k**2)[0]))


def curvature(f: Callable[..., float], p: Array) -> Array:
    """Second derivatives by differences of order 8."""
    first = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    second = np.array(
        [-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]
    )
    h, n, computed = 0.01 * p, np.arange(-4, 5), np.zeros((p.size, p.size))
    for i in range(p.size):
        for j in range(p.size):
            e, d = np.eye(p.size)[i] * h[i], np.eye(p.size)[j] * h[j]
            if i == j:
                computed[i, i] = second @ [f(*(p + a * e)) for a in n] / h[i] ** 2
            else:
                computed[i, j] = (
                    first
                    @ [[f(*(p + a * e + b * d)) for b in n] for a in n]
                    @ first
                    / (h[i] * h[j])
                )
    return computed


@pytest.mark.parametrize("scheme", ["forward", "backward"])
def test_pendulum(scheme: str) -> None:
    values = {"L": 1.3, "g": 9.81, "θ": 1.4}
    m = vm.Mechanism("pendulum", dimension=2)
    L, g, θ = (m.parameter(name, value) for name, value in values.items())
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=L, mass=2.0, com=L, inertia=0.0)
    m.revolute("O")
    m.force("weight", "tip", lambda s: (0, -2.0 * g))
    m.start(angle={"rod": θ - np.pi / 2})
    swing = {"angle": vm.final(lambda s: vm.atan2(s.position("tip")[0], -s.position("tip")[1]))}
    H = m.hessian(swing, duration=1.0, tolerance=1e-12, method=scheme)
    assert H.psi[0] == pytest.approx(angle(*values.values()), abs=1e-10)
    np.testing.assert_allclose(
        H.curvatures[0], curvature(angle, np.array(list(values.values()))), rtol=1e-8, atol=1e-9
    )


# what a user sees


@cache
def hessian(method: str) -> vm.Hessian:
    return four_bar().hessian(NAMED, duration=0.5, tolerance=1e-8, output=0.05, method=method)


NAMED = {
    "place": vm.final(lambda s: s.position("C")[1]),
    "swing": vm.integral(lambda s: s.angular_velocity("rocker") ** 2),
}


@pytest.mark.parametrize("scheme", ["forward", "backward"])
def test_products(scheme: str) -> None:
    H, along = hessian(scheme), {"M": -2.0, "L": 0.3}
    options: dict[str, Any] = {"duration": 0.5, "ends": H.run.step_ends}
    product = four_bar().problem(NAMED, **options).hessian_product(along, scheme)
    assert product.dims == ("objective", "parameter")
    expected = H.curvatures @ [along[name] for name in H.parameter_names]
    np.testing.assert_allclose(product, expected, rtol=1e-9)
    np.testing.assert_array_equal(
        four_bar().problem(NAMED, **options).hessian_product({}, scheme), 0.0
    )
    with pytest.raises(ModelError, match="at least one objective"):
        four_bar().problem({}, **options).hessian_product(along, scheme)
    with pytest.raises(ModelError, match="lenght"):
        four_bar().problem(NAMED, **options).hessian_product({"lenght": 1.0}, scheme)


def test_outputs_over_time() -> None:
    """Against differences of first derivatives over time, and against the objective at the end."""
    H, m = hessian("forward"), four_bar()
    computed = H.measure(lambda s: s.position("C"))
    assert computed.dims == ("time", "component", "parameter", "parameter2")
    np.testing.assert_allclose(
        computed.isel(time=-1).sel(component="y"), H.hessian.sel(objective="place"), rtol=1e-9
    )
    for name, nominal in {"L": 1.8, "M": 1.0}.items():
        up, down = (
            m.sensitivity(
                parameters={name: nominal * (1 + x)},
                duration=0.5,
                ends=H.run.step_ends,
                output=0.05,
            ).run
            for x in (CHANGE, -CHANGE)
        )
        for other in m.parameters:
            slope = (up.position("C", wrt=other) - down.position("C", wrt=other)) / (
                2 * CHANGE * nominal
            )
            one = computed.sel(parameter=name, parameter2=other).to_numpy()
            np.testing.assert_allclose(
                one, slope.to_numpy(), rtol=0, atol=1e-6 * max(1.0, np.abs(one).max())
            )
    energy = H.measure(lambda s: s.kinetic_energy + m.parameters["M"] ** 2)
    assert energy.dims == ("time", "parameter", "parameter2")
    np.testing.assert_array_equal(H.measure('position("C")'), computed)


def test_what_is_refused() -> None:
    options: dict[str, Any] = {"duration": 0.1, "step": 0.02}
    with pytest.raises(ModelError, match="second derivatives cannot be combined with"):
        four_bar().hessian(NAMED, duration=0.1, integrator="cvodes")
    with pytest.raises(
        ModelError, match=r"second derivatives by .* or 12 of the latter; use coordinates='natural'"
    ):
        chain.mechanism(60).hessian(
            chain.objectives(60), duration=0.1, integrator="rk4", step=0.02, coordinates="rtdyn1"
        )
    with pytest.raises(ModelError, match="'forwards'"):
        four_bar().hessian(NAMED, method="forwards", **options)
    with pytest.raises(ModelError, match=r"there are none.*method='forward'"):
        four_bar().hessian(method="backward", **options)
    with pytest.raises(ModelError, match="method='forward'"):
        hessian("backward").measure(lambda s: s.position("C"))


def test_auto_counts() -> None:
    options: dict[str, Any] = {"duration": 0.02, "step": 0.01}
    assert four_bar().hessian(NAMED, **options).method == "forward over forward"
    m = many(5)
    assert (
        m.hessian(vm.final(lambda s: s.position("tip")[0]), **options).method
        == "backward over forward"
    )
    assert m.hessian(**options).method == "forward over forward"


def test_equal_objectives_written_anew_are_built_once() -> None:
    m = oscillator(0.0)
    options: dict[str, Any] = {"duration": 0.02, "step": 0.01}
    for _ in range(3):
        m.hessian(vm.final(lambda s: s.position("P")[0]), **options)
        m.sensitivity(vm.final(lambda s: s.position("P")[0]), method="composite", **options)
    solver = m._solvers.of(choose(1.0, step=0.01)[0])
    for runners in (solver.second_order._runners, solver._composite._runners):
        assert len(runners._of_expressions) == 1


def test_runs_side_by_side_do_not_disturb_each_other() -> None:
    m = driven()
    options: dict[str, Any] = {"duration": 0.02, "step": 0.01}
    named = {"both": objectives(m)["both"]}
    whole = m.hessian(named, method="forward", **options)
    for k, name in enumerate(m.parameters):
        alone = m.problem(named, **options).hessian_product({name: 1.0}, method="forward")
        np.testing.assert_array_equal(alone, whole.curvatures[:, k])


def test_time_is_reported_in_parts() -> None:
    began = time.perf_counter()
    stated = four_bar().hessian(NAMED, duration=0.02, step=0.01).seconds
    assert min(stated.values()) > 0 and sum(stated.values()) <= time.perf_counter() - began


@pytest.mark.parametrize("along", [None, [1.0], {"L": "a"}, {"L": math.nan}, {"L": None}])
def test_bad_vectors_are_refused(along: Any) -> None:
    with pytest.raises(vm.ModelError, match="along"):
        pendulum.mechanism().problem(
            vm.final(lambda s: s.angle("bar")), duration=0.1, step=0.01
        ).hessian_product(along)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(vm.ModelError, match="no option is called 'foo'"):
        pendulum.mechanism().hessian(vm.final(lambda s: s.angle("bar")), duration=0.1, foo=1)  # type: ignore[call-arg]
