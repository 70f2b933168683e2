"""A neural network drives a slider-crank: its weights are trained in PyTorch, through the mechanism.

A crank turns a slider of unknown mass against a viscous load. A network with the crank's angle and
speed as inputs gives the motor torque, and shall keep the speed constant for all masses. The
mechanism is a layer of PyTorch: a batch of masses runs at once, and the gradient of the loss with
respect to all weights goes back through the closed loop.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import varimech as vm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

try:
    import torch
except ImportError:
    torch = None

CRANK, ROD = 0.1, 0.3
"""Lengths of crank and rod (m)."""
CRANK_MASS, ROD_MASS = 2.0, 0.8
"""kg"""
LOAD = 15.0
"""Viscous load of the slider (N·s/m)."""
SPEED = 10.0
"""Wanted speed of the crank (rad/s)."""
TORQUE = 4.0
"""Motor torque for an output of 1 of the network (N·m)."""
DURATION = 1.3
"""Two turns (s)."""
MASSES = (1.0, 1.5, 2.0, 2.5, 3.0)
"""Masses of the slider that it is trained with (kg)."""
INPUTS, HIDDEN = 3, 6
WEIGHTS = [f"w{k}" for k in range(HIDDEN * (INPUTS + 2) + 1)]
"""Of the hidden layer by rows and its biases, of the output and its bias: the order of PyTorch."""
STEPS = 60


def mechanism() -> vm.Mechanism:
    """Build the slider-crank with its motor."""
    m = vm.Mechanism("learned controller", gravity=(0, -9.81))
    m.parameter("slider", 2.0, unit="kg")
    for name in WEIGHTS:
        m.parameter(name, 0.0)
    m.ground_point("O", (0, 0))
    m.bar("crank", "O", "pin", length=CRANK, mass=CRANK_MASS)
    m.bar("rod", "pin", "P", length=ROD, mass=ROD_MASS)
    m.body("piston", mass="slider", inertia=1e-3, points={"P": (0, 0)})
    m.revolute("O")
    m.revolute("pin", "crank.pin", "rod.pin")
    m.revolute("P", "rod.P", "piston.P")
    m.prismatic("guide", "ground.O", "piston.P", axis=(1, 0))
    m.damper("load", "ground.O", "piston.P", damping=LOAD)
    m.torque("motor", "crank", lambda s: TORQUE * network(s))
    m.start(angle={"crank": 0.3}, speed={"crank": SPEED}, near={"piston.P": (CRANK + ROD, 0)})
    return m


def network(s: vm.State) -> Any:
    """Return the output of the network: w₂ · tanh(W₁ u + b₁) + b₂."""
    angle = s.angle("crank")
    u = [vm.cos(angle), vm.sin(angle), s.angular_velocity("crank") / SPEED - 1]
    w = iter([s.parameter(name) for name in WEIGHTS])
    rows = [[next(w) for _ in u] for _ in range(HIDDEN)]
    sums = [sum(a * b for a, b in zip(row, u, strict=True)) for row in rows]
    hidden = [vm.tanh(each + next(w)) for each in sums]
    return sum(next(w) * h for h in hidden) + next(w)


def unevenness() -> vm.Objective:
    """Return the mean square of the relative deviation of the speed, and a little of the torque."""
    return vm.integral(
        lambda s: (
            ((s.angular_velocity("crank") / SPEED - 1) ** 2 + 1e-3 * network(s) ** 2) / DURATION
        )
    )


@dataclass(frozen=True)
class Trained:
    """The controller, and how it was found."""

    net: Any
    """The network in PyTorch."""
    losses: list[float]
    seconds: float

    @property
    def weights(self) -> dict[str, float]:
        """Parameter values of the mechanism."""
        return dict(zip(WEIGHTS, _flat(self.net).tolist(), strict=True))


def _flat(net: Any) -> Any:
    return torch.nn.utils.parameters_to_vector(net.parameters())


def trained(m: vm.Mechanism, steps: int = STEPS) -> Trained:
    """Train the network by Adam for the mean over all masses."""
    problem = m.problem({"unevenness": unevenness()}, ["slider", *WEIGHTS], duration=DURATION)
    f = problem.torch()
    torch.manual_seed(1)
    net = torch.nn.Sequential(
        torch.nn.Linear(INPUTS, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1)
    ).double()
    masses = torch.tensor(MASSES, dtype=torch.float64)[:, None]
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    losses, began = [], time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad()
        rows = torch.cat([masses, _flat(net).expand(len(MASSES), -1)], dim=1)
        loss = f(rows).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return Trained(net, losses, time.perf_counter() - began)


def motion(m: vm.Mechanism, mass: float, weights: dict[str, float]) -> vm.Run:
    """Run the crank for three times as long as in training."""
    return m.simulate(
        3 * DURATION,
        parameters={"slider": mass, **weights},
        output=np.linspace(0, 3 * DURATION, 400),
    )


def _figure(before: dict[float, vm.Run], after: dict[float, vm.Run], losses: list[float]) -> Figure:
    panels = []
    for label, runs in (("untrained: speed (rad/s)", before), ("trained: speed (rad/s)", after)):
        lines = [
            vm.Line(f"{mass:g} kg", run.time, run.angular_velocity("crank").to_numpy())
            for mass, run in runs.items()
        ]
        panels.append(vm.Panel(label, lines))
    torque = [
        vm.Line(f"{mass:g} kg", run.time, TORQUE * run.measure(network).to_numpy())
        for mass, run in after.items()
    ]
    panels.append(vm.Panel("motor torque (N·m)", torque))
    share = f"loss {losses[0]:.4f} → {losses[-1]:.4f}"
    return vm.line_figure(
        panels, title=f"Slider-crank driven by a neural network, {share}", xlabel="time (s)"
    )


def main(
    out: Path = Path("out/learned_controller"), steps: int = STEPS
) -> tuple[Trained, dict[float, float]] | None:
    """Train the controller, print speeds for masses that it has not seen, and draw the motion."""
    if torch is None:
        print("this example needs PyTorch: pip install 'varimech[torch]'")
        return None
    m = mechanism()
    untrained = trained(m, 0)
    result = trained(m, steps)
    seconds = result.seconds / max(steps, 1)
    print(
        f"{len(WEIGHTS)} weights, {len(MASSES)} masses, {steps} steps:"
        f" loss {result.losses[0]:.5f} → {result.losses[-1]:.5f}"
    )
    print(f"{result.seconds:.1f} s, {1e3 * seconds:.0f} ms for a step", file=sys.stderr)
    before, after, deviations = {}, {}, {}
    for mass in (1.2, 2.2, 3.5):
        before[mass] = motion(m, mass, untrained.weights)
        after[mass] = motion(m, mass, result.weights)
        speeds = [
            float(np.sqrt(((run.angular_velocity("crank") / SPEED - 1) ** 2).mean()))
            for run in (before[mass], after[mass])
        ]
        deviations[mass] = speeds[1]
        print(f"slider of {mass:g} kg: deviation of the speed {speeds[0]:.1%} → {speeds[1]:.1%}")
    out.mkdir(parents=True, exist_ok=True)
    _figure(before, after, result.losses).savefig(out / "learned_controller.png")
    return result, deviations


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))  # the folder for figures, if it is another one
    else:
        main()
