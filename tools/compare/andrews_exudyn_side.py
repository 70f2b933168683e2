"""Exudyn's side: rigid bodies in the plane and revolute joints, its implicit integrators with equal
steps.

Modified Newton's method, dense solver, one thread, the build without range checks, nothing written
or stored. Its explicit integrators refuse these joints ("contains constraints that cannot be
solved").
"""

from __future__ import annotations

from cmath import exp
from functools import partial
from importlib import import_module

from andrews_problem import (
    BODIES,
    DURATION,
    GROUND,
    NATURAL_LENGTH,
    PINS,
    SPRING,
    STIFFNESS,
    TORQUE,
    AndrewsReport,
    Curve,
    more_steps,
    start_places,
)
from exudyn_side import exudyn, implicit
from problem import timed

SPECTRAL_RADIUS = 0.95
"""Of generalised α."""
LADDERS = (
    ("trapezoidal rule, index 2", "TrapezoidalIndex2", 1e-6, 500, 4_000),
    ("trapezoidal rule, index 2", "TrapezoidalIndex2", 1e-7, 500, 8_000),
    ("trapezoidal rule, index 2", "TrapezoidalIndex2", 1e-8, 500, 32_000),
    ("trapezoidal rule, index 2", "TrapezoidalIndex2", 1e-10, 8_000, 64_000),
    ("trapezoidal rule, index 2", "TrapezoidalIndex2", 1e-12, 128_000, 256_000),
    ("generalised α", "GeneralizedAlpha", 1e-6, 500, 4_000),
    ("generalised α", "GeneralizedAlpha", 1e-8, 500, 32_000),
)
"""Method, its name, relative tolerance of Newton's method (a tight one is needed with short steps
only), fewest and most steps.

Generalised α has about twice the error of the trapezoidal rule with the same steps; it is left at
32,000.
"""


class Model:
    """The mechanism, assembled."""

    def __init__(self) -> None:
        self.exu = exudyn()
        u = import_module("exudyn.utilities")
        self.container = self.exu.SystemContainer()
        self.system = system = self.container.AddSystem()
        self.parameter_set = {"ground": system.AddObject(u.ObjectGround())}
        self.places = {
            ("ground", name): [place.real, place.imag, 0.0] for name, place in GROUND.items()
        }
        start = start_places()
        nodes = []
        for name, body in BODIES.items():
            origin = start[next(iter(body.points))]
            com = origin + body.com * exp(1j * body.angle)
            nodes.append(
                system.AddNode(
                    u.NodeRigidBody2D(referenceCoordinates=[com.real, com.imag, body.angle])
                )
            )
            rigid = u.ObjectRigidBody2D(mass=body.mass, inertia=body.inertia, nodeNumber=nodes[-1])
            self.parameter_set[name] = system.AddObject(rigid)
            seen = {point: at - body.com for point, at in body.points.items()}
            self.places |= {(name, point): [at.real, at.imag, 0.0] for point, at in seen.items()}

        def marker(place: tuple[str, str]) -> int:
            return system.AddMarker(
                u.MarkerBodyPosition(
                    bodyNumber=self.parameter_set[place[0]], localPosition=self.places[place]
                )
            )

        for point, first, second in PINS:
            system.AddObject(
                u.ObjectJointRevolute2D(
                    markerNumbers=[marker((first, point)), marker((second, point))]
                )
            )
        system.AddObject(
            u.ObjectConnectorSpringDamper(
                markerNumbers=[marker(end) for end in SPRING],
                stiffness=STIFFNESS,
                damping=0,
                referenceLength=NATURAL_LENGTH,
            )
        )
        crank = system.AddMarker(u.MarkerNodeCoordinate(nodeNumber=nodes[0], coordinate=2))
        system.AddLoad(u.LoadCoordinate(markerNumber=crank, load=TORQUE))
        system.Assemble()

    def run(self, integrator: str, steps: int, tolerance: float) -> None:
        settings = implicit(steps, DURATION, tolerance, "EXUdense")
        settings.timeIntegration.generalizedAlpha.spectralRadius = SPECTRAL_RADIUS
        settings.solution.sensors.active = False
        self.system.SolveDynamic(
            settings, solverType=getattr(self.exu.DynamicSolverType, integrator), showHints=False
        )

    def end(self, _: None) -> complex:
        place = ("OF", "F")
        kind = self.exu.OutputVariableType.Position
        x, y, _ = self.system.GetObjectOutputBody(
            self.parameter_set["OF"], kind, self.places[place]
        )
        return complex(x, y)


def main() -> None:
    version = exudyn().__version__
    import_module("exudyn.utilities")
    build_seconds, model = timed(Model)
    curve = Curve("Exudyn", "bodies and joints, implicit", build_seconds)
    for method, integrator, tolerance, fewest, most in LADDERS:
        ladder = [
            (f"{n:,} steps", partial(model.run, integrator, n, tolerance))
            for n in more_steps(fewest, most)
        ]
        curve.climb(f"{method}, Newton {tolerance:.0e}", ladder, model.end, (RuntimeError,))
    AndrewsReport({"exudyn": version}, [curve]).print()


if __name__ == "__main__":
    main()
