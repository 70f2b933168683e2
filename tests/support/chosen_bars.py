"""Two driven bars with tolerances to be chosen; their reach is linear in their lengths."""

from __future__ import annotations

import numpy as np

TEXT = """\
varimech: 1
name: two bars
gravity: [0, -9.81]
parameters:
  a: {value: 0.3 m, bounds: [0.1, 0.5], tolerance: {width: 0.6 mm, at_least: 0.01 mm, at_most: 9 mm, cost: {a: 1, b: 0.4 mm}}}
  b: {value: 0.2 m, bounds: [0.1, 0.5], tolerance: {width: 0.3 mm, at_least: 0.01 mm, at_most: 9 mm, cost: {a: 2, b: 3 mm}}}
ground: {A: [0, 0], B: [1, 0]}
bodies:
  first: {bar: [A, P], length: a, mass: 1}
  second: {bar: [B, Q], length: b, mass: 1}
joints: {A: revolute, B: revolute}
drivers:
  m1: {angle: first, motion: 60 deg}
  m2: {angle: second, motion: 30 deg}
studies:
  objectives:
    reach: {final: 'position("P")[0] + position("Q")[0]', unit: m}
    line: {path: 'position("P")[0]', unit: m}
    middle: {mean: reach}
    deviation: {std: reach}
    most: {quantile: reach, p: 0.999}
    worst_reach: {worst: {final: 'position("P")[0] + position("Q")[0]', unit: m}, sigma: -2}
    inside: {probability: {reach: {at_most: 1.3237}}}
    band: {std: line}
  simulate: {duration: 0.01 s, step: 1 ms, backend: interpreted}
  robust: {statistics: moments}
  allocate:
    constraints: {deviation: {at_most: 1e-4}}
    statistics: moments
    verify: false
    curve: {deviation: [5e-5, 1e-4, 2e-4]}
"""
C = np.cos(np.radians([60.0, 30.0]))
"""∂reach/∂(a, b)."""
WIDTHS, COSTS = np.array([6e-4, 3e-4]), np.array([4e-4, 3e-3])


def cheapest(deviation: float) -> np.ndarray:
    """Cheapest tolerances in closed form: Σ b/t with Σ (c t/3)² = s² is minimal where t³ ∝ b/c², by
    Lagrange.
    """
    t = np.cbrt(COSTS / C**2)
    return np.asarray(t * deviation / np.linalg.norm(C * t / 3))
