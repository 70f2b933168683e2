"""Acceptance figures of confidence intervals: how often 95 % intervals of 1,000 studies hold the
true mean.

`python tools/verify/verify_coverage.py` prints the whole table, for all kinds of sampling.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from acceptance import Figure

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

STUDIES = 1000
SAMPLES = (256, 1000, 4096)


def intervals_of_hypercubes() -> Iterator[Figure]:
    """Coverage of confidence intervals of Latin hypercubes, with and without control variates, for smooth and quadratic objectives."""
    from interval_coverage import covered

    for samples in SAMPLES:
        worst = max(
            abs(share - 0.95)
            for shares in covered("latin-hypercube", samples, STUDIES).values()
            for share in shares
        )
        yield Figure(
            f"hypercubes of {samples:,} samples: difference of the coverage from 95 %",
            worst,
            0.02,
            shown="{:.1%}",
        )


def main() -> None:
    """Print the table."""
    from interval_coverage import OBJECTIVES, covered

    print("| sampling | samples |", " | ".join(f"{n} | {n}, control" for n in OBJECTIVES), "|")
    print("|---" * (2 + 2 * len(OBJECTIVES)) + "|")
    for kind in ("random", "latin-hypercube", "sobol"):
        for samples in SAMPLES:
            shares = [
                f"{100 * share:.1f}"
                for pair in covered(kind, samples, STUDIES).values()
                for share in pair
            ]
            print(f"| {kind} | {samples} |", " | ".join(shares), "|", flush=True)


if __name__ == "__main__":
    main()
