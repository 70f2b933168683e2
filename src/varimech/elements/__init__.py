"""Elements, one file each, and the building blocks of new elements.

After `import varimech as vm`, a new joint is a subclass of `vm.elements.Joint`, a new force a subclass of
`vm.elements.Force`, and so on. Register it with `vm.register` (docs/extending.md).
"""

from ..model import fields as fields
from ..model.body import Body as Body, Frames as Frames, Point as Point, RigidBody as RigidBody
from ..model.body_element import BodyElement as BodyElement, rigid_body as rigid_body
from ..model.conditions import (
    Aligned as Aligned,
    Axis as Axis,
    Coincident as Coincident,
    Condition as Condition,
    Offset as Offset,
    Perpendicular as Perpendicular,
    SameOrientation as SameOrientation,
    Separation as Separation,
)
from ..model.driver import Driver as Driver
from ..model.element import Element as Element
from ..model.fields import Field as Field
from ..model.force import Force as Force
from ..model.frame import Frame as Frame
from ..model.joint import Joint as Joint
from ..model.motion_functions import MotionFunctions as MotionFunctions
from ..model.own_coordinates import OwnCoordinate as OwnCoordinate
from ..model.relative_motion import (
    RelativeMotion as RelativeMotion,
    Sliding as Sliding,
    TurnAndSlide as TurnAndSlide,
    Turning as Turning,
    rotation_about as rotation_about,
)
from ..model.scalar_outputs import (
    Coordinate as Coordinate,
    Distance as Distance,
    ScalarOutput as ScalarOutput,
    Slide as Slide,
    Turn as Turn,
    angle_about as angle_about,
    planar_angle as planar_angle,
)
