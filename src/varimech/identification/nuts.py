"""Sampling of a posterior by the No-U-Turn Sampler of BlackJAX (Hoffman and Gelman, J. Mach. Learn.
Res. 15 (2014) 1593): all chains in parallel, with gradients by runs as vectors of samples.

Chains move in unbounded coordinates z, preconditioned by the curvature H at the mode:

    x = x(u),    u = u₀ + T z,    T Tᵀ = (∂xᵀ/∂u H ∂x/∂u + B)⁻¹,    B = 1 where a parameter has bounds

with x = l + (h − l)/(1 + e^(−u)) between two bounds, x = l + e^u or h − e^u at one, and x = u
without bounds. The metric is re-estimated from the draws of all chains in the warm-up.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from typing import Any

import numpy as np

from ..core.errors import ModelError
from .log_posterior import Expansion, LogPosterior

ACCEPTED = 0.8
"""Target acceptance of the step size, as usual for NUTS (Hoffman and Gelman)."""
DEEPEST = 8
"""Largest number of doublings of a trajectory: 255 runs. In coordinates preconditioned by the
curvature, trajectories take about 3 to 15.
"""
SHARES = (0.2, 0.6)
"""Fractions of the warm-up after which the metric is estimated from the draws since the previous
fraction; round values.
"""
FARTHEST = 1e4
"""Largest distance from the mode, in standard deviations: beyond it, numbers overflow."""
FIRST_STEP = 0.5
"""Initial step size, in standard deviations."""
TRIES = 20
"""Number of initial points of a chain that are tried."""
LEAST_DRAWS = 10
"""Smallest number of draws of each chain for which an interrupted study keeps them."""


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws of all chains."""

    x: np.ndarray
    """(chain, draw, parameter)"""
    s: np.ndarray
    """(chain, draw): logarithm of the noise."""
    divergences: int
    acceptance: float
    interrupted: bool = False


