"""Articulated-body equations: one body of a tree with its branches, whose joints move freely, is
reduced to the motion of its joint and an equivalent inertia for its parent.

With b, d and B of the joint (`recursion`) and the wrench  I Ż + p  with which the body and its
branches resist,

    U = I b,     D = bᵀ U,     z̈ = −D⁻¹ (bᵀ p + Uᵀ (B Ż_p + d)) = g − G (B Ż_p + d),
    G = D⁻¹ Uᵀ,  g = −D⁻¹ bᵀ p,

and the parent receives  Bᵀ (I − U G) B  and  Bᵀ (p + I d + U (g − G d)). For a parent that is the
ground, which does not move, z̈ = g − G d.

R. Featherstone, Int. J. Robotics Research 2 (1983) 13–30; Rigid Body Dynamics Algorithms, Springer
2008, chapter 7.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...core.symbols import SX
from ...stages.elimination import Factorisation
from .layout import Layout


@dataclass(frozen=True)
class Form:
    """Form of a joint, on which its equations depend: the number of its coordinates, whether they
    include Euler parameters, and whether its parent is the ground.
    """

    count: int
    euler: bool
    grounded: bool

    def solved(self, layout: Layout) -> int:
        """Return the size of the data from which z̈ follows: G and g, or z̈ itself."""
        return self.count if self.grounded else self.count * (layout.twists + 1)


@dataclass(frozen=True)
class Kernel:
    """Expressions and their symbols, both by name."""

    inputs: dict[str, SX]
    outputs: dict[str, SX]


INERTIA, BIAS, HINGE, EULER, EULER_RATE, SOLVED, BEFORE, TWIST, ACCELERATION = (
    "inertia",
    "bias",
    "hinge",
    "euler",
    "euler rate",
    "solved",
    "before",
    "twist",
    "acceleration",
)


def inward(layout: Layout, form: Form) -> Kernel:
    """Kernel of the inward pass: (I, p), the hinge and Euler parameters → G and g of the joint, and
    the contribution to the parent's (I, p).
    """
    I_packed, p = SX.sym("I", layout.inertias), SX.sym("p", layout.twists)
    block = SX.sym("hinge", layout.hinge_size(form.count))
    inputs = {INERTIA: I_packed, BIAS: p, HINGE: block}
    b, d, arm = layout.hinge(block, form.count)
    I = layout.unpack(I_packed)
    U, right = I @ b, -b.T @ p
    D = b.T @ U
    if form.euler:
        e, ė = SX.sym("e", 4), SX.sym("ė", 4)
        inputs |= {EULER: e, EULER_RATE: ė}
        μ = ca.trace(D[:4, :4])  # any positive number is suitable
        D[:4, :4] += μ * (e @ e.T)
        right[:4] -= μ * e * ca.dot(ė, ė)
    if form.grounded:
        return Kernel(inputs, {SOLVED: _solved(D, right - U.T @ d)})
    both = _solved(D, ca.horzcat(U.T, right))
    G, g = both[:, :-1], both[:, -1]
    I_beyond = layout.unpack(layout.pack(I - U @ G))
    p_beyond = p + I @ d + U @ (g - G @ d)
    B = _shift(arm)
    return Kernel(
        inputs,
        {SOLVED: ca.vec(both), INERTIA: layout.pack(B.T @ I_beyond @ B), BIAS: B.T @ p_beyond},
    )


def outward(layout: Layout, form: Form) -> Kernel:
    """Kernel of the outward pass: Ż of the parent, the hinge, G and g → z̈ and Ż."""
    block = SX.sym("hinge", layout.hinge_size(form.count))
    before, solved = SX.sym("Ż", layout.twists), SX.sym("solved", form.solved(layout))
    b, d, arm = layout.hinge(block, form.count)
    if form.grounded:
        return Kernel({HINGE: block, SOLVED: solved}, {ACCELERATION: solved, TWIST: d + b @ solved})
    both = ca.reshape(solved, form.count, layout.twists + 1)
    carried = _shift(arm) @ before + d
    z̈ = both[:, -1] - both[:, :-1] @ carried
    return Kernel(
        {BEFORE: before, HINGE: block, SOLVED: solved}, {ACCELERATION: z̈, TWIST: carried + b @ z̈}
    )


def _solved(D: SX, right: SX) -> SX:
    return Factorisation(ca.densify(D), symmetric=True).solve(right) if D.numel() else right


def _shift(arm: SX) -> SX:
    """Return B."""
    n = arm.numel()
    w = 1 if n == 2 else 3
    corner = ca.vertcat(-arm[1], arm[0]) if n == 2 else -ca.skew(arm)
    return ca.blockcat([[SX.eye(n), corner], [SX(w, n), SX.eye(w)]])
