"""A pendulum whose length has a tolerance: mean and variance of its angle by the first and second
order moment method.

D. H. Choi, S. J. Lee and H. H. Yoo, "Dynamic analysis of multi-body systems considering
probabilistic properties" (2005), Figures 1 to 4: a uniform bar, m = 3 kg and L = 1 m, released at
rest 0.5236 rad from the vertical; L is normal with a tolerance of 10 % as 3σ. Not stated there: g =
9.81 m/s² and the duration (10 s here, six periods).

The angle is an elliptic function of time, sin(θ/2) = k sn(K − ωt) with ω² = 3g/2L and k =
sin(θ₀/2), so its moments are known: one integral over L, by a Gauss–Hermite rule. Checked: θ and
∂θ/∂L at 1, 2 and 3 s (computed from the elliptic function to 1e-12); mean and standard deviation of
second order at 3 s for a tolerance of 1 %, and the mean at the fourth crest for one of 10 %, where
the first order is off by 9 %; all against that integral, within the truncation error of the
expansion. And means by Monte Carlo, within their own confidence intervals (99.73 %), at 3 s and at
the end, long after the expansion has become invalid.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import varimech as vm

from .moments_figure import moments_figure
from .outcome import Check, Checked, Figures, Settings, read_model, read_objectives, stored_at

if TYPE_CHECKING:
    pass

SETTINGS: Settings = {"tolerance": 1e-10}
DURATION, OUTPUT, G, INITIAL_ANGLE = 10.0, 0.02, 9.81, 0.5236
TOLERANCE, SMALL = 0.1, 0.01
"""Tolerances of the length (m), 3σ: that of the paper, and a realistic one."""
SAMPLES = 4096
SEVERAL = (0.02, 0.05, 0.1, 0.15)
"""Tolerances of Figure 3 (m)."""
ANGLES = {
    1.0: (-0.4243060674, -0.5773158652),
    2.0: (0.1621887085, 1.8859102515),
    3.0: (0.1633495892, -2.8266627558),
}
"""θ (rad) and ∂θ/∂L (rad/m) at three times (s)."""
CREST = 6.68
"""Time of the fourth maximum of the angle (s)."""


def mechanism() -> vm.Mechanism:
    """The pendulum; its length L has a tolerance."""
    return read_model("pendulum_tolerance")


def objectives() -> dict[str, vm.Objective]:
    """The angle from the vertical; its history is the angle over time."""
    return read_objectives(mechanism())


def run(settings: Settings = SETTINGS) -> Checked:
    """Solve the benchmark."""
    m, options = mechanism(), stored_at(settings, OUTPUT)
    moments = {width: expanded(m, width, options) for width in (*SEVERAL, SMALL)}
    wide, narrow = moments[TOLERANCE], moments[SMALL]
    checks = []
    for t, (θ, derivative) in ANGLES.items():
        row = _row_of(wide, t)
        checks.append(Check(f"angle at {t:g} s (rad)", wide.values[row, 0], θ, 1e-8))
        checks.append(
            Check(
                f"derivative of the angle with respect to the length at {t:g} s (rad/m)",
                wide.derivatives[row, 0, 0],
                derivative,
                1e-8,
            )
        )
    row = _row_of(narrow, 3.0)
    mean, variance = (
        float(x[0]) for x in exact_moments(narrow.time[row : row + 1], 1.0, SMALL / 3)
    )
    label = f"of the angle at 3 s, tolerance {100 * SMALL:g} % (rad)"
    checks.append(Check(f"mean {label}", narrow.mean.values[row, 0], mean, 1e-6 * mean))
    checks.append(
        Check(
            f"standard deviation {label}",
            narrow.std.values[row, 0],
            math.sqrt(variance),
            3e-4 * math.sqrt(variance),
        )
    )
    row = _row_of(wide, CREST)
    mean = float(exact_moments(wide.time[row : row + 1], 1.0, TOLERANCE / 3)[0][0])
    label = f"at the fourth crest, {CREST:g} s, tolerance {100 * TOLERANCE:g} % (rad)"
    checks.append(Check(f"mean {label}", wide.mean.values[row, 0], mean, 6e-3 * mean))
    study = m.monte_carlo(
        objectives(),
        duration=DURATION,
        samples=SAMPLES,
        sampling="sobol",
        **stored_at(settings, 0.1),
    )
    for t in (3.0, DURATION):
        row = int(np.abs(study.time - t).argmin())
        mean = float(exact_moments(study.time[row : row + 1], 1.0, TOLERANCE / 3)[0][0])
        allowed = study.interval(0.9973)["upper"].values[row, 0] - study.mean.values[row, 0]
        checks.append(
            Check(f"mean at {t:g} s by Monte Carlo (rad)", study.mean.values[row, 0], mean, allowed)
        )
    return Checked(
        "pendulum-tolerance",
        tuple(x.run for x in moments.values()),
        tuple(checks),
        lambda: figures(moments, study),
        (study,),
    )


def expanded(m: vm.Mechanism, width: float, options: Mapping[str, Any]) -> vm.Moments:
    """Moments for one tolerance, also beyond their horizon, to show how they deviate there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vm.HorizonWarning)
        return m.moments(objectives(), {"L": vm.Tolerance(width)}, duration=DURATION, **options)


def _row_of(moments: vm.Moments, time: float) -> int:
    """Index of a stored time (s)."""
    return int(np.abs(moments.time - time).argmin())


def _exact_angle(t: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Angle from the vertical, (length, time)."""
    from scipy.special import ellipj, ellipk

    k, ω = math.sin(INITIAL_ANGLE / 2), np.sqrt(1.5 * G / np.asarray(L))[:, None]
    return 2 * np.arcsin(k * ellipj(ellipk(k**2) - ω * t, k**2)[0])


def exact_moments(t: np.ndarray, mean: float, σ: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the angle over time for a normal length."""
    z, w = np.polynomial.hermite_e.hermegauss(60)
    θ = _exact_angle(t, mean + σ * z)
    μ = w @ θ / w.sum()
    return μ, w @ (θ - μ) ** 2 / w.sum()


def figures(moments: Mapping[float, vm.Moments], study: vm.Study) -> Figures:
    """Figures 2, 3 and 4 of the paper, together with the exact moments; and the angle with its
    band.
    """
    wide = moments[TOLERANCE]
    t, data = wide.time, wide.dataset.isel(objective=0)
    mean, variance = exact_moments(t, 1.0, TOLERANCE / 3)
    several = [
        vm.Line(f"± {100 * w:g} %", t, moments[w].mean.isel(objective=0).to_numpy())
        for w in SEVERAL
    ]
    title = f"Pendulum, length ± {100 * TOLERANCE:g} %: "
    means = {
        "first order": data["first_mean"].to_numpy(),
        "second order": data["mean"].to_numpy(),
        "exact": mean,
    }
    variances = {
        "first order": data["first_variance"].to_numpy(),
        "second order": data["variance"].to_numpy(),
        "exact": variance,
    }
    return {
        "figure2_means": moments_figure(
            f"{title}mean of its angle", "mean", "rad", wide, means, study, "mean"
        ),
        "figure3_tolerances": vm.line_figure(
            [vm.Panel("mean angle (rad)", several)],
            title="Pendulum: mean of second order for several tolerances of its length",
        ),
        "figure4_variances": moments_figure(
            f"{title}variance of its angle", "variance", "rad²", wide, variances, study, "variance"
        ),
        "bands": wide.plot(),
    }
