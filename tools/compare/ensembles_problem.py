"""What the comparison of ensembles asks for, in plain numbers. Needs NumPy only: it runs in both
environments.

Five-bar, 5 s, ψ¹ at the end; all five parameters vary, independently and uniformly, by ±1 %.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

import numpy as np
from problem import NOMINAL

GOAL = 2e-5
"""Largest relative error of ψ¹."""
HALF_WIDTH = 0.01
"""Largest relative distance of a parameter from its nominal value."""
TESTED = 200
"""Samples on which the error is measured."""


def samples(count: int) -> np.ndarray:
    """Values of Ls1, Ls2, m_A1, xG_A1, L_A1, a row a sample; the first ones of more
    are the same.
    """
    return NOMINAL * (
        1 + HALF_WIDTH * np.random.default_rng(8).uniform(-1, 1, (count, NOMINAL.size))
    )


@dataclass
class Throughput:
    """Runs per second of one engine with one setting."""

    engine: str
    how: str
    setting: str
    error: float
    workers: str
    runs: int
    seconds: float
    operations: float | None = None
    """Scalar operations of a run, where they can be counted."""


def report(
    throughputs: Callable[[np.ndarray], Iterable[Throughput]], versions: dict[str, str]
) -> None:
    """Read ψ¹ of the tested samples from the standard input, and print throughputs and versions."""
    exact = np.array(json.load(sys.stdin)["exact"])
    computed = [asdict(t) for t in throughputs(exact)]
    print(json.dumps({"throughputs": computed, "versions": versions}))
