"""Gear pair: a fixed ratio between two angles, for any number of turns.

    φ₂ = i φ₁ + φ₀,     |i| = z₁/z₂ = r₁/r₂

The angles are those of planar bodies, or of joints relative to a common carrier or the ground. `effort`
is the torque T₂ that the gear exerts along φ₂; along φ₁ it exerts −i T₂. With a stiffness, the mesh is
compliant and may have backlash and losses (`model/transmission`).
"""

from __future__ import annotations

from ..core.errors import Label, ModelError
from ..core.messages import Message
from ..core.symbols import SX
from ..model import fields, transmission
from ..model.figures import Figure, wheel_centre
from ..model.model_data import ModelData
from ..model.scalar_outputs import Turn
from ..model.transmission import Transmission, sense, wheel_axis

EXTERNAL, INTERNAL, CROSSED = MESHES = ("external", "internal", "crossed")
RATIOS = ("ratio", "teeth", "radii")
TEETH = 20
"""Number of teeth of the first wheel in drawings of gears that are defined by radii: a typical value."""


class Gear(Transmission):
    """A pair of gears: a fixed ratio between two angles, for any number of turns.

    Example: `m.gear("mesh", "A", "B", teeth=(20, 40))`. Instead of numbers of teeth, give pitch radii
    or a signed ratio. If the common carrier of both joints rotates, the pair is part of a planetary
    gear set.
    """

    kind = "gear"
    first = fields.Angle("First gear: a rotating joint or planar body.")
    second = fields.Angle("Second gear: a rotating joint or planar body.")
    ratio = fields.OptionalScalar(
        "Ratio of the second angle to the first; negative for external gears.", rule="non-zero"
    )
    teeth = fields.OptionalPair(
        "Numbers of teeth of both gears, instead of the ratio.", rule="positive"
    )
    radii = fields.OptionalPair(
        "Pitch radii of both gears, instead of the ratio.", unit="m", rule="positive"
    )
    mesh = fields.Choice(
        'Kind of mesh, if teeth or radii are given: "external" (parallel axes, opposite directions),'
        ' "internal" (the second gear is the ring; same direction) or "crossed" (bevel and worm'
        " gears; both angles increase together).",
        options=MESHES,
        default=EXTERNAL,
    )
    phase = fields.Scalar(
        "Angle of the second gear when the angle of the first is zero.", unit="rad", default=0.0
    )
    stiffness = fields.OptionalScalar(
        "Stiffness of a compliant mesh: torque on the second gear per angle of that gear. Without"
        " a stiffness, the mesh is rigid.",
        unit="N·m/rad",
        rule="positive",
    )
    damping = fields.OptionalScalar(
        "Damping of a compliant mesh: torque on the second gear per rate of the angle of that gear.",
        unit="N·m·s/rad",
        rule="non-negative",
    )
    backlash = fields.OptionalScalar(
        "Backlash: angle by which the second gear can turn freely. Requires a stiffness.",
        unit="rad",
        rule="non-negative",
    )
    damping_depth = fields.OptionalScalar(
        "Angle beyond the backlash at which damping is fully effective; 1e-4 rad if not given.",
        unit="rad",
        rule="positive",
    )

    efficiency = transmission.efficiency()
    slip_velocity = transmission.slip_velocity()

    def check_given(self, model: ModelData) -> None:
        super().check_given(model)
        given = [name for name in RATIOS if self.given[name] is not None]
        if len(given) != 1:
            found = " and ".join(given) if given else "none of them"
            problem = "{} needs one of {ratio}, {teeth} and {radii}, but " + found + " is given"
            if len(given) > 1:
                problem = (
                    "{} needs only one of {ratio}, {teeth} and {radii}, but " + found + " are given"
                )
            raise ModelError(Message(problem, self.label, **dict.fromkeys(RATIOS, ...)))

    def prepare(self, model: ModelData) -> None:
        sizes = self.teeth or self.radii
        if sizes is None:
            if self.mesh != EXTERNAL:
                raise ModelError(
                    "belongs to teeth and radii, and the ratio has its sign already",
                    label=Label(self.label, "mesh"),
                    value=self.mesh,
                    remedy="omit it",
                )
            return
        self._check_sizes(model, sizes)
        sign = 1.0 if self.mesh != EXTERNAL else -1.0
        if self.mesh != CROSSED:
            sign *= sense(model, self.first, self.second, self.label)
        self._ratio = sign * sizes[0] / sizes[1]

    def _check_sizes(self, model: ModelData, sizes: tuple[SX, SX]) -> None:
        name = "teeth" if self.teeth is not None else "radii"
        label = Label(self.label, name)
        for size in sizes if self.teeth is not None else ():
            if size.is_constant() and float(size) != round(float(size)):
                raise ModelError("must be whole numbers", label=label, value=self.given["teeth"])
        if self.mesh == CROSSED and model.dimension == 2:
            raise ModelError(
                "is for axes in space, and this is a plane",
                label=Label(self.label, "mesh"),
                value=self.mesh,
                remedy='use "external" or "internal"',
            )
        if self.mesh == INTERNAL:
            larger = sizes[1] - sizes[0]
            model.parameter_set.require(
                larger, "positive", f"{self.label}: {name} of the second gear (ring) − the first"
            )

    @property
    def outputs(self) -> tuple[Turn, Turn]:
        return self.first, self.second

    def law(self) -> tuple[SX, SX]:
        return self._ratio if self.ratio is None else self.ratio, self.phase

    def figures(self, model: ModelData) -> list[Figure]:
        sizes = self.teeth or self.radii
        carriers = [body for body in self.first.bodies if body in self.second.bodies]
        if sizes is None or not carriers or (self.mesh == CROSSED and self.radii is None):
            return []
        points = [wheel_centre(model, turn, carriers[0]) for turn in self.outputs]
        if points[0] is None or points[1] is None:
            return []
        values = [float(model.parameter_set.evaluate(size).item()) for size in sizes]
        apart = values[0] + values[1] if self.mesh == EXTERNAL else values[1] - values[0]
        return [
            Figure(
                "wheel",
                point,
                radius=None if self.radii is None else self.radii[k],
                axis=wheel_axis(model, turn, point.body),
                teeth=round(values[k] * (1.0 if self.teeth is not None else TEETH / values[0])),
                is_ring=self.mesh == INTERNAL and k == 1,
                mate=points[1 - k],
                share=values[k] / apart,
                is_second=k == 1,
            )
            for k, (turn, point) in enumerate(zip(self.outputs, points, strict=True))
            if point is not None
        ]

    @property
    def _depth(self) -> SX:
        return SX(1e-4) if self.damping_depth is None else self.damping_depth
