"""Points in the unit cube, chunk by chunk.

A chunk is a fixed number of samples that depends only on the seed and on its index: it can be
generated anywhere, at any time, and the first samples of a longer study are those of a shorter one.

    random           independent points
    latin-hypercube  each chunk is a Latin hypercube: each of n equal intervals of a parameter
                     contains one of the n samples
    sobol            32 Sobol sequences, scrambled independently; chunk k continues sequence
                     k mod 32

The latter two fill the cube more evenly, but a single such set of points has no error estimate.
Independent sets have one: chunk k belongs to replicate k mod 32, and the error follows from the
differences of replicates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

REPLICATES = 32
"""Number of replicates. Means of a hypercube over a curved objective are skewed (its outermost
strata dominate), and Student's interval of a few such means is too short: in 1,000 studies of a
quadratic, 16 replicates covered 90 to 92 %, 32 cover 93 to 95 % with intervals 1.4 times as wide;
64 gain little more. tools/verify/verify_coverage.py has the table.
"""
ROUND = 16
"""Minimum number of chunks of random samples, for several cores; and number of chunks between two
comparisons with a target.
"""
USUAL, LARGEST, CHUNKS = 1 << 10, 1 << 13, 1 << 7
"""Samples of a chunk for many samples; for very many samples; and the number of chunks from which
the latter applies, because each chunk takes some tenths of a millisecond.
"""
VALUES, LEAST = 1 << 22, 16
"""Maximum number of values (samples × times × objectives) of a chunk, which limits memory; and
minimum number of its samples.
"""
EARLY = 1 << 8
"""Maximum number of samples of a chunk if there is a target, which is compared after whole rounds
of chunks.
"""
SOBOL_BITS = 30
"""Bits of Sobol points, the default of SciPy: 2³⁰ points for each sequence."""
SMALLEST_POINT = 2.0**-54
"""Smallest coordinate: a normal variable would be infinite at 0."""


@dataclass(frozen=True)
class Sampling:
    """Sampling method of a study."""

    kind: str
    seed: int
    size: int
    """Number of samples of a chunk."""
    dimension: int
    """Number of varying parameters."""

    @property
    def replicates(self) -> int:
        """Number of independent parts whose differences estimate errors; 1 for independent
        samples.
        """
        return 1 if self.kind == "random" else REPLICATES

    @cached_property
    def sequences(self) -> dict[int, Any]:
        """Sobol sequences at their current positions: continuing is faster than skipping."""
        return {}

    def sequence(self, replicate: int) -> Any:
        """The Sobol sequence of a replicate, at its first point."""
        from scipy.stats.qmc import Sobol

        return Sobol(self.dimension, bits=SOBOL_BITS, seed=stream(self.seed, replicate))

    def points(self, chunk: int) -> np.ndarray:
        """All points of a chunk, (sample, parameter), inside the cube."""
        return np.maximum(KINDS[self.kind](self, chunk), SMALLEST_POINT)


def chunk_size(kind: str, samples: int, columns: int, *, target: bool = False) -> int:
    """Default number of samples of a chunk, for a number of columns (times × objectives).

    The size gives all replicates and cores a share and limits memory. It is a power of two, as
    Sobol sequences need; for Latin hypercubes it leaves few samples over, because a part of a
    hypercube is not evenly distributed.
    """
    many = min(
        EARLY if target else LARGEST, max(USUAL, samples // CHUNKS), max(LEAST, VALUES // columns)
    )
    if kind == "latin-hypercube":
        rounds = -(-samples // (REPLICATES * many))
        return max(1, samples // (REPLICATES * rounds))
    parts = REPLICATES if kind == "sobol" else ROUND
    return 1 << (max(1, min(samples // parts, many)).bit_length() - 1)


def stream(seed: int, number: int) -> np.random.Generator:
    """Random number generator of a chunk or a replicate."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(number,))))


def _random(s: Sampling, chunk: int) -> np.ndarray:
    return stream(s.seed, chunk).random((s.size, s.dimension))


def _latin_hypercube(s: Sampling, chunk: int) -> np.ndarray:
    rng = stream(s.seed, chunk)
    intervals = rng.permuted(np.tile(np.arange(s.size), (s.dimension, 1)), axis=1).T
    return np.asarray((intervals + rng.random((s.size, s.dimension))) / s.size)


def _sobol(s: Sampling, chunk: int) -> np.ndarray:
    turn, replicate = divmod(chunk, REPLICATES)
    sequence = s.sequences.get(replicate)
    if sequence is None or sequence.num_generated != turn * s.size:
        sequence = s.sequences[replicate] = s.sequence(replicate)
        if turn:
            sequence.fast_forward(turn * s.size)
    # shift to the middle of the interval that these bits represent
    return np.asarray(sequence.random(s.size)) + 2.0 ** -(SOBOL_BITS + 1)


KINDS = {"random": _random, "latin-hypercube": _latin_hypercube, "sobol": _sobol}
