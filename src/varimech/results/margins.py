"""Gain and phase margins of a loop with negative feedback, 1 + L = 0.

    gain crossover    |L(iω)| = 1       phase margin  φ = π + arg L(iω)
    phase crossover   Im L = 0, Re L < 0  gain margin   g = −1/L(iω)

Crossovers are zeros on the imaginary axis of L(s) L(−s) − 1 and of L(s) − L(−s). They are computed
as generalised eigenvalues of their state equations, so that none is missed between frequencies of a
grid, and refined by Newton's method. With f(ω, ρ) = 0 at a crossover, ω' = −f_ρ/f_ω. For
independent parameters with standard deviations σ_k, a margin has the standard deviation √(Σ (∂/∂ρ_k
σ_k)²) to first order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import ModelError, unknown_name
from ..model.parameter import Tolerance

if TYPE_CHECKING:
    from .linear_model import LinearModel

NEAR = 1e-3
"""Distance from the imaginary axis, relative to the modulus, of eigenvalues that are refined: a
tangential crossover is a double zero, which is accurate to the square root of the rounding only.
"""
ITERATIONS = 20
ZERO = 1e-11
"""Singular value of a balanced matrix, over the largest, that counts as rounding: its entries are
accurate to about 1e-13 of the largest.
"""
MET = 1e-9
"""Residual |L|² − 1, or Im L/|L|, below which a crossover has converged."""


@dataclass(frozen=True, eq=False)
class Margins:
    """Margins of an open loop with negative feedback; infinite where there is no crossover.

    Of several crossovers, those of the smallest margins. Derivatives are with respect to
    `parameter_names`; NaN for infinite margins.
    """

    gain_margin: float
    """Factor of the loop gain at which the loop begins to oscillate: above 1 for gains that grow, below
    1 for those that shrink; of several the nearest one in decibels.
    """
    gain_frequency: float
    """Hz, of the phase crossover."""
    phase_margin: float
    """rad"""
    phase_frequency: float
    """Hz, of the gain crossover."""
    is_stable: bool
    """Whether the closed loop is stable, zero eigenvalues apart; if it is not, the margins do not
    measure the distance to the stability limit.
    """
    parameter_names: tuple[str, ...]
    gain_margin_derivatives: np.ndarray | None
    """(parameter)"""
    phase_margin_derivatives: np.ndarray | None
    """(parameter), rad per unit of the parameter"""
    distributions: tuple[object, ...] = ()
    """Distributions of the parameters in the mechanism."""
    zero_eigenvalues: int = 0
    """Number of eigenvalues of the closed loop that are zero, such as that of the position of a cart
    that nothing holds.
    """

    def std(self, distributions: Mapping[str, object] | None = None) -> MarginDeviations:
        """Standard deviations of both margins over independent parameters, to first order.

        Args:
            distributions: `varimech.Tolerance` or distribution of parameters by name; for other
                parameters, those of the mechanism are used. A parameter without a distribution does
                not vary.

        Returns:
            The deviations, and the contribution of each parameter; NaN for infinite margins.

        Raises:
            ModelError: without derivatives, for unknown names, if no parameter varies, and for what is
                no distribution.
        """
        if self.gain_margin_derivatives is None or self.phase_margin_derivatives is None:
            remedy = "linearize with wrt=…, the parameters that vary"
            raise ModelError("have no derivatives", element="margins", remedy=remedy)
        by_name = dict(zip(self.parameter_names, self.distributions, strict=False))
        for name in distributions or ():
            if name not in self.parameter_names:
                raise unknown_name("parameter of these margins", name, self.parameter_names)
        by_name |= distributions or {}
        σ = np.array([_deviation(name, by_name.get(name)) for name in self.parameter_names])
        if not σ.any():
            raise ModelError(
                "do not vary with any parameter",
                element="margins",
                remedy='give distributions={"name": varimech.Tolerance(…)}, or to the parameters',
            )
        gain, phase = (
            np.where(
                σ == 0, 0.0, slopes * σ
            )  # also of an infinite margin, whose derivatives are NaN
            for slopes in (self.gain_margin_derivatives, self.phase_margin_derivatives)
        )
        return MarginDeviations(
            float(np.linalg.norm(gain)),
            float(np.linalg.norm(phase)),
            self.parameter_names,
            gain,
            phase,
        )

    def __str__(self) -> str:
        """Both margins, as figures of control have them."""
        gain, phase = "gain margin ∞ (no phase crossover)", "phase margin ∞ (no gain crossover)"
        if np.isfinite(self.gain_margin):
            decibels = f"({20 * np.log10(self.gain_margin):.3g} dB) at {self.gain_frequency:.4g} Hz"
            gain = f"gain margin {self.gain_margin:.5g} {decibels}"
        if np.isfinite(self.phase_margin):
            angle = f"{np.degrees(self.phase_margin):.4g}°"
            phase = f"phase margin {angle} at {self.phase_frequency:.4g} Hz"
        n, stable = self.zero_eigenvalues, "stable" if self.is_stable else "unstable"
        apart = f", apart from {n} zero eigenvalue{'s' * (n > 1)}" if n and self.is_stable else ""
        return f"{gain}, {phase}; the closed loop is {stable}{apart}"


@dataclass(frozen=True, eq=False)
class MarginDeviations:
    """Standard deviations of margins over tolerances, to first order."""

    gain_margin: float
    phase_margin: float
    """rad"""
    parameter_names: tuple[str, ...]
    gain_margin_contributions: np.ndarray
    """(parameter), change of the gain margin for one standard deviation of each"""
    phase_margin_contributions: np.ndarray
    """(parameter), the same of the phase margin, rad"""

    def __str__(self) -> str:
        """Both deviations, and the contributions to them."""
        gain, phase = np.isfinite(self.gain_margin), np.isfinite(self.phase_margin)
        both = f"of the gain margin {self.gain_margin:.4g}" if gain else ""
        both += ", " if gain and phase else ""
        both += f"of the phase margin {np.degrees(self.phase_margin):.4g}°" if phase else ""
        contributions = ""
        for name, of_gain, of_phase in zip(
            self.parameter_names,
            self.gain_margin_contributions,
            self.phase_margin_contributions,
            strict=True,
        ):
            parts = [f"{of_gain:+.3g}"] if gain else []
            parts += [f"{np.degrees(of_phase):+.3g}°"] if phase else []
            if of_gain or of_phase:  # a parameter without a distribution contributes nothing
                contributions += f"\n  {name}: {', '.join(parts)}"
        return f"standard deviation {both or 'of infinite margins'}, by parameter:{contributions}"


def _deviation(name: str, distribution: object) -> float:
    """Standard deviation of a parameter, 0 if it does not vary."""
    if distribution is None:
        return 0.0
    if isinstance(distribution, Tolerance):
        return distribution.sigma
    std = getattr(distribution, "std", None)
    σ: Any = std() if callable(std) else np.nan
    if np.ndim(σ) or not np.isfinite(σ):
        raise ModelError(
            "has no finite standard deviation",
            element=f"parameter {name!r}",
            field="distribution",
            value=distribution,
            remedy="give a varimech.Tolerance, or a distribution of scipy.stats with its numbers",
        )
    return float(σ)


class _Loop:
    """One entry of H(iω), with its derivatives."""

    def __init__(self, model: LinearModel, row: int, column: int):
        A, B, C, D = model.to_matrices()
        self.A, self.B, self.C, self.D = A, B[:, [column]], C[[row]], float(D[row, column])
        n, S = len(model.states), model.matrix_derivatives
        self._S = None if S is None else S[np.ix_([*range(n), n + row], [*range(n), n + column])]

    def at(self, ω: float) -> tuple[complex, complex]:
        """L and ∂L/∂ω."""
        K = 1j * ω * np.eye(len(self.A)) - self.A
        X, Y = np.linalg.solve(K, self.B + 0j), np.linalg.solve(K.T, self.C.T + 0j).T
        return complex((self.C @ X).item() + self.D), complex(-1j * (Y @ X).item())

    def derivatives(self, ω: float) -> np.ndarray:
        """∂L/∂ρ."""
        assert self._S is not None
        K = 1j * ω * np.eye(len(self.A)) - self.A
        X, Y = np.linalg.solve(K, self.B + 0j), np.linalg.solve(K.T, self.C.T + 0j).T
        left, right = np.append(Y[0], 1), np.append(X[:, 0], 1)
        return np.asarray(np.einsum("r,rcp,c->p", left, self._S, right))

    def gain_crossovers(self) -> list[float]:
        """ω > 0 with |L| = 1."""
        A, B, C, D = self.A, self.B, self.C, self.D
        zeros = _zeros(
            np.block([[A, -B @ C], [np.zeros_like(A), -A]]),
            np.vstack([D * B, B]),
            np.hstack([C, -D * C]),
            D**2 - 1,
        )

        def f(ω: float) -> tuple[float, float]:
            L, L_ω = self.at(ω)
            return abs(L) ** 2 - 1, 2 * (L.conjugate() * L_ω).real

        return _refined(zeros, f)

    def phase_crossovers(self) -> list[float]:
        """ω > 0 with L < 0."""
        A, B, C = self.A, self.B, self.C
        both = np.block([[A, np.zeros_like(A)], [np.zeros_like(A), -A]])
        zeros = _zeros(both, np.vstack([B, B]), np.hstack([C, C]), 0.0)

        def f(ω: float) -> tuple[float, float]:
            L, L_ω = self.at(ω)
            return L.imag / abs(L), (L_ω / L).imag * L.real / abs(L)

        return [ω for ω in _refined(zeros, f) if self.at(ω)[0].real < 0]


def margins(model: LinearModel, input: str, output: str) -> Margins:
    """Margins of the loop from an input to an output; see `LinearModel.margins`."""
    loop = _Loop(model, model.outputs.index(output), model.inputs.index(input))
    closed = _without_zeros(loop.A - loop.B @ loop.C / (1 + loop.D))
    has = model.matrix_derivatives is not None
    none = np.full(len(model.parameter_names), np.nan)

    phases = [(_wrapped(np.pi + np.angle(loop.at(ω)[0])), ω) for ω in loop.gain_crossovers()]
    phase, at_gain = min(phases, key=lambda each: abs(each[0]), default=(np.inf, np.nan))
    phase_ = none
    if has and np.isfinite(phase):
        L, L_ω = loop.at(at_gain)
        L_ρ = loop.derivatives(at_gain)
        ω_ = -(np.conj(L) * L_ρ).real / (np.conj(L) * L_ω).real
        phase_ = ((L_ρ + L_ω * ω_) / L).imag

    gains = [(-1 / loop.at(ω)[0].real, ω) for ω in loop.phase_crossovers()]
    gain, at_phase = min(gains, key=lambda each: abs(np.log(each[0])), default=(np.inf, np.nan))
    gain_ = none
    if has and np.isfinite(gain):
        L, L_ω = loop.at(at_phase)
        L_ρ = loop.derivatives(at_phase)
        ω_ = -L_ρ.imag / L_ω.imag
        gain_ = (L_ρ + L_ω * ω_).real * gain**2

    return Margins(
        float(gain),
        float(at_phase / (2 * np.pi)),
        float(phase),
        float(at_gain / (2 * np.pi)),
        bool(np.linalg.eigvals(closed).real.max(initial=-np.inf) < 0),
        model.parameter_names,
        gain_ if has else None,
        phase_ if has else None,
        model.distributions,
        len(loop.A) - len(closed),
    )


def _without_zeros(A: np.ndarray) -> np.ndarray:
    """Return a matrix with all eigenvalues but those that are zero, of which rounding makes growth.

    With A N = 0 and orthonormal N and W, together a basis, the other eigenvalues are those of Wᵀ A W.
    """
    from scipy.linalg import matrix_balance

    while len(A):
        A = matrix_balance(A, permute=False)[0]
        _, σ, Vt = np.linalg.svd(A)
        kept = σ > ZERO * σ[0]
        if kept.all():
            break
        A = Vt[kept] @ A @ Vt[kept].T
    return A


def _wrapped(angle: float) -> float:
    """Wrap an angle to (−π, π]."""
    return float(-((np.pi - angle) % (2 * np.pi)) + np.pi)


def _zeros(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: float) -> np.ndarray:
    """Zeros of C (s − A)⁻¹ B + D."""
    from scipy.linalg import eig

    n = len(A)
    if not n:
        return np.zeros(0)
    M = np.block([[A, B], [C, np.array([[D]])]])
    N = np.diag([*np.ones(n), 0.0])
    (α, β) = eig(M, N, right=False, homogeneous_eigvals=True)
    finite = np.abs(β) > 1e-14 * np.maximum(np.abs(α), np.abs(β))
    return np.asarray(α[finite] / β[finite])


def _refined(zeros: np.ndarray, f: Callable[[float], tuple[float, float]]) -> list[float]:
    """Refine zeros near the imaginary axis: frequencies at which a function vanishes."""
    frequencies: list[float] = []
    size = np.abs(zeros).max(initial=0.0)
    for s in zeros:
        ω = float(s.imag)
        if ω <= 1e-9 * size or abs(s.real) > NEAR * abs(s):
            continue
        for _ in range(ITERATIONS):
            value, slope = f(ω)
            if slope == 0 or abs(value) < 1e-15:
                break
            ω -= value / slope
        close = abs(ω - s.imag) <= 10 * NEAR * abs(s) and abs(f(ω)[0]) <= MET
        if close and not any(abs(ω - other) <= 1e-9 * ω for other in frequencies):
            frequencies.append(ω)
    return frequencies
