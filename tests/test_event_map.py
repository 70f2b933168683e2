"""Second derivatives, complex steps and the composite system across events: impacts, friction, jumps,
kinks, ends of runs, values at events and extrema, against closed forms whose derivatives CasADi takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np
import pytest

import varimech as vm
from varimech.benchmarks import clearance_slider_crank

G = 9.81
X, V = "displacement('g')", "displacement_rate('g')"
Closed = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def block(force: Any = None, *, axis: Any = (1, 0), **given: float) -> Any:
    """A mass on a rail with an initial displacement and speed, and its parameters."""
    m = vm.Mechanism("block", gravity=(0, -G) if axis[1] else (0, 0))
    p = {name: m.parameter(name, value) for name, value in given.items()}
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0, points={"C": (0, 0)})
    m.prismatic("g", "ground.O", "b.C", axis=axis)
    if force is not None:
        m.force("force", "b.C", lambda s: vm.vector(force(s, p), 0))
    m.start(displacement={"g": p.get("x0", 0.0)}, speed={"g": p.get("v0", 0.0)})
    return m, p


def second_derivatives(closed: Closed, values: Mapping[str, float]) -> np.ndarray:
    """(objective, parameter, parameter)"""
    symbols = {name: ca.SX.sym(name) for name in values}
    x = ca.vertcat(*symbols.values())
    rows = [ca.hessian(ca.SX(f), x)[0] for f in closed(symbols).values()]
    return np.array(
        [np.array(ca.Function("f", [x], [row])(ca.DM(list(values.values())))) for row in rows]
    )


class Case:
    """A mechanism, objectives, and what they are in closed form."""

    def __init__(
        self, m: vm.Mechanism, objectives: Any, duration: float, closed: Closed, **values: float
    ):
        self.mechanism, self.objectives, self.duration = m, objectives, duration
        self.exact = second_derivatives(closed, values)
        self.first = np.array(
            [
                np.ravel(np.array(self._gradient(closed, values, k)))
                for k in range(len(self.objectives))
            ]
        )

    @staticmethod
    def _gradient(closed: Closed, values: Mapping[str, float], k: int) -> ca.DM:
        symbols = {name: ca.SX.sym(name) for name in values}
        x = ca.vertcat(*symbols.values())
        f = ca.SX(list(closed(symbols).values())[k])
        return ca.Function("f", [x], [ca.gradient(f, x)])(ca.DM(list(values.values())))

    def check(self, rtol: float = 1e-9, **options: Any) -> None:
        for method in ("forward", "backward"):
            H = self.mechanism.hessian(
                self.objectives, duration=self.duration, method=method, **options
            ).hessian.values
            for row, exact in zip(H, self.exact, strict=True):
                scale = np.abs(self.exact).max()
                np.testing.assert_allclose(row, exact, rtol=rtol, atol=rtol * scale)


def ball() -> Case:
    """Two impacts; ∫ y dt, times, the speed at an impact, the largest upward speed, the top between."""
    values = {"x0": 0.9, "e": 0.5}
    m, p = block(axis=(0, 1), **values)
    m.stop("floor", lambda s: s.displacement("g"), lower=0.0, restitution=p["e"])
    objectives = {
        "end": vm.final(X),
        "first": vm.time_of("floor"),
        "second": vm.time_of("floor", occurrence=2),
        "speed": vm.at("floor", V),
        "fastest": vm.peak(V),
        "area": vm.integral(X),
    }

    def closed(v: Mapping[str, Any]) -> Mapping[str, Any]:
        t1 = ca.sqrt(2 * v["x0"] / G)
        speed = G * t1
        up = v["e"] * speed
        t2 = t1 + 2 * up / G
        again, rest = v["e"] * up, 1.0 - t2
        area = v["x0"] * t1 - G * t1**3 / 6 + up * (t2 - t1) ** 2 / 2 - G * (t2 - t1) ** 3 / 6
        return {
            "end": again * rest - G * rest**2 / 2,
            "first": t1,
            "second": t2,
            "speed": -speed,
            "fastest": up,
            "area": area + again * rest**2 / 2 - G * rest**3 / 6,
        }

    return Case(m, objectives, 1.0, closed, **values)


def thrown() -> Case:
    """Up and down again: a smooth extremum; ∫ up to the event that ends the run."""
    values = {"x0": 0.9, "v0": 2.0, "low": 0.2}
    m, p = block(axis=(0, 1), **values)
    m.event("end", lambda s: s.displacement("g") - p["low"], direction="falling", do="stop")
    objectives = {
        "top": vm.peak(X),
        "time": vm.final("t"),
        "speed over time": vm.final(f"{V} * t**2"),
        "area": vm.integral(X),
    }

    def closed(v: Mapping[str, Any]) -> Mapping[str, Any]:
        t = (v["v0"] + ca.sqrt(v["v0"] ** 2 + 2 * G * (v["x0"] - v["low"]))) / G
        return {
            "top": v["x0"] + v["v0"] ** 2 / (2 * G),
            "time": t,
            "speed over time": (v["v0"] - G * t) * t**2,
            "area": v["x0"] * t + v["v0"] * t**2 / 2 - G * t**3 / 6,
        }

    return Case(m, objectives, 5.0, closed, **values)


def oscillator(duration: float = 23.0) -> Case:
    """Dry friction: six reversals, then it sticks for good. The largest acceleration is an extremum of
    something that jumps where friction reverses.
    """
    values = {"x0": 12.0, "v0": 6.0, "k": 1.0, "F": 1.0}
    m, p = block(lambda s, p: -p["k"] * s.displacement("g"), **values)
    m.dry_friction("friction", lambda s: s.displacement_rate("g"), sliding=p["F"])
    objectives = {
        "end": vm.final(X),
        "top": vm.peak(X),
        "strongest": vm.peak("acceleration('b.C')[0]"),
    }

    def closed(v: Mapping[str, Any]) -> Mapping[str, Any]:
        play = v["F"] / v["k"]
        r = ca.sqrt((v["x0"] + play) ** 2 + v["v0"] ** 2 / v["k"])
        # just after the second reversal, friction pushes backwards no more
        return {
            "end": 15 * play - r,
            "top": r - play,
            "strongest": v["k"] * (r - 3 * play) + v["F"],
        }

    return Case(m, objectives, duration, closed, **values)


def elastic_stop() -> Case:
    """A kink: the force is continuous, its derivative is not."""
    values = {"k": 100.0, "v0": 1.0}
    m, _ = block(lambda s, p: -p["k"] * vm.maximum(s.displacement("g") - 1, 0), **values)

    def closed(v: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"end": 2 - v["v0"] * 3.0 + v["v0"] * ca.pi / ca.sqrt(v["k"])}

    return Case(m, {"end": vm.final(X)}, 3.0, closed, **values)


def switched() -> Case:
    """Forces that jump at a place, and at a time, both parameters; an integrand that jumps."""
    values = {"v0": 1.0, "F": 2.0, "p": 0.5, "T": 0.3}
    m, _ = block(
        lambda s, p: (
            p["F"] * vm.where(s.time < p["T"], 1, 0)
            - 3 * vm.where(s.displacement("g") > p["p"], 1, 0)
        ),
        **values,
    )
    objectives = {
        "end": vm.final(X),
        "beyond": vm.integral(
            lambda s: vm.where(s.displacement("g") > 0.4, 1, 0) * s.displacement_rate("g")
        ),
    }

    def closed(v: Mapping[str, Any]) -> Mapping[str, Any]:
        x1 = v["v0"] * v["T"] + v["F"] * v["T"] ** 2 / 2
        v1 = v["v0"] + v["F"] * v["T"]
        t2 = v["T"] + (v["p"] - x1) / v1
        rest = 1.0 - t2
        end = v["p"] + v1 * rest - 1.5 * rest**2
        return {"end": end, "beyond": end - 0.4}

    return Case(m, objectives, 1.0, closed, **values)


CASES = {f.__name__: f for f in (ball, thrown, oscillator, elastic_stop, switched)}


@pytest.mark.parametrize("backend", ["auto", "interpreted"])
@pytest.mark.parametrize("name", CASES)
def test_hessians_across_events(name: str, backend: str) -> None:
    CASES[name]().check(backend=backend, tolerance=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_complex_steps_and_the_composite_system_cross_events(name: str) -> None:
    case = CASES[name]()
    scale = np.abs(case.first).max()
    for method in ("direct", "adjoint", "complex-step", "composite"):
        if method == "composite" and name == "oscillator":
            with pytest.raises(
                vm.ModelError, match="'block' has friction, which method 'composite'"
            ):
                case.mechanism.sensitivity(case.objectives, duration=case.duration, method=method)
            continue
        g = case.mechanism.sensitivity(
            case.objectives, duration=case.duration, method=method, tolerance=1e-11
        )
        np.testing.assert_allclose(g.final_gradient, case.first, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("coordinates", ["natural", "rtdyn0"])
def test_hessians_of_a_closed_loop_with_impacts(coordinates: str) -> None:
    """The clearance slider-crank, against differences of gradients, whose events are located anew."""
    m = clearance_slider_crank.mechanism()
    objectives = clearance_slider_crank.objectives() | {"t": vm.time_of("guide.left", occurrence=3)}
    options: Any = {"duration": 8e-3, "tolerance": 1e-12, "coordinates": coordinates}
    H = m.hessian(objectives, **options, method="forward").hessian.values
    values = {"c": 1e-3, "e": 0.4, "L_crank": 0.153}
    for k, (name, value) in enumerate(values.items()):
        h = 1e-4 * value
        up, down, further, back = (
            m.sensitivity(
                objectives, list(values), parameters={name: value + n * h}, **options
            ).final_gradient
            for n in (1, -1, 2, -2)
        )
        differences = (8 * (up - down) - (further - back)) / (12 * h)
        for row, other in zip(H[:, :, k], differences, strict=True):
            np.testing.assert_allclose(row, other, rtol=1e-6, atol=1e-7 * np.abs(row).max())


def test_hessians_across_events_are_symmetric_and_have_products() -> None:
    case = ball()
    p = case.mechanism.problem(case.objectives, duration=case.duration)
    along = p.hessian_product({"x0": 0.3, "e": -2.0}).values
    np.testing.assert_allclose(along, case.exact @ [0.3, -2.0], rtol=1e-9, atol=1e-9)


def test_an_extremum_beside_a_reversal_of_friction_leaves_it_alone() -> None:
    """The acceleration is extremal where friction reverses, to rounding: its own event has to pass that,
    or derivatives lack the saltation.
    """
    case = oscillator()
    run = case.mechanism.simulate(case.duration)
    reversals = len(run.events["friction"])
    for method in ("direct", "adjoint"):
        for tolerance in (1e-8, 1e-10, 1e-12):
            g = case.mechanism.sensitivity(
                case.objectives, duration=case.duration, method=method, tolerance=tolerance
            )
            assert len(g.run.events["friction"]) == reversals
            np.testing.assert_allclose(g.final_gradient, case.first, rtol=1e-7, atol=1e-7)


def test_moments_of_second_order_across_events() -> None:
    """Means are shifted by half the trace of H C."""
    case, σ = ball(), np.array([0.001, 0.0005])
    names = ("second", "fastest", "end")
    objectives = {name: case.objectives[name] for name in names}
    distributions = {"x0": vm.Tolerance(3 * σ[0]), "e": vm.Tolerance(3 * σ[1])}
    moments = case.mechanism.moments(objectives, distributions, duration=1.0, accuracy=1.0)
    rows = [list(case.objectives).index(name) for name in names]
    values = case.mechanism.sensitivity(objectives, duration=1.0).final_values
    shift = 0.5 * np.einsum("oii,i->o", case.exact[rows], σ**2)
    np.testing.assert_allclose(moments.mean.values[-1] - values, shift, rtol=1e-6, atol=1e-12)
    assert np.isnan(moments.mean.sel(objective="second").values[:-1]).all()


def test_large_mechanisms_refuse_second_derivatives_across_kinks() -> None:
    m = vm.Mechanism("chain", gravity=(0, -G))
    k = m.parameter("k", 1e3)
    m.ground_point("P0", (0, 0))
    for i in range(30):
        m.bar(f"b{i}", f"P{i}", f"P{i + 1}", length=0.1, mass=0.1)
        m.revolute(f"P{i}")
    m.force(
        "floor", "b29.P30", lambda s: vm.vector(0, k * vm.maximum(-1.0 - s.position("P30")[1], 0))
    )
    m.start(angle={f"b{i}": 0.0 for i in range(30)})
    end = vm.final("position('P30')[1]")
    with pytest.raises(vm.ModelError, match=r"'chain'.*second derivatives cross events, jumps and"):
        m.hessian(end, ["k"], duration=0.6, coordinates="natural", formulation="index1")
    # as long as nothing is crossed, there is nothing to refuse
    m.hessian(end, ["k"], duration=0.1, coordinates="natural", formulation="index1")


SCHEMES: dict[str, dict[str, Any]] = {
    "rk4": {"integrator": "rk4"},
    "trapezoidal": {},
    "generalised-alpha": {"integrator": "generalised-alpha"},
    "independent": {"integrator": "dop853", "formulation": "independent"},
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["ball", "thrown", "switched"])
def test_hessians_by_given_steps(name: str, scheme: str) -> None:
    """These motions are polynomials, which all schemes integrate exactly between the events."""
    case = CASES[name]()
    options = {**SCHEMES[scheme], "step": case.duration / 200}
    if scheme in ("trapezoidal", "generalised-alpha"):
        del case.objectives["area" if name != "switched" else "beyond"]  # by the trapezoidal rule
        kept = [k for k in range(len(case.exact)) if k < len(case.objectives)]
        case.exact = case.exact[kept]
    case.check(**options)


def test_second_derivatives_across_a_kink_converge() -> None:
    case, errors = elastic_stop(), []
    for steps in (400, 800):
        H = case.mechanism.hessian(case.objectives, duration=3.0, step=3.0 / steps)
        errors.append(np.abs(H.hessian.values - case.exact).max())
    assert 3.5 < errors[0] / errors[1] < 4.5  # the trapezoidal rule has order 2


def test_runs_of_hessians_know_their_events() -> None:
    case = ball()
    H = case.mechanism.hessian(case.objectives, duration=1.0)
    assert [e.name for e in H.run.events] == ["floor", "floor"]


def test_penalties_refuse_second_derivatives_across_jumps() -> None:
    case = switched()
    with pytest.raises(vm.ModelError, match="cross no jumps or kinks with penalty"):
        case.mechanism.hessian(case.objectives, duration=1.0, formulation="penalty")


def incline(share: float) -> vm.Mechanism:
    """A point mass on a slope, of a share of the angle at which friction lets it go."""
    angle = share * math.atan(0.3)
    m = vm.Mechanism("incline", gravity=(G * math.sin(angle), -G * math.cos(angle)))
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0, points={"C": (0, 0)}, floating=True)
    m.contact("floor", "b.C", "ground.O", normal=(0, 1), friction=m.parameter("μ", 0.3))
    m.start(position={"b.C": (0, 0)}, angle={"b": 0.0})
    return m


@pytest.mark.filterwarnings("ignore:.*at the limit:varimech.EventWarning")
def test_friction_at_its_limit_has_no_derivative() -> None:
    end = vm.final("position('b.C')[0]")
    for share in (0.99, 1.01):
        assert incline(share).sensitivity(end, duration=1.0).certify().trusted
    with pytest.warns(vm.EventWarning, match=r"'friction of floor' at t = 0 s sticks at the limit"):
        g = incline(1.0).sensitivity(end, duration=1.0)
    c = g.certify()
    assert not c.trusted and "sticks at the limit of its force" in str(c)
