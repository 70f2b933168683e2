"""What a careful user writes with CasADi for this one mechanism: compiled right-hand sides for
CVODES.

Two programs: the seven angles of the test set, accelerations from M q̈ + Gᵀλ = f and G q̈ = −γ (14
states); and the crank's angle alone, every point found from it as the meeting of two circles (2
states). Both take their mass matrix and forces from the energies.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import andrews_problem as andrews
from casadi_side import SX, Function, adams, ca
from problem import timed

Accelerations: TypeAlias = Callable[[SX, SX], SX]

COMPILER = ("gcc", "-O3", "-march=native", "-fPIC", "-shared")
BALANCE = 1e4
"""Factor of the equations of motion beside those of the constraints: the elimination does not look
for pivots.
"""


def vector(place: complex) -> SX:
    return ca.SX([place.real, place.imag])


def times(number: complex, v: SX) -> SX:
    """A vector turned and stretched, as by a complex factor."""
    return ca.vertcat(
        number.real * v[0] - number.imag * v[1], number.imag * v[0] + number.real * v[1]
    )


def potential(D: SX) -> SX:
    return (
        andrews.STIFFNESS
        / 2
        * (ca.norm_2(D - vector(andrews.GROUND["C"])) - andrews.NATURAL_LENGTH) ** 2
    )


def accelerations_of_seven(q: SX, v: SX) -> SX:
    """By sparse elimination, written out; the unknowns are the angles of the seven bodies against
    the ground.
    """
    angles = dict(zip(andrews.BODIES, ca.vertsplit(q), strict=True))

    def across(name: str, local: complex) -> SX:
        return times(local, ca.vertcat(ca.cos(angles[name]), ca.sin(angles[name])))

    origins: dict[str, SX] = {}

    def place(name: str, point: str) -> SX:
        return (
            vector(andrews.GROUND[point])
            if name == "ground"
            else origins[name] + across(name, andrews.BODIES[name].points[point])
        )

    for point, parent, name in andrews.PINS:
        if name not in origins:
            origins[name] = place(parent, point) - across(name, andrews.BODIES[name].points[point])
    kinetic = ca.SX(0)
    for k, (name, body) in enumerate(andrews.BODIES.items()):
        velocity = ca.jtimes(origins[name] + across(name, body.com), q, v)
        kinetic += body.mass / 2 * ca.sumsqr(velocity) + body.inertia / 2 * v[k] ** 2
    M, momentum = ca.hessian(kinetic, v)
    applied = ca.gradient(andrews.TORQUE * q[0] - potential(place("BDE", "D")), q)
    f = applied + ca.gradient(kinetic, q) - ca.jtimes(momentum, q, v)
    closed = ca.vertcat(
        *(place(first, point) - place(second, point) for point, first, second in andrews.CLOSING)
    )
    G = ca.jacobian(closed, q)
    γ = ca.jtimes(ca.jtimes(closed, q, v), q, v)
    K = ca.blockcat([[BALANCE * M, G.T], [G, ca.SX(6, 6)]])
    return ca.solve(K, ca.vertcat(BALANCE * f, -γ))[:7]


def accelerations_of_one(q: SX, v: SX) -> SX:
    """From J(β) β̈ + J'(β) β̇² / 2 = τ − V'(β)."""
    at_start = andrews.start_places()

    def meeting(first: SX, second: SX, names: tuple[str, str, str]) -> SX:
        """Where the circles about two points meet, on the side of the start."""
        P, Q, X = (at_start[name] for name in names)
        to_second = second - first
        squared = ca.sumsqr(to_second)
        along = (abs(X - P) ** 2 - abs(X - Q) ** 2 + squared) / (2 * squared)
        aside = math.copysign(1, ((X - P) / (Q - P)).imag) * ca.sqrt(
            abs(X - P) ** 2 / squared - along**2
        )
        return first + along * to_second + aside * ca.vertcat(-to_second[1], to_second[0])

    points = {name: vector(place) for name, place in andrews.GROUND.items()}
    points["F"] = abs(at_start["F"]) * ca.vertcat(ca.cos(q), ca.sin(q))
    points["E"] = meeting(points["F"], points["B"], ("F", "B", "E"))
    points["G"] = meeting(points["E"], points["A"], ("E", "A", "G"))
    points["H"] = meeting(points["E"], points["A"], ("E", "A", "H"))
    inertia = ca.SX(0)
    for body in andrews.BODIES.values():
        P, Q = (points[name] for name in list(body.points)[:2])
        com = ca.jacobian(P + times(body.seen(body.com), Q - P), q)
        turning = ca.jacobian(Q - P, q) / abs(body.span)
        inertia += body.mass * ca.sumsqr(com) + body.inertia * ca.sumsqr(turning)
    B, E, lever = points["B"], points["E"], andrews.BODIES["BDE"]
    D = B + times(lever.seen(lever.points["D"]), E - B)
    forces = andrews.TORQUE - ca.jacobian(potential(D), q) - ca.jacobian(inertia, q) / 2 * v**2
    return forces / inertia


WAYS: dict[str, tuple[str, Accelerations, list[float]]] = {
    andrews.SEVEN_ANGLES: (
        "CVODES, index 1 by hand, compiled",
        accelerations_of_seven,
        [b.angle for b in andrews.BODIES.values()],
    ),
    andrews.ONE_ANGLE: (
        "CVODES, closed form by hand, compiled",
        accelerations_of_one,
        [andrews.BODIES["OF"].angle],
    ),
}


def compiled(accelerations: Accelerations, size: int) -> Function:
    """The system as CVODES takes it, from a library of its own: CasADi would take apart a function
    that it compiled itself.
    """
    q, v = ca.SX.sym("q", size), ca.SX.sym("v", size)
    inputs, outputs, name = ca.dyn_in(), ca.dyn_out(), f"rates_{size}"
    given = {"x": ca.vertcat(q, v), "ode": ca.vertcat(v, accelerations(q, v)), "t": ca.SX.sym("t")}
    arguments = [given.get(i, ca.SX.sym(i, 0)) for i in inputs]
    ca.Function(
        name, arguments, [given.get(o, ca.SX(0, 1)) for o in outputs], inputs, outputs
    ).generate(f"{name}.c")
    subprocess.run([*COMPILER, f"{name}.c", "-o", f"{name}.so"], check=True)
    return ca.external(
        name, f"./{name}.so", {"enable_fd": True}
    )  # derivatives are asked for, though never evaluated


def cvodes(rates: Function, tolerance: float) -> Function:
    """Adams' method with functional iteration; BDF with Newton's method took longer to every
    accuracy, both interpreted.
    """
    return adams(rates, andrews.DURATION, tolerance)


def end(result: Any) -> complex:
    β = float(result["xf"][0])
    return andrews.BODIES["OF"].points["F"] * complex(math.cos(β), math.sin(β))


def main() -> None:
    curves = []
    for engine, (options, accelerations, start) in WAYS.items():
        build_seconds, rates = timed(partial(compiled, accelerations, len(start)))
        x0 = ca.DM([*start, *(0.0 for _ in start)])
        curve = andrews.Curve(engine, options, build_seconds)
        curve.climb(
            "Adams",
            [
                (f"tolerance {t:.1e}", partial(cvodes(rates, t), x0=x0))
                for t in andrews.tighter(2, 13)
            ],
            end,
            (RuntimeError,),
        )
        curves.append(curve)
    andrews.AndrewsReport({"casadi": ca.__version__}, curves).print()


if __name__ == "__main__":
    main()
