"""Elements, one file each, and what a new one is written with.

`import varimech as vm`; a joint is a subclass of `vm.elements.Joint`, a force one of
`vm.elements.Force`, and so on; `vm.register` makes it known (docs/extending.md).
"""

from ..model import fields
from ..model.body import Body, Frames, Point, RigidBody
from ..model.body_element import BodyElement, rigid_body
from ..model.conditions import (
    Aligned,
    Axis,
    Coincident,
    Condition,
    Offset,
    Perpendicular,
    SameOrientation,
    Separation,
)
from ..model.driver import Driver
from ..model.element import Element
from ..model.fields import Field
from ..model.force import Force
from ..model.frame import Frame
from ..model.joint import Joint
from ..model.motion_functions import MotionFunctions
from ..model.own_coordinates import OwnCoordinate
from ..model.relative_motion import RelativeMotion, Sliding, TurnAndSlide, Turning, rotation_about
from ..model.scalar_outputs import (
    Coordinate,
    Distance,
    ScalarOutput,
    Slide,
    Turn,
    angle_about,
    planar_angle,
)

__all__ = [
    "Aligned",
    "Axis",
    "Body",
    "BodyElement",
    "Coincident",
    "Condition",
    "Coordinate",
    "Distance",
    "Driver",
    "Element",
    "Field",
    "Force",
    "Frame",
    "Frames",
    "Joint",
    "MotionFunctions",
    "Offset",
    "OwnCoordinate",
    "Perpendicular",
    "Point",
    "RelativeMotion",
    "RigidBody",
    "SameOrientation",
    "ScalarOutput",
    "Separation",
    "Slide",
    "Sliding",
    "Turn",
    "TurnAndSlide",
    "Turning",
    "angle_about",
    "fields",
    "planar_angle",
    "rigid_body",
    "rotation_about",
]
