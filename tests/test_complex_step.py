"""Derivatives by complex steps: the same as the direct ones to rounding, by a method that shares no
derivative with them.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import varimech as vm
from varimech.backends import compiler, complex_step
from varimech.benchmarks import bricard, chain, five_bar, four_bar, pendulum

needs_compiler = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="no C compiler on this machine"
)

MECHANISMS: dict[str, tuple[vm.Mechanism, Any, float]] = {
    "five-bar": (five_bar.mechanism(), five_bar.objectives(), 0.2),
    "pendulum": (
        pendulum.mechanism(),
        [
            vm.final(lambda s: s.position("mass")[0]),
            vm.integral(lambda s: vm.norm(s.velocity("mass"))),
        ],
        0.2,
    ),
    "four-bar": (
        four_bar.mechanism(),
        [
            vm.final(lambda s: s.velocity("B0")[0]),
            vm.integral(lambda s: vm.dot(s.acceleration("B1"), s.acceleration("B1"))),
        ],
        0.2,
    ),
}
SCHEMES: dict[str, dict[str, Any]] = {
    "ali3p": {"step": 2e-3},
    "generalised-alpha": {"step": 2e-3, "integrator": "generalised-alpha"},
    "rk4": {"step": 2e-3, "integrator": "rk4"},
    "dop853": {"tolerance": 1e-8},
    "stabilised": {"tolerance": 1e-6, "integrator": "dopri5", "formulation": "index1-stabilised"},
    "penalty": {"step": 2e-3, "formulation": "penalty"},
    "rtdyn1": {"step": 2e-3, "coordinates": "rtdyn1"},
    "rtdyn1, dop853": {"tolerance": 1e-8, "coordinates": "rtdyn1"},
}


@needs_compiler
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_same_as_direct_but_not_the_same_bits(mechanism: str, scheme: str) -> None:
    m, objectives, duration = MECHANISMS[mechanism]
    direct, other = (
        m.sensitivity(
            objectives, duration=duration, method=method, backend="interpreted", **SCHEMES[scheme]
        )
        for method in ("direct", "complex-step")
    )
    assert other.method == "complex-step"
    np.testing.assert_allclose(other.gradient_history[-1], direct.gradient_history[-1], rtol=1e-11)
    assert (other.gradient_history[-1] != direct.gradient_history[-1]).any()
    np.testing.assert_array_equal(other.value_history[-1], direct.value_history[-1])
    assert np.isnan(other.history["gradient"][:-1]).all()


FUNCTIONS: dict[str, Any] = {
    "sin": vm.sin,
    "cos": vm.cos,
    "tan": vm.tan,
    "asin": lambda x: vm.asin(x / 3),
    "acos": lambda x: vm.acos(x / 3),
    "atan": vm.atan,
    "atan2": lambda x: vm.atan2(1 + x, x - 2),
    "atan2 below": lambda x: vm.atan2(x - 3, -0.1 - x**2),
    "sinh": vm.sinh,
    "cosh": vm.cosh,
    "tanh": vm.tanh,
    "asinh": ca.asinh,
    "acosh": lambda x: ca.acosh(2 + x**2),
    "atanh": lambda x: ca.atanh(x / 4),
    "exp": vm.exp,
    "log": lambda x: vm.log(3 + x),
    "log1p": lambda x: ca.log1p(x**2),
    "expm1": ca.expm1,
    "sqrt": lambda x: vm.sqrt(2 + x),
    "hypot": lambda x: ca.hypot(x, 2 - x),
    "powers": lambda x: x**3 + (x - 5) ** -2 + (3 + x) ** 0.3 + (3 + x) ** x + (2 + x) ** 0.5,
    "absolute": lambda x: vm.absolute(x - 3) + vm.absolute(x + 3),
    "largest": lambda x: vm.maximum(x, x**2 + 3) + vm.minimum(x, x**2 + 3) + vm.maximum(4, x),
    "where": lambda x: (
        vm.where(x > -3, x**2, vm.sqrt(x - 9)) + vm.where(ca.logic_or(x > 9, x == 8), x, 1 / x)
    ),
    "sign": lambda x: vm.sign(x - 4) * x + ca.copysign(x, x - 5),
    "floor": lambda x: ca.floor(x + 0.3) * x + ca.ceil(x + 0.3) * x**2,
    "remainder": lambda x: ca.fmod(7.3 + x, 2) + ca.remainder(7.3 * x, x + 2.2),
}


@needs_compiler
def test_every_function_is_continued_analytically() -> None:
    m = pendulum.mechanism()

    def of_place(function: Any) -> vm.Objective:
        return vm.final(lambda s: function(s.position("mass")[0]))

    objectives = {name: of_place(function) for name, function in FUNCTIONS.items()}
    direct, other = (
        m.sensitivity(objectives, duration=0.1, step=0.01, method=method, backend="interpreted")
        for method in ("direct", "complex-step")
    )
    np.testing.assert_allclose(other.gradient.to_numpy(), direct.gradient.to_numpy(), rtol=1e-11)


@needs_compiler
def test_a_parameter_of_zero_is_moved_too() -> None:
    m = vm.Mechanism("falling", gravity=(0, -9.81))
    speed = m.parameter("speed", 0.0)
    m.body("ball", mass=1.0, inertia=1.0, points={"C": (0, 0)}, floating=True)
    m.start(position={"ball.C": (0, 0)}, angle={"ball": 0.0}, speed={"ball.C": (0, speed)})
    height = vm.final(lambda s: s.position("ball.C")[1])
    gradient = m.sensitivity(height, duration=0.5, step=0.05, method="complex-step")
    assert gradient.gradient_history[-1, 0, 0] == pytest.approx(0.5, rel=1e-13)


@needs_compiler
def test_runs_that_are_done_in_slices_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    m, objectives, duration = MECHANISMS["five-bar"]
    arguments: dict[str, Any] = {
        "duration": duration,
        "step": 2e-3,
        "method": "complex-step",
        "backend": "interpreted",
    }
    whole = m.sensitivity(objectives, **arguments)
    monkeypatch.setattr(complex_step, "SLICE", 1)
    np.testing.assert_array_equal(
        m.sensitivity(objectives, **arguments).gradient_history, whole.gradient_history
    )


@pytest.mark.parametrize(
    ("mechanism", "settings", "reason"),
    [
        (bricard.mechanism, {}, "finds its start outside its program"),
        (lambda: chain.mechanism(40), {}, "is large"),
        (lambda: chain.mechanism(40), {"coordinates": "rtdyn1"}, "is large"),
        (five_bar.mechanism, {"integrator": "cvodes"}, "is integrated by CVODES"),
        (
            five_bar.mechanism,
            {"formulation": "independent"},
            "chooses independent coordinates.* or formulation='index1'",
        ),
    ],
)
def test_what_it_does_not_take_is_refused_with_the_reason(
    mechanism: Any, settings: dict[str, Any], reason: str
) -> None:
    energy = vm.final(lambda s: s.energy)
    with pytest.raises(
        vm.ModelError,
        match=rf"{reason}.*method='complex-step' does not take; use method='direct'|{reason}",
    ):
        mechanism().sensitivity(energy, duration=0.01, method="complex-step", **settings)


def test_an_operation_that_it_does_not_know_is_refused() -> None:
    m = pendulum.mechanism()
    with pytest.raises(
        vm.ModelError, match=r"has an operation .* that complex numbers are not provided for"
    ):
        m.sensitivity(
            vm.final(lambda s: ca.erf(s.position("mass")[0])),
            duration=0.1,
            step=0.01,
            method="complex-step",
        )


def test_without_a_compiler_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_library(source: str) -> None:
        raise compiler.BuildError("no C compiler found")

    monkeypatch.setattr(complex_step, "load_library", load_library)
    complex_step._call.cache_clear()
    m, objectives, duration = MECHANISMS["pendulum"]
    with pytest.raises(
        vm.ModelError, match="needs a C compiler: no C compiler found; use method='direct'"
    ):
        m.sensitivity(
            objectives, duration=duration, step=0.01, method="complex-step", backend="interpreted"
        )
