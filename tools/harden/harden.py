"""Thousands of random mechanisms by random derivative methods: each agrees, or is refused by name.

    python tools/harden/harden.py --count 5000
    python tools/harden/harden.py --count 200 --element cam --largest 2

Mechanisms are made by Hypothesis (`tests/support/random_recipes.py`) and checked in a process of
their own (`tests/support/random_derivative_checks.py`), which is ended where one takes too long.
What is found is written to a folder, a line a mechanism; faults come with the recipe to repeat
them:

    python tools/harden/harden.py --again "Recipe(…)"      # with what it is reduced to
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing as mp
import sys
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))
import random_recipes
from random_recipes import PLANAR, Recipe, recipes, smaller, with_element

CHUNK = 50
"""Recipes that are drawn at a time."""
COMPILED = 8
"""Of so many mechanisms, one is compiled, if it is small."""
HANGS = "took too long"


def drawn(seed: int, largest: int, element: str | None) -> Iterator[Recipe]:
    """Recipes without end, all with an element if it is named; Hypothesis varies each in many ways, of
    which two are kept.
    """
    for chunk in itertools.count(seed):
        alike: Counter[object] = Counter()
        for recipe in _chunk(chunk, largest):
            if element in PLANAR and recipe.dimension == 3:
                continue
            alike[recipe.parts] += 1
            if alike[recipe.parts] <= 2:
                yield with_element(recipe, element) if element else recipe


def _chunk(seed: int, largest: int) -> list[Recipe]:
    results: list[Recipe] = []

    @seeded(seed)
    @settings(
        max_examples=CHUNK,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(recipes(largest))
    def draw(recipe: Recipe) -> None:
        results.append(recipe)

    draw()
    return results


def work(ends: Connection) -> None:
    """Check recipes that come through a pipe, until None does."""
    import warnings

    from random_derivative_checks import check

    warnings.simplefilter("error")
    while (task := ends.recv()) is not None:
        recipe, compiled = task
        try:
            options, outcomes = check(recipe, compiled=compiled)
            ends.send(
                (
                    options,
                    [(str(o.derivative_check), o.verdict, o.message, o.kind) for o in outcomes],
                )
            )
        except Exception as error:
            ends.send(
                ([], [("build", "fault", f"{type(error).__name__}: {error}", type(error).__name__)])
            )


class Worker:
    """A process that checks recipes, one at a time."""

    def __init__(self, limit: float):
        self.limit = limit
        self._begin()

    def _begin(self) -> None:
        self.ends, other = mp.Pipe()
        self.process = mp.get_context("spawn").Process(target=work, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.waiting: tuple[int, Recipe] | None = None
        self.since = 0.0

    def give(self, number: int, recipe: Recipe) -> None:
        self.waiting, self.since = (number, recipe), time.monotonic()
        self.ends.send((recipe, number % COMPILED == 0))

    def result(self, wait: float) -> Any:
        """What was found, if it has been by then; a process that ended or takes too long is
        replaced.
        """
        try:
            if self.ends.poll(wait):
                return self.ends.recv()
        except EOFError:
            return self._replaced(f"the process ended with exit code {self.process.exitcode}")
        if time.monotonic() - self.since > self.limit:
            return self._replaced(HANGS)
        return None

    def _replaced(self, why: str) -> Any:
        waiting = self.waiting
        self.process.kill()
        self.process.join()
        self._begin()
        self.waiting = waiting
        return [], [("any", "fault", why, why)]


class Accumulator:
    """What came of all mechanisms."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / "mechanisms.jsonl").open("a")
        self.count = 0
        self.sizes: Counter[str] = Counter()
        self.words: Counter[str] = Counter()
        self.derivative_checks: Counter[tuple[str, str]] = Counter()
        self.refusals: Counter[str] = Counter()
        self.faults: list[tuple[str, str, Recipe]] = []

    def add(self, number: int, recipe: Recipe, computed: Any) -> None:
        options, outcomes = computed
        self.count += 1
        self.sizes[
            f"{'planar' if recipe.dimension == 2 else 'spatial'}, {len(recipe.parts)} bodies"
        ] += 1
        self.words.update(options)
        for derivative_check, verdict, stated, kind in outcomes:
            for word in derivative_check.split(" · "):
                self.derivative_checks[word, verdict] += 1
            if verdict == "refusal":
                self.refusals[kind] += 1
            if verdict == "fault":
                self.faults.append((derivative_check, stated, recipe))
        line = {
            "number": number,
            "recipe": repr(recipe),
            "words": options,
            "outcomes": [o[:3] for o in outcomes],
        }
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def show(self, console: Console) -> None:
        console.print(
            f"{self.count:,} mechanisms: "
            + ", ".join(f"{k} {n}" for k, n in sorted(self.sizes.items()))
        )
        console.print("words: " + ", ".join(f"{k} {n}" for k, n in self.words.most_common()))
        table = Table("method", "agreements", "refusals", "faults")
        for word in sorted({word for word, _ in self.derivative_checks}):
            table.add_row(
                word,
                *(str(self.derivative_checks[word, v]) for v in ("agreement", "refusal", "fault")),
            )
        console.print(table)
        for kind, count in self.refusals.most_common():
            console.print(
                f"{count:6} refused: {kind}", markup=False, highlight=False, soft_wrap=True
            )
        for derivative_check, stated, recipe in self.faults:
            console.print(
                f"FAULT by {derivative_check}: {stated}\n    {recipe!r}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )


def harden(
    count: int,
    first: int,
    seed: int,
    processes: int,
    seconds: float,
    limit: float,
    largest: int,
    element: str | None,
    folder: Path,
) -> Accumulator:
    """Check so many mechanisms, or as many as there is time for."""
    tally, until = Accumulator(folder), time.monotonic() + seconds
    numbered = enumerate(drawn(seed, largest, element))
    waiting = ((number, recipe) for number, recipe in numbered if number >= first)
    workers = [Worker(limit) for _ in range(processes)]
    given_ = 0
    while tally.count < count and (time.monotonic() < until or any(w.waiting for w in workers)):
        for worker in workers:
            if worker.waiting is None:
                if given_ < count and time.monotonic() < until:
                    worker.give(*next(waiting))
                    given_ += 1
                continue
            computed = worker.result(0.02)
            if computed is not None:
                tally.add(*worker.waiting, computed)
                worker.waiting = None
                if tally.count % 50 == 0:
                    print(
                        f"{tally.count} mechanisms, {len(tally.faults)} faults",
                        file=sys.stderr,
                        flush=True,
                    )
    for worker in workers:
        worker.process.kill()
    return tally


def again(text: str) -> None:
    """A recipe once more; where it fails, the least that fails alike."""
    from random_derivative_checks import check

    recipe: Recipe = eval(text, vars(random_recipes))

    def faults(recipe: Recipe) -> set[str]:
        return {o.kind[:25] for o in check(recipe)[1] if o.verdict == "fault"}

    for outcome in check(recipe)[1]:
        print(outcome.derivative_check, outcome.verdict, outcome.message)
    expected = faults(recipe)
    while (
        expected
        and (less := next((r for r in smaller(recipe) if expected & faults(r)), None)) is not None
    ):
        recipe = less
        print(recipe, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=5000, help="mechanisms")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first one, to go on with others"
    )
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--seconds", type=float, default=36000, help="in which it is done at the latest"
    )
    parser.add_argument(
        "--limit", type=float, default=120, help="seconds that a mechanism may take"
    )
    parser.add_argument("--largest", type=int, default=10, help="bodies")
    parser.add_argument("--element", help="method of an element that all of them have")
    parser.add_argument("--folder", type=Path, default=Path("out/harden"))
    parser.add_argument("--again", help="a recipe to repeat and to reduce")
    given_ = parser.parse_args()
    if given_.again:
        again(given_.again)
        return
    tally = harden(
        given_.count,
        given_.first,
        given_.seed,
        given_.processes,
        given_.seconds,
        given_.limit,
        given_.largest,
        given_.element,
        given_.folder,
    )
    tally.show(Console())
    sys.exit(bool(tally.faults))


if __name__ == "__main__":
    main()