class Coordinates:
    """Unbounded coordinates z of parameters within bounds, and of s."""

    def __init__(self, log: LogPosterior, mode: Expansion, s: float):
        self.log = log
        low, high = log.prior.lower, log.prior.upper
        self._low, self._high = np.isfinite(low), np.isfinite(high)
        both = self._low & self._high
        width = np.where(both, high - low, 1.0)
        # for a mode at a bound, a point that the chain can leave
        x = np.where(both, np.clip(mode.x, low + 0.01 * width, high - 0.01 * width), mode.x)
        nearest = 0.01 * log.space.sizes
        x = np.where(self._low & ~both, np.maximum(x, low + nearest), x)
        x = np.where(self._high & ~both, np.minimum(x, high - nearest), x)
        self._centre = self._u(x)
        dx = self._x(self._centre[None])[1][0]
        precision = mode.hessian(s) * np.outer(dx, dx) + np.diag((self._low | self._high) * 1.0)
        values, vectors = np.linalg.eigh(precision)
        values = np.maximum(values, 1e-10 * values.max())
        self._root = vectors / np.sqrt(values)
        self._s, self._s_root = s, 1 / np.sqrt(2 * log.count)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self._centre.size + (not self.log.noise_known)

    def place(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Parameters x, (row, parameter), and s, (row), for coordinates z."""
        d = self._centre.size
        x = self._x(self._centre + z[:, :d] @ self._root.T)[0]
        s = np.zeros(len(z)) if self.log.noise_known else self._s + self._s_root * z[:, d]
        return x, s

    def density(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log density of z, and its gradient: (row), (row, coordinate)."""
        d = self._centre.size
        value, gradient = np.full(len(z), -np.inf), np.zeros(z.shape)
        near = np.flatnonzero(np.isfinite(z).all(axis=1) & (np.abs(z) < FARTHEST).all(axis=1))
        if not near.size:
            return value, gradient
        u = self._centre + z[near, :d] @ self._root.T
        x, dx, logs, dlogs = self._x(u)
        s = self.place(z[near])[1]
        U, gx, gs = self.log.values(x, s)
        value[near] = logs.sum(axis=1) - U
        gradient[near, :d] = (dlogs - gx * dx) @ self._root
        if not self.log.noise_known:
            gradient[near, d] = -gs * self._s_root
        lost = ~np.isfinite(value)
        value[lost], gradient[lost] = -np.inf, 0.0
        return value, gradient

    def _u(self, x: np.ndarray) -> np.ndarray:
        low, high = self.log.prior.lower, self.log.prior.upper
        with np.errstate(divide="ignore", invalid="ignore"):
            between = np.log(x - low) - np.log(high - x)
            return np.select(
                [self._low & self._high, self._low, self._high],
                [between, np.log(x - low), np.log(high - x)],
                x,
            )

    def _x(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """x, dx/du, log |dx/du| and its derivative, (row, parameter) each."""
        from scipy.special import expit, log_expit

        low, high = self.log.prior.lower, self.log.prior.upper
        kinds = [self._low & self._high, self._low, self._high]
        with np.errstate(over="ignore", invalid="ignore"):
            e, share, width = np.exp(u), expit(u), high - low
            x = np.select(kinds, [low + width * share, low + e, high - e], u)
            dx = np.select(kinds, [width * share * (1 - share), e, -e], np.ones(u.shape))
            both = np.log(np.where(kinds[0], width, 1.0)) + log_expit(u) + log_expit(-u)
            logs = np.select(kinds, [both, u, u], np.zeros(u.shape))
            log_derivatives = np.select(kinds, [1 - 2 * share, 1.0, 1.0], np.zeros(u.shape))
        return np.clip(x, low, high), dx, logs, log_derivatives


def nuts(
    coordinates: Coordinates,
    chains: int,
    warmup: int,
    draws: int,
    seed: int,
    report: Callable[..., None],
) -> Chains:
    """Draw from a posterior.

    Args:
        coordinates: unbounded coordinates of the posterior.
        chains: number of chains, all run at once.
        warmup: transitions of each chain that are discarded.
        draws: transitions of each chain that are kept.
        seed: of the random numbers.
        report: called with the number of completed transitions, and a note.

    Raises:
        ModelError: if no initial points are found at which the mechanism runs.
    """
    kept, divergent, accepted = list[np.ndarray](), 0, 0.0
    interrupted = False
    with _double_precision(), _opened(coordinates) as number:
        sampler = _Sampler(coordinates, number, chains, seed)
        sampler.warm_up(warmup, report)
        try:
            for k in range(draws):
                z, divergences, acceptance = sampler.transition()
                kept.append(z)
                divergent += divergences
                accepted += acceptance
                report(warmup + k + 1, f"draw {k + 1}, {divergent} divergences")
        except KeyboardInterrupt:
            if len(kept) < LEAST_DRAWS:
                raise
            interrupted = True
    z = np.swapaxes(np.array(kept), 0, 1)
    x, s = coordinates.place(z.reshape(-1, z.shape[-1]))
    return Chains(
        x.reshape(*z.shape[:2], -1),
        s.reshape(z.shape[:2]),
        divergent,
        accepted / len(kept),
        interrupted,
    )


@contextmanager
def _double_precision() -> Iterator[None]:
    """Enable double precision in JAX; for the whole process, because callbacks run in threads of
    JAX.
    """
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


class _Sampler:
    """The chains and their metric."""

    def __init__(self, coordinates: Coordinates, number: float, chains: int, seed: int):
        import jax

        self._of = coordinates
        self._rng = np.random.default_rng([seed, 3])
        self._key = jax.random.PRNGKey(seed)
        self._size = FIRST_STEP
        self._covariance = np.eye(coordinates.size)
        self._number = number
        self._kernel, init = _kernels()
        self._state = init(number, self._starts(chains))

    def warm_up(self, count: int, report: Callable[..., None]) -> None:
        """Adapt step size and metric."""
        ends = [int(share * count) for share in SHARES]
        steps, since = _StepSize(self._size), list[np.ndarray]()
        for k in range(count):
            z, _, acceptance = self.transition()
            self._size = steps.after(acceptance)
            since.append(z)
            report(k + 1, "warm-up")
            if k + 1 in ends:
                self._covariance = _covariance(np.array(since))
                steps, since = _StepSize(self._size), []
        self._size = steps.mean

    def transition(self) -> tuple[np.ndarray, int, float]:
        """One transition of all chains: positions, divergences and the mean acceptance."""
        import jax

        self._key, key = jax.random.split(self._key)
        self._state, info = self._kernel(
            self._number, key, self._state, self._size, self._covariance
        )
        z = np.asarray(self._state.position)
        return z, int(info.is_divergent.sum()), float(info.acceptance_rate.mean())

    def _starts(self, chains: int) -> np.ndarray:
        """Initial points about the mode, on average one standard deviation away."""
        z = self._rng.standard_normal((chains, self._of.size))
        for attempt in range(TRIES):
            lost = ~np.isfinite(self._of.density(z)[0])
            if not lost.any():
                return z
            # closer to the mode at each attempt
            z[lost] = self._rng.standard_normal((lost.sum(), self._of.size)) / (attempt + 2)
        raise ModelError(
            "chains find no start near the most probable parameters where the mechanism runs",
            element="posterior",
            remedy="give bounds within which it runs, or informative priors",
        )


class _StepSize:
    """Step size by dual averaging (Hoffman and Gelman, algorithm 5, with their constants)."""

    def __init__(self, size: float):
        self._centre, self._error, self._count = np.log(10 * size), 0.0, 0
        self._mean = 0.0

    def after(self, acceptance: float) -> float:
        """Update with an acceptance; return the next step size."""
        self._count += 1
        k = self._count
        self._error += (ACCEPTED - acceptance - self._error) / (k + 10)
        size = self._centre - np.sqrt(k) / 0.05 * self._error
        share = k**-0.75
        self._mean = share * size + (1 - share) * self._mean
        return float(np.exp(size))

    @property
    def mean(self) -> float:
        """The averaged step size."""
        return float(np.exp(self._mean))


def _covariance(z: np.ndarray) -> np.ndarray:
    """Covariance of draws of all chains, (draw, chain, coordinate), shrunk towards 1 as in Stan."""
    flat = z.reshape(-1, z.shape[-1])
    n = len(flat)
    sample_covariance = np.atleast_2d(np.cov(flat.T)) if n > 1 else np.eye(z.shape[-1])
    return n / (n + 5) * sample_covariance + 5 / (n + 5) * np.eye(z.shape[-1])


_open: dict[int, Coordinates] = {}
"""Posteriors that are being sampled, by number: the compiled kernel is the same for all of them."""


@contextmanager
def _opened(coordinates: Coordinates) -> Iterator[float]:
    """Register a posterior under a number, by which the kernel refers to it."""
    number = next(_numbers)
    _open[number] = coordinates
    try:
        yield float(number)
    finally:
        del _open[number]


_numbers = count()


def _density(number: Any, z: Any) -> tuple[np.ndarray, np.ndarray]:
    """Log density and gradient, for callbacks."""
    coordinates, z = _open[int(np.ravel(number)[0])], np.asarray(z, dtype=float)
    value, gradient = coordinates.density(z.reshape(-1, coordinates.size))
    return value.reshape(z.shape[:-1]), gradient.reshape(z.shape)


@cache
def _kernels() -> tuple[Any, Any]:
    """(number, key, states, step size, metric) → (states, information) of all chains; and (number,
    positions) → their initial states. Compiled once for each number of chains and coordinates.
    """
    import jax

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of other packages that it imports
        import blackjax

    def called(number: Any, z: Any) -> Any:
        shapes = [jax.ShapeDtypeStruct(shape, z.dtype) for shape in (z.shape[:-1], z.shape)]
        return jax.pure_callback(_density, tuple(shapes), number, z, vmap_method="expand_dims")

    @jax.custom_vjp
    def log_density(number: Any, z: Any) -> Any:
        return called(number, z)[0]

    log_density.defvjp(called, lambda gradient, w: (0.0, w * gradient))
    transition = blackjax.nuts.build_kernel()

    @jax.jit
    def all_chains(number: Any, key: Any, states: Any, size: Any, covariance: Any) -> Any:
        def one(key: Any, state: Any) -> Any:
            density = lambda z: log_density(number, z)  # noqa: E731
            return transition(key, state, density, size, covariance, DEEPEST)

        return jax.vmap(one)(jax.random.split(key, states.position.shape[0]), states)

    @jax.jit
    def init(number: Any, z: Any) -> Any:
        return jax.vmap(lambda each: blackjax.nuts.init(each, partial(log_density, number)))(z)

    return all_chains, init
