"""Convergence of Markov chains: R̂ and effective sample sizes of split, rank-normalised chains
(Vehtari, Gelman, Simpson, Carpenter and Bürkner, Bayesian Analysis 16 (2021) 667).

R̂² = ((n − 1) W/n + B/n) / W,    ESS = m n / (1 + 2 Σ ρ_t)

with m chains of n draws, W the mean variance within chains and B/n that of their means; the sum
ends where pairs of autocorrelations turn negative, and never increases (Geyer).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TAILS = (0.05, 0.95)
"""Quantiles whose effective sample size is that of the tails, as in the paper."""
MOST_R_HAT, LEAST_ESS = 1.01, 400
"""R̂ above which, and effective samples below which, chains are not reliable: recommendations of the
paper (for four chains).
"""


@dataclass(frozen=True, eq=False)
class Convergence:
    """Diagnostics of each parameter."""

    r_hat: np.ndarray
    ess_bulk: np.ndarray
    ess_tail: np.ndarray


def convergence(samples: np.ndarray) -> Convergence:
    """Diagnostics of samples, (chain, draw, parameter)."""
    columns = [_split(samples[:, :, k]) for k in range(samples.shape[2])]
    r_hat = [max(_r_hat(_ranked(c)), _r_hat(_ranked(np.abs(c - np.median(c))))) for c in columns]
    bulk = [effective_samples(_ranked(c)) for c in columns]
    tail = [
        min(effective_samples((c <= np.quantile(c, p)).astype(float)) for p in TAILS)
        for c in columns
    ]
    return Convergence(np.array(r_hat), np.array(bulk), np.array(tail))


def effective_samples(x: np.ndarray) -> float:
    """Effective sample size of the mean of (chain, draw)."""
    m, n = x.shape
    d = x - x.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(d, 2 * n, axis=1)
    autocovariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :n] / n
    within = autocovariance[:, 0].mean() * n / (n - 1)
    total = within * (n - 1) / n + (x.mean(axis=1).var(ddof=1) if m > 1 else 0.0)
    if total <= 0:
        return float(m * n)
    ρ = 1 - (within - autocovariance.mean(axis=0)) / total
    ρ[0] = 1.0
    pairs = ρ[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    end = int(np.argmax(pairs < 0)) if (pairs < 0).any() else pairs.size
    τ = -1 + 2 * np.minimum.accumulate(pairs[:end]).sum() if end else 1.0
    return float(m * n / max(τ, 1 / np.log10(m * n)))


def _split(x: np.ndarray) -> np.ndarray:
    """Halves of chains as chains of their own: (chain, draw)."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _ranked(x: np.ndarray) -> np.ndarray:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    return ndtri((rankdata(x).reshape(x.shape) - 0.375) / (x.size + 0.25))


def _r_hat(x: np.ndarray) -> float:
    if not np.ptp(x, axis=1).any():  # chains that do not move have not converged, unless they agree
        return np.inf if np.ptp(x) > 0 else 1.0
    n = x.shape[1]
    within, between = x.var(axis=1, ddof=1).mean(), x.mean(axis=1).var(ddof=1)
    return float(np.sqrt((n - 1) / n + between / within))
