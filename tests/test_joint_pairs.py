"""Two floating bodies with any joint between them: momentum, angular momentum and energy stay, and
reactions balance both bodies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest
from bodies import add_body
from joint_conditions import KINDS, at, derivative, moving, rotations, spins, vec
from joint_motions_in_space import BODY_SPIN, BODY_START, FIXED_TURN, LOPSIDED, TIP
from newton_euler import Array, Z, turned

import varimech as vm


@dataclass(frozen=True, eq=False)
class Pair:
    """A joint between the points a.J and b.J of two floating bodies, and what else the start must
    say.
    """

    kind: str
    dimension: int
    join: Callable[[vm.Mechanism], Any]
    start: dict[str, dict[str, Any]]

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.dimension}d"

    @cache  # noqa: B019 - pairs live as long as the tests
    def run(self, h: float) -> vm.Run:
        return self.mechanism.simulate(0.3, step=h, coordinates="natural")

    @cached_property
    def mechanism(self) -> vm.Mechanism:
        m = vm.Mechanism(self.name, dimension=self.dimension)
        a: dict[str, dict[str, Any]]
        if self.dimension == 2:
            m.body(
                "a",
                mass=2.0,
                inertia=0.1,
                com=(0.02, 0.01),
                points={"J": (0.3, 0.1)},
                floating=True,
            )
            add_body(m, "b", 1.0, 0.05, (-0.2, 0.1), J=(0.1, -0.05), tip=(-0.4, 0.2))
            a = {
                "position": {"a.com": (0.5, 0.3)},
                "angle": {"a": 0.4},
                "speed": {"a.com": (1.0, -0.5), "a": 3.0},
            }
        else:
            m.body(
                "a",
                mass=2.0,
                inertia=LOPSIDED,
                com=(0.02, 0.01, -0.03),
                points={"J": (0.3, 0.1, 0.2)},
                floating=True,
            )
            add_body(
                m, "b", 1.0, (0.04, 0.05, 0.03), (-0.2, 0.1, 0.1), J=(0.1, -0.05, 0.0), tip=TIP
            )
            a = {
                "position": {"a.com": (0.5, 0.3, 0.1)},
                "orientation": {"a": BODY_START},
                "speed": {"a.com": (1.0, -0.5, 0.3), "a": BODY_SPIN},
            }
        self.join(m)
        options: dict[str, Any] = {
            key: {**a.get(key, {}), **self.start.get(key, {})} for key in {*a, *self.start}
        }
        m.start(**options)
        return m


B_START, B_SPIN = turned(np.array([0.3, 0.2, 1.0]), 1.3), (-1.0, 2.0, 0.5)
TURNED_B = {"orientation": {"b": B_START}}
AXIS, OTHER = (0.3, 0.2, 1.0), (1.0, -0.4, 0.3)
PAIRS = [
    Pair("revolute", 2, lambda m: m.revolute("J"), {"angle": {"b": 1.0}, "speed": {"b": -2.0}}),
    Pair(
        "prismatic",
        2,
        lambda m: m.prismatic("J", axis=(1.0, 0.5), rotation=0.6),
        {"displacement": {"J": 0.1}, "speed": {"J": 1.0}},
    ),
    Pair("fixed", 2, lambda m: m.fixed("J", rotation=0.6), {}),
    Pair(
        "point-on-line",
        2,
        lambda m: m.point_on_line("J", axis=(1.0, 0.5)),
        {"displacement": {"J": 0.1}, "angle": {"b": 1.0}, "speed": {"J": 1.0, "b": -2.0}},
    ),
    Pair(
        "distance",
        2,
        lambda m: m.distance("J", length=0.4),
        {
            "position": {"b.J": (0.9, None)},
            "angle": {"b": 1.0},
            "speed": {"b.J": (0.2, None), "b": -2.0},
            "near": {"b.J": (0.9, 1.0)},
        },
    ),
    Pair(
        "revolute",
        3,
        lambda m: m.revolute("J", axis=AXIS, axis_on_second=OTHER),
        {"angle": {"J": 0.5}, "speed": {"J": 2.0}},
    ),
    Pair(
        "prismatic",
        3,
        lambda m: m.prismatic("J", axis=AXIS, rotation=FIXED_TURN),
        {"displacement": {"J": 0.1}, "speed": {"J": 1.0}},
    ),
    Pair("fixed", 3, lambda m: m.fixed("J", rotation=FIXED_TURN), {}),
    Pair(
        "point-on-line",
        3,
        lambda m: m.point_on_line("J", axis=AXIS),
        {**TURNED_B, "displacement": {"J": 0.1}, "speed": {"J": 1.0, "b": B_SPIN}},
    ),
    Pair(
        "distance",
        3,
        lambda m: m.distance("J", length=0.4),
        {
            **TURNED_B,
            "position": {"b.J": (0.8, 0.5, None)},
            "speed": {"b.J": (0.1, 0.2, None), "b": B_SPIN},
            "near": {"b.J": (0.8, 0.5, 0.6)},
        },
    ),
    Pair("spherical", 3, lambda m: m.spherical("J"), {**TURNED_B, "speed": {"b": B_SPIN}}),
    Pair(
        "cylindrical",
        3,
        lambda m: m.cylindrical("J", axis=AXIS, axis_on_second=OTHER),
        {"angle": {"J": 0.5}, "displacement": {"J": 0.1}, "speed": {"J": (2.0, 1.0)}},
    ),
    Pair(
        "screw",
        3,
        lambda m: m.screw("J", axis=AXIS, axis_on_second=OTHER, pitch=0.6),
        {"angle": {"J": 0.5}, "speed": {"J": 2.0}},
    ),
    Pair(
        "universal",
        3,
        lambda m: m.universal("J", axis=AXIS, axis_on_second=OTHER),
        {
            "position": {"b.tip": (0.9, 0.6, None)},
            "speed": {"b.tip": (0.1, 0.3, None)},
            "near": {"b": turned(np.array([-1.2, -1.9, -0.6]), 2.3)},
        },
    ),
    Pair(
        "planar",
        3,
        lambda m: m.planar("J", normal=AXIS, normal_on_second=OTHER),
        {
            "angle": {"J": 0.5},
            "position": {"b.J": (0.8, 0.5, None)},
            "speed": {"J": 2.0, "b.J": (0.1, 0.2, None)},
        },
    ),
    Pair(
        "point-on-plane",
        3,
        lambda m: m.point_on_plane("J", normal=AXIS),
        {
            **TURNED_B,
            "position": {"b.J": (0.8, 0.5, None)},
            "speed": {"b.J": (0.1, 0.2, None), "b": B_SPIN},
        },
    ),
]
MASS = {"a": 2.0, "b": 1.0}
INERTIA = {
    ("a", 2): np.diag([0.0, 0.0, 0.1]),
    ("b", 2): np.diag([0.0, 0.0, 0.05]),
    ("a", 3): LOPSIDED,
    ("b", 3): np.diag([0.04, 0.05, 0.03]),
}
each_pair = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


def momentum(run: vm.Run, body: str) -> Array:
    return MASS[body] * moving(run, f"{body}.com")


def own_angular_momentum(run: vm.Run, body: str, dimension: int) -> Array:
    """R I Rᵀ ω, about the centre of mass."""
    R, ω = rotations(run, body), spins(run, body)
    return np.einsum("tij,jk,tlk,tl->ti", R, INERTIA[body, dimension], R, ω)


def test_every_joint_has_a_pair() -> None:
    assert {(pair.kind, pair.dimension) for pair in PAIRS} == KINDS


@each_pair
def test_free_pair_keeps_momentum_and_energy(pair: Pair) -> None:
    """No outer force: Σ m v is constant (to rounding), Σ (r × m v + R I Rᵀ ω) and the energy are to
    second order.
    """
    drifts = []
    for step in (1e-3, 5e-4):
        run = pair.run(step)
        assert max(run.info["residuals"]) < 1e-9
        P = momentum(run, "a") + momentum(run, "b")
        np.testing.assert_allclose(P, np.tile(P[0], (len(P), 1)), atol=1e-10)
        L = sum(
            np.cross(at(run, f"{k}.com"), momentum(run, k))
            + own_angular_momentum(run, k, pair.dimension)
            for k in "ab"
        )
        E = run.energy().values
        drifts.append([np.abs(L - L[0]).max() / np.abs(L[0]).max(), np.abs(E - E[0]).max() / E[0]])
    coarse, fine = np.array(drifts)
    assert (coarse < 5e-5).all()
    assert (fine < coarse / 3 + 1e-11).all()


@each_pair
def test_reactions_balance_both_bodies(pair: Pair) -> None:
    """Newton and Euler for each body, with the force F and the torque τ (about b's joint point P)
    that the joint reports:

    d(m v)/dt = ±F,     d(R I Rᵀ ω)/dt = ±(τ + (P − G) × F),     + on the second body b, − on the first.
    """
    h = 5e-4
    run = pair.run(h)
    F = run.reaction("J").values
    τ = run.reaction_torque("J").values
    if pair.dimension == 2:
        F, τ = np.column_stack([F, 0 * F[:, 0]]), np.outer(τ, Z)
    P = at(run, "b.J")
    for body, sign in (("a", -1), ("b", 1)):
        torque = τ + np.cross(P - at(run, f"{body}.com"), F)
        Ṗ, Ḣ = (
            derivative(momentum(run, body), h),
            derivative(own_angular_momentum(run, body, pair.dimension), h),
        )
        np.testing.assert_allclose(Ṗ, sign * F[2:-2], rtol=0, atol=1e-5)
        np.testing.assert_allclose(Ḣ, sign * torque[2:-2], rtol=0, atol=1e-5)


SWAPPED: dict[str, tuple[Callable[[vm.Mechanism], Any], dict[str, dict[str, Any]]]] = {
    "revolute-2d": (lambda m: m.revolute("J", "b.J", "a.J"), {}),
    "prismatic-2d": (
        lambda m: m.prismatic(
            "J", "b.J", "a.J", axis=(turned(Z, -0.6) @ vec(-1.0, -0.5))[:2], rotation=-0.6
        ),
        {},
    ),
    "fixed-2d": (lambda m: m.fixed("J", "b.J", "a.J", rotation=-0.6), {}),
    "distance-2d": (lambda m: m.distance("J", "b.J", "a.J", length=0.4), {}),
    "revolute-3d": (
        lambda m: m.revolute("J", "b.J", "a.J", axis=OTHER, axis_on_second=AXIS),
        {"angle": {"J": -0.5}, "speed": {"J": -2.0}},
    ),
    "prismatic-3d": (
        lambda m: m.prismatic(
            "J", "b.J", "a.J", axis=FIXED_TURN.T @ -np.array(AXIS), rotation=FIXED_TURN.T
        ),
        {},
    ),
    "fixed-3d": (lambda m: m.fixed("J", "b.J", "a.J", rotation=FIXED_TURN.T), {}),
    "distance-3d": (lambda m: m.distance("J", "b.J", "a.J", length=0.4), {}),
    "spherical-3d": (lambda m: m.spherical("J", "b.J", "a.J"), {}),
    "universal-3d": (lambda m: m.universal("J", "b.J", "a.J", axis=OTHER, axis_on_second=AXIS), {}),
    "planar-3d": (
        lambda m: m.planar("J", "b.J", "a.J", normal=OTHER, normal_on_second=AXIS),
        {"angle": {"J": -0.5}, "speed": {"J": -2.0, "b.J": (0.1, 0.2, None)}},
    ),
}
"""Joints of `PAIRS` written the other way round (a sliding axis reversed, so that the displacement
keeps its sign).
"""


@pytest.mark.parametrize(
    "pair", [p for p in PAIRS if p.name in SWAPPED], ids=lambda pair: pair.name
)
def test_swapped_bodies_move_alike(pair: Pair) -> None:
    """Which body comes first changes nothing but the sign of the reaction."""
    join, start = SWAPPED[pair.name]
    other = Pair(pair.kind, pair.dimension, join, {**pair.start, **start})
    one, two = pair.run(1e-3), other.run(1e-3)
    for point in ("a.J", "b.com", "b.tip"):
        np.testing.assert_allclose(at(one, point), at(two, point), atol=1e-9)
    np.testing.assert_allclose(one.reaction("J").values, -two.reaction("J").values, atol=1e-7)
