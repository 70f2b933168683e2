"""Drivers: a measure imposed as a function of time, with whatever force or torque that takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core.symbols import SX
from .body import Frames
from .named import Named
from .scalar_outputs import ScalarOutput


@dataclass(frozen=True, eq=False, repr=False)
class Driver(Named):
    """measure = motion(t). Its effort (N or N·m) is positive where it pushes the measure up."""

    name: str
    measure: ScalarOutput
    motion: Callable[[SX], SX]

    def residuals(self, frames: Frames, time: SX) -> SX:
        """The one equation that imposes the motion."""
        return self.measure.deviation(frames, self.motion(time))
