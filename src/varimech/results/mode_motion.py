"""Modes as motions: coordinates at q + a Re(s eⁱᵠ) with the shape s of a mode, φ = 2π t/T."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backends.trajectory import Trajectory
from ..coordinates.equations import Equations
from .live_run import LiveRun
from .run import Run


@dataclass(frozen=True)
class ModeCoordinates:
    """Coordinates of a mechanism in the linearised motion, and mode shapes in these coordinates."""

    equations: Equations
    state: np.ndarray
    """Coordinates, velocities, accelerations and multipliers about which modes were computed."""
    parameters: np.ndarray
    shapes: np.ndarray
    """(coordinate, mode), complex; scaled like the shapes of points."""
    info: Mapping[str, Any]
    """Metadata of runs: mechanism, values of parameters, versions."""

    def motion(self, mode: int, scale: float, frames: int, period: float) -> Run:
        """Return one cycle; its last time coincides with the first one of the next cycle.

        Args:
            mode: its number, from 1 on.
            scale: of the shape (m).
            frames: stored times in the cycle.
            period: of the cycle (s).
        """
        e, n = self.equations, self.equations.q.numel()
        time = np.linspace(0.0, period, frames + 1)
        turned = np.exp(2j * np.pi * np.arange(frames + 1) / frames)
        moves = scale * turned[:, None] * self.shapes[:, mode - 1]
        states = np.zeros((time.size, e.packed.numel()))
        states[:, :n] = self.state[:n] + moves.real
        states[:, n : 2 * n] = (moves * 2j * np.pi / period).real
        none = np.zeros((time.size, 0))
        trajectory = Trajectory(time, states, none, np.zeros(3), 0, time)
        info = {**self.info, "method": f"mode {mode}, to first order"}
        return Run(LiveRun(e, trajectory, self.parameters, []), info)
