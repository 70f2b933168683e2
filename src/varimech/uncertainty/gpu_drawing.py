"""Samples drawn on a GPU: the same numbers that `Drawing` draws on the CPU, so that a study has
identical samples on any machine.

Random and Sobol points are computed on the GPU (draw.cu), Latin hypercubes on the CPU, because
their permutations are drawn one after the other. Distributions are applied on the GPU by inverse
transform if their quantiles are elementary functions; others by SciPy, on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .drawing import Drawing, Drawn
from .marginals import Marginal, Normal, Other
from .parameter_distributions import ParameterDistributions
from .sampling import REPLICATES, SMALLEST_POINT, SOBOL_BITS, Sampling, stream

THREADS = 256
"""Threads of a block; drawing takes a few per cent of the time of the runs."""

Quantiles = Callable[[Any, Any], Any]
"""(probabilities, GPU module) → quantiles"""
STANDARD: dict[str, Callable[..., Any]] = {
    "uniform": lambda u, xp: u,
    "expon": lambda u, xp: -xp.log1p(-u),
    "weibull_min": lambda u, xp, c: (-xp.log1p(-u)) ** (1.0 / c),
    "rayleigh": lambda u, xp: xp.sqrt(-2 * xp.log1p(-u)),
    "gumbel_r": lambda u, xp: -xp.log(-xp.log(u)),
    "gumbel_l": lambda u, xp: xp.log(-xp.log1p(-u)),
    "logistic": lambda u, xp: xp.log(u) - xp.log1p(-u),
    "lognorm": lambda u, xp, s: xp.exp(s * _ndtri(u, xp)),
    "triang": lambda u, xp, c: xp.where(u < c, xp.sqrt(c * u), 1 - xp.sqrt((1 - c) * (1 - u))),
}
"""Quantile functions of distributions of scipy.stats with loc = 0 and scale = 1."""


class GpuDrawing:
    """Draws the samples of a study on a GPU.

    Args:
        drawing: drawing of the same samples on the CPU.
    """

    def __init__(self, drawing: Drawing):
        import cupy

        self._xp, self.drawing = cupy, drawing
        text = Path(__file__).with_name("draw.cu").read_text(encoding="utf-8")
        options = ("-std=c++17", "--device-as-default-execution-space", "-w")
        module = cupy.RawModule(code=text, backend="nvrtc", options=options)
        kernels = {"random": "vm_draw_random", "sobol": "vm_draw_sobol"}
        name = kernels.get(drawing.sampling.kind)
        self._kernel = None if name is None else module.get_function(name)
        self._quantiles = quantiles_of(drawing.distributions)
        self._sequences: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def rows(self, chunks: Sequence[Drawn]) -> Any:
        """Values of all parameters for the samples of chunks, on the GPU."""
        xp, d = self._xp, self.drawing.distributions
        if self._quantiles is None:
            return xp.asarray(np.concatenate([each.rows for each in chunks]))
        values = self._quantiles(self._points(chunks), xp)
        rows = xp.empty((len(values), self.drawing.base.size))
        rows[:] = xp.asarray(np.asarray(self.drawing.base, dtype=float))
        rows[:, d.indices] = values
        return rows

    def _points(self, chunks: Sequence[Drawn]) -> Any:
        """Points in the unit cube, (sample, parameter)."""
        xp, s = self._xp, self.drawing.sampling
        if self._kernel is None:
            points = [s.points(each.number)[each.begin : each.end] for each in chunks]
            return xp.asarray(np.concatenate(points))
        sizes = [len(each) for each in chunks]
        count, points = sum(sizes), xp.empty((sum(sizes), s.dimension))
        arrays = {
            "firsts": np.cumsum([0, *sizes[:-1]]),
            **(self._keys(chunks) if s.kind == "random" else self._directions(chunks)),
        }
        there = {name: xp.asarray(array) for name, array in arrays.items()}
        fields = RANDOM_JOB if s.kind == "random" else SOBOL_JOB
        job = np.zeros((), dtype=np.dtype(fields, align=True))
        for name, array in {**there, "points": points}.items():
            job[name] = array.data.ptr
        job["chunks"], job["width"] = len(chunks), s.dimension
        if s.kind == "sobol":
            job["bits"] = SOBOL_BITS
        record = xp.asarray(np.frombuffer(job.tobytes(), dtype=np.uint8))
        self._kernel((-(-count // THREADS),), (THREADS,), (record, np.int64(count)))
        return xp.maximum(points, SMALLEST_POINT)

    def _keys(self, chunks: Sequence[Drawn]) -> dict[str, np.ndarray]:
        """Keys of the random streams of chunks, and the rows at which the chunks start."""
        seed = self.drawing.sampling.seed
        states = [stream(seed, each.number).bit_generator.state["state"] for each in chunks]
        return {
            "keys": np.array([state["key"] for state in states], dtype=np.uint64),
            "begins": np.array([each.begin for each in chunks]),
        }

    def _directions(self, chunks: Sequence[Drawn]) -> dict[str, np.ndarray]:
        """Scrambled direction numbers and shifts of the sequences, and the index of the first point
        of each chunk.
        """
        size = self.drawing.sampling.size
        turns, replicates = zip(*[divmod(each.number, REPLICATES) for each in chunks], strict=True)
        parts = [self._sequence(k) for k in replicates]
        return {
            "directions": np.array([directions for directions, _ in parts], dtype=np.uint64),
            "shifts": np.array([shift for _, shift in parts], dtype=np.uint64),
            "numbers": np.array([t * size for t in turns]) + [each.begin for each in chunks],
        }

    def _sequence(self, replicate: int) -> tuple[np.ndarray, np.ndarray]:
        if replicate not in self._sequences:
            self._sequences[replicate] = directions_of(self.drawing.sampling, replicate)
        return self._sequences[replicate]


RANDOM_JOB = [
    *((name, np.uint64) for name in ("keys", "begins", "firsts", "points")),
    *((name, np.int64) for name in ("chunks", "width")),
]
SOBOL_JOB = [
    *((name, np.uint64) for name in ("directions", "shifts", "numbers", "firsts", "points")),
    *((name, np.int64) for name in ("chunks", "width", "bits")),
]
"""Record types of draw.cu."""


def directions_of(s: Sampling, replicate: int) -> tuple[np.ndarray, np.ndarray]:
    """Direction numbers (parameter, bit) and shift (parameter) of a scrambled Sobol sequence: its
    point n is the XOR of the shift and of the directions of the bits of n XOR ⌊n/2⌋.
    """
    sequence = s.sequence(replicate)
    return np.asarray(sequence._sv), np.asarray(sequence._shift)


def quantiles_of(d: ParameterDistributions) -> Quantiles | None:
    """Quantile functions of all parameters on a GPU; None if one is available in SciPy only, or if
    parameters that are not normal are correlated.
    """
    if d.normal:
        return lambda u, xp: _normal(d, _ndtri(u, xp), xp)
    if not d.independent:
        return None
    each = [_quantile_of(m) for m in d.marginals]
    if any(q is None for q in each):
        return None

    def all_of_them(u: Any, xp: Any) -> Any:
        return xp.stack([q(u[:, k], xp) for k, q in enumerate(each) if q is not None], axis=1)

    return all_of_them


def _quantile_of(m: Marginal) -> Quantiles | None:
    if isinstance(m, Normal):
        return lambda u, xp: m.mean + m.sigma * _ndtri(u, xp)
    assert isinstance(m, Other)
    frozen = m.distribution
    standard = STANDARD.get(getattr(getattr(frozen, "dist", None), "name", ""))
    if standard is None:
        return None
    shapes, loc, scale = frozen.dist._parse_args(*frozen.args, **frozen.kwds)
    return lambda u, xp: loc + scale * standard(u, xp, *map(float, shapes))


def _normal(d: ParameterDistributions, z: Any, xp: Any) -> Any:
    """Correlated normal values for independent standard normal ones."""
    if not d.independent:
        z = z @ xp.asarray(d.root.T)
    return xp.asarray(d.mean) + xp.asarray(d.sigma) * z


def _ndtri(u: Any, xp: Any) -> Any:
    """Quantiles of the standard normal distribution."""
    try:
        from cupyx.scipy.special import ndtri
    except ImportError:  # a stand-in of CuPy, for tests
        from scipy.special import ndtri
    return xp.asarray(ndtri(u))
