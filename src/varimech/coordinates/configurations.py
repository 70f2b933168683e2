"""Other configurations in which a mechanism can be assembled.

Constraints and initial conditions are polynomials, so a loop usually has several configurations: a
four-bar open or crossed, a slider on either side. The initial guess selects one of them. Where
`near` does not select it, assemblies from disturbed guesses reveal others.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from .assembly import Assembly

GUESSES = 8
"""Number of disturbed guesses: about half of them lead to the other configuration of a planar loop.
"""
LARGEST = 100
"""Coordinates up to which other configurations are searched for: the search takes some milliseconds
up to there.
"""
DIFFERENT = 1e-3
"""Distance of a point in two configurations, over the size of the mechanism, above which these are
different: far above errors of an assembly (1e-10), and visible in a drawing.
"""


@dataclass(frozen=True)
class OtherConfiguration:
    """A point whose position differs in another configuration (m)."""

    point: str
    chosen: tuple[float, ...]
    other: tuple[float, ...]

    def __str__(self) -> str:
        here, there = (
            f"({', '.join(f'{x:.4g}' for x in position)})" for position in (self.chosen, self.other)
        )
        return (
            f"assembled with {self.point!r} at {here} m; it closes with {self.point!r} at {there} m"
            f" too: start(near={{{self.point!r}: …}}) chooses"
        )


def may_close_otherwise(assembly: Assembly) -> bool:
    """Whether a mechanism has closed loops, no guess selects how they close, and it is small enough
    for a search for other configurations.
    """
    model, start = assembly.model, assembly.start
    loops = len(model.joints) - len(model.moving_bodies)
    return (
        loops > 0
        and not (start.near_rotation or start.near_position)
        and assembly.equations.q.numel() <= LARGEST
    )


def other_configuration(
    assembly: Assembly, q: np.ndarray, ρ: np.ndarray
) -> OtherConfiguration | None:
    """Find a configuration other than that of positions q; None where none was found."""
    e, model = assembly.equations, assembly.model
    points = [p for p in model.all_points if p.body in model.moving_bodies]
    places = ca.Function(
        "points", [e.q, e.ρ], [ca.horzcat(*[e.frames[p.body].position(p.local) for p in points])]
    )
    chosen = np.array(places(q, ρ))
    size = float(np.ptp(chosen, axis=1).max(initial=0.0)) or 1.0
    rng = np.random.default_rng(0)
    typical = size if e.sizes is None else e.sizes.typical
    for _ in range(GUESSES):
        other = assembly.closed_from(q + typical * rng.uniform(-1.0, 1.0, q.size), ρ)
        if other is None:
            continue
        moved = np.array(places(other, ρ))
        distances = np.linalg.norm(moved - chosen, axis=0)
        if distances.max() > DIFFERENT * size:
            k = int(distances.argmax())
            together = model.points_named(points[k].name)
            name = (
                points[k].name if len(together) == 1 or model.joined(together) else points[k].label
            )
            # rounding of zeros would be shown with four digits
            here, there = (
                np.where(np.abs(x) > 1e-12 * size, x, 0.0) for x in (chosen[:, k], moved[:, k])
            )
            return OtherConfiguration(name, tuple(here.tolist()), tuple(there.tolist()))
    return None
