"""A rocking block: a uniform block, 2b × 2h, on a plane, tilted by θ₀ and released.

G. W. Housner, Bulletin of the Seismological Society of America 53 (1963) 403–417. b = 0.1 m,
h = 0.5 m, θ₀ = 0.1 rad, g = 9.81 m/s², friction large enough to prevent sliding, no restitution. With
R = √(b² + h²), tan α = b/h, p² = 3g/(4R) and φ = α − |θ|, the angle of the diagonal from the
vertical, the block rotates about one corner by

    φ̈ = p² sin φ,     φ̇² = 2 p² (cos φ₀ − cos φ),

until the other corner hits the plane at φ = α. The angular momentum about that corner is conserved:
the angular rate after the impact is r = 1 − (3/2) sin² α times the one before. The smallest φ of the
following half cycle obeys cos φ₁ = cos α + r² (cos φ₀ − cos α), and the energy above that of the block
at rest decreases by r² at each impact. The time between φ₀ and φ is

    p t(φ₀, φ) = ∫ s ds / √(sin(φ₀ + s²/2) sin(s²/2)),     s from 0 to √(φ − φ₀),

an elliptic integral, here by Gauss–Legendre quadrature, from which the angle at a given time follows
by Newton's method.

Checked: the times of the first three impacts; the ratios of the angular rates; the angle at 1.8 s, the
energy there and their derivatives with respect to θ₀, b and h, by the direct method and by the
adjoint. The derivatives of the references are complex steps of these formulas.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

import varimech as vm

from . import outcome as o

SETTINGS: o.Settings = {"tolerance": 1e-11}
DURATION, G, MASS = 1.8, 9.81, 1.0
NOMINAL = {"theta0": 0.1, "b": 0.1, "h": 0.5}
"""rad, m, m."""
IMPACTS = 3
"""Number of impacts before the end."""
STEP = 1e-30
"""Complex step: it has no rounding error, however small it is."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)  # converged to rounding with 20


def mechanism() -> vm.Mechanism:
    """The block, tilted about its corner A; the initial angle theta0, half the width b and half the
    height h are parameters (the block stays uniform).
    """
    m = vm.Mechanism("rocking block", gravity=(0, -G))
    theta0 = m.parameter("theta0", NOMINAL["theta0"], unit="rad")
    b = m.parameter("b", NOMINAL["b"], unit="m")
    h = m.parameter("h", NOMINAL["h"], unit="m")
    m.ground_point("O", (0, 0))
    m.body(
        "block",
        mass=MASS,
        inertia=MASS * (b**2 + h**2) / 3,
        points={"A": (-b, -h), "B": (b, -h), "C": (b, h), "D": (-b, h)},
        spine=("A", "B", "C", "D", "A"),
        floating=True,
    )
    m.contact("floor", "block.A", "ground.O", also=["block.B"], normal=(0, 1), friction=2.0)
    m.start(position={"block.A": (0.0, 0.0)}, angle={"block": theta0}, speed={"block": 0.0})
    return m


def objectives() -> dict[str, vm.Objective]:
    """Angle and energy at the end."""
    return {
        "angle": vm.final('angle("block")', unit="rad"),
        "energy": vm.final("energy()", unit="J"),
    }


