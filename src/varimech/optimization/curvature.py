"""Second-order conditions of a local minimum:  dᵀ H d ≥ 0  for all critical directions d,  H = ∇²ψ̂
+ Σ λ ∇²ĉ  (scaled variables z).

Critical directions are tangent to the bounds and constraints with a nonzero multiplier, and do not
leave the feasible side of active ones with a zero multiplier (Nocedal and Wright, Numerical
Optimization, theorem 12.5). With the latter they form a cone. The least value of dᵀ H d on its unit
vectors is an eigenvalue of H on one of its faces, so all faces are examined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..core.errors import VarimechError
from ..core.messages import Message, Text
from .optimality import ACTIVE, Optimality
from .scaled import Scaled

STEP = 1e-3
"""First step of finite differences of gradients, in scaled variables: truncation h² and noise of
runs (1e-10) divided by h are then both about 1e-7.
"""
SHRINK, LEAST_STEP = 0.1, 1e-7
"""Factor by which steps are reduced if two differences disagree, and the smallest step, at which
the noise of runs would dominate.
"""
DISAGREE = 0.05
"""Difference between the two quotients of a variable, relative to the largest second derivative,
above which the step is too large.
"""
ZERO, ZERO_EXACT = 1e-5, 1e-7
"""Relative eigenvalues that count as zero: for finite differences of gradients, whose fourth-order
terms leave some h² = 1e-6; and for exact second derivatives, with the errors of runs (1e-10)
amplified by two differentiations.
"""
CERTAIN = 10.0
"""Ratio of a second derivative to the difference of its two quotients, and to the noise of
gradients, above which its size is certain.
"""
STRONG = 1e-6
"""Scaled multiplier that counts as nonzero; convergence is not resolved below it
(`attempt.SETTLED`).
"""
MOST_VARIABLES = 50
"""Maximum number of variables for finite differences of gradients, which take two runs for each."""
MOST_WEAK = 6
"""Maximum number of active bounds with zero multiplier for which all faces of the cone, 2⁶, are
examined.
"""


@dataclass(frozen=True, eq=False)
class Curvature:
    """Second-order check of a stationary design."""

    kind: str
    """Kind: "minimum", "flat" (zero curvature in some direction), "saddle", "maximum", or
    "unchecked".
    """
    free: int
    """Dimension of the space of directions that strong multipliers leave free."""
    eigenvalues: np.ndarray
    """Eigenvalues of H on these directions, in ascending order: objective units, variables scaled
    by their range or initial size.
    """
    directions: tuple[tuple[np.ndarray, float], ...] = ()
    """Critical directions (scaled, unit length) in which the objective may decrease, with dᵀ H d;
    the most negative first.
    """
    source: str = ""
    """Source of the second derivatives."""
    reason: Text = ""
    """Reason for a missing check."""

    def __str__(self) -> str:
        return str(self.message)

    @property
    def message(self) -> Text:
        """Result of the check, as a sentence."""
        if self.kind == "unchecked":
            return Message("not checked to second order: {}", self.reason)
        by = f"{self.free} free direction{'s' if self.free != 1 else ''}, {self.source}"
        if self.free == 0:
            return (
                "checked to second order: a local minimum, determined by active bounds and"
                " constraints alone"
            )
        if self.kind == "minimum":
            return f"checked to second order: a strict local minimum ({by})"
        if self.kind == "flat":
            return (
                "checked to second order: zero curvature in some direction, so the minimum may not"
                f" be unique or strict ({by})"
            )
        return (
            f"checked to second order: a {self.kind}{' point' if self.kind == 'saddle' else ''}"
            f" ({by})"
        )


def unchecked(reason: Text) -> Curvature:
    """Result without a check, with its reason."""
    return Curvature("unchecked", 0, np.zeros(0), reason=reason)


def curvature(scaled: Scaled, z: np.ndarray, first: Optimality, *, exact: bool) -> Curvature:
    """Check a stationary point to second order.

    Args:
        scaled: the scaled problem.
        z: the stationary point.
        first: multipliers of the stationary point.
        exact: whether to use exact second derivatives instead of gradient differences.
    """
    n, λ = scaled.start.size, first.scaled
    strong = np.abs(λ) > STRONG
    at_bound = strong[-z.size :]
    free = np.flatnonzero(~at_bound)
    normals, signs = _active(scaled, z, strong)
    tangent = _null(normals[signs == 0][:, free], free.size)
    if not tangent.size:
        return Curvature("minimum", 0, np.zeros(0))
    if not exact and free.size > MOST_VARIABLES:
        return unchecked(
            Message(
                "{} variables would need {} runs; {hessian} computes second derivatives",
                free.size,
                2 * free.size,
                hessian="exact",
            )
        )
    rows = λ[: scaled.row_lower.size]
    try:
        second = _exact(scaled, z, rows) if exact else _probed(scaled, z, rows, free[free < n])
    except VarimechError as error:
        return unchecked(f"second derivatives failed ({error})")
    if second is None:
        return unchecked(
            Message(
                "runs near the optimum fail, or gradients are not smooth there; {hessian} needs no"
                " neighbouring runs",
                hessian="exact",
            )
        )
    H, certain = second[0][np.ix_(free, free)], second[1][free]
    plain = tangent.T @ H @ tangent
    eigenvalues = np.linalg.eigvalsh((plain + plain.T) / 2) * scaled.objective_size
    # scale variables by their own curvature where it is certain: ranges may be far too wide, and
    # the signs of H do not depend on the scaling
    largest = float(np.abs(H).max(initial=0.0)) or 1.0
    S = 1 / np.sqrt(np.where(certain, np.abs(np.diag(H)), largest))
    tangent = _null(normals[signs == 0][:, free] * S, free.size)
    weak = (normals[signs != 0] * signs[signs != 0][:, None])[:, free] * S @ tangent
    kind, decreasing = _judged(
        tangent.T @ (S[:, None] * H * S) @ tangent, weak, ZERO_EXACT if exact else ZERO
    )
    lifted = [_lifted(S * (tangent @ d), free, z.size) for d in decreasing]
    directions = tuple(
        sorted(((d, float(d[free] @ H @ d[free])) for d in lifted), key=lambda pair: pair[1])
    )
    source = "exact second derivatives" if exact else "differences of the gradient"
    if kind == "unchecked":
        return unchecked(f"{len(weak)} bounds or constraints are active without a multiplier")
    kind = "maximum" if kind == "saddle" and eigenvalues[-1] < 0 and not normals.size else kind
    return Curvature(kind, eigenvalues.size, eigenvalues, directions, source)


def _judged(H: np.ndarray, weak: np.ndarray, zero: float) -> tuple[str, list[np.ndarray]]:
    """Kind of a stationary point with this reduced Hessian, and the directions of the cone {d: weak
    d ≤ 0} in which the objective may decrease.
    """
    symmetric = (H + H.T) / 2
    eigenvalues = np.linalg.eigvalsh(symmetric)
    doubt = max(zero * float(np.abs(eigenvalues).max()), float(np.abs(H - H.T).max()))
    if eigenvalues[0] > doubt:
        return "minimum", []
    if len(weak) > MOST_WEAK:
        return "unchecked", []
    decreasing = list(_falling(symmetric, weak, doubt))
    least = min((κ for _, κ in decreasing), default=np.inf)
    return "saddle" if least < -doubt else "flat" if decreasing else "minimum", [
        d for d, _ in decreasing
    ]


def _exact(scaled: Scaled, z: np.ndarray, λ: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """H from exact second derivatives, and which entries of its diagonal are certain."""
    H = scaled.hessian(z, 1.0, λ)
    return H, np.abs(np.diag(H)) > ZERO_EXACT * np.abs(H).max(initial=0.0)


def _probed(
    scaled: Scaled, z: np.ndarray, λ: np.ndarray, free: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """H by finite differences of the gradient of the Lagrangian (two runs for each variable, with
    steps for which both agree), and which entries of its diagonal are certain.
    """
    step, base = STEP, _lagrangian_gradient(scaled, z, λ)
    while step >= LEAST_STEP:
        H, apart = np.zeros((z.size, z.size)), np.zeros((z.size, z.size))
        columns = [_column(scaled, z, λ, base, int(j), step) for j in free]
        for j, column in zip(free, columns, strict=True):
            H[j], apart[j] = column if column is not None else (np.nan, np.nan)
        # the comparison is false if a run failed (NaN)
        if apart.max(initial=0.0) <= DISAGREE * np.abs(H).max(initial=0.0):
            noise = CERTAIN * np.maximum(np.diag(apart), scaled.problem.evaluator.roughness / step)
            return H, np.abs(np.diag(H)) > noise
        step *= SHRINK
    return None


def _column(
    scaled: Scaled, z: np.ndarray, λ: np.ndarray, base: np.ndarray, j: int, h: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """∂∇L/∂z_j from two steps a and b within the bounds, and the difference of their quotients;
    None if runs fail.

    D(a) = H + T a/2 + …, so that (b D(a) − a D(b))/(b − a) is of second order; unequal lengths
    reveal odd terms.
    """
    for a, b in ((h, -h / 2), (-h, h / 2), (h, h / 2), (-h, -h / 2)):
        points = [z + s * np.eye(z.size)[j] for s in (a, b)]
        if all(scaled.lower[j] <= p[j] <= scaled.upper[j] and scaled.works(p) for p in points):
            first, second = (
                (_lagrangian_gradient(scaled, p, λ) - base) / s
                for p, s in zip(points, (a, b), strict=True)
            )
            return (b * first - a * second) / (b - a), np.abs(first - second)
    return None


def _lagrangian_gradient(scaled: Scaled, z: np.ndarray, λ: np.ndarray) -> np.ndarray:
    """∇L without the constant multipliers of bounds."""
    return np.asarray(scaled.gradient(z) + scaled.jacobian(z).T @ λ)


def _active(scaled: Scaled, z: np.ndarray, strong: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normals of active bounds and constraints, and admissible signs: 0 tangential only, ±1 with ±
    normal · d ≤ 0.
    """
    values = np.concatenate([scaled.constraints(z), z])
    lower = np.concatenate([scaled.row_lower, scaled.lower])
    upper = np.concatenate([scaled.row_upper, scaled.upper])
    at_lower, at_upper = values - lower <= ACTIVE, upper - values <= ACTIVE
    active = at_lower | at_upper
    signs = np.where(strong | (at_lower & at_upper), 0.0, np.where(at_upper, 1.0, -1.0))
    return np.vstack([scaled.jacobian(z), np.eye(z.size)])[active], signs[active]


def _null(normals: np.ndarray, size: int) -> np.ndarray:
    from scipy.linalg import null_space

    return null_space(normals) if normals.size else np.eye(size)


def _falling(H: np.ndarray, weak: np.ndarray, doubt: float) -> Iterator[tuple[np.ndarray, float]]:
    """Yield directions of the cone {d: weak d ≤ 0} with curvature below `doubt`: eigenvectors of H
    on all of its faces.
    """
    for count in range(len(weak) + 1):
        for face in combinations(range(len(weak)), count):
            Z = _null(weak[list(face)], len(H)) if face else np.eye(len(H))
            κ, V = np.linalg.eigh(Z.T @ H @ Z) if Z.size else (np.zeros(0), np.zeros((0, 0)))
            for k in np.flatnonzero(κ <= doubt):
                for d in (Z @ V[:, k], -Z @ V[:, k]):
                    if (weak @ d <= ACTIVE).all():
                        yield d, float(κ[k])


def _lifted(d: np.ndarray, free: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros(size)
    out[free] = d
    return out / np.linalg.norm(out)
