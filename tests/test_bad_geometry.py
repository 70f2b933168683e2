"""Wrong dimensions, axes and geometry; joints, forces and drivers that make no sense."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from refusals import INF, Call, arm, check_refused, pendulum, refused

import varimech as vm


def between(joint: str, **options: Any) -> Call:
    return lambda m: getattr(m, joint)("J", "rod.tip", "ground.Q", **options)


@refused(
    (
        "com",
        lambda m: m.body("b", mass=1, inertia=1, com=(0, 0, 0)),
        ("body 'b': com = (0, 0, 0)", "planar", "give 2"),
    ),
    (
        "points",
        lambda m: m.body("b", mass=1, inertia=1, points={"P": (0, 0, 0)}),
        ("point 'P'", "3 components", "give 2"),
    ),
    (
        "a number for a point",
        lambda m: m.ground_point("P", 1.0),
        ("point ground.P = 1.0", "2 components"),
    ),
    (
        "ground point",
        lambda m: m.ground_point("P", (0, 0, 0)),
        ("point ground.P", "3 components", "planar, give 2"),
    ),
    (
        "force",
        lambda m: m.force("F", "tip", (1, 0, 0)),
        ("force 'F'", "3 components", "planar, give 2"),
    ),
    (
        "a number for a force",
        lambda m: m.force("F", "tip", 1.0),
        ("force 'F' = 1.0", "2 components"),
    ),
    (
        "torque",
        lambda m: m.torque("T", "rod", (0, 0, 1)),
        ("torque 'T'", "must be a single number"),
    ),
    (
        "torque frame",
        lambda m: m.torque("T", "rod", 1, frame="body"),
        ("torque 'T'", "a torque in a planar mechanism has no axes"),
    ),
    (
        "axis",
        between("prismatic", axis=(1, 0, 0)),
        ("prismatic joint 'J': axis", "give 2"),
    ),
    (
        "hinge axis",
        between("revolute", axis=(0, 0, 1)),
        ("revolute joint 'J': an axis has no meaning in a planar mechanism; omit it",),
    ),
    (
        "hinge axis on second",
        between("revolute", axis_on_second=(0, 1)),
        ("revolute joint 'J': an axis has no meaning in a planar mechanism; omit it",),
    ),
    (
        "radius",
        lambda m: m.bar("b", "P", "R", length=1, mass=1, radius=0.1),
        ("bar 'b': radius = 0.1 has no meaning in a planar mechanism", "give the inertia instead"),
    ),
    (
        "rotation matrix",
        between("fixed", rotation=np.eye(2)),
        ("fixed joint 'J': rotation", "must be a single number"),
    ),
    (
        "start position",
        lambda m: m.start(position={"tip": (1, 0, 0)}),
        ("position of 'tip' = (1, 0, 0)", "2 components"),
    ),
    (
        "start speed",
        lambda m: m.start(position={"tip": (1, 0)}, speed={"tip": (0, 1, 0)}),
        ("speed: position of 'tip' = (0, 1, 0)", "2 components"),
    ),
    (
        "a number for a position",
        lambda m: m.start(position={"tip": 1.0}),
        ("position of 'tip' = 1.0", "2 components"),
    ),
    (
        "a number for a speed",
        lambda m: m.start(position={"tip": (1, None)}, speed={"tip": 1.0}),
        ("speed: position of 'tip' = 1.0", "2 components"),
    ),
    (
        "near",
        lambda m: m.start(angle={"rod": 0}, near={"tip": (1, 0, 0)}),
        ("near 'tip'", "planar, give 2"),
    ),
    (
        "orientation",
        lambda m: m.start(orientation={"rod": np.eye(3)}),
        ("a planar body has an angle", "angle={'rod': …}"),
    ),
    (
        "spherical",
        between("spherical"),
        ("spherical joint 'J'", "planar", "use revolute"),
    ),
    (
        "cylindrical",
        between("cylindrical", axis=(0, 0, 1)),
        ("cylindrical joint 'J'", "planar", "use prismatic"),
    ),
    (
        "universal",
        between("universal", axis=(0, 0, 1), axis_on_second=(1, 0, 0)),
        ("universal joint 'J'", "planar", "use revolute"),
    ),
    (
        "planar",
        between("planar", normal=(0, 0, 1)),
        ("planar joint 'J'", "is planar", "omit the joint"),
    ),
    (
        "point on plane",
        between("point_on_plane", normal=(0, 0, 1)),
        ("point-on-plane joint 'J'", "planar", "use point_on_line"),
    ),
    (
        "gravity",
        lambda m: vm.Mechanism("m", gravity=(0, 0, -9.81), dimension=2),
        ("gravity", "3 components", "planar, give 2"),
    ),
    (
        "gravity of one",
        lambda m: vm.Mechanism("m", gravity=(1,)),
        ("gravity = (1,)", "2 (planar) or 3 (spatial) components"),
    ),
    (
        "gravity as a number",
        lambda m: vm.Mechanism("m", gravity=9.81),
        ("gravity = 9.81", "2 (planar) or 3 (spatial)"),
    ),
    (
        "dimension",
        lambda m: vm.Mechanism("m", dimension=4),
        ("dimension = 4", "2 (planar) or 3 (spatial)"),
    ),
)
def test_wrong_dimension_in_the_plane(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


@refused(
    (
        "com",
        lambda m: m.body("b", mass=1, inertia=(1, 1, 1), com=(0, 0)),
        ("body 'b': com", "2 components", "spatial, give 3"),
    ),
    (
        "ground point",
        lambda m: m.ground_point("P", (0, 0)),
        ("point ground.P = (0, 0)", "spatial, give 3"),
    ),
    (
        "force",
        lambda m: m.force("F", "tip", (1, 0)),
        ("force 'F'", "2 components", "spatial, give 3"),
    ),
    ("torque", lambda m: m.torque("T", "rod", 1.0), ("torque 'T' = 1.0", "3 components")),
    (
        "axis",
        between("revolute", axis=(0, 1)),
        ("revolute joint 'J': axis", "give 3"),
    ),
    (
        "missing axis",
        between("revolute"),
        ("revolute joint 'J' needs axis=…", "axis=(0, 0, 1)"),
    ),
    *(
        (
            f"zero {field}",
            between(joint, **given, **{field: (0, 0, 0)}),
            (f"{joint} joint 'J': {field} = (0, 0, 0) is a zero vector", "not zero"),
        )
        for joint, field, given in (
            ("revolute", "axis", {}),
            ("cylindrical", "axis_on_second", {"axis": (0, 0, 1)}),
            ("planar", "normal", {}),
            ("planar", "normal_on_second", {"normal": (0, 0, 1)}),
        )
    ),
    (
        "scaled rotation",
        between("fixed", rotation=2 * np.eye(3)),
        ("fixed joint 'J': rotation", "is not a rotation matrix (orthonormal, right-handed)"),
    ),
    (
        "reflection",
        between("fixed", rotation=np.diag([1, 1, -1])),
        (
            "fixed joint 'J': rotation",
            "is not a rotation matrix (orthonormal, right-handed)",
            "varimech.rotation",
        ),
    ),
    (
        "small rotation",
        between("fixed", rotation=np.eye(2)),
        ("fixed joint 'J': rotation", "must be a 3×3 matrix of numbers"),
    ),
    (
        "rotation as a number",
        between("fixed", rotation=1.0),
        ("fixed joint 'J': rotation = 1.0 must be a 3×3 matrix of numbers",),
    ),
    (
        "orientation",
        lambda m: m.start(orientation={"rod": 2 * np.eye(3)}),
        ("orientation of 'rod'", "is not a rotation matrix (orthonormal, right-handed)"),
    ),
    (
        "body angle",
        lambda m: m.start(angle={"rod": 1.0}),
        ("body 'rod' is spatial", "no single angle", "orientation"),
    ),
    (
        "spring on a body",
        lambda m: m.torsional_spring("S", "rod", stiffness=1),
        ("body 'rod' is spatial", "joint's angle"),
    ),
)
def test_wrong_dimension_and_axes_in_space(call: Call, words: tuple[str, ...]) -> None:
    check_refused(arm(), call, *words)


@refused(
    (
        "one body",
        lambda m: m.revolute("J", "rod.tip", "rod.O"),
        ("revolute joint 'J'", "both points are on body 'rod'"),
    ),
    ("one point", lambda m: m.revolute("J", "rod.tip"), ("revolute joint 'J': give both points",)),
    (
        "no points",
        lambda m: m.revolute("J"),
        ("revolute joint 'J'", "exactly two bodies must have a point 'J'", "found none"),
    ),
    ("one of that name", lambda m: m.revolute("tip"), ("revolute joint 'tip'", "found 'rod.tip'")),
    (
        "spring on one point",
        lambda m: m.spring("S", "tip", "rod.tip", stiffness=1, natural_length=1),
        ("'S'", "'rod.tip' and 'rod.tip' are at the same place"),
    ),
    (
        "driven distance",
        lambda m: m.drive_distance("D", "tip", "tip", 1.0),
        ("'D'", "'rod.tip' and 'rod.tip' are at the same place"),
    ),
    (
        "zero axis",
        between("prismatic", axis=(0, 0)),
        ("axis = (0, 0) is a zero vector",),
    ),
    (
        "zero direction",
        lambda m: m.drive_coordinate("D", "tip", (0, 0), lambda t: t),
        ("driver 'D': direction = (0, 0) is a zero vector",),
    ),
    (
        "start distance",
        lambda m: m.start(distance={("rod.O", "ground.O"): 1.0}),
        ("'rod.O' and 'ground.O' are at the same place",),
    ),
    (
        "start distance of one",
        lambda m: m.start(distance={"tip": 1.0}),
        ("distance of 'tip'", "give a pair of points"),
    ),
    (
        "no slide",
        lambda m: m.drive_displacement("D", "O", lambda t: t),
        ("joint 'O' is revolute: it has no displacement",),
    ),
    (
        "driver vector",
        lambda m: m.drive_angle("D", "rod", lambda t: (t, t)),
        ("driver 'D' returned 2 components", "return a scalar"),
    ),
    (
        "driver text",
        lambda m: m.drive_angle("D", "rod", lambda t: "fast"),
        ("driver 'D' returned 'fast'", "neither a number"),
    ),
    (
        "driver nan",
        lambda m: m.drive_angle("D", "rod", lambda t: vm.sqrt(t - 1)),
        ("driver 'D' at t = 0", "is not finite"),
    ),
    (
        "driver infinite",
        lambda m: m.drive_angle("D", "rod", lambda t: 1 / t),
        ("driver 'D' at t = 0", "is not finite"),
    ),
    (
        "driver with math",
        lambda m: m.drive_angle("D", "rod", lambda t: math.sin(t)),
        ("driver 'D' has a value that is not finite", "varimech.sin"),
    ),
)
def test_joints_forces_and_drivers_that_make_no_sense(call: Call, words: tuple[str, ...]) -> None:
    check_refused(pendulum(), call, *words)


def test_an_angle_of_a_joint_that_does_not_turn() -> None:
    m = vm.Mechanism("slide", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.body("block", mass=1, inertia=1, points={"P": (0, 0)})
    m.prismatic("rail", "ground.O", "block.P", axis=(1, 0))
    check_refused(
        m,
        lambda m: m.drive_angle("D", "rail", lambda t: t),
        "joint 'rail' is prismatic: it has no angle",
        finish=False,
    )
    check_refused(
        m,
        lambda m: m.start(displacement={"rail": INF}),
        "start: displacement of 'rail'",
        "not finite",
        finish=False,
    )
    m.start(displacement={"rail": 0.0})
    m.simulate(0.02, step=0.01)
