"""MuJoCo's side of the comparison of contacts: soft constraints with equal steps.

Ball: limit of a slide joint with `solreflimit="-stiffness -damping"`, as its documentation
describes for restitution; the damping is that of a linear spring and damper with this restitution.
Oscillator: `frictionloss` of the joint, with and without the NoSlip solver. The third model steps a
ball without a floor, and Python code of the user locates impacts: it is no contact model of MuJoCo.
"""

from __future__ import annotations

import contacts_problem as contacts
from contacts_problem import DURATIONS, GRAVITY, Exact, Point, Run
from mujoco_side import mujoco

IMPEDANCE = 0.9999
"""The largest one that MuJoCo allows."""
INTEGRATORS = ("RK4", "Euler")
BALL_STEPS = (1e-3, 2e-4, 5e-5, 1e-5)
STEPS_IN_CONTACT = (5, 10, 20)
OSCILLATOR_STEPS = (2e-2, 1e-2, 5e-3, 2e-3, 5e-4, 1e-4)
NO_SLIP = {0: 0.9999, 5: 0.9}
"""Iterations of the NoSlip solver → impedance that was best with them."""
OWN_STEPS = (0.1, 0.02)


def simulation(joint: str, option: str, step: float, duration: float, start: list[float]) -> Run:
    """A mass of 1 kg on a slide joint, from a position and a velocity."""
    module = mujoco()
    model = module.MjModel.from_xml_string(f"""
    <mujoco>
      <compiler boundmass="0"/>
      <option timestep="{step!r}" tolerance="1e-15" {option}
        ><flag contact="disable" refsafe="disable"/></option>
      <worldbody><body>
        <joint type="slide" axis="0 0 1" {joint}/>
        <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      </body></worldbody>
    </mujoco>""")
    data = module.MjData(model)

    def run() -> float:
        module.mj_resetData(model, data)
        data.qpos[0], data.qvel[0] = start
        module.mj_step(model, data, round(duration / step))
        return float(data.qpos[0])

    return run


def ball(h: float, e: float, step: float, integrator: str, steps_in_contact: float) -> Run:
    k = contacts.stiffness(step, steps_in_contact)
    b = 2 * contacts.damping_ratio(e) * k**0.5
    solver = f"{-k * IMPEDANCE**2!r} {-b * IMPEDANCE!r}"  # MuJoCo divides by the impedance
    joint = (
        f'limited="true" range="0 1000" solreflimit="{solver}"'
        f' solimplimit="{IMPEDANCE} {IMPEDANCE} 0.001"'
    )
    option = f'gravity="0 0 {-GRAVITY}" integrator="{integrator}"'
    return simulation(joint, option, step, DURATIONS["ball"], [h, 0.0])


def oscillator(
    x0: float, v0: float, F: float, step: float, integrator: str, time_constant: int, no_slip: int
) -> Run:
    d = NO_SLIP[no_slip]
    joint = (
        f'stiffness="1" frictionloss="{F!r}" solreffriction="{time_constant * step!r} 1"'
        f' solimpfriction="{d} {d} 0.001"'
    )
    option = f'gravity="0 0 0" integrator="{integrator}" noslip_iterations="{no_slip}"'
    return simulation(joint, option, step, DURATIONS["oscillator"], [x0, v0])


def ball_by_user(h: float, e: float, step: float) -> Run:
    """Impacts located by Newton's method on the length of a step, each step begun anew."""
    module = mujoco()
    model = module.MjModel.from_xml_string(f"""
    <mujoco>
      <compiler boundmass="0"/>
      <option gravity="0 0 {-GRAVITY}" integrator="RK4"><flag contact="disable"/></option>
      <worldbody><body>
        <joint type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      </body></worldbody>
    </mujoco>""")
    data = module.MjData(model)

    def advance(x: float, v: float, length: float) -> tuple[float, float]:
        data.qpos[0], data.qvel[0], model.opt.timestep = x, v, length
        module.mj_step(model, data)
        return data.qpos[0], data.qvel[0]

    def run() -> float:
        module.mj_resetData(model, data)
        x, v, left = h, 0.0, DURATIONS["ball"]
        while left > 1e-14:
            length = min(step, left)
            new_x, new_v = advance(x, v, length)
            if new_x < 0:
                for _ in range(50):  # converges within a few
                    shift = new_x / new_v
                    length -= shift
                    new_x, new_v = advance(x, v, length)
                    if abs(shift) < 1e-15:
                        break
                new_x, new_v = 0.0, -e * new_v
            x, v, left = new_x, new_v, left - length
        return float(x)

    return run


def points(exact: dict[str, Exact]) -> list[Point]:
    result = []
    for integrator in INTEGRATORS:
        settings = [
            (
                f"step {step:g} s, contact of {n} steps",
                {"step": step, "integrator": integrator, "steps_in_contact": n},
            )
            for step in BALL_STEPS
            for n in STEPS_IN_CONTACT
        ]
        model = f"soft limit, {integrator}"
        result += contacts.sweep("ball", "MuJoCo", model, settings, ball, exact["ball"])
        for no_slip in NO_SLIP:
            settings = [
                (
                    f"step {step:g} s, time constant of {n} step{'s' * (n > 1)}",
                    {
                        "step": step,
                        "integrator": integrator,
                        "time_constant": n,
                        "no_slip": no_slip,
                    },
                )
                for step in OSCILLATOR_STEPS
                for n in ((1, 2) if step > 5e-4 else (1,))
            ]
            model = f"`frictionloss`{', NoSlip' if no_slip else ''}, {integrator}"
            result += contacts.sweep(
                "oscillator", "MuJoCo", model, settings, oscillator, exact["oscillator"]
            )
    own = [(f"step {step:g} s", {"step": step}) for step in OWN_STEPS]
    model = "user-defined impact location in Python, RK4"
    return result + contacts.sweep("ball", "MuJoCo", model, own, ball_by_user, exact["ball"])


if __name__ == "__main__":
    contacts.report(points(contacts.references()), {"mujoco": mujoco().__version__})
