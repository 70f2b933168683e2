"""Recipes for random mechanisms: their contents as plain data that can be printed, read again and
reduced.

The contents are drawn by Hypothesis; numbers come from seeds, one for each item, so that other
items are unchanged if one is removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from varimech.elements.clamp import Clamp
from varimech.elements.registry import BUILT_IN
from varimech.elements.screw import Screw
from varimech.model.joint import Joint

GROUND = -1
FREE, CLAMP, TWIN = "free", "clamp", "twin"
BODIES = ("body", "bar", "beam")
BEAM_JOINTS = {2: ("revolute", CLAMP, "distance", FREE), 3: ("spherical", CLAMP, "distance", FREE)}
"""Joints that may hold the first end of a beam."""
LOADS = (
    "spring",
    "damper",
    "torsional_spring",
    "torsional_damper",
    "force",
    "torque",
    "bushing",
    "table",
)
BLOCKS = (
    "state",
    "signal",
    "lag",
    "lead",
    "transfer_function",
    "state_space",
    "pid",
    "rate_limit",
    "delay",
    "sample_and_hold",
    "dc_motor",
    "servo",
)
"""Loads by states, signals and controllers, which may read each other, and actuators."""
EQUATIONS = ("velocity_constraint", "rolling", "cam", "point_on_curve")
"""Equations that are fitted to the poses of bodies."""
COUPLINGS = ("gear", "rack_and_pinion", "belt", "constraint", "curve_contact", *EQUATIONS)
"""Equations between two free outputs; also with a compliant mesh."""
PLANAR = ("cam", "curve_contact", "belt")
"""Elements that are planar, or drawn in the plane only: a belt needs parallel axes."""
DRIVERS = ("drive_angle", "drive_displacement", "drive_distance", "drive_coordinate", "drive_pose")
EDGES = (
    "aligned",
    "parallel",
    "light",
    "heavy",
    "at rest",
    "fast",
    "thin",
    "stiff",
    "tiny",
    "huge",
    "together",
)
"""Edge cases: axes along those of the ground, one direction for all axes, masses that differ by
1e6, zero or high speed, no inertia, springs of 1e6 N/m, lengths in µm or km, coincident points.
"""


@dataclass(frozen=True)
class Part:
    """A body and the joint that attaches it to an earlier one, or to the ground; `forward` if that
    one is the joint's first body.
    """

    kind: str
    joint: str
    parent: int
    forward: bool
    seed: int


@dataclass(frozen=True)
class Closure:
    """A joint between two existing bodies; a twin duplicates the joint of the second body."""

    joint: str
    first: int
    second: int
    seed: int


@dataclass(frozen=True)
class Load:
    """A force between two bodies, or on the first one."""

    method: str
    first: int
    second: int
    seed: int


@dataclass(frozen=True)
class Recipe:
    """Contents of a mechanism."""

    dimension: int
    parts: tuple[Part, ...]
    closures: tuple[Closure, ...] = ()
    loads: tuple[Load, ...] = ()
    drivers: tuple[str, ...] = ()
    parameters: int = 0
    redundant: bool = False
    """Whether joints may be redundant; then no length is a parameter, because any change of it
    would make the mechanism impossible to assemble.
    """
    edges: tuple[str, ...] = ()
    seed: int = 0
    couplings: tuple[str, ...] = ()


def joints_of(dimension: int) -> list[str]:
    """Kinds of joints that fit rigid bodies at any poses; a screw couples displacement and
    angle.
    """
    joints = [kind for kind in BUILT_IN if issubclass(kind, Joint) and kind not in (Clamp, Screw)]
    return [joint.kind for joint in joints if dimension in joint.dimensions]


SEEDS = st.integers(0, 2**20)


@st.composite
def recipes(draw: st.DrawFn, largest: int = 10) -> Recipe:
    dimension, flexible = draw(st.sampled_from((2, 3))), draw(st.integers(0, 9)) == 0
    few = flexible or draw(st.integers(0, 11)) > 0
    count = draw(st.integers(1, min(3, largest) if few else largest))
    parts = tuple(draw(_parts(dimension, k, flexible)) for k in range(count))
    bodies, kinds = st.integers(GROUND, count - 1), [*joints_of(dimension), TWIN]
    closed = draw(st.integers(0, 2)) > 0
    return Recipe(
        dimension,
        parts,
        tuple(
            draw(
                st.lists(
                    st.builds(Closure, st.sampled_from(kinds), bodies, bodies, SEEDS), max_size=3
                )
            )
        )
        if closed
        else (),
        tuple(
            draw(
                st.lists(
                    st.builds(
                        Load,
                        st.sampled_from(LOADS) | st.sampled_from(BLOCKS),
                        bodies,
                        bodies,
                        SEEDS,
                    ),
                    max_size=4,
                )
            )
        ),
        tuple(draw(st.lists(st.sampled_from(DRIVERS), max_size=2)))
        if draw(st.integers(0, 3)) == 0
        else (),
        draw(st.sampled_from((0, 1, 1, 2, 2, 2, 3, 3, 12))),
        draw(st.integers(0, 5)) == 0,
        tuple(draw(st.lists(st.sampled_from(EDGES), max_size=2, unique=True)))
        if draw(st.integers(0, 3)) == 0
        else (),
        draw(SEEDS),
        tuple(draw(st.lists(st.sampled_from(COUPLINGS), max_size=2)))
        if draw(st.integers(0, 2)) == 0
        else (),
    )


def with_element(recipe: Recipe, method: str) -> Recipe:
    """Return a recipe with an additional element of a kind: add bodies that leave DOF for it, and
    remove closures and drivers.
    """
    seed, last = recipe.seed, len(recipe.parts)
    pin, slide, loose = (
        Part("body", joint, GROUND, True, seed + k)
        for k, joint in enumerate(("revolute", "prismatic", FREE))
    )
    if method in (*LOADS, *BLOCKS):
        load = Load(method, last, GROUND, seed)
        return replace(recipe, parts=(*recipe.parts, pin), loads=(*recipe.loads, load))
    if method in EQUATIONS:
        return replace(
            recipe, parts=(*recipe.parts, loose), drivers=(), couplings=(method, *recipe.couplings)
        )
    if method in COUPLINGS:
        return replace(
            recipe,
            parts=(*recipe.parts, pin, slide, replace(pin, seed=seed + 3)),
            drivers=(),
            couplings=(method, *recipe.couplings),
        )
    if method in DRIVERS:
        added = (loose,) if method == "drive_pose" else (pin, slide)
        return replace(recipe, parts=(*recipe.parts, *added), drivers=(method, *recipe.drivers))
    if method in ("beam", CLAMP):
        return replace(recipe, parts=(*recipe.parts, Part("beam", CLAMP, GROUND, True, seed)))
    if method in BODIES:
        return replace(recipe, parts=(*recipe.parts, replace(pin, kind=method)))
    joint = method.replace("_", "-")
    if joint not in joints_of(recipe.dimension):
        raise ValueError(f"no recipe has {method!r} in {recipe.dimension} dimensions")
    return replace(recipe, parts=(*recipe.parts, replace(pin, joint=joint)))


def _parts(dimension: int, k: int, flexible: bool) -> st.SearchStrategy[Part]:
    parents, ways = st.integers(GROUND, k - 1), st.booleans()
    rigid = st.builds(
        Part,
        st.sampled_from(("body", "bar")),
        st.sampled_from([*joints_of(dimension), FREE]),
        parents,
        ways,
        SEEDS,
    )
    beam = st.builds(
        Part, st.just("beam"), st.sampled_from(BEAM_JOINTS[dimension]), parents, ways, SEEDS
    )
    return rigid | beam if flexible else rigid


def smaller(recipe: Recipe) -> Iterator[Recipe]:
    """Yield recipes with one item less, or simpler."""
    for k in reversed(range(len(recipe.parts))):
        if len(recipe.parts) > 1 and all(part.parent != k for part in recipe.parts):
            yield _without(recipe, k)
    for field in ("closures", "loads", "drivers", "edges", "couplings"):
        things = getattr(recipe, field)
        for k in range(len(things)):
            yield replace(recipe, **{field: things[:k] + things[k + 1 :]})
    if recipe.parameters:
        yield replace(recipe, parameters=recipe.parameters // 2)
        yield replace(recipe, parameters=recipe.parameters - 1)
    if recipe.redundant:
        yield replace(recipe, redundant=False)
    for k, part in enumerate(recipe.parts):
        if part.parent != GROUND:
            yield _with(recipe, k, replace(part, parent=GROUND))
        if part.kind == "bar":
            yield _with(recipe, k, replace(part, kind="body"))


def _with(recipe: Recipe, k: int, part: Part) -> Recipe:
    return replace(recipe, parts=(*recipe.parts[:k], part, *recipe.parts[k + 1 :]))


def _without(recipe: Recipe, k: int) -> Recipe:
    """Return the recipe without a body that carries no other."""

    def moved(body: int) -> int:
        return body - (body > k)

    return replace(
        recipe,
        parts=tuple(
            replace(p, parent=moved(p.parent)) for j, p in enumerate(recipe.parts) if j != k
        ),
        closures=tuple(
            replace(c, first=moved(c.first), second=moved(c.second))
            for c in recipe.closures
            if k not in (c.first, c.second)
        ),
        loads=tuple(
            replace(f, first=moved(f.first), second=moved(f.second))
            for f in recipe.loads
            if k not in (f.first, f.second)
        ),
    )
