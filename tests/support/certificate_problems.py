"""Random problems with known gradients, against which the claims of certificates are tested.

Exact gradients come from closed forms and from equations of motion written by hand, solved to 1e-13
in complex numbers, so that the derivative is the imaginary part (complex step); those of four-bars
from another formulation in other coordinates at 1e-12.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from certificate_truth import (
    bars,
    gradient,
    moved_mass,
    oscillation,
    parallel_cranks,
    passing,
    spinning,
)

import varimech as vm

Values = dict[str, Any]
SHAPES: dict[str, Callable[[Any, Any], Any]] = {
    "bell": lambda f, z: f.exp(-(z**2)),
    "Lorentz": lambda f, z: 1 / (1 + z**2),
    "plateau": lambda f, z: f.exp(-(z**4)),
    "peak": lambda f, z: 1 / (1 + z**2) ** 2,
}
"""Pulses as functions of the distance from their centre in widths, by functions of varimech or
NumPy.
"""


@dataclass(frozen=True)
class Problem:
    """A problem with known gradient, and the settings to compute it."""

    family: str
    mechanism: vm.Mechanism
    objective: vm.Objective
    values: Values
    wrt: tuple[str, ...]
    duration: float
    how: Mapping[str, Any]
    exact: Callable[[], np.ndarray]

    def computed(self) -> vm.Gradient:
        """Compute the gradient to be certified."""
        options: dict[str, Any] = {"duration": self.duration, "parameters": self.values, **self.how}
        return self.mechanism.sensitivity({"ψ": self.objective}, self.wrt, **options)


def known(
    family: str,
    m: vm.Mechanism,
    objective: vm.Objective,
    values: Values,
    wrt: tuple[str, ...],
    duration: float,
    options: Mapping[str, Any],
    psi: Callable[[Values], Any],
) -> Problem:
    """Create a problem whose objective is a known function of the parameter values."""
    return Problem(
        family, m, objective, values, wrt, duration, options, lambda: gradient(psi, values, wrt)
    )


def _slider(
    name: str, force: Callable[[vm.State, Mapping[str, Any]], Any], nominal: Values
) -> vm.Mechanism:
    m = vm.Mechanism(name, dimension=2)
    p = {key: m.parameter(key, value) for key, value in nominal.items()}
    m.ground_point("O", (0, 0))
    m.body("b", mass=1.0, inertia=1.0)
    m.prismatic("g", "ground.O", "b.com", axis=(1, 0))
    m.force("f", "b.com", lambda s: vm.vector(force(s, p), 0))
    m.start(displacement={"g": p["x"]}, speed={"g": p["v"]})
    return m


PLACE = vm.final(lambda s: s.displacement("g"))


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def settings(rng: np.random.Generator, duration: float) -> dict[str, Any]:
    """Draw options of a run: tolerances of several orders of magnitude, or equal steps, with
    several integrators.
    """
    tolerance, step = 10.0 ** -int(rng.integers(6, 11)), duration / int(log_uniform(rng, 200, 5000))
    choices: list[dict[str, Any]] = [
        *([{"tolerance": tolerance}] * 4),
        {"integrator": "dopri5", "tolerance": max(tolerance, 1e-8)},
        *([{"step": step}] * 2),
        {"integrator": "rk4", "step": step},
        {"integrator": "dop853", "step": step},
        {"formulation": "index1-stabilised", "tolerance": tolerance},
    ]
    return dict(choices[rng.integers(len(choices))])


@cache
def _pulsed(shape: str) -> vm.Mechanism:
    nominal = {"p": 1.0, "c": 0.5, "w": 0.05, "k": 4.0, "x": 1.0, "v": 0.0}
    return _slider(
        f"pulse {shape}",
        lambda s, p: (
            p["p"] * SHAPES[shape](vm, (s.time - p["c"]) / p["w"]) - p["k"] * s.displacement("g")
        ),
        nominal,
    )


def pulse(rng: np.random.Generator) -> Problem:
    """A slider on a spring, hit by a pulse that lasts 1e-5 to 0.1 of the run."""
    shape, T = str(rng.choice(list(SHAPES))), float(rng.uniform(1, 10))
    w = T * log_uniform(rng, 1e-5, 0.1)
    values = {
        "p": log_uniform(rng, 0.1, 10) * T / w,
        "c": T * rng.uniform(0.1, 0.9),
        "w": w,
        "k": rng.uniform(0.5, 20),
    }
    values |= {"x": float(rng.choice([0.0, 1.0])), "v": 0.0}
    wrt = ("p", "c") if rng.random() < 0.5 else ("p", "k")

    def psi(v: Values) -> Any:
        return oscillation(
            v, T, lambda t: v["p"] * SHAPES[shape](np, (t - v["c"]) / v["w"]), float(values["c"]), w
        )

    return known("pulse", _pulsed(shape), PLACE, values, wrt, T, settings(rng, T), psi)


@cache
def _shaken() -> vm.Mechanism:
    nominal = {"p": 1.0, "o": 5.0, "a": 0.0, "k": 4.0, "x": 1.0, "v": 0.0}
    return _slider(
        "shaken",
        lambda s, p: 1 + p["p"] * vm.sin(p["o"] * s.time + p["a"]) - p["k"] * s.displacement("g"),
        nominal,
    )


def _shaking(
    rng: np.random.Generator, family: str, T: float, frequency: float, options: Mapping[str, Any]
) -> Problem:
    values = {
        "p": rng.uniform(0.5, 5),
        "o": frequency,
        "a": float(rng.choice([0.0, rng.uniform(0, 6)])),
        "k": rng.uniform(0.5, 20),
    }
    values |= {"x": float(rng.choice([0.0, 1.0])), "v": 0.0}
    wrt = ("p",) if rng.random() < 0.5 else ("p", "k")

    def psi(v: Values) -> Any:
        return oscillation(
            v,
            T,
            lambda t: 1 + v["p"] * np.sin(v["o"] * t + v["a"]),
            T / 2,
            T,
            panels=int(frequency * T),
        )

    return known(family, _shaken(), PLACE, values, wrt, T, options, psi)


def alias(rng: np.random.Generator) -> Problem:
    """A force whose period is an exact or approximate divisor of the step."""
    T, steps = float(rng.uniform(0.5, 2)), int(rng.integers(50, 400))
    multiple = int(rng.choice([1, 2, 4, 8])) + float(rng.choice([0.0, 0.0, 1e-3]))
    options = {"step": T / steps} | (
        {"integrator": str(rng.choice(["rk4", "dop853", "trapezoidal"]))}
        if rng.random() < 0.6
        else {}
    )
    return _shaking(rng, "alias", T, 2 * np.pi * multiple * steps / T, options)


def shaken(rng: np.random.Generator) -> Problem:
    """A slider on a spring under a slow vibration."""
    T = float(rng.uniform(1, 5))
    return _shaking(rng, "vibration", T, float(rng.uniform(1, 20)), settings(rng, T))


@cache
def _passing() -> vm.Mechanism:
    nominal = {"p": 1.0, "c": 1.0, "w": 0.1, "x": 0.0, "v": 1.0}
    return _slider(
        "passing",
        lambda s, p: p["p"] * vm.exp(-(((s.displacement("g") - p["c"]) / p["w"]) ** 2)),
        nominal,
    )


def place(rng: np.random.Generator) -> Problem:
    """A slider that passes a region where a force acts, for 1e-3 to 0.1 of the run."""
    T, v = float(rng.uniform(1, 5)), float(rng.uniform(0.5, 3))
    w = v * T * log_uniform(rng, 1e-3, 0.1)
    values = {
        "p": rng.uniform(0.1, 0.5) * v**2 / w,
        "c": v * T * rng.uniform(0.3, 0.8),
        "w": w,
        "x": 0.0,
        "v": v,
    }
    wrt = ("p", "v")
    return known(
        "place", _passing(), PLACE, values, wrt, T, settings(rng, T), lambda u: passing(u, T)
    )


@cache
def _driven() -> vm.Mechanism:
    m = vm.Mechanism("driven", dimension=2)
    p = {
        key: m.parameter(key, value)
        for key, value in {"p": 0.1, "c": 0.5, "w": 0.05, "k": 4.0, "x": 0.5, "v": 0.0}.items()
    }
    m.ground_point("O", (0, 0))
    for name, joint in (("carriage", "c"), ("b", "g")):
        m.body(name, mass=1.0, inertia=1.0)
        m.prismatic(joint, "ground.O", f"{name}.com", axis=(1, 0))
    m.drive_displacement("motor", "c", lambda t: p["p"] * vm.exp(-(((t - p["c"]) / p["w"]) ** 2)))
    m.force(
        "f", "b.com", lambda s: vm.vector(p["k"] * (s.displacement("c") - s.displacement("g")), 0)
    )
    m.start(displacement={"g": p["x"]}, speed={"g": p["v"]})
    return m


def driven(rng: np.random.Generator) -> Problem:
    """A slider on a spring whose other end is moved back and forth by a driver, for 1e-4 to 0.1 of
    the run.
    """
    T = float(rng.uniform(1, 5))
    w = T * log_uniform(rng, 1e-4, 0.1)
    values = {
        "p": float(rng.uniform(0.1, 1)),
        "c": T * rng.uniform(0.1, 0.9),
        "w": w,
        "k": rng.uniform(0.5, 20),
        "x": 0.5,
        "v": 0.0,
    }

    def psi(v: Values) -> Any:
        return oscillation(
            v,
            T,
            lambda t: v["k"] * v["p"] * np.exp(-(((t - v["c"]) / v["w"]) ** 2)),
            float(values["c"]),
            w,
        )

    return known("driver", _driven(), PLACE, values, ("p", "k"), T, settings(rng, T), psi)


@cache
def _weighed() -> vm.Mechanism:
    nominal = {"c": 0.5, "w": 0.05, "k": 4.0, "x": 1.0, "v": 0.0}
    return _slider("weighed", lambda s, p: -p["k"] * s.displacement("g"), nominal)


def weighed(rng: np.random.Generator) -> Problem:
    """The position of a slider on a spring, averaged over a short window of time."""
    T = float(rng.uniform(1, 5))
    w, m = T * log_uniform(rng, 1e-4, 0.1), _weighed()
    values = {"c": T * rng.uniform(0.2, 0.8), "w": w, "k": rng.uniform(0.5, 20), "x": 1.0, "v": 0.0}
    objective = vm.integral(
        lambda s: (
            vm.exp(-(((s.time - s.parameter("c")) / s.parameter("w")) ** 2))
            / s.parameter("w")
            * s.displacement("g")
        )
    )

    options = (
        {"tolerance": 1e-6}
        if rng.random() < 0.5
        else {"step": T / int(log_uniform(rng, 200, 5000))}
    )

    def psi(v: Values) -> Any:
        return moved_mass(v, T)

    return known("window", m, objective, values, ("k", "x"), T, options, psi)


@cache
def _bars(count: int) -> vm.Mechanism:
    m = vm.Mechanism(f"{count} bars", gravity=(0, -9.81))
    m.ground_point("P0", (0, 0))
    for k in range(count):
        L, mass = m.parameter(f"L{k}", 1.0), m.parameter(f"m{k}", 1.0)
        m.bar(f"b{k}", f"P{k}", f"P{k + 1}", length=L, mass=mass)
        m.revolute(f"P{k}")
    m.start(angle={f"b{k}": m.parameter(f"a{k}", -1.0) for k in range(count)})
    return m


def _swinging(
    rng: np.random.Generator, family: str, count: int, T: float, options: Mapping[str, Any]
) -> Problem:
    values = {f"{key}{k}": float(rng.uniform(0.5, 2)) for k in range(count) for key in "Lm"}
    values |= {f"a{k}": float(rng.uniform(-3, 0.5)) for k in range(count)}
    wrt = ("L0",) if count == 1 else ("L0", f"m{count - 1}")
    objective = vm.final(lambda s: s.position(f"P{count}")[0])
    return known(
        family, _bars(count), objective, values, wrt, T, options, lambda v: bars(v, count, T)
    )


def pendulum(rng: np.random.Generator) -> Problem:
    """A pendulum."""
    T = float(rng.uniform(0.5, 5))
    return _swinging(rng, "pendulum", 1, T, settings(rng, T))


def chain(rng: np.random.Generator) -> Problem:
    """A double or triple pendulum; some of these move chaotically."""
    T = float(rng.uniform(0.5, 5))
    return _swinging(rng, "chain", int(rng.integers(2, 4)), T, settings(rng, T))


def penalty(rng: np.random.Generator) -> Problem:
    """A pendulum, simple or double, with penalty joints."""
    T, factor = float(rng.uniform(0.5, 3)), 10.0 ** int(rng.integers(1, 10))
    options: dict[str, Any] = {"formulation": vm.Penalty(factor=factor)}
    options |= (
        {"tolerance": 10.0 ** -int(rng.integers(7, 11))}
        if rng.random() < 0.7
        else {"step": T / 1000}
    )
    return _swinging(rng, "penalty", int(rng.integers(1, 3)), T, options)


@cache
def _spinning() -> vm.Mechanism:
    m = vm.Mechanism("spinning", gravity=(0, 0, 0), dimension=3)
    I = [m.parameter(f"I{k}", 1.0 + k) for k in range(3)]
    m.body("b", mass=1.0, inertia=tuple(I), points={"P": (1, 0, 0)}, floating=True)
    ω = tuple(m.parameter(f"w{k}", 1.0) for k in range(3))
    m.start(position={"b.com": (0, 0, 0)}, orientation={"b": np.eye(3)}, speed={"b": ω})
    return m


def spin(rng: np.random.Generator) -> Problem:
    """A free body that spins about an arbitrary axis, stable or not."""
    T = float(rng.uniform(0.5, 4))
    values: Values = {
        f"I{k}": x
        for k, x in enumerate((1.0 + rng.uniform(0, 0.2), 2.0, 2.7 - rng.uniform(0, 0.2)))
    }
    size, axis = log_uniform(rng, 0.5, 20), rng.integers(3)
    values |= {f"w{k}": float(size if k == axis else rng.uniform(0.01, 0.5)) for k in range(3)}
    objective, wrt = vm.final(lambda s: s.position("b.P")[1]), ("I1", "w0")
    return known(
        "spin", _spinning(), objective, values, wrt, T, settings(rng, T), lambda v: spinning(v, T)
    )


@cache
def _parallelogram() -> vm.Mechanism:
    m = vm.Mechanism("parallelogram", gravity=(0, -9.81))
    plate, L, crank, a = (
        m.parameter(*x) for x in (("plate", 2.0), ("L", 1.0), ("crank", 1.0), ("a", -0.8))
    )
    for i in range(3):
        m.ground_point(f"A{i}", (i, 0))
        m.bar(f"c{i}", f"A{i}", f"B{i}", length=L, mass=crank)
    m.bar("plate", "B0", "B2", length=2.0, mass=plate, points={"B1": (1.0, 0)})
    for i in range(3):
        m.revolute(f"A{i}")
        m.revolute(f"B{i}")
    m.start(angle={"c0": a}, near={f"c{i}": -0.8 for i in range(3)})
    return m


def redundant(rng: np.random.Generator) -> Problem:
    """Three parallel cranks that carry a plate, one of them redundant; the objective is the
    position of the plate or a reaction at the ground.
    """
    T = float(rng.uniform(0.3, 2))
    values = {
        "plate": rng.uniform(1, 5),
        "L": 1.0,
        "crank": rng.uniform(0.5, 3),
        "a": rng.uniform(-1.1, -0.5),
    }
    force, axis = bool(rng.random() < 0.6), int(rng.integers(2))
    total = vm.final(lambda s: sum(s.reaction(f"A{i}")[axis] for i in range(3)))
    objective, wrt = (
        total if force else vm.final(lambda s: s.position("B0")[axis]),
        ("plate", "crank"),
    )
    options = (
        {"tolerance": 10.0 ** -int(rng.integers(7, 13))}
        if rng.random() < 0.8
        else {"step": T / 2000}
    )
    return known(
        "redundant",
        _parallelogram(),
        objective,
        values,
        wrt,
        T,
        options,
        lambda v: parallel_cranks(v, T, axis, force),
    )


@cache
def _four_bar() -> vm.Mechanism:
    m = vm.Mechanism("four-bar", gravity=(0, -9.81))
    a, b, k, w = (m.parameter(*x) for x in (("a", 0.2), ("b", 0.7), ("k", 60.0), ("w", 4.0)))
    m.ground_point("O", (0, 0))
    m.ground_point("C", (0.6, 0.1))
    m.ground_point("S", (0.3, 0.9))
    m.bar("crank", "O", "A", length=a, mass=0.5)
    m.bar("coupler", "A", "B", length=b, mass=1.3, points={"q": (0.3, 0.1)})
    m.bar("rocker", "B", "C", length=0.5, mass=0.8)
    for joint in "OABC":
        m.revolute(joint)
    m.spring("spring", "ground.S", "coupler.q", stiffness=k, natural_length=0.3, damping=0.5)
    m.start(angle={"crank": 0.7}, speed={"crank": w}, near={"B": (0.7, 0.55)})
    return m


def four_bar(rng: np.random.Generator) -> Problem:
    """A four-bar by any formulation, including reactions."""
    m, T = _four_bar(), float(rng.uniform(0.3, 2))
    values = {
        "a": rng.uniform(0.15, 0.22),
        "b": rng.uniform(0.65, 0.75),
        "k": rng.uniform(10, 100),
        "w": rng.uniform(2, 8),
    }
    objective = (
        vm.final(lambda s: s.position("B")[0])
        if rng.random() < 0.5
        else vm.final(lambda s: s.reaction("C")[1])
    )
    wrt = ("a", "k")
    options = settings(rng, T)
    if rng.random() < 0.4:
        options = {
            "formulation": vm.Penalty(factor=10.0 ** int(rng.integers(2, 10))),
            "tolerance": 1e-8,
        }
    elif rng.random() < 0.2:
        options = {"integrator": "cvodes", "tolerance": 1e-8}

    def exact() -> np.ndarray:
        other = m.sensitivity(
            {"ψ": objective},
            wrt,
            duration=T,
            parameters=values,
            tolerance=1e-12,
            formulation="independent",
            coordinates="rtdyn0",
        )
        return other.gradient_history[-1][0]

    return Problem("four-bar", m, objective, values, wrt, T, options, exact)


FAMILIES = (
    pulse,
    alias,
    place,
    driven,
    weighed,
    penalty,
    shaken,
    pendulum,
    chain,
    spin,
    redundant,
    four_bar,
)


def problems(count: int, seed: int = 0) -> Iterator[Problem]:
    """Yield `count` problems, of each family in turn."""
    for k in range(count):
        yield FAMILIES[k % len(FAMILIES)](np.random.default_rng([seed, k]))
