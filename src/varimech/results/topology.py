"""The topology of a mechanism: the parent of each body in the tree that relative coordinates use,
and the joints that close its loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..coordinates.connected import check_connected
from ..coordinates.relative.choice import cut_names
from ..coordinates.relative.equations import closure_sizes
from ..coordinates.relative.joints import coordinate_names, motion_of
from ..coordinates.relative.spanning_tree import Link, SpanningTree, spanning_tree
from ..core.markup import Displayed, counted, html_text
from ..core.messages import first_and_last
from ..model.joint import Joint
from ..model.model_data import ModelData
from ..model.user_functions import trial_frames, trial_state
from ..plotting.figure import picture
from ..plotting.outline import Branch, outline
from ..plotting.style import in_style
from ..plotting.tree import Chord, draw_tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LISTED = 12
"""Largest number of cut joints, drivers, or joints of a loop that are listed."""


@dataclass(frozen=True)
class TreeLink:
    """A body with its parent in the tree and the joint between them."""

    body: str
    parent: str
    joint: str | None
    """None for a free body, whose parent is the ground."""
    kind: str
    """Kind of the joint, or "free"."""
    reversed: bool
    """Whether the joint, as declared, leads from the body to its parent: its coordinates then
    describe the parent relative to the body.
    """
    coordinates: tuple[str, ...]
    has_euler_parameters: bool


@dataclass(frozen=True)
class Closure:
    """A joint that is cut and enforced by equations."""

    joint: str
    kind: str
    bodies: tuple[str, str]
    equations: int
    """Number of equations; 0 if the joint is satisfied in all positions or in none."""
    loop: tuple[str, ...]
    """Joints of the loop that it closes, itself included, in order."""
    free: tuple[str, ...]
    """Free bodies between these."""


@dataclass(frozen=True)
class Topology(Displayed):
    """The tree of a mechanism, its coordinates, and the joints that are cut; made by
    `Mechanism.topology`.

    `print` shows it, `draw` draws it; long rows of bodies that are alike are shortened in text, not
    in the data.
    """

    mechanism: str
    bodies: tuple[TreeLink, ...]
    """Parents before their children."""
    closures: tuple[Closure, ...]
    drivers: tuple[str, ...]
    """Drivers; each adds one equation."""
    couplings: dict[str, int]
    """Number of equations of each element, such as a gear, that couples coordinates."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of all relative coordinates, in their order: angles in rad, displacements in m,
        Euler parameters e0 … e3.
        """
        return tuple(name for body in self.bodies for name in body.coordinates)

    @property
    def tree(self) -> dict[str, tuple[str, str | None]]:
        """Body → its parent and the joint; the ground and None for a body
        that is free.
        """
        return {body.body: (body.parent, body.joint) for body in self.bodies}

    @property
    def roots(self) -> tuple[str, ...]:
        """The ground, and the free bodies."""
        return "ground", *(body.body for body in self.bodies if body.joint is None)

    @property
    def cut(self) -> tuple[str, ...]:
        """Names of the joints that are cut."""
        return tuple(closure.joint for closure in self.closures)

    @property
    def loops(self) -> dict[str, tuple[str, ...]]:
        """Cut joint → joints of the loop that it closes, itself included."""
        return {closure.joint: closure.loop for closure in self.closures}

    @property
    def equations(self) -> dict[str, int]:
        """Number of those that close loops, of those that keep Euler parameters at unit length, of
        drivers, and of gears and other elements that couple coordinates.
        """
        euler = sum(body.has_euler_parameters for body in self.bodies)
        return {
            "closure": sum(c.equations for c in self.closures),
            "Euler-parameter": euler,
            "driver": len(self.drivers),
            "coupling": sum(self.couplings.values()),
        }

    @property
    def depth(self) -> int:
        """Largest number of joints between a body and the ground."""
        depths = {"ground": 0}
        for body in self.bodies:
            depths[body.body] = depths[body.parent] + 1
        return max(depths.values())

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data.

        Returns:
            Bodies, tree, cut joints with their loops, drivers, and numbers of coordinates and
            equations.
        """
        return {
            "mechanism": self.mechanism,
            "coordinates": self.coordinates,
            "equations": self.equations,
            "depth": self.depth,
            "roots": self.roots,
            "tree": self.tree,
            "cut": {
                c.joint: {"bodies": c.bodies, "equations": c.equations, "loop": c.loop}
                for c in self.closures
            },
            "drivers": self.drivers,
            "couplings": self.couplings,
        }

    def draw(self, *, style: str | None = None) -> Figure:
        """Draw bodies in layers by their depth, tree joints as lines and cut joints as dashed
        curves.

        Args:
            style: "paper" for the format of a paper.

        Returns:
            A figure.
        """
        chords = [Chord(f"{c.kind} {c.joint}", *c.bodies) for c in self.closures]
        figure = draw_tree(
            self._branches(), chords, title="" if style else f"{self.mechanism}: {self._unknowns}"
        )
        return in_style(figure, style, resize=False)

    def _display(self) -> str:
        return picture(self.draw()) + (
            html_text(str(self)) if self.closures or self.drivers or self.couplings else ""
        )

    def __str__(self) -> str:
        lines = [
            f"{self.mechanism}: {self._composition}",
            self._unknowns,
            "",
            *outline(self._branches()),
        ]
        if self.closures:
            lines += [
                "",
                "cut",
                *(
                    f"  {text}"
                    for text in first_and_last([_closure_text(c) for c in self.closures], LISTED)
                ),
            ]
        if self.drivers:
            lines += [
                "",
                "driven, by one equation each",
                *(f"  {name}" for name in first_and_last(self.drivers, LISTED)),
            ]
        if self.couplings:
            texts = [
                f"{name}: {counted(n, 'equation', 'equations')}"
                for name, n in self.couplings.items()
            ]
            lines += ["", "coupled", *(f"  {text}" for text in first_and_last(texts, LISTED))]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Topology of {self.mechanism!r}: {self._composition}; {self._unknowns}>"

    @property
    def _composition(self) -> str:
        joints = sum(body.joint is not None for body in self.bodies) + len(self.closures)
        counts = (
            (len(self.bodies), "body", "bodies"),
            (joints, "joint", "joints"),
            (len(self.closures), "loop", "loops"),
        )
        return ", ".join([*(counted(*count) for count in counts), f"depth {self.depth}"])

    @property
    def _unknowns(self) -> str:
        coordinates = counted(len(self.coordinates), "relative coordinate", "relative coordinates")
        shares = [
            counted(n, f"{name} equation", f"{name} equations")
            for name, n in self.equations.items()
            if n
        ]
        return ", ".join([coordinates, *(shares or ["no equations"])])

    def _branches(self) -> list[Branch]:
        branches = [Branch("ground", "", "", "ground")]
        for b in self.bodies:
            parent, label = ("", "free") if b.joint is None else (b.parent, f"{b.kind} {b.joint}")
            note = ", ".join(b.coordinates) + (
                " (reversed)" if b.reversed and b.coordinates else ""
            )
            branches.append(Branch(b.body, parent, label, f"{b.kind} {b.reversed}", note))
        return branches


