"""Drivers: a scalar output imposed as a function of time by the force or torque that this requires."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ..core.symbols import SX
from . import fields
from .body import Frames
from .element import Element
from .scalar_outputs import ScalarOutput

if TYPE_CHECKING:
    from .model_data import ModelData


class Driver(Element):
    """output = motion(t). Its effort (N or N·m) is positive where it pushes the output up."""

    file_section = "drivers"
    motion: ClassVar[fields.Motion]
    """The motion, a function of time: the field that every driver declares last."""

    @property
    @abstractmethod
    def output(self) -> ScalarOutput:
        """The output that it imposes."""

    @classmethod
    def noun(cls) -> str:
        return "driver"

    @classmethod
    def file_key(cls) -> str:
        return cls.method().removeprefix("drive_")

    @property
    def label(self) -> str:
        return f"driver {self.name!r}"

    def residuals(self, frames: Frames, time: SX) -> SX:
        """The equation that imposes the motion."""
        return self.output.deviation(frames, self.motion(time))

    def add_to(self, model: ModelData) -> None:
        model.drivers[self.name] = self
