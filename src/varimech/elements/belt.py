"""Belt or chain between two pulleys.

    rigid     φ₂ = i φ₁ + φ₀,     |i| = r₁/r₂
    elastic   e = r₂ (i φ₁ + φ₀ − φ₂),     T₊ = max(T₀ + k e + c ė, 0),     T₋ = max(T₀ − k e − c ė, 0)

with the tensions T₊, T₋ of both strands, which cannot be negative. An open belt turns both pulleys
in the same direction, a crossed belt in opposite directions. The belt exerts the torque r₂ (T₊ − T₋)
along φ₂.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca

from ..core.errors import Label, ModelError
from ..core.symbols import SX
from ..model import fields
from ..model.body import Frames
from ..model.figures import Figure, wheel_centre
from ..model.force import Force
from ..model.model_data import ModelData
from ..model.state import State
from ..model.transmission import sense, wheel_axis


class Belt(Force):
    """A belt or chain on two pulleys, without slip and for any number of turns. It is rigid, or has
    elastic strands if a stiffness is given.

    Example: `m.belt("drive", "A", "B", radii=(0.05, 0.1))`. Without a pretension, an elastic belt
    acts like a chain: one strand pulls and the other is slack.
    """

    kind = "belt"
    first = fields.Angle("First pulley: a rotating joint or planar body.")
    second = fields.Angle("Second pulley: a rotating joint or planar body.")
    radii = fields.Pair("Pitch radii of both pulleys.", unit="m", rule="positive")
    crossed = fields.Flag(
        "Whether the strands cross, so that the pulleys turn in opposite directions."
    )
    phase = fields.Scalar(
        "Angle of the second pulley when the angle of the first is zero.", unit="rad", default=0.0
    )
    stiffness = fields.OptionalScalar(
        "Stiffness of each strand: force per elongation. Without a stiffness, the belt is rigid.",
        unit="N/m",
        rule="positive",
    )
    damping = fields.OptionalScalar(
        "Damping of each strand: force per rate of elongation. Requires a stiffness.",
        unit="N·s/m",
        rule="non-negative",
    )
    tension = fields.OptionalScalar(
        "Pretension: tension of both strands at zero elongation; 0 if not given. Requires a stiffness.",
        unit="N",
        rule="non-negative",
    )

    def check_given(self, model: ModelData) -> None:
        for name in ("damping", "tension"):
            if self.given["stiffness"] is None and self.given[name] is not None:
                raise ModelError(
                    "needs elastic strands, but no stiffness is given",
                    label=Label(self.label, name),
                    value=self.given[name],
                    remedy="give a stiffness as well",
                )

    def prepare(self, model: ModelData) -> None:
        sign = sense(model, self.first, self.second, self.label)
        self._ratio = (-sign if self.crossed else sign) * self.radii[0] / self.radii[1]

    def effort_names(self) -> dict[str, str]:
        names = {self.name: "rad"}
        if self.stiffness is not None:
            names |= {f"{self.name}.pulling": "m", f"{self.name}.returning": "m"}
        return names

    def constraints(self, frames: Frames, state: State) -> SX:
        return -self._angle(state) if self.stiffness is None else SX(0, 1)

    def potential_energy(self, frames: Frames, state: State) -> SX:
        k = self.stiffness
        if k is None:
            return SX(0)
        return sum((ca.fmax(t, 0) ** 2 / (2 * k) for t in self._elastic(state)), SX(0))

    def efforts(self, frames: Frames, state: State) -> list[tuple[SX, SX]]:
        if self.damping is None:
            return []
        rate = self.radii[1] * (self._ratio * self.first.rate(frames) - self.second.rate(frames))
        pulling, returning = (
            total - ca.fmax(elastic, 0)
            for total, elastic in zip(
                self._tensions(frames, state), self._elastic(state), strict=True
            )
        )
        return [(rate, returning - pulling)]

    def explicit_efforts(self, frames: Frames, state: State) -> Mapping[str, SX]:
        if self.stiffness is None:
            return {}
        pulling, returning = self._tensions(frames, state)
        return {
            self.name: self.radii[1] * (pulling - returning),
            f"{self.name}.pulling": pulling,
            f"{self.name}.returning": returning,
        }

    def figures(self, model: ModelData) -> list[Figure]:
        carriers = [body for body in self.first.bodies if body in self.second.bodies]
        pulleys = [
            (wheel_centre(model, turn, carriers[0]), turn, radius)
            for turn, radius in zip((self.first, self.second), self.radii, strict=True)
            if carriers
        ]
        wheels = [
            Figure("wheel", point, radius=radius, axis=wheel_axis(model, turn, point.body))
            for point, turn, radius in pulleys
            if point is not None
        ]
        if len(wheels) < 2:
            return wheels
        first, second = wheels
        belt = replace(
            first,
            kind="belt",
            mate=second.point,
            mate_radius=second.radius,
            is_reversed=self.crossed,
        )
        return [*wheels, belt]

    def _angle(self, state: State) -> SX:
        """i φ₁ + φ₀ − φ₂."""
        φ1, φ2 = state.output(self.first), state.output(self.second)
        return self._ratio * φ1 + self.phase - φ2

    def _elastic(self, state: State) -> tuple[SX, SX]:
        """T₀ ± k e."""
        assert self.stiffness is not None
        T0 = SX(0) if self.tension is None else self.tension
        more = self.stiffness * self.radii[1] * self._angle(state)
        return T0 + more, T0 - more

    def _tensions(self, frames: Frames, state: State) -> tuple[SX, SX]:
        """T₊ and T₋."""
        first, second = self._elastic(state)
        if self.damping is not None:
            rate = self._ratio * self.first.rate(frames) - self.second.rate(frames)
            more = self.damping * self.radii[1] * rate
            first, second = first + more, second - more
        return ca.fmax(first, 0), ca.fmax(second, 0)
