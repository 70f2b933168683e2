"""Random mechanisms by random derivative methods; `tools/harden/harden.py` takes thousands of them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from random_derivative_checks import AGREE, Comparison, DerivativeCheck, check
from random_geometry import geometry
from random_mechanisms import build
from random_recipes import (
    BEAM_JOINTS,
    BODIES,
    CLAMP,
    COUPLINGS,
    DRIVERS,
    FREE,
    GROUND,
    LOADS,
    Closure,
    Load,
    Part,
    Recipe,
    joints_of,
    recipes,
    smaller,
)

from varimech.elements.builder import Model
from varimech.elements.registry import registered

PENDULUM = Recipe(2, (Part("bar", "revolute", GROUND, True, 5),), parameters=2, seed=1)
TOO_STIFF = Recipe(
    2,
    (Part("bar", "point-on-line", GROUND, True, 2733), Part("bar", "revolute", GROUND, True, 135)),
    loads=(
        Load("torsional_spring", GROUND, 1, 125),
        Load("damper", GROUND, 0, 84897),
        Load("damper", GROUND, 0, 67281),
    ),
    parameters=2,
    edges=("stiff",),
    seed=93,
)
"""Steps are so long that derivatives overflow, while positions are still numbers."""


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(recipe=recipes(2))
@example(recipe=TOO_STIFF)
def test_derivative_methods_agree_or_are_refused_by_name(recipe: Recipe) -> None:
    _, outcomes = check(recipe)
    assert [o for o in outcomes if o.verdict == "fault"] == []


# what is made


def words() -> set[str]:
    """All that a model can be written with."""
    members = {name: getattr(Model, name) for name in dir(Model) if not name.startswith("_")}
    made = {name for name, member in members.items() if hasattr(member, "__wrapped__")}
    of_events = {"stop", "contact", "clearance_joint", "dry_friction", "mode", "event"}
    # angles that fit them: test_gears_and_screws.py; events: test_random_contacts.py; equations that
    # are written for a mechanism: test_constraints.py, test_cams_and_curves.py
    equations = {"velocity_constraint", "rolling", "cam", "point_on_curve"}
    # controllers and prescribed poses suit one mechanism: test_control.py, test_drive_pose.py
    blocks = {kind.method() for kind in registered("signals")} | {"state", "dc_motor", "servo"}
    return made - {"screw", "drive_pose"} - of_events - equations - blocks


def saying(method: str) -> Recipe:
    """A recipe that calls an element method."""
    sliding = Part("body", "prismatic", GROUND, True, 3)
    if method in LOADS:
        return Recipe(2, (PENDULUM.parts[0],), loads=(Load(method, 0, GROUND, 7),), seed=1)
    if method in COUPLINGS:
        return Recipe(
            2, (PENDULUM.parts[0], PENDULUM.parts[0], sliding), couplings=(method,), seed=1
        )
    if method in DRIVERS:
        return Recipe(2, (PENDULUM.parts[0], sliding), drivers=(method,), seed=1)
    if method in ("beam", CLAMP):
        return Recipe(2, (Part("beam", CLAMP, GROUND, True, 4),), seed=1)
    if method in BODIES:
        return Recipe(2, (Part(method, "revolute", GROUND, True, 4),), seed=1)
    kind = method.replace("_", "-")
    return (
        Recipe(3, (Part("body", kind, GROUND, True, 4),), seed=1)
        if kind in joints_of(3)
        else PENDULUM
    )


@pytest.mark.parametrize("method", sorted(words()))
def test_every_element_method_is_drawn(method: str) -> None:
    drawn = {
        *BODIES,
        CLAMP,
        *LOADS,
        *COUPLINGS,
        *DRIVERS,
        *(kind.replace("-", "_") for n in (2, 3) for kind in joints_of(n)),
    }
    assert method in drawn | {"parameter", "point", "start"}
    assert method in {call.method for call in build(saying(method)).mechanism.data.calls}


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("kind", ["rigid", "flexible"])
def test_every_joint_fits_where_bodies_are(dimension: int, kind: str) -> None:
    joints = joints_of(dimension) if kind == "rigid" else list(BEAM_JOINTS[dimension])
    for joint in {*joints, FREE}:
        built = build(
            Recipe(
                dimension,
                (Part("body" if kind == "rigid" else "beam", joint, GROUND, False, 11),),
                seed=2,
            )
        )
        assert built.dofs in (None, built.mechanism.dofs)


def test_loops_are_closed() -> None:
    arms = tuple(Part("bar", "revolute", k - 1, True, k) for k in range(3))
    built = build(Recipe(2, arms, (Closure("revolute", GROUND, 2, 9),), seed=3))
    assert built.cuts == ("C0",)
    assert built.dofs == built.mechanism.dofs == 1


def test_twins_are_redundant() -> None:
    hinged = Recipe(
        3,
        (Part("body", "revolute", GROUND, True, 4),),
        (Closure("twin", GROUND, 0, 9),),
        redundant=True,
        seed=3,
    )
    assert not geometry(hinged).regular
    assert geometry(hinged).dofs == 1


# that faults would be found


def test_another_mechanism_differs() -> None:
    comparisons = [
        Comparison(build(recipe), recipe, compiled=False)
        for recipe in (PENDULUM, Recipe(2, PENDULUM.parts, parameters=2, seed=2))
    ]
    one, other = (c._run(DerivativeCheck(), step=c._step) for c in comparisons)
    assert comparisons[0]._worst(one, one)[0] == 0
    assert comparisons[0]._worst(other, one)[0] > 100 * AGREE


def test_recipes_are_read_as_they_are_printed_and_reduced_to_nothing() -> None:
    recipe = Recipe(
        2,
        (*PENDULUM.parts, Part("bar", "fixed", 0, True, 6)),
        loads=(Load("spring", 0, 1, 7),),
        edges=("fast",),
        seed=1,
    )
    assert eval(repr(recipe)) == recipe
    while (less := next(smaller(recipe), None)) is not None:
        recipe = less
    assert recipe.parts[0].kind == "body"
    assert len(recipe.parts) == 1