def topology_of(model: ModelData, cut: Iterable[str | Joint] = ()) -> Topology:
    """Determine the topology of a model; joints named in `cut` are not part of the tree."""
    cut = cut_names(cut, "topology")
    check_connected(model)
    tree = spanning_tree(model, cut)
    sizes = closure_sizes(tree)
    closures = tuple(_closure(tree, joint, sizes[joint.name]) for joint in tree.cuts)
    links = tuple(_tree_link(link) for link in tree.links)
    return Topology(model.name, links, closures, tuple(model.drivers), _couplings(model))


def _couplings(model: ModelData) -> dict[str, int]:
    """Number of constraints of each force that imposes any."""
    frames, state = trial_frames(model), trial_state(model, "topology")
    counts = {
        f.name: f.constraints(frames, state).numel() + f.velocity_rows
        for f in model.forces.values()
    }
    return {name: count for name, count in counts.items() if count}


def _tree_link(link: Link) -> TreeLink:
    joint, body = link.joint, link.body
    names, euler = coordinate_names(joint, body), motion_of(joint, body).has_euler_parameters
    name, kind = (None, "free") if joint is None else (joint.name, joint.kind)
    return TreeLink(body.name, link.parent.name, name, kind, not link.forward, names, euler)


def _closure(tree: SpanningTree, joint: Joint, equations: int) -> Closure:
    first, second = joint.bodies
    carrier = tree.carrier(joint.bodies)
    paths = [
        [tree.link_of[b] for b in path[: path.index(carrier)]]
        for path in (tree.path(first), tree.path(second))
    ]
    links = [*reversed(paths[0]), None, *paths[1]]
    joints = [joint if link is None else link.joint for link in links]
    free = [link.body.name for link in links if link is not None and link.joint is None]
    loop = tuple(j.name for j in joints if j is not None)
    return Closure(joint.name, joint.kind, (first.name, second.name), equations, loop, tuple(free))


def _closure_text(closure: Closure) -> str:
    between = f"{closure.kind} {closure.joint} between {' and '.join(closure.bodies)}"
    loop = " – ".join(first_and_last(closure.loop, LISTED))
    free = f" with {' and '.join(closure.free)} free" if closure.free else ""
    equations = (
        counted(closure.equations, "equation", "equations")
        if closure.equations
        else "no equation (fits in all positions or in none)"
    )
    return f"{between}: {equations}; loop {loop}{free}"
