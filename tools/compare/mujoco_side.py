"""MuJoCo's side: central differences of rollouts, for it has no sensitivities of a trajectory to
parameters.

Hinges for the bars, one `connect` constraint closes the loop, tendons are the springs; RK4; the
constraint as stiff as the step allows. Sensors give position, velocity and acceleration of point 2,
and Simpson's rule makes ψ of them. Models are made before the clock starts.
"""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

import numpy as np
import problem
from scipy.integrate import simpson

STEPS = (100, 140, 200, 280, 400, 560, 800, 1600, 3200)
PERTURBATION = 1e-4
STIFF = 2.5
"""Time constant of the closing constraint, in steps."""
THREADS = 2


def mujoco() -> Any:
    import_module("mujoco.rollout")
    return import_module("mujoco")


def model(ρ: np.ndarray, steps: int) -> tuple[Any, np.ndarray]:
    """The compiled model and its starting state: time, angles, rates."""
    parts = problem.bars(ρ)
    hinges = [
        f'<joint axis="0 0 1"/><inertial pos="{b.com} 0 0" mass="{b.mass}" diaginertia="{b.inertia}'
        f' {b.inertia} {b.inertia}"/>'
        for b in parts
    ]
    step = problem.DURATION / steps
    xml = f"""
    <mujoco>
      <option gravity="0 {-problem.GRAVITY} 0" timestep="{step}" integrator="RK4" iterations="1" tolerance="1e-15" jacobian="dense">
        <flag contact="disable"/>
      </option>
      <worldbody>
        <site name="B" pos="1 0 0"/>
        <body>{hinges[0]}
          <body pos="{ρ[4]} 0 0">{hinges[1]}
            <site name="1"/><site name="2" pos="{problem.L_12} 0 0"/>
            <body pos="{problem.L_12} 0 0">{hinges[2]}<site name="3" pos="{problem.L_23} 0 0"/></body>
          </body>
        </body>
        <body pos="1 0 0">{hinges[3]}<site name="3B" pos="{problem.L_3B} 0 0"/></body>
      </worldbody>
      <tendon>
        <spatial stiffness="{problem.STIFFNESS}" springlength="{ρ[0]}"><site site="B"/><site site="1"/></spatial>
        <spatial stiffness="{problem.STIFFNESS}" springlength="{ρ[1]}"><site site="B"/><site site="2"/></spatial>
      </tendon>
      <equality><connect site1="3" site2="3B" solref="{STIFF * step} 1" solimp="0.9999 0.9999 0.001"/></equality>
      <sensor>
        <framepos objtype="site" objname="2"/><framelinvel objtype="site" objname="2"/><framelinacc objtype="site" objname="2"/>
      </sensor>
    </mujoco>"""
    angles = [b.angle for b in parts]
    relative = [angles[0], angles[1] - angles[0], angles[2] - angles[1], angles[3]]
    return mujoco().MjModel.from_xml_string(xml), np.array([0.0, *relative, 0, 0, 0, 0])


class Batch:
    """Many models that run in one rollout."""

    def __init__(self, models: list[Any], starts: list[np.ndarray], steps: int, threads: int):
        self.models, self.starts, self.steps, self.threads = (
            models,
            np.array(starts),
            steps,
            threads,
        )
        self.data = [mujoco().MjData(models[0]) for _ in range(threads)]

    def psi(self) -> np.ndarray:
        """ψ of every model, a row each. A sensor tells of the beginning of its step, hence one step
        more.
        """
        with mujoco().rollout.Rollout(nthread=self.threads if self.threads > 1 else 0) as pool:
            _, computed = pool.rollout(self.models, self.data, self.starts, nstep=self.steps + 1)
        r, v, a = computed[..., 0:2], computed[..., 3:5], computed[..., 6:8]
        parts = (r - problem.TARGET, v, a - [0, problem.GRAVITY])
        return np.stack(
            [simpson((x**2).sum(-1), dx=problem.DURATION / self.steps) for x in parts], axis=-1
        )


def batch(values: list[np.ndarray], steps: int, threads: int = 1) -> Batch:
    models, starts = zip(*(model(ρ, steps) for ρ in values), strict=True)
    return Batch(list(models), list(starts), steps, threads)


def ensemble(natural_lengths: np.ndarray, steps: int, threads: int) -> Batch:
    """The nominal model with other natural lengths of the first spring."""
    nominal, start = model(problem.NOMINAL, steps)
    models = [copy.copy(nominal) for _ in natural_lengths]
    for one, length in zip(models, natural_lengths, strict=True):
        one.tendon_lengthspring[0] = length
    return Batch(models, [start] * len(models), steps, threads)


def gradient_curve() -> problem.Curve:
    build_seconds, _ = problem.timed(lambda: batch(problem.perturbed(PERTURBATION), STEPS[0]))
    curve = problem.Curve(
        "MuJoCo", "central differences, RK4, closed by a connect constraint", build_seconds
    )
    for steps in STEPS:
        seconds, values = problem.fastest(batch(problem.perturbed(PERTURBATION), steps).psi)
        curve.points.append(
            problem.Point(
                f"{steps} steps", 1e3 * seconds, problem.central(values, PERTURBATION).tolist()
            )
        )
    return curve


def throughput(exact: np.ndarray) -> problem.Throughput:
    candidates = (2 * round(50 * 1.05**k) for k in range(80))
    steps, error = problem.coarsest(
        candidates,
        lambda n: ensemble(problem.SAMPLES[problem.TESTED], n, 1).psi(),
        exact,
        problem.ENSEMBLE_ERROR,
    )
    seconds, _ = problem.fastest(ensemble(problem.SAMPLES, steps, THREADS).psi, 2.0)
    return problem.Throughput(
        "MuJoCo", f"{THREADS} threads", f"{steps} steps", error, len(problem.SAMPLES), seconds
    )


if __name__ == "__main__":
    exact = problem.reference_values()
    problem.Report(
        {"mujoco": mujoco().__version__}, [gradient_curve()], [throughput(exact)]
    ).print()
