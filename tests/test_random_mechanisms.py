"""Random mechanisms by random derivative methods; `tools/harden/harden.py` takes thousands of them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from random_derivative_checks import AGREE, Comparison, DerivativeCheck, check
from random_geometry import geometry
from random_mechanisms import build
from random_recipes import (
    BEAM_JOINTS,
    BLOCKS,
    BODIES,
    CLAMP,
    COUPLINGS,
    DRIVERS,
    EQUATIONS,
    FREE,
    GROUND,
    LOADS,
    PLANAR,
    Closure,
    Load,
    Part,
    Recipe,
    joints_of,
    recipes,
    smaller,
    with_element,
)

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


@pytest.mark.parametrize(
    ("dimension", "method"),
    [(2 if x == "cam" else 3, x) for x in (*EQUATIONS, "drive_pose")],
)
def test_fitted_equations_agree_in_two_kinds_of_coordinates(dimension: int, method: str) -> None:
    parts = (Part("bar", "revolute", GROUND, True, 5),) if dimension == 2 else ()  # for speed
    recipe = with_element(Recipe(dimension, parts, parameters=3, seed=4), method)
    _agree_in_coordinates(recipe, {method})


def test_blocks_agree_in_two_kinds_of_coordinates() -> None:
    """A pendulum and a slider with a load by each kind of block."""
    parts = (Part("bar", "revolute", GROUND, True, 5), Part("body", "prismatic", 0, True, 6))
    loads = tuple(Load(method, k % 2, GROUND, 40 + k) for k, method in enumerate(BLOCKS))
    _agree_in_coordinates(Recipe(2, parts, loads=loads, parameters=12, seed=4), {*BLOCKS})


def _agree_in_coordinates(recipe: Recipe, methods: set[str]) -> None:
    """Direct derivatives in natural coordinates and adjoint ones in relative coordinates."""
    built = build(recipe)
    assert methods <= {call.method for call in built.mechanism.data.calls}
    comparison = Comparison(built, recipe, compiled=False)
    comparison.base = DerivativeCheck("natural")
    base = comparison._base()
    comparison._compared(DerivativeCheck("rtdyn1", derivatives="adjoint"), base)


# what is made


EXCEPTIONS = {
    "screw": "its angle has to fit its displacement: test_gears_and_screws.py",
    **dict.fromkeys(
        ("stop", "contact", "clearance_joint", "dry_friction", "mode", "event"),
        "runs with impacts and friction are compared by other means: test_random_contacts.py",
    ),
}
"""Elements that are not drawn, and why."""


def methods(dimension: int) -> list[str]:
    """Element methods that shall be drawn."""
    left_out = {*EXCEPTIONS, *(PLANAR if dimension == 3 else ())}
    kinds = [kind for kind in registered() if dimension in getattr(kind, "dimensions", (2, 3))]
    return [kind.method() for kind in kinds if kind.method() not in left_out]


@pytest.mark.parametrize(
    ("dimension", "method"), [(n, method) for n in (2, 3) for method in methods(n)]
)
def test_every_element_is_drawn(dimension: int, method: str) -> None:
    """In a mechanism of two bodies that is made for it, with the first of a few seeds."""
    for seed in range(8):
        recipe = Recipe(dimension, (Part("bar", FREE, GROUND, True, 5),), parameters=3, seed=seed)
        calls = build(with_element(recipe, method)).mechanism.data.calls
        if method in {call.method for call in calls}:
            return
    raise AssertionError(f"no mechanism has an element {method!r}")


def test_exceptions_are_elements() -> None:
    known = {kind.method() for kind in registered()}
    assert set(EXCEPTIONS) <= known


def test_all_kinds_are_drawn_by_chance() -> None:
    """What recipes are made of covers the registry, so that `with_element` adds nothing of its own."""
    joints = {kind.replace("-", "_") for n in (2, 3) for kind in joints_of(n)}
    drawn = {*BODIES, CLAMP, *LOADS, *BLOCKS, *COUPLINGS, *DRIVERS, *joints}
    assert drawn - {"table"} == {kind.method() for kind in registered()} - set(EXCEPTIONS)


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
