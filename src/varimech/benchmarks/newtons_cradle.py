"""Newton's cradle on a line: five equal balls, 1 cm apart; the first one moves, and in the end the
last one.

Radius r = 0.05 m, masses 1 kg, restitution 1, the first ball with 1 m/s, T = 0.5 s. Two equal balls
exchange their velocities when they meet, so that the balls follow the paths of points that pass
through each other: the final position of ball k is the k-th of the values x_i + v_i T − 2r i in
ascending order, plus 2r k. The derivatives of the final positions with respect to the initial
positions are a permutation matrix, those with respect to the initial velocities T times the same
matrix.

Touching balls are another problem: its solution depends on the impact law. Varimech uses Newton's law
with all impulses of one instant found together, as a linear complementarity problem. The contact that
closes reverses its relative velocity, the others may open but not close. Of n touching balls, the
first one then rebounds with 2/n − 1 times its velocity, and all others move together with 2/n of it;
momentum and energy are conserved. (A row of impacts from one ball to the next, as in a cradle of
steel balls, is the limit of small distances.)

Checked: positions and velocities at the end, all derivatives of the positions, by the direct method
and by the adjoint, the times of the impacts, and the velocities of touching balls.
"""

from __future__ import annotations

import numpy as np

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-11}
DURATION, RADIUS, DISTANCE, BALLS = 0.5, 0.05, 0.01, 5
"""Duration (s), radius (m), distance (m), and number of balls."""
SPEED = 1.0
"""Initial speed of the first ball (m/s)."""
TOLERANCE = 1e-9


def mechanism(distance: float = DISTANCE) -> vm.Mechanism:
    """The balls on guides along one line; initial positions x1 … and velocities v1 … are parameters.

    Args:
        distance: gap between neighbours (m).
    """
    m = vm.Mechanism("Newton's cradle", dimension=2)
    m.ground_point("O", (0, 0))
    displacement, speed = {}, {}
    for k in range(1, BALLS + 1):
        x = m.parameter(f"x{k}", (k - 1) * (2 * RADIUS + distance), unit="m")
        v = m.parameter(f"v{k}", SPEED if k == 1 else 0.0, unit="m/s")
        m.body(f"ball {k}", mass=1.0, inertia=0.001, points={"C": (0, 0)})
        m.prismatic(f"guide {k}", "ground.O", f"ball {k}.C", axis=(1, 0))
        displacement[f"guide {k}"], speed[f"guide {k}"] = x, v
    for k in range(1, BALLS):
        ends = f"ball {k}.C", f"ball {k + 1}.C"
        m.contact(f"impact {k}", *ends, radius=RADIUS, second_radius=RADIUS, restitution=1.0)
    m.start(displacement=displacement, speed=speed)
    return m


def objectives() -> dict[str, vm.Objective]:
    """Final positions of all balls."""
    return {
        f"x of ball {k}": vm.final(f'displacement("guide {k}")', unit="m")
        for k in range(1, BALLS + 1)
    }


def references() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Final positions (m) and velocities (m/s), and the permutation matrix."""
    numbers, v = np.arange(BALLS), np.zeros(BALLS)
    v[0] = SPEED
    paths = numbers * DISTANCE + v * DURATION
    order = np.argsort(paths, kind="stable")
    return paths[order] + 2 * RADIUS * numbers, v[order], np.eye(BALLS)[order]


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities, and the impact of touching balls."""
    stored = o.stored_at(settings, 0.005)
    names = [f"{c}{k}" for c in "xv" for k in range(1, BALLS + 1)]
    solutions = o.both_methods(mechanism(), objectives(), names, DURATION, stored)
    motion = solutions["direct"].run
    x, v, permutation = references()
    checks: list[o.Check] = []
    for k, (position, velocity) in enumerate(zip(x, v, strict=True)):
        speed = float(motion.displacement_rate(f"guide {k + 1}")[-1])
        value = float(solutions["direct"].final_values[k])
        size = TOLERANCE * position
        checks.append(o.Check(f"final x of ball {k + 1} (m)", value, float(position), size))
        checks.append(
            o.Check(f"final ẋ of ball {k + 1} (m/s)", speed, float(velocity), TOLERANCE * SPEED)
        )
    for method, solution in solutions.items():
        expected = {"positions": permutation, "velocities": DURATION * permutation}
        blocks = np.split(solution.final_gradient, 2, axis=1)
        for (kind, matrix), computed in zip(expected.items(), blocks, strict=True):
            off = float(np.abs(computed - matrix).max() / matrix.max())
            name = f"largest error of the derivatives with respect to {kind}, {method}"
            checks.append(o.Check(name, off, 0.0, TOLERANCE))
    times = motion.events.times
    checks.append(o.Check("number of impacts", len(times), BALLS - 1, TOLERANCE))
    checks += [
        o.Check(f"time of impact {k} (s)", float(time), r, TOLERANCE * r)
        for k, time in enumerate(times, 1)
        if (r := k * DISTANCE / SPEED)
    ]
    together = mechanism(0.0).simulate(DURATION, **stored)
    for k in range(1, BALLS + 1):
        speed = float(together.displacement_rate(f"guide {k}")[-1])
        expected_speed = SPEED * (2 / BALLS - (k == 1))
        checks.append(
            o.Check(f"final ẋ of ball {k}, touching (m/s)", speed, expected_speed, TOLERANCE)
        )
    runs = (*(s.run for s in solutions.values()), together)
    return o.Checked("newtons-cradle", runs, tuple(checks), lambda: figures(motion))


def figures(run: vm.Run) -> o.Figures:
    """Positions and velocities over time."""
    t, balls = run.time, range(1, BALLS + 1)
    panels = [
        vm.Panel(label, [vm.Line(f"ball {k}", t, f(f"guide {k}").to_numpy()) for k in balls])
        for label, f in (
            ("position (m)", run.displacement),
            ("velocity (m/s)", run.displacement_rate),
        )
    ]
    return {"motion": vm.line_figure(panels, title="Newton's cradle")}
