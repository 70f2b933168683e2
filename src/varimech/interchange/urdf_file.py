"""URDF files as plain data, read by urdf_parser_py, with an additional tag that closes loops:

    <loop_joint name="C" type="revolute">
      <link1 link="coupler" xyz="0.4 0 0" rpy="0 0 0"/>
      <link2 link="rocker" xyz="0.3 0 0"/>
      <axis xyz="0 0 1"/>
    </loop_joint>

A joint of this type connects a frame of each link (xyz in m, rpy in rad, relative to the link's
frame); the axis applies to both frames.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ..core.errors import ModelError, unknown_name
from .xml_text import xml_root

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
LOOP_TYPES = ("revolute", "continuous", "prismatic", "fixed", "spherical", "cylindrical", "planar")
MOST = 10_000
"""Limit of the number of links, and of joints, in a file: a round value beyond any real robot."""
READ = {"link": ("inertial",), "joint": ("origin", "axis", "parent", "child", "dynamics", "mimic")}
"""Tags that are read. The others, such as meshes and limits, do not affect the motion or are not
enforced.
"""


@dataclass(frozen=True)
class Placed:
    """A frame: its position (m) and its roll, pitch and yaw (rad) relative to another frame."""

    xyz: np.ndarray
    rpy: np.ndarray

    @property
    def rotation(self) -> np.ndarray:
        """R_z(yaw) R_y(pitch) R_x(roll)."""
        return rpy_matrix(self.rpy)


@dataclass(frozen=True)
class Inertial:
    """Mass (kg), centre of mass and axes of the inertia, and the inertia (kg·m²) in these axes."""

    mass: float
    origin: Placed
    inertia: np.ndarray


@dataclass(frozen=True)
class Connection:
    """A joint of the tree."""

    name: str
    type: str
    parent: str
    child: str
    origin: Placed
    axis: np.ndarray
    damping: float


@dataclass(frozen=True)
class LoopJoint:
    """A joint that closes a loop."""

    name: str
    type: str
    links: tuple[str, str]
    frames: tuple[Placed, Placed]
    axis: np.ndarray


@dataclass(frozen=True)
class Robot:
    """Content of a URDF file."""

    file: str
    name: str
    links: dict[str, Inertial | None]
    joints: tuple[Connection, ...]
    loops: tuple[LoopJoint, ...]


def read_urdf(path: str | os.PathLike[str]) -> Robot:
    """Read a URDF file.

    Raises:
        ModelError: with the file, the joint or link, and the remedy.
    """
    file, root = str(path), xml_root(path)
    if root.tag != "robot":
        raise ModelError(
            f"is not a URDF file: its root tag is <{root.tag}>, not <robot>", element=file
        )
    _check_names(file, root)
    for node in root.findall("joint"):
        if node.get("type") not in TYPES:
            raise located(
                f"{file}: joint {node.get('name')!r}",
                unknown_name("type of joint", str(node.get("type")), TYPES),
            )
    parsed = _parsed(file, root)
    children = {joint.child for joint in parsed.joints}
    links = {
        link.name: _inertial(file, link, root=link.name not in children) for link in parsed.links
    }
    joints = tuple(_connection(file, joint, links) for joint in parsed.joints)
    loops = tuple(_loop(file, node, links) for node in root.findall("loop_joint"))
    return Robot(file, parsed.name, links, joints, loops)


def rpy_matrix(rpy: Any) -> np.ndarray:
    """R_z(yaw) R_y(pitch) R_x(roll): rotations about fixed axes, x first."""
    (a, b, c), (A, B, C) = np.sin(rpy), np.cos(rpy)
    return np.array(
        [
            [C * B, C * b * a - c * A, C * b * A + c * a],
            [c * B, c * b * a + C * A, c * b * A - C * a],
            [-b, B * a, B * A],
        ]
    )


def located(label: str, error: ModelError) -> ModelError:
    """Return an error with the file, and the link or joint, that it concerns."""
    error.element = ": ".join(filter(None, (label, error.element)))
    return error


def _parsed(file: str, root: ElementTree.Element) -> Any:
    try:
        from urdf_parser_py.urdf import URDF
        from urdf_parser_py.xml_reflection.core import ParseError
    except ImportError:
        remedy = "install it with: pip install 'varimech[urdf]'"
        raise ModelError("reading URDF needs urdf_parser_py", element=file, remedy=remedy) from None
    kept = ElementTree.Element("robot", root.attrib)
    for node in root:
        if node.tag in READ:
            copy = ElementTree.SubElement(kept, node.tag, node.attrib)
            copy.extend(child for child in node if child.tag in READ[node.tag])
    try:
        return URDF.from_xml_string(ElementTree.tostring(kept))
    except (ParseError, AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"is not a valid URDF file: {' '.join(str(error).split())}", element=file
        ) from None


def _check_names(file: str, root: ElementTree.Element) -> None:
    for tags in (("link",), ("joint", "loop_joint")):
        counts = Counter(node.get("name") for node in root if node.tag in tags)
        if sum(counts.values()) > MOST:
            problem = f"{sum(counts.values()):,} {tags[0]}s exceed the limit of {MOST:,}"
            raise ModelError(problem, element=file, remedy="check the file")
        for name, count in counts.items():
            if not name:
                raise ModelError(f"a <{tags[0]}> has no name", element=file, remedy="give it one")
            if count > 1:
                raise ModelError(
                    f"{count} {tags[0]}s are called {name!r}",
                    element=file,
                    value=name,
                    remedy="choose other names",
                )


def _inertial(file: str, link: Any, *, root: bool) -> Inertial | None:
    """Inertial data of a link; None for a massless one. A massless root is the ground, so that its
    inertia does not matter.
    """
    if link.inertial is None:
        return None
    label = f"{file}: link {link.name!r}"
    if link.inertial.inertia is None:
        raise ModelError(
            "has a mass but no <inertia>", element=label, field="inertia", remedy="add one (kg·m²)"
        )
    inertia = np.array(link.inertial.inertia.to_matrix(), dtype=float)
    mass = float(link.inertial.mass)
    if mass == 0 and (root or not inertia.any()):
        return None
    if not (np.isfinite(inertia).all() and np.isfinite(mass) and mass > 0):
        problem = "kg must be positive and its inertia finite"
        remedy = "omit <inertial> for a massless link"
        raise ModelError(problem, element=label, field="mass", value=mass, remedy=remedy)
    return Inertial(mass, _placed(label, link.inertial.origin), inertia)


def _connection(file: str, joint: Any, links: Collection[str]) -> Connection:
    label = f"{file}: joint {joint.name!r}"
    for link in (joint.parent, joint.child):
        if link not in links:
            raise located(label, unknown_name("link", link, links))
    if joint.mimic is not None:
        problem = f"mimics {joint.mimic.joint!r}, which is not supported"
        remedy = "remove <mimic> and apply the same driver to both joints"
        raise ModelError(problem, element=label, value=joint.mimic.joint, remedy=remedy)
    damping, friction = (
        float((joint.dynamics and getattr(joint.dynamics, n)) or 0.0)
        for n in ("damping", "friction")
    )
    if friction:
        problem = "is not supported, as it is not smooth"
        remedy = "set it to 0 and add a force instead"
        raise ModelError(problem, element=label, field="friction", value=friction, remedy=remedy)
    if damping and joint.type in ("planar", "floating", "fixed"):
        problem = f"of a {joint.type} joint is not supported"
        remedy = "set it to 0 and add a force instead"
        raise ModelError(problem, element=label, field="damping", value=damping, remedy=remedy)
    axis = _axis(label, (1.0, 0.0, 0.0) if joint.axis is None else joint.axis)
    return Connection(
        joint.name,
        joint.type,
        joint.parent,
        joint.child,
        _placed(label, joint.origin),
        axis,
        damping,
    )


def _loop(file: str, node: ElementTree.Element, links: Collection[str]) -> LoopJoint:
    label, kind = f"{file}: loop_joint {node.get('name')!r}", str(node.get("type"))
    if kind not in LOOP_TYPES:
        raise located(label, unknown_name("type of loop joint", kind, LOOP_TYPES))
    ends, frames = [], []
    for tag in ("link1", "link2"):
        end = node.find(tag)
        if end is None or end.get("link") is None:
            raise ModelError(
                f"<{tag}> is missing",
                element=label,
                remedy=f'add <{tag} link="…" xyz="…" rpy="…"/>',
            )
        if end.get("link") not in links:
            raise located(label, unknown_name("link", str(end.get("link")), links))
        ends.append(str(end.get("link")))
        frames.append(
            Placed(
                *(_vector(f"{label}: {tag}", key, end.get(key, "0 0 0")) for key in ("xyz", "rpy"))
            )
        )
    axis = node.find("axis")
    direction = _vector(label, "axis", "1 0 0" if axis is None else axis.get("xyz", "1 0 0"))
    return LoopJoint(
        str(node.get("name")),
        kind,
        (ends[0], ends[1]),
        (frames[0], frames[1]),
        _axis(label, direction),
    )


def _placed(label: str, origin: Any) -> Placed:
    xyz, rpy = (getattr(origin, key, None) for key in ("xyz", "rpy"))
    return Placed(
        *(_vector(label, "origin", (0.0, 0.0, 0.0) if x is None else x) for x in (xyz, rpy))
    )


def _axis(label: str, axis: object) -> np.ndarray:
    direction = _vector(label, "axis", axis)
    length = float(np.linalg.norm(direction))
    if length == 0:
        raise ModelError(
            "is a zero vector",
            element=label,
            field="axis",
            value="0 0 0",
            remedy="give a nonzero vector",
        )
    return direction / length


def _vector(label: str, field: str, value: object) -> np.ndarray:
    try:
        vector = np.array(value.split() if isinstance(value, str) else value, dtype=float)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ModelError("must be three finite numbers", element=label, field=field, value=value)
    return vector
