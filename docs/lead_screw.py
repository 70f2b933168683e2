import math

import varimech as vm

el = vm.elements


class Thread(el.Condition):
    """The second body advances by the pitch per turn."""

    def __init__(self, screw):
        self.screw = screw

    def residuals(self, frames):
        advance = self.screw.pitch / (2 * math.pi)
        turned = self.screw.displacement().value(frames) / advance
        return advance * self.screw.angle().deviation(frames, turned)  # any number of turns

    def oriented(self):
        return self.screw.bodies


@vm.register
class LeadScrew(el.Joint):
    """A nut on a thread, in space: the bodies share a line, and a turn advances by the pitch."""

    kind = "lead screw"
    dimensions = (3,)
    instead = "prismatic"
    symbol = "slider"
    axis = el.fields.Direction("Direction of the line in the first body's frame.", of="first")
    axis_on_second = el.fields.Direction(
        "The same direction in the second body's frame.", of="second", like="axis"
    )
    pitch = el.fields.Scalar("Advance per turn.", unit="m", rule="positive")

    def conditions(self):
        return (
            el.Aligned(self.axis, self.axis_on_second),
            el.Offset(self.first, self.axis.normals, self.second),
            Thread(self),
        )

    def relative_motion(self):
        return el.MotionFunctions(
            {"angle": "rad"},
            rotation=lambda z: el.rotation_about(self.axis, self.axis_on_second, z[0]),
            displacement=lambda z: self.axis.direction * self.pitch * z[0] / (2 * math.pi),
        )

    def angle(self):
        return el.angle_about(self.axis, self.axis_on_second)

    def displacement(self):
        return el.Slide(self.first, self.axis, self.second)
