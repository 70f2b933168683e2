"""Exudyn's side of the comparison of contacts: penalty forces, one thread.

Ball: `ObjectContactCoordinate` with a coefficient of restitution (impact model 2, by its
documentation the more accurate one), trapezoidal rule with step reduction at contact; and a force
law of the user in Python with error-controlled DOPRI5. Oscillator: `CoordinateSpringDamperExt`, its
bristle model with the trapezoidal rule, as its documentation recommends for implicit integrators,
and its regularised friction with DOPRI5.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import contacts_problem as contacts
from contacts_problem import DURATIONS, GRAVITY, Exact, Point, Run
from exudyn_side import exudyn, implicit

BALL_STEPS = (1e-3, 2e-4, 5e-5, 1e-5)
STEPS_IN_CONTACT = (10, 20, 50)
STIFFNESSES = (1e8, 1e10, 1e12, 1e14)
"""N/m"""
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
BRISTLES = ((1e4, 1e2), (1e5, 3e2), (1e6, 1e3), (1e7, 3e3), (1e8, 1e4))
"""Stiffness (N/m) and damping (N s/m)."""
OSCILLATOR_STEPS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
ZONES = (1e-2, 1e-3, 1e-4, 1e-5)
"""Velocities below which friction is viscous (m/s)."""
NEWTON = 1e-8
SHORTEST = 1e-14
"""Shortest step (s)."""
MOST_CALLS = 100_000
"""Of the force law in a motion: DOPRI5 repeats its shortest step without end at some impacts."""


class Model:
    """A mass of 1 kg with one coordinate, and what acts between it and the ground."""

    def __init__(self, position: float, velocity: float):
        self.exu, self.u = exudyn(), import_module("exudyn.utilities")
        self.container = self.exu.SystemContainer()
        self.system = s = self.container.AddSystem()
        ground = s.AddNode(self.u.NodePointGround())
        self.node = s.AddNode(
            self.u.Node1D(
                referenceCoordinates=[0],
                initialCoordinates=[position],
                initialVelocities=[velocity],
            )
        )
        s.AddObject(self.u.ObjectMass1D(mass=1, nodeNumber=self.node))
        self.markers = [
            s.AddMarker(self.u.MarkerNodeCoordinate(nodeNumber=node, coordinate=0))
            for node in (ground, self.node)
        ]

    def weight(self) -> None:
        load = self.u.LoadCoordinate(markerNumber=self.markers[1], load=-GRAVITY)
        self.system.AddLoad(load)

    def data(self, *initial: float) -> Any:
        """A node of variables that change between steps only."""
        return self.system.AddNode(
            self.u.NodeGenericData(
                initialCoordinates=list(initial), numberOfDataCoordinates=len(initial)
            )
        )

    def _run(self, settings: Any, solver: str) -> Run:
        self.system.Assemble()
        chosen = getattr(self.exu.DynamicSolverType, solver)

        def run() -> float:
            self.system.SolveDynamic(settings, solverType=chosen, showHints=False)
            coordinates = self.exu.OutputVariableType.Coordinates
            return float(self.system.GetNodeOutput(self.node, coordinates))

        return run

    def trapezoidal(self, duration: float, step: float, off: float = 1e-3) -> Run:
        """Equal steps, reduced where contact or sticking changes by more than a force `off` (N)."""
        settings = implicit(round(duration / step), duration, NEWTON, "EXUdense", modified=False)
        time = settings.timeIntegration
        time.adaptiveStep, time.minimumStepSize = True, 1e-12
        time.adaptiveStepRecoverySteps, time.adaptiveStepIncrease = 0, 10
        time.discontinuous.iterationTolerance = off
        time.discontinuous.maxIterations = 2
        time.discontinuous.ignoreMaxIterations = False
        return self._run(settings, "TrapezoidalIndex2")

    def dopri5(self, duration: float, tolerance: float) -> Run:
        """Steps by error control, 20 ms at most."""
        settings = implicit(round(duration / 0.02), duration, NEWTON, "EXUdense", modified=False)
        time = settings.timeIntegration
        time.automaticStepSize = time.adaptiveStep = True
        time.initialStepSize, time.minimumStepSize = 1e-3, SHORTEST
        time.relativeTolerance, time.absoluteTolerance = tolerance, tolerance / 10
        return self._run(settings, "DOPRI5")


def ball(h: float, e: float, step: float, steps_in_contact: float) -> Run:
    model = Model(h, 0.0)
    model.weight()
    contact = model.u.ObjectContactCoordinate(
        markerNumbers=model.markers,
        nodeNumber=model.data(h, 0.0),
        contactStiffness=contacts.stiffness(step, steps_in_contact),
        restitutionCoefficient=e,
        impactModel=2,
    )
    model.system.AddObject(contact)
    return model.trapezoidal(DURATIONS["ball"], step, off=0.1)


def ball_by_user(h: float, e: float, stiffness: float, tolerance: float) -> Run:
    model = Model(h, 0.0)
    model.weight()

    calls = 0

    def force(
        system: Any, t: float, item: int, q: float, v: float, k: float, d: float, offset: float
    ) -> float:
        nonlocal calls
        calls += 1
        if calls > MOST_CALLS:
            raise ValueError("the error control does not leave its shortest step")
        return min(k * q + d * v, 0.0) if q < 0 else 0.0

    spring = model.u.CoordinateSpringDamper(
        markerNumbers=model.markers,
        stiffness=stiffness,
        damping=2 * contacts.damping_ratio(e) * stiffness**0.5,
        springForceUserFunction=force,
    )
    model.system.AddObject(spring)
    run = model.dopri5(DURATIONS["ball"], tolerance)

    def counted() -> float:
        nonlocal calls
        calls = 0
        return run()

    return counted


def oscillator(
    x0: float, v0: float, F: float, step: float, stiffness: float, damping: float
) -> Run:
    model = Model(x0, v0)
    spring = model.u.CoordinateSpringDamperExt(
        markerNumbers=model.markers,
        nodeNumber=model.data(1.0, x0, 0.0),  # slips
        stiffness=1.0,
        dynamicFrictionForce=F,
        stickingStiffness=stiffness,
        stickingDamping=damping,
    )
    model.system.AddObject(spring)
    return model.trapezoidal(DURATIONS["oscillator"], step)


def regularised(x0: float, v0: float, F: float, zone: float, tolerance: float) -> Run:
    model = Model(x0, v0)
    spring = model.u.CoordinateSpringDamperExt(
        markerNumbers=model.markers,
        stiffness=1.0,
        dynamicFrictionForce=F,
        frictionProportionalZone=zone,
    )
    model.system.AddObject(spring)
    return model.dopri5(DURATIONS["oscillator"], tolerance)


def points(exact: dict[str, Exact]) -> list[Point]:
    contact = [
        (f"step {step:g} s, contact of {n} steps", {"step": step, "steps_in_contact": n})
        for step in BALL_STEPS
        for n in STEPS_IN_CONTACT
    ]
    by_user = [
        (f"stiffness {k:g} N/m, tolerance {tol:g}", {"stiffness": k, "tolerance": tol})
        for k in STIFFNESSES
        for tol in TOLERANCES
    ]
    bristles = [
        (
            f"step {step:g} s, bristles of {k:g} N/m and {d:g} N s/m",
            {"step": step, "stiffness": k, "damping": d},
        )
        for step in OSCILLATOR_STEPS
        for k, d in BRISTLES
        if step > 1e-4 or k >= 1e6  # softer ones are worse
    ]
    zones = [
        (f"viscous below {v:g} m/s, tolerance {tol:g}", {"zone": v, "tolerance": tol})
        for v in ZONES
        for tol in TOLERANCES[1:3]
    ]
    result = []
    for case, model, settings, build in (
        ("ball", "`ObjectContactCoordinate`, trapezoidal rule", contact, ball),
        ("ball", "user-defined stiff force in Python, DOPRI5", by_user, ball_by_user),
        ("oscillator", "bristles, trapezoidal rule", bristles, oscillator),
        ("oscillator", "regularised friction, DOPRI5", zones, regularised),
    ):
        result += contacts.sweep(case, "Exudyn", model, settings, build, exact[case])
    return result


if __name__ == "__main__":
    contacts.report(points(contacts.references()), {"exudyn": exudyn().__version__})
