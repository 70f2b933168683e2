"""Certify random problems with known gradients, and compare the certificates with the true values.

    python tools/verify/certify_random.py --count 240

Prints a table by family. A certificate overclaims if a trusted derivative has fewer correct digits
of the true motion than claimed, by more than one, or if a derivative called zero exceeds its bound.
A correct derivative has at least one digit more than wanted. Exit code 1 if any certificate
overclaims, or if 2 % of the correct derivatives are not trusted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from acceptance import Figure
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))
from certificate_problems import Problem, problems

import varimech as vm

WANTED = 3.0
RESOLVED = 10.0
"""Digits that the truth itself is known to."""
COUNT, SEED = 240, 0


@dataclass(frozen=True)
class Outcome:
    """What is claimed of one derivative, and what is true."""

    family: str
    status: str
    reason: str
    claimed: float
    """Digits of the true motion; NaN for a zero."""
    true: float
    beyond: bool
    """Whether the claim is beyond the truth by more than a digit."""

    @property
    def right(self) -> bool:
        return self.true >= WANTED + 1

    @property
    def trusted(self) -> bool:
        return self.status != "not trusted"


def outcomes(problem: Problem) -> Iterator[Outcome]:
    """Those of all derivatives of a problem."""
    certificate, exact = problem.computed().certify(wanted=WANTED), problem.exact()
    for p, truth in enumerate(exact):
        status, error = str(certificate.status[0, p]), abs(certificate.gradient[0, p] - truth)
        true = (
            float(np.clip(-np.log10(error / abs(truth)), 0, RESOLVED))
            if truth and error
            else RESOLVED
        )
        claimed = float(certificate.digit_array[1, 0, p])
        beyond = (
            abs(truth) > 10 * certificate.errors[1, 0, p]
            if np.isnan(claimed)
            else min(claimed, RESOLVED) > true + 1
        )
        trusted = status != "not trusted"
        yield Outcome(
            problem.family,
            status,
            str(certificate.reason[0, p]),
            claimed,
            true,
            bool(trusted and beyond),
        )


def table_of(computed: list[Outcome]) -> tuple[list[str], list[list[str]]]:
    """Head and rows, by family and in all."""
    head = [
        "family",
        "derivatives",
        "correct",
        "of these trusted",
        "wrong",
        "of these trusted",
        "overclaimed",
        "median digits claimed / true",
    ]
    rows = []
    for family in [*dict.fromkeys(o.family for o in computed), "all"]:
        own = [o for o in computed if family in (o.family, "all")]
        right, wrong = [o for o in own if o.right], [o for o in own if o.true < WANTED - 1]
        digits = [(o.claimed, o.true) for o in own if o.trusted and np.isfinite(o.claimed)]
        claimed, true = np.median(digits, axis=0) if digits else (np.nan, np.nan)
        counts = [
            len(own),
            len(right),
            sum(o.trusted for o in right),
            len(wrong),
            sum(o.trusted for o in wrong),
            sum(o.beyond for o in own),
        ]
        rows.append([family, *map(str, counts), f"{claimed:.1f} / {true:.1f}"])
    return head, rows


def judged(count: int, seed: int, console: Console | None = None) -> list[Outcome]:
    """Certificates of random problems; what is wrong with them is printed."""
    results: list[Outcome] = []
    for k, problem in enumerate(problems(count, seed)):
        began = time.perf_counter()
        try:
            own = list(outcomes(problem))
        except vm.VarimechError as error:
            if console is not None:
                console.print(f"{k:4} {problem.family}: refused, {str(error)[:200]}")
            continue
        results += own
        for o in own:
            if console is not None and (o.beyond or (o.right and not o.trusted)):
                what = "overclaimed" if o.beyond else "correct, but distrusted"
                console.print(f"{k:4} {problem.family} {problem.how} {problem.values}: {what}: {o}")
        if console is not None and time.perf_counter() - began > 20:
            console.print(
                f"{k:4} {problem.family} {problem.how}: {time.perf_counter() - began:.0f} s"
            )
    return results


def certificates_of_random_problems() -> Iterator[Figure]:
    """Certificates of gradients for 240 random problems with known gradients."""
    computed = judged(COUNT, SEED)
    right = [o for o in computed if o.right]
    yield Figure(
        "number of derivatives with a known value",
        len(computed),
        200,
        at_least=True,
        shown="{:.0f}",
    )
    yield Figure(
        "trusted derivatives whose error exceeds the certified error by more than one digit",
        sum(o.beyond for o in computed),
        0,
        shown="{:.0f}",
    )
    yield Figure(
        "share of correct derivatives that are not trusted",
        sum(not o.trusted for o in right) / len(right),
        0.02,
        shown="{:.1%}",
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    console = Console(width=150, highlight=False)
    computed = judged(given.count, given.seed, console)
    head, rows = table_of(computed)
    table = Table(*head)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    right = [o for o in computed if o.right]
    return int(
        any(o.beyond for o in computed) or sum(not o.trusted for o in right) >= 0.02 * len(right)
    )


if __name__ == "__main__":
    sys.exit(main())
