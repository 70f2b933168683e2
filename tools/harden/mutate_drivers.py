"""Change a sign, a comparison or a number of the drivers in C, and see whether a test notices;
mutate.py does the same for Python.

    python tools/harden/mutate_drivers.py --count 40 --workers 2

Each mutant is written into a copy of the tree, where tests of what runs compiled build their
programs anew, until one fails. Files take turns, so that the short ones have their share.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from queue import SimpleQueue

from mutate import PACKAGE, ROOT, Copy

FOLDER = PACKAGE / "backends"
CHANGES = {
    r"(?<=[\w)\]] )\+(?= [\w(])": "-",
    r"(?<=[\w)\]] )-(?= [\w(])": "+",
    r"(?<=[\w)\]] )\*(?= [\w(])": "/",
    r"(?<= )<(?= )": "<=",
    r"(?<= )<=(?= )": "<",
    r"(?<= )>(?= )": "<=",
    r"(?<= )==(?= )": "!=",
    r"(?<= )&&(?= )": "||",
    r"(?<= )\|\|(?= )": "&&",
    r"(?<![\w.])0(?![\w.])": "1",
    r"(?<![\w.])1(?![\w.])": "2",
    r"(?<= )\+=(?= )": "=",
    r"(?<= )!(?=[\w(])": "",
}
"""What is found in the code, and what is put in its place."""
TESTS = (
    *(
        "runge_kutta",
        "backends",
        "adjoint",
        "adjoint_runs",
        "error_control",
        "ensemble",
        "sampling",
        "regimes",
        "faults",
    ),
    *(
        "limits",
        "memory",
        "relative_trees",
        "resuming",
        "broken_runs",
        "method_runs",
        "tolerances",
        "start",
        "second_order",
    ),
)
TESTS_OF = {"complex_step.c": ("complex_step", "certificate")}
"""Of drivers that no other run uses."""
LONGEST = 600
"""Seconds for the tests of a mutant; one that takes longer hangs."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: Path
    start: int
    end: int
    text: str

    def written(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]

    def named(self, source: str) -> str:
        line = source.count("\n", 0, self.start)
        return (
            f"{self.file.name}:{line + 1} {source.splitlines()[line].strip()}  → "
            f" {self.written(source).splitlines()[line].strip()}"
        )


def places(file: Path) -> Iterator[Mutant]:
    """Every change of a file, outside of comments and of what only the compiler reads."""
    source = (ROOT / file).read_text(encoding="utf-8")
    aside = [
        m.span()
        for m in re.finditer(r"/\*.*?\*/|^#[^\n]*|\"[^\"]*\"", source, re.DOTALL | re.MULTILINE)
    ]
    for pattern, text in CHANGES.items():
        for computed in re.finditer(pattern, source):
            if not any(start <= computed.start() < end for start, end in aside):
                yield Mutant(file, *computed.span(), text)


def drawn(count: int, seed: int) -> list[Mutant]:
    """Some of each file, in turns."""
    chance = random.Random(seed)
    files = [list(places(path.relative_to(ROOT))) for path in sorted((ROOT / FOLDER).glob("*.c"))]
    for mutants in files:
        chance.shuffle(mutants)
    turns = [mutant for turn in zip_longest(*files) for mutant in turn if mutant]
    return turns[:count]


def outcome(copy: Copy, mutant: Mutant) -> tuple[str, str]:
    """What tests say of a mutant."""
    path = copy.folder / mutant.file
    source = path.read_text(encoding="utf-8")
    path.write_text(mutant.written(source), encoding="utf-8")
    try:
        return tried(copy, TESTS_OF.get(mutant.file.name, TESTS))
    finally:
        path.write_text(source, encoding="utf-8")


def tried(copy: Copy, names: tuple[str, ...]) -> tuple[str, str]:
    """What tests say of the copy as it is."""
    with tempfile.TemporaryDirectory(prefix="mutants-cache-") as cache:
        environment = os.environ | {
            "PYTHONPATH": str(copy.folder / "src"),
            "VARIMECH_CACHE": cache,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        tests = [f"tests/test_{name}.py" for name in names]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "--tb=line",
            *tests,
        ]
        try:
            done = subprocess.run(
                command,
                cwd=copy.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LONGEST,
            )
        except subprocess.TimeoutExpired:
            return "timeout", ""
    if done.returncode == 0:
        return "survived", ""
    stated = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return "killed", stated[0][:150] if stated else f"exit {done.returncode}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=40, help="mutants")
    parser.add_argument("--workers", type=int, default=1, help="at once")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as place,
        ThreadPoolExecutor(given.workers) as pool,
    ):
        copies: SimpleQueue[Copy] = SimpleQueue()
        for k in range(given.workers):
            copies.put(Copy(Path(place) / f"tree{k}"))

        def judge(mutant: Mutant) -> None:
            copy = copies.get()
            verdict, by = outcome(copy, mutant)
            copies.put(copy)
            print(
                f"{verdict:9} {mutant.named((ROOT / mutant.file).read_text(encoding='utf-8'))} "
                f" {by}",
                flush=True,
            )

        list(pool.map(judge, drawn(given.count, given.seed)))


if __name__ == "__main__":
    main()