class Block:
    """The closed forms for given parameters, which may be complex."""

    def __init__(self, theta0: complex, b: complex, h: complex):
        R = cmath.sqrt(b**2 + h**2)
        self.α = cmath.atan(b / h)
        self.p = cmath.sqrt(3 * G / (4 * R))
        self.r = 1 - 1.5 * b**2 / R**2
        drops = [cmath.cos(self.α - theta0) - cmath.cos(self.α)]
        times: list[complex] = [self.time(self.α - theta0, self.α)]
        for _ in range(IMPACTS):
            drops.append(self.r**2 * drops[-1])
            flight = 2 * self.time(self._least(drops[-1]), self.α)
            times.append(times[-1] + flight)
        self.times = times
        """Times of the impacts (s); the last one is after the end."""
        self.energy = MASS * G * (h + R * drops[IMPACTS])
        self.angle = (-1) ** IMPACTS * self._final(self._least(drops[IMPACTS]))

    def _least(self, drop: complex) -> complex:
        return cmath.acos(cmath.cos(self.α) + drop)

    def time(self, φ0: complex, φ: complex) -> complex:
        """Time from rest at φ₀ to φ (s)."""
        end = cmath.sqrt(φ - φ0)
        s = end * (1 + NODES) / 2
        rates = s / np.sqrt(np.sin(φ0 + s**2 / 2) * np.sin(s**2 / 2))
        return complex(end / 2 * (WEIGHTS @ rates) / self.p)

    def _final(self, φ0: complex) -> complex:
        """|θ| at the end (rad), which is after the smallest φ of its half cycle."""
        elapsed = DURATION - (self.times[-2] + self.times[-1]) / 2
        φ = φ0 + self.p**2 * cmath.sin(φ0) * elapsed**2 / 2
        for _ in range(8):
            rate = self.p * cmath.sqrt(2 * (cmath.cos(φ0) - cmath.cos(φ)))
            φ += (elapsed - self.time(φ0, φ)) * rate
        return self.α - φ


def references() -> dict[str, tuple[float, dict[str, float]]]:
    """Objective → value, and derivatives with respect to the parameters."""
    block = Block(**NOMINAL)
    moved = {p: Block(**{**NOMINAL, p: NOMINAL[p] + 1j * STEP}) for p in NOMINAL}
    return {
        name: (
            complex(getattr(block, name)).real,
            {p: complex(getattr(other, name)).imag / STEP for p, other in moved.items()},
        )
        for name in ("angle", "energy")
    }


def first_impact() -> float:
    """Time of the first impact by elliptic integrals (s).

    π − φ is the angle of a pendulum of frequency p from its lowest position.
    """
    from scipy.special import ellipk, ellipkinc

    theta0, b, h = NOMINAL.values()
    α, p = math.atan(b / h), math.sqrt(3 * G / (4 * math.hypot(b, h)))
    k = math.cos((α - theta0) / 2)
    return float(ellipk(k**2) - ellipkinc(math.asin(math.cos(α / 2) / k), k**2)) / p


def run(settings: o.Settings = SETTINGS) -> o.Checked:
    """Solve the benchmark with its sensitivities."""
    solutions = o.both_methods(
        mechanism(), objectives(), list(NOMINAL), DURATION, o.stored_at(settings, 0.01)
    )
    motion, block = solutions["direct"].run, Block(**NOMINAL)
    impacts = [e for e in motion.events if e.what == "impact"]
    t1, r = first_impact(), block.r.real
    checks = [
        o.Check("number of impacts", len(impacts), IMPACTS, 1e-9),
        o.Check("time of impact 1 by elliptic integrals (s)", impacts[0].time, t1, 1e-9 * t1),
    ]
    for k, event in enumerate(impacts):
        time = block.times[k].real
        checks.append(o.Check(f"time of impact {k + 1} (s)", event.time, time, 1e-9 * time))
    # no energy is lost between impacts: the rate before an impact is that after the previous one
    for k in range(1, IMPACTS):
        ratio = impacts[k].before / impacts[k - 1].before
        checks.append(o.Check(f"rate after impact {k} / rate before it", ratio, r, 1e-9 * r))
    checks += o.check_both_methods(solutions, references())
    return o.Checked(
        "rocking-block",
        tuple(s.run for s in solutions.values()),
        tuple(checks),
        lambda: figures(motion),
    )


def figures(run: vm.Run) -> o.Figures:
    """Angle and energies over time, and the block."""
    panels = [
        vm.Panel("angle (rad)", [vm.Line("", run.time, run.angle("block").to_numpy())]),
        o.energy_panel(run),
    ]
    return {
        "motion": vm.line_figure(panels, title="Rocking block"),
        "mechanism": run.draw(times=(0.0, 0.35, 0.65), title="Rocking block"),
    }
