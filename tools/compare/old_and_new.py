"""Time two versions of Varimech against each other, in turns on one machine: `python
tools/compare/old_and_new.py ../old`.

Every part runs the side of `make compare` that belongs to each version, from its own tree (`src/`
and `tools/compare/` of a checkout), so that a comparison survives renamed internals. Versions
alternate, so that a machine that slows down slows both. What is compared is the fastest time of
each figure over all turns; the table shows the ratio of each figure and its median over a part.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pages import ROOT, show

TIME = re.compile(r"milliseconds|microseconds|seconds|mechanisms")
"""Keys of reports whose numbers are times."""
NOT_COMPARED = re.compile(r"build|setup|stating")
"""Times of the compiler and of derivations: measured once a side, so noisy; `--build` shows them
too.
"""

PARTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "five-bar": ("varimech", [{}]),
    "andrews": ("andrews_varimech", [{}]),
    "methods": ("methods", [{}]),
    "coordinates": (
        "coordinates",
        [
            {"name": name, "size": None, "formulation": f, "coordinates": c, "sensitivities": s}
            for name in ("five-bar", "spatial-slider-crank")
            for f in ("index1", "ali3p")
            for c in ("natural", "rtdyn1")
            for s in (False, True)
        ],
    ),
    "scale": (
        "scale_varimech",
        [{"problem": p, "size": n} for p in ("chain", "four-bars") for n in (10, 100)],
    ),
}
"""By part: the side that measures it, and what it is asked."""


def report_of(tree: Path, side: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What one side of one version reports, with a cache of its own that is empty at first."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "VARIMECH_CACHE": folder,
            "PYTHONPATH": str(tree / "src"),
            "OMP_NUM_THREADS": "1",
        }
        ran = subprocess.run(
            [sys.executable, str(tree / "tools" / "compare" / f"{side}_side.py")],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            check=True,
        )
    report: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return report


def times(report: Any, path: str = "", timed: bool = False) -> Iterator[tuple[str, float]]:
    """All times of a report by the path to them."""
    if isinstance(report, dict):
        for key, value in report.items():
            yield from times(value, f"{path}/{key}", timed or bool(TIME.search(key)))
    elif isinstance(report, list):
        for k, value in enumerate(report):
            yield from times(value, f"{path}/{_name(value) or k}", timed)
    elif timed and isinstance(report, (int, float)) and not isinstance(report, bool):
        yield path, float(report)


def _name(entry: Any) -> str:
    """What an entry of a list calls itself: settings are left out where a run fails or is accurate
    enough, so their places differ between versions.
    """
    known = entry if isinstance(entry, dict) else {}
    names = (known.get(key) for key in ("engine", "method", "setting", "name"))
    return ", ".join(name for name in names if isinstance(name, str))


def fastest(reports: list[dict[str, Any]]) -> dict[str, float]:
    """Each figure at its fastest over several turns."""
    best: dict[str, float] = {}
    for report in reports:
        for path, value in times(report):
            best[path] = min(value, best.get(path, value))
    return best


def compare(name: str, old: Path, turns: int, build: bool) -> None:
    side, questions = PARTS[name]
    rows = []
    for asked in questions:
        asked_of = {"psi": reference_values()} if name == "five-bar" else asked
        both: dict[Path, list[dict[str, Any]]] = {old: [], ROOT: []}
        for _ in range(turns):
            for tree, reports in both.items():
                reports.append(report_of(tree, side, asked_of))
        before, after = fastest(both[old]), fastest(both[ROOT])
        label = ", ".join(str(v) for v in asked.values())
        rows += [
            [
                f"{label} {path}",
                f"{before[path]:.4g}",
                f"{after[path]:.4g}",
                f"{after[path] / before[path]:.3f}",
            ]
            for path in before
            if path in after and before[path] > 0 and (build or not NOT_COMPARED.search(path))
        ]
    ratios = [float(row[-1]) for row in rows]
    quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    show(
        f"{name}: {len(rows)} figures, new / old: median {quartiles[1]:.3f}, quartiles"
        f" {quartiles[0]:.3f} and {quartiles[2]:.3f}",
        ["figure", "old", "new", "new / old"],
        sorted(rows, key=lambda row: float(row[-1]))[-12:],
        1,
    )


def reference_values() -> list[list[float]]:
    """ψ of the five test samples, to choose the steps of ensembles by, from a run with a tight
    tolerance.
    """
    from problem import DURATION, SAMPLES, TESTED

    from varimech.benchmarks import five_bar

    ensemble = five_bar.mechanism().ensemble(
        five_bar.objectives(),
        {"Ls1": SAMPLES[TESTED]},
        duration=DURATION,
        tolerance=1e-12,
        progress=False,
    )
    return ensemble.values.to_numpy().tolist()


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Time two versions of Varimech against each other, in turns."
    )
    parser.add_argument("old", type=Path, help="a checkout of the other version")
    parser.add_argument("parts", nargs="*", help="all parts if none is given")
    parser.add_argument(
        "--turns", type=int, default=2, help="how often each version is measured (2)"
    )
    parser.add_argument("--build", action="store_true", help="compare times of building, too")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for name in given.parts or PARTS:
        compare(name, given.old.resolve(), given.turns, given.build)


if __name__ == "__main__":
    main()
