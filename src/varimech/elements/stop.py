"""Stop: a scalar output y stays within limits,

    y − lower ≥ 0,     upper − y ≥ 0.

At a rigid stop, an impact reverses ẏ and multiplies it by the restitution. At a compliant stop, a force
acts beyond the limit (`model/compliance`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import ModelError
from ..model import fields
from ..model.body import Frames
from ..model.contact_element import ContactElement, Gap
from ..model.model_data import ModelData
from ..model.state import State

SIDES = ("lower", "upper")


class Stop(ContactElement):
    """Limits of a scalar output: an angle, a displacement, a distance, or any function of positions.

    Example: `m.stop("end", lambda s: s.displacement("guide"), lower=0.0, upper=0.1, restitution=0.5)`.
    """

    kind = "stop"
    output = fields.StateFunction(
        "Limited output: a function of positions and time, or a string with such an expression.",
        size="scalar",
        positional=True,
    )
    lower = fields.OptionalScalar("Smallest value of the output.", units=("m", "rad"))
    upper = fields.OptionalScalar("Largest value of the output.", units=("m", "rad"))
    slip = fields.StateFunction(
        "Slip velocity that friction opposes: a function linear in the velocities.",
        size="scalar",
        unit="m/s",
        default=None,
    )

    def check_given(self, model: ModelData) -> None:
        if self.given["lower"] is None and self.given["upper"] is None:
            raise ModelError(
                "needs a limit", element=self.label, remedy="give lower, upper or both"
            )
        if self.given["slip"] is None:
            self.given["slip"] = 0.0

    def prepare(self, model: ModelData) -> None:
        super().prepare(model)
        if self.lower is not None and self.upper is not None:
            label = f"{self.label}: upper − lower"
            model.parameter_set.require(self.upper - self.lower, "positive", label)
        if self.has_friction and self.given["slip"] == 0.0:
            raise ModelError(
                "friction needs the velocity that it opposes",
                element=self.label,
                remedy='give slip, such as slip=lambda s: s.velocity("P")[0]',
            )

    def gap_names(self) -> tuple[str, ...]:
        given = [side for side in SIDES if getattr(self, side) is not None]
        return tuple(self.name if len(given) == 1 else f"{self.name}.{side}" for side in given)

    def gaps(self, frames: Frames, state: State) -> Sequence[Gap]:
        y, slip = self.output(state), self.slip(state)
        gaps = [] if self.lower is None else [Gap(y - self.lower, slip)]
        return gaps if self.upper is None else [*gaps, Gap(self.upper - y, slip)]
