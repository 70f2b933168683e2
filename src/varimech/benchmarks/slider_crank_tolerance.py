"""A slider-crank whose crank's mass has a tolerance: mean and standard deviation of the force of
the ground on the slider.

D. H. Choi, S. J. Lee and H. H. Yoo, "Dynamic analysis of multi-body systems considering
probabilistic properties" (2005), Figures 5 to 7: crank of 1.414 m and 10 kg at 0.7854 rad, rod of 2
m and 2 kg, slider of 1 kg on the x axis, first at 1 + √3 m; the crank's mass is normal with a
tolerance of 10 % as 3σ. Initial speed, loads and duration are not stated: from rest under gravity
(9.81 m/s² along −y), 5 s here; bars are uniform.

Checked: the force, its mean and its standard deviation at several times, and the mean by Monte
Carlo within its own confidence interval (99.73 %). The references were computed independently: the
equation of motion of the crank angle alone, a balance of moments for the force (DOP853, tolerance
1e-12), and an integral over the mass (Gauss–Hermite, 12 nodes; the derivation is in
`tests/support/slider_crank_exact.py`).
"""

from __future__ import annotations

import numpy as np

import varimech as vm

from .moments_figure import moments_figure
from .outcome import Check, Checked, Figures, Settings, read_model, read_objectives, stored_at

SETTINGS: Settings = {"tolerance": 1e-10}
DURATION, OUTPUT = 5.0, 0.01
MASS, TOLERANCE = 10.0, 1.0
"""Mass of the crank and its tolerance (kg), 3σ."""
EXACT = {
    0.5: (11.287281685, 11.287167495, 0.330366226),
    0.9: (-9.316506406, -9.260094784, 1.959130194),
    2.5: (28.039425262, 28.005982802, 1.743557660),
    3.0: (19.169447899, 19.154052584, 0.402335480),
    4.75: (14.429403260, 14.431305062, 0.115081951),
}
"""Force for the nominal mass, its mean and its standard deviation (N) at several times (s)."""
SAMPLES = 1024
TRUNCATION = 1e-4, 6e-3
"""Accepted relative truncation errors of second-order mean and standard deviation."""


def mechanism() -> vm.Mechanism:
    """The slider-crank; the mass m1 of its crank has a tolerance."""
    return read_model("slider_crank_tolerance")


def objectives() -> dict[str, vm.Objective]:
    """The force of the ground on the slider, upwards; its history is the force over time."""
    return read_objectives(mechanism())


def run(settings: Settings = SETTINGS) -> Checked:
    """Solve the benchmark."""
    m = mechanism()
    moments = m.moments(objectives(), duration=DURATION, **stored_at(settings, OUTPUT))
    study = m.monte_carlo(
        objectives(),
        duration=DURATION,
        samples=SAMPLES,
        sampling="sobol",
        **stored_at(settings, 0.05),
    )
    intervals = study.interval(0.9973)
    checks = []
    for t, (force, mean, deviation) in EXACT.items():
        row = int(np.abs(moments.time - t).argmin())
        sampled = int(np.abs(study.time - t).argmin())
        half = (intervals["upper"] - study.mean).values[sampled, 0]
        values = moments.values[row, 0], moments.mean.values[row, 0], moments.std.values[row, 0]
        checks += [
            Check(f"force at {t:g} s (N)", values[0], force, 1e-6),
            Check(f"mean of the force at {t:g} s (N)", values[1], mean, TRUNCATION[0] * abs(mean)),
            Check(
                f"standard deviation of the force at {t:g} s (N)",
                values[2],
                deviation,
                TRUNCATION[1] * deviation,
            ),
            Check(
                f"mean of the force at {t:g} s by Monte Carlo (N)",
                study.mean.values[sampled, 0],
                mean,
                half,
            ),
        ]
    return Checked(
        "slider-crank-tolerance",
        (moments.run,),
        tuple(checks),
        lambda: figures(moments, study),
        (study,),
    )


def figures(moments: vm.Moments, study: vm.Study) -> Figures:
    """Figures 6 and 7 of the paper, and the mechanism."""
    data = moments.dataset.isel(objective=0)
    means = {"second order": data["mean"].to_numpy(), "first order": data["first_mean"].to_numpy()}
    deviations = {
        "second order": data["std"].to_numpy(),
        "first order": np.sqrt(data["first_variance"].to_numpy()),
    }
    title = "Slider-crank, mass of the crank ± 10 %: force of the ground on the slider"
    return {
        "figure6_means": moments_figure(title, "mean", "N", moments, means, study, "mean"),
        "figure7_deviations": moments_figure(
            title, "standard deviation", "N", moments, deviations, study, "std"
        ),
        "bands": moments.plot(),
        "mechanism": moments.run.draw(
            times=(0.9, 0.6, 0.3, 0.0),
            trace="B",
            title="Slider-crank at its start and within its first second",
        ),
    }
