"""Acceptance figures of model files and the command line: exact round trips, harmless files, a
first report in one breath.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from acceptance import Figure

import varimech as vm
from varimech.benchmarks import BENCHMARKS

HOSTILE = {
    "attribute access": (
        "varimech: 1\nname: x\nbodies: {b: {mass: '().__class__.__base__', inertia: 1}}\n"
    ),
    "huge exponent": "varimech: 1\nname: x\nbodies: {b: {mass: '9**9**9**9', inertia: 1}}\n",
    "recursive alias": "varimech: 1\nname: &n [*n]\n",
    "laughs": (
        "a: &a [x, x]\n"
        + "".join(
            f"{chr(98 + k)}: &{chr(98 + k)} [{', '.join([f'*{chr(97 + k)}'] * 10)}]\n"
            for k in range(20)
        )
    ),
    "nesting, 7 MB": "a: " + "[" * 7_000_000,
    "nesting, 100 MB": "a: " + "[" * 100_000_000,
}


def model_files() -> Iterator[Figure]:
    """Model files: round trips, and refusal of hostile files."""
    texts = {
        name: entry.model_file.read_text(encoding="utf-8") for name, entry in BENCHMARKS.items()
    }
    read = {name: vm.Mechanism.from_file(entry.model_file) for name, entry in BENCHMARKS.items()}
    yield Figure(
        "number of benchmarks whose files change when they are read and written",
        sum(read[n].to_text() != t for n, t in texts.items()),
        0,
    )
    one, other = BENCHMARKS["andrews"].mechanism().simulate(0.01), read["andrews"].simulate(0.01)
    off = np.abs(one.position("F").to_numpy() - other.position("F").to_numpy()).max()
    yield Figure(
        "Andrews: difference of point F between the model file and the Python model (m)",
        float(off),
        0.0,
    )
    slowest, refused = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hostile.yaml"
        for text in HOSTILE.values():
            path.write_text(text, encoding="utf-8")
            began = time.perf_counter()
            try:
                vm.Mechanism.from_file(path)
            except vm.FileError:
                refused += 1
            slowest = max(slowest, time.perf_counter() - began)
    yield Figure(
        f"number of hostile files refused, of {len(HOSTILE)}",
        refused,
        len(HOSTILE),
        at_least=True,
        shown="{:.0f}",
    )
    yield Figure("longest time to refuse a hostile file (s)", slowest, 1.0, shown="{:.3f}")


def first_report() -> Iterator[Figure]:
    """Time from a new model file to its report, on the command line."""
    with tempfile.TemporaryDirectory() as folder:
        for command in (("new", "my.yaml"), ("run", "my.yaml", "--out", "out")):
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "varimech", *command],
                cwd=folder,
                check=True,
                capture_output=True,
            )
        yield Figure(
            "time of `varimech run my.yaml --out out` (s)",
            time.perf_counter() - began,
            10.0,
            shown="{:.1f}",
        )
        yield Figure(
            "size of the report (MB)",
            (Path(folder) / "out" / "report.html").stat().st_size / 1e6,
            10.0,
            shown="{:.1f}",
        )
