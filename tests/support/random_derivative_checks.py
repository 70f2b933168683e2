"""Compare derivative methods on random mechanisms: each method agrees or is refused by name,
without a crash or a silent NaN.

Each mechanism is run twice: by index 1 with two steps of order 8 in some coordinates, and by
another method. If the other method takes the same steps of the same scheme, differences are
rounding; if it is of high order, two long steps have to suffice, and remaining differences are
checked again with a tight tolerance; if it is of low order, errors may be as large as the change by
halving the steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import casadi as ca
import numpy as np
from random_mechanisms import Built, build
from random_recipes import Recipe

import varimech as vm
from varimech.model.beam import Beam
from varimech.model.body import RigidBody
from varimech.schemes import FORMULATIONS, INTEGRATORS, integrators_of

Array = np.ndarray
TOLERANCE = 1e-8
AGREE = 1e-6
"""Largest difference between methods of high order, relative to the largest number of a kind."""
TIGHT = 1e-11
"""Tolerance of a second check, with which correct results come closer."""
CLOSER = 0.3
"""Largest fraction of the difference that may remain in the second check if it is still above
`AGREE`: for very stiff motions, or nearly singular ones.
"""
ROUNDING = 1e-9
"""Largest difference if the same steps are taken."""
HALVED = 2.0
"""Largest error with equal steps, relative to the change by halving them: 1/3 with order 2, 1 with
order 1.
"""
FLOOR = 1e-7
"""Relative errors of equal steps below this value are not checked."""
YIELDING = 1e-4
"""Largest relative error of penalty joints, which yield to forces by about 1/factor."""
UNRESOLVED = 0.1
"""Relative change by halving steps above which they are too long for a conclusion."""
STEPS = 2
SHORTER = 16
"""Factor by which steps are shorter in a second check."""

COORDINATES = ("natural", "rtdyn0", "rtdyn1", "cut")
DERIVATIVES = ("direct", "adjoint", "composite", "complex-step", "finite-difference")
METHODS = [
    (formulation, integrator)
    for formulation in FORMULATIONS
    for integrator in integrators_of(FORMULATIONS[formulation])
]
CHOSEN = ("dopri5", "dop853", "cvodes", "idas")
"""Integrators with a tolerance, used for the second check."""
TOLERANT = CHOSEN[2:]
"""Integrators with a tolerance only."""
assert set(CHOSEN) <= set(INTEGRATORS)


@dataclass(frozen=True)
class DerivativeCheck:
    """Options by which a mechanism is run and differentiated."""

    coordinates: str = "natural"
    formulation: str = "index1"
    integrator: str = "dop853"
    backend: str = "interpreted"
    derivatives: str = "direct"

    def __str__(self) -> str:
        return (
            f"{self.coordinates} · {self.formulation} · {self.integrator} · {self.backend} ·"
            f" {self.derivatives}"
        )


BASE = DerivativeCheck()


@dataclass(frozen=True)
class Outcome:
    """Outcome of a method: "agreement", "refusal" (with its message) or "fault" (with the
    defect).
    """

    derivative_check: DerivativeCheck
    verdict: str
    message: str = ""

    @property
    def kind(self) -> str:
        """The message without names and numbers."""
        text = re.sub(r"'[^']*'(, '[^']*')*", "'…'", self.message)
        return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?|nan|inf", "#", text)[:160]


@dataclass(frozen=True)
class Results:
    """Numbers of a run: by kind, at its start and end; objectives and their derivatives, each times
    its parameter.
    """

    measures: dict[str, Array]
    objectives: Array
    gradient: Array


class Fault(Exception):
    """A defect of a method."""


def check(recipe: Recipe, *, compiled: bool = False) -> tuple[list[str], list[Outcome]]:
    """Run a mechanism by two methods.

    Returns:
        The element methods it is built with, and the outcome of each derivative method.
    """
    try:
        built = build(recipe)
    except vm.VarimechError as error:
        return [], [Outcome(BASE, "refusal", f"build: {error}")]
    return [s.method for s in built.mechanism.data.calls], list(
        Comparison(built, recipe, compiled=compiled).outcomes()
    )


class Comparison:
    """Comparison of several methods for one mechanism."""

    def __init__(self, built: Built, recipe: Recipe, *, compiled: bool):
        self.built = built
        self.rng = np.random.default_rng(crc32(repr(recipe).encode()))
        flexible = any(part.kind == "beam" for part in recipe.parts)
        self.base = DerivativeCheck(
            "natural"
            if flexible
            else str(self.rng.choice(["natural", "rtdyn0", "rtdyn1"], p=[0.1, 0.3, 0.6]))
        )
        small = recipe.dimension * len(recipe.parts) <= 6 and recipe.parameters <= 3
        self.compiled = compiled and small

    def outcomes(self) -> Iterator[Outcome]:
        base: list[Results] = []
        yield self._outcome(self.base, lambda: base.append(self._base()))
        if not base:
            return
        derivative_check = self._other_check()
        same = replace(derivative_check, backend="interpreted", derivatives="direct") == self.base
        compare = self._same_steps if same else self._compared
        yield self._outcome(derivative_check, lambda: compare(derivative_check, base[0]))

    def _other_check(self) -> DerivativeCheck:
        scheme = str(self.rng.choice(DERIVATIVES, p=[0.2, 0.65, 0.05, 0.05, 0.05]))
        if self.compiled:
            return replace(
                self.base, backend="native", derivatives=scheme if scheme == "adjoint" else "direct"
            )
        if scheme not in ("direct", "adjoint") or self.rng.random() < 0.1:
            return replace(self.base, derivatives=scheme)
        coordinates = str(self.rng.choice([c for c in COORDINATES if c != self.base.coordinates]))
        if self.rng.random() < 0.6:
            return DerivativeCheck(coordinates, derivatives=scheme)
        formulation, integrator = METHODS[int(self.rng.integers(len(METHODS)))]
        return DerivativeCheck(coordinates, formulation, integrator, derivatives=scheme)

    def _outcome(self, derivative_check: DerivativeCheck, compare: Any) -> Outcome:
        try:
            compare()
        except vm.VarimechError as error:
            return Outcome(derivative_check, "refusal", f"{type(error).__name__}: {error}")
        except Fault as fault:
            return Outcome(derivative_check, "fault", str(fault))
        except Exception as error:
            return Outcome(derivative_check, "fault", f"{type(error).__name__}: {error}")
        return Outcome(derivative_check, "agreement")

    # runs

    def _run(self, derivative_check: DerivativeCheck, **arguments: Any) -> Results:
        """Run once by a method."""
        b = self.built
        m, duration = b.mechanism, b.duration
        coordinates: Any = (
            vm.Relative(cut=b.cuts)
            if derivative_check.coordinates == "cut"
            else derivative_check.coordinates
        )
        options = {
            "coordinates": coordinates,
            "formulation": derivative_check.formulation,
            "integrator": derivative_check.integrator,
            "backend": derivative_check.backend,
        }
        if "tolerance" in arguments:
            arguments["output"] = duration
        if not m.parameters:
            run = m.simulate(duration, progress=False, **options, **arguments)
            computed = Results(self._measures(run), np.zeros(0), np.zeros((0, 0)))
            return self._finite(computed)
        g = m.sensitivity(
            b.objectives,
            duration=duration,
            method=derivative_check.derivatives,
            progress=False,
            **options,
            **arguments,
        )
        sizes = np.array([abs(p.value) if p.value else 1.0 for p in m.parameters.values()])
        return self._finite(
            Results(self._measures(g.run), np.array(g.values), np.array(g.gradient) * sizes)
        )

    def _finite(self, computed: Results) -> Results:
        for name, values in {
            **computed.measures,
            "objectives": computed.objectives,
            "gradient": computed.gradient,
        }.items():
            if not np.isfinite(values).all():
                raise Fault(f"{name} not finite")
        return computed

    def _measures(self, run: vm.Run) -> dict[str, Array]:
        m, regular = self.built.mechanism, self.built.regular
        points = [p.label for b in m.data.moving_bodies for p in b.points.values()]
        kinds: dict[str, Any] = {
            "position": lambda s: [s.position(p) for p in points],
            "velocity": lambda s: [s.velocity(p) for p in points],
            "acceleration": lambda s: [s.acceleration(p) for p in points],
            "energy": lambda s: [s.kinetic_energy, s.potential_energy],
        }
        if regular and m.joints:
            kinds["reaction"] = lambda s: [s.reaction(j) for j in m.joints]
            kinds["reaction torque"] = lambda s: [s.reaction_torque(j) for j in m.joints]
        if regular and (efforts := list(m.data.effort_units)):
            kinds["effort"] = lambda s: [s.effort(name) for name in efforts]
        own = [c.name for c in m.data.own_coordinates if c.order == 1]
        if own or m.data.signals:
            kinds["signal"] = lambda s: [
                *[s.state(name) for name in own],
                *[s.signal(name) for name in m.data.signals],
            ]
        sizes: list[int] = []

        def all_of(s: Any) -> Any:
            parts = [ca.vertcat(*kind(s)) for kind in kinds.values()]
            sizes[:] = [part.numel() for part in parts]
            return ca.vertcat(*parts)

        values = run.measure(all_of).to_numpy().reshape(len(run.time), -1)[[0, -1]]
        return dict(zip(kinds, np.split(values, np.cumsum(sizes)[:-1], axis=1), strict=True))

    # comparisons

    def _base(self) -> Results:
        b = self.built
        if (
            b.dofs is not None
            and self.base.coordinates == "natural"
            and (dofs := b.mechanism.dofs) != b.dofs
        ):
            raise Fault(f"{dofs} degrees of freedom instead of {b.dofs}")
        computed = self._run(self.base, step=self._step)
        places = np.concatenate(
            [
                b.places[p.label]
                for body in b.mechanism.data.moving_bodies
                for p in body.points.values()
            ]
        )
        apart = float(np.abs(computed.measures["position"][0] - places).max())
        if apart > 1e-7 * self._size * b.condition:
            raise Fault(f"starts elsewhere, by {apart:.2g} m")
        return computed

    def _same_steps(self, derivative_check: DerivativeCheck, base: Results) -> None:
        computed = self._run(derivative_check, step=self._step)
        accuracy = (
            1e-4
            if derivative_check.derivatives == "finite-difference"
            else 1e-6
            if derivative_check.derivatives == "composite"
            else ROUNDING
        )
        differs, name = self._worst(computed, base)
        if differs <= accuracy:
            return
        halved = self._worst(self._run(self.base, step=self._step / 2), base)[0]
        if halved > UNRESOLVED:  # rounding is amplified without bounds: check with short steps
            computed, base, accuracy = (
                self._run(derivative_check, tolerance=TIGHT),
                self._run(self.base, tolerance=TIGHT),
                max(accuracy, AGREE),
            )
            differs, name = self._worst(computed, base)
        elif (
            derivative_check.derivatives == "composite"
        ):  # constraints are projected differently, depending on the steps
            accuracy = HALVED * halved
        if differs > accuracy:
            raise Fault(f"{name} differs by {differs:.2g} with the same steps")

    def _compared(self, derivative_check: DerivativeCheck, base: Results) -> None:
        if derivative_check.integrator in CHOSEN and derivative_check.formulation != "penalty":
            computed = self._run(
                derivative_check,
                **(
                    {"tolerance": TOLERANCE}
                    if derivative_check.integrator in TOLERANT
                    else {"step": self._step}
                ),
            )
            before, name = self._worst(computed, base)
            if before > AGREE:
                again = self._worst(
                    self._run(derivative_check, tolerance=TIGHT),
                    self._run(self.base, tolerance=TIGHT),
                )
                if again[0] > max(AGREE, CLOSER * before):
                    raise Fault(
                        f"{name} differs by {before:.2g}, and by {again[0]:.2g} ({again[1]}) with a"
                        " tight tolerance"
                    )
        else:
            self._halving(derivative_check, base)

    def _halving(self, derivative_check: DerivativeCheck, base: Results) -> None:
        """Check that errors do not exceed the change by halving; repeat the check with steps that
        resolve fast motions, too.
        """
        if self._off(derivative_check, base, 1) is None:
            return
        fault = self._off(derivative_check, self._run(self.base, tolerance=TIGHT), SHORTER)
        if fault is not None:
            raise Fault(fault)

    def _off(self, derivative_check: DerivativeCheck, exact: Results, shorter: int) -> str | None:
        """Describe the largest error beyond the change by halving; None if there is none."""
        steps: list[dict[str, Any]] = [
            {"step": self._step / shorter},
            {"step": self._step / shorter / 2},
        ]
        if derivative_check.integrator in TOLERANT:
            steps = [{"tolerance": 10 * TOLERANCE / shorter}, {"tolerance": TOLERANCE / shorter}]
        coarse, fine = (self._all(self._run(derivative_check, **step)) for step in steps)
        penalty, right = derivative_check.formulation == "penalty", self._all(exact)
        for name, size in self._sizes(exact).items():
            if penalty and name not in ("position", "velocity"):
                continue
            changed = float(np.abs(coarse[name] - fine[name]).max(initial=0.0)) / size
            error = float(np.abs(fine[name] - right[name]).max(initial=0.0)) / size
            if error > HALVED * changed + (YIELDING if penalty else FLOOR):
                return (
                    f"{name} is off by {error:.2g} where halving steps changes it by {changed:.2g}"
                )
        return None

    def _worst(self, computed: Results, base: Results) -> tuple[float, str]:
        one, other = self._all(computed), self._all(base)
        sizes = self._sizes(base)
        differences = {
            n: float(np.abs(one[n] - other[n]).max(initial=0.0)) / sizes[n] for n in other
        }
        name = max(differences, key=lambda n: differences[n])
        return differences[name], name

    def _all(self, computed: Results) -> dict[str, Array]:
        names = self.built.objectives if computed.objectives.size else ()
        derivatives = {
            f"derivatives of {name}": row
            for name, row in zip(names, computed.gradient, strict=True)
        }
        values = {
            name: np.atleast_1d(value)
            for name, value in zip(names, computed.objectives, strict=True)
        }
        return {**computed.measures, **values, **derivatives}

    @property
    def _step(self) -> float:
        return self.built.duration / STEPS

    @property
    def _size(self) -> float:
        """Size of the mechanism (m)."""
        return max(1e-3, float(max(np.abs(x).max() for x in self.built.places.values())))

    def _sizes(self, base: Results) -> dict[str, float]:
        """Scales of differences: the largest number of a kind, but no less than gravity causes at
        this size and mass.
        """
        m, L = self.built.mechanism, self._size
        masses = [b.mass for b in m.data.moving_bodies if isinstance(b, (RigidBody, Beam))]
        mass = max(
            float(m.data.parameter_set.evaluate(x, m.data.parameter_set.nominal).item())
            for x in masses
        )
        force = mass * 10.0
        floors = {
            "position": L,
            "velocity": np.sqrt(10 * L),
            "acceleration": 10.0,
            "energy": force * L,
            "reaction": force,
            "reaction torque": force * L,
            "effort": force * max(L, 1.0),
            "signal": 1.0,
        }
        sizes = {
            name: max(floors[name], float(np.abs(x).max(initial=0.0)))
            for name, x in base.measures.items()
        }
        T = self.built.duration
        for k, (name, value) in enumerate(
            zip(self.built.objectives, base.objectives, strict=False)
        ):
            unit = {
                "place": L,
                "motion": 10 * L * T,
                "energy": sizes["energy"],
                "acceleration": sizes["acceleration"] * T,
            }
            unit |= {"reaction": sizes.get("reaction", 1.0) * T, "effort": sizes.get("effort", 1.0)}
            sizes[name] = max(abs(float(value)), unit[name])
            sizes[f"derivatives of {name}"] = max(
                sizes[name], float(np.abs(base.gradient[k]).max(initial=0.0))
            )
        return sizes
