"""Instructions that compiled runs take for a step, counted by Valgrind's callgrind, beside the
operations of the equations.

    python tools/verify/profile_paths.py          all paths, as the table of docs/profile.md, which is written anew
    python tools/verify/profile_paths.py NAME …   some of them, printed only

Times vary with what else a machine does; these numbers do not. Each run is carried out twice, once
longer than the other: the difference is that of the steps alone. Operations are counted while the
same two runs are interpreted: those of the generated functions, and of sparse factors. Vectors
count as one operation for each register they fill. Valgrind knows no AVX-512, so code is built for
256 bits.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from verify_derivatives import chain_of_parameters

import varimech as vm
from varimech.backends import backward, bound, chain_calls, columns, compiler, interpreted
from varimech.benchmarks import andrews, chain, five_bar
from varimech.stages.plan import Factor, Plan, Solve

PAGE = Path(__file__).parents[2] / "docs" / "profile.md"
REGISTER = 4
"""Numbers in a register of 256 bits."""
FLAGS = ("-march=x86-64-v3", "-fno-inline-functions", "-fno-inline-functions-called-once")
"""What Valgrind can carry out, with functions that keep their names."""
CONTROL = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void end(const char *name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""
SHOWN = 3
"""Functions with the largest shares that the table names."""


@dataclass(frozen=True)
class Way:
    """One way through the program."""

    title: str
    run: Callable[[str, int], int]
    """Carried out by a backend, so many times as long as the shortest; returns the
    number of steps.
    """


def swung(m: vm.Mechanism, duration: float, **options: Any) -> Callable[[str, int], int]:
    """Motion alone."""

    def run(backend: str, times: int) -> int:
        computed = m.simulate(
            times * duration, backend=backend, progress=False, **at_ends(times * duration, options)
        )
        return int(computed.info["steps"])

    return run


def differentiated(
    m: vm.Mechanism, objectives: Any, duration: float, **options: Any
) -> Callable[[str, int], int]:
    """With derivatives."""

    def run(backend: str, times: int) -> int:
        settings = at_ends(times * duration, options)
        gradient = m.sensitivity(
            objectives, duration=times * duration, backend=backend, progress=False, **settings
        )
        return int(gradient.run.info["steps"])

    return run


def twice_differentiated(
    m: vm.Mechanism, objectives: Any, duration: float, **options: Any
) -> Callable[[str, int], int]:
    """With second derivatives."""

    def run(backend: str, times: int) -> int:
        hessian = m.hessian(
            objectives, duration=times * duration, backend=backend, progress=False, **options
        )
        return int(hessian.run.info["steps"])

    return run


def sampled(
    m: vm.Mechanism, objectives: Any, duration: float, step: float
) -> Callable[[str, int], int]:
    """Three runs of an ensemble on one thread."""
    lengths = np.sqrt(5) * np.linspace(0.99, 1.01, 3)

    def run(backend: str, times: int) -> int:
        settings: dict[str, Any] = {
            "step": step,
            "backend": backend,
            "threads": 1,
            "progress": False,
        }
        m.ensemble(objectives, {"Ls1": lengths}, duration=times * duration, **settings)
        return round(lengths.size * times * duration / step)

    return run


def at_ends(duration: float, options: dict[str, Any]) -> dict[str, Any]:
    """Only the last state is stored."""
    return (
        {**options, "output": duration} if "tolerance" in options else {**options, "every": 10**6}
    )


def beam(segments: int) -> vm.Mechanism:
    """One that is hinged at an end and falls."""
    m = vm.Mechanism("beam", gravity=(0, -9.81))
    m.ground_point("A", (0, 0))
    m.beam(
        "b", "A", "tip", segments=segments, E=2e9, section=vm.circle(0.02), density=7800, length=1.0
    )
    m.revolute("A")
    m.start(angle={"b": 0.0})
    return m


def paths() -> dict[str, Way]:
    """All of them, by name."""
    bars, objectives = five_bar.mechanism(), five_bar.objectives()
    squeezer, turned = andrews.mechanism(), vm.final(lambda s: s.angle("OF"), unit="rad")
    long = chain_of_parameters()
    swing = vm.integral(lambda s: vm.dot(s.velocity("50"), s.velocity("50")), unit="m²/s")
    h: dict[str, Any] = {"step": 1e-3}
    rk4: dict[str, Any] = {"step": 1e-3, "integrator": "rk4"}
    return {
        "step": Way("five-bar, ALI3-P", swung(bars, 0.05, **h)),
        "direct": Way(
            "the same, 5 parameters, direct",
            differentiated(bars, objectives, 0.05, method="direct", **h),
        ),
        "adjoint": Way(
            "the same, 3 objectives, adjoint",
            differentiated(bars, objectives, 0.05, method="adjoint", **h),
        ),
        "hessian": Way(
            "the same, Hessian, forward over forward",
            twice_differentiated(bars, objectives, 0.02, method="forward", **h),
        ),
        "ensemble": Way(
            "the same, 3 samples of an ensemble, 3 objectives",
            sampled(bars, objectives, 0.05, 1e-3),
        ),
        "rk4": Way("five-bar, index 1, RK4", swung(bars, 0.05, **rk4)),
        "dop853": Way(
            "five-bar, index 1, DOP853, tolerance 1e-8", swung(bars, 20.0, tolerance=1e-8)
        ),
        "andrews": Way(
            "Andrews, index 1, DOP853, tolerance 1e-8", swung(squeezer, 0.04, tolerance=1e-8)
        ),
        "andrews-direct": Way(
            "the same, 5 parameters, direct",
            differentiated(squeezer, turned, 0.04, method="direct", tolerance=1e-8),
        ),
        "tree": Way(
            "chain of 100 bars, RTDyn1, RK4",
            swung(chain.mechanism(100), 5e-3, coordinates="rtdyn1", **rk4),
        ),
        "beam": Way(
            "beam of 100 segments, generalised-α",
            swung(beam(100), 5e-3, integrator="generalised-alpha", **h),
        ),
        "chain": Way("chain of 100 bars, ALI3-P", swung(chain.mechanism(100), 5e-3, **h)),
        "chain-adjoint": Way(
            "chain of 50 bars, ALI3-P, 100 parameters, adjoint",
            differentiated(long, swing, 0.01, method="adjoint", **h),
        ),
    }


class Operations:
    """Counts those of every function that is interpreted, while it is watched."""

    def __init__(self) -> None:
        self.count = 0.0
        self._bound = bound.bound
        self._columns: set[int] = set()

    def __enter__(self) -> Operations:
        for module in (chain_calls, interpreted, backward):
            module.bound = self._counting  # type: ignore[attr-defined]
        for module in (chain_calls, backward):
            module.all_columns = self._all_columns  # type: ignore[attr-defined]
        return self

    def __exit__(self, *_: object) -> None:
        for module in (chain_calls, interpreted, backward):
            module.bound = self._bound  # type: ignore[attr-defined]
        for module in (chain_calls, backward):
            module.all_columns = columns.all_columns  # type: ignore[attr-defined]

    def _all_columns(self, column: ca.Function, count: int, shared: int) -> ca.Function:
        whole = columns.all_columns(column, count, shared)
        self._columns.add(whole.__hash__())
        return whole

    def _counting(
        self, function: ca.Function | Plan, arguments: list[np.ndarray], results: list[np.ndarray]
    ) -> Callable[[], None]:
        call, each = self._bound(function, arguments, results), operations(function)
        if isinstance(function, ca.Function) and function.__hash__() in self._columns:
            each /= REGISTER

        def counted() -> None:
            self.count += each
            call()

        return counted


def operations(function: ca.Function | Plan) -> float:
    """Of one call: instructions of the virtual machine; of factors and solutions, products and
    sums.
    """
    if not isinstance(function, Plan):
        return float(function.n_instructions())
    total = 0.0
    for op in function.operations:
        if isinstance(op, Factor):
            upper = np.diff(op.factors.pattern.upper_start)
            total += float(
                (upper * (upper + 1) if op.factors.symmetric else 2 * upper * (upper + 1)).sum()
            )
        elif isinstance(op, Solve):
            total += 2 * op.factors.pattern.entries * op.x.width
    return total + sum(m.count * m.kernel.n_instructions() for m in function.maps)


def counted_here(names: Sequence[str]) -> None:
    """Under Valgrind: each path compiled and warmed up, then both of its runs counted, one dump
    each.
    """
    compiler.FLAGS = (*(f for f in compiler.FLAGS if not f.startswith("-march")), *FLAGS)
    with tempfile.TemporaryDirectory() as folder:
        text, library = Path(folder) / "control.c", Path(folder) / "control.so"
        text.write_text(CONTROL)
        subprocess.run(
            [
                *(compiler.find_compiler() or ["cc"]),
                "-shared",
                "-fPIC",
                str(text),
                "-o",
                str(library),
            ],
            check=True,
        )
        control = ctypes.CDLL(str(library))
        known = paths()
        for name in names:
            known[name].run("native", 1)
            for times in (1, 2):
                control.begin()
                known[name].run("native", times)
                control.end(f"{name} {times}".encode())


@dataclass(frozen=True)
class Count:
    """Instructions of the further steps of a path."""

    all: int
    of_functions: Counter[str]
    """Of each by itself."""


def counts(names: Sequence[str]) -> dict[str, Count]:
    """For each path."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind",
            "--quiet",
            "--tool=callgrind",
            "--instr-atstart=no",
            "--compress-strings=no",
            f"--callgrind-out-file={folder}/out",
        ]
        command += [sys.executable, __file__, "--counted", *names]
        environment = {**os.environ, "VARIMECH_CACHE": f"{folder}/cache"}
        subprocess.run(command, env=environment, check=True)
        dumps = dict(_read(path) for path in Path(folder).glob("out.*"))
    computed = {}
    for name in names:
        short, long = (dumps[f"{name} {times}"] for times in (1, 2))
        computed[name] = Count(long.all - short.all, long.of_functions - short.of_functions)
    return computed


def _read(dump: Path) -> tuple[str, Count]:
    """Its name and what is in it: functions of the library by themselves, and with what they call
    elsewhere.
    """
    text = dump.read_text()
    stated = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
    here = {"ob": "", "fn": "", "cob": ""}
    every, own, called = 0, Counter[str](), False
    for line in text.splitlines():
        if named := re.fullmatch(r"(fn|c?ob)=(.*)", line):
            here[named[1]] = named[2]
        elif line.startswith("calls="):
            called = True  # the next line tells what the call took
        elif re.match(r"[+*-]?\d*( [+*-]?\d+)? \d+$", line):
            instructions, inside = int(line.split()[-1]), here["ob"].endswith(compiler.LIBRARY)
            if inside and (not called or here["cob"]):
                every += instructions
            if inside and not called:
                own[_known_as(here["ob"], here["fn"])] += instructions
            called, here["cob"] = False, ""
    return stated[1] if stated else "", Count(every, own)


@cache
def _known_as(library: str, function: str) -> str:
    """The name of a generated function, which stands beside its number in the source."""
    function = function.partition(".")[0]
    numbered = re.fullmatch(r"program_(f\d+)", function)
    source = Path(library).with_name("program.c").read_text()
    given = (
        re.search(rf"(\w+)\([^()]*\)\s*\{{\s*return casadi_{numbered[1]}\(", source)
        if numbered
        else None
    )
    return given[1] if given else function


def worked(scheme: Way) -> tuple[int, float]:
    """Number of further steps, and operations of each, as they are interpreted."""
    steps, done = [], []
    with Operations() as watched:
        for times in (1, 2):
            watched.count = 0.0
            steps.append(scheme.run("interpreted", times))
            done.append(watched.count)
    further = steps[1] - steps[0]
    assert further > 0, f"{scheme.title}: the longer run needs more steps"
    return further, (done[1] - done[0]) / further


def row(name: str, title: str, steps: int, floor: float, counted: Count) -> str:
    """A line of the table."""
    instructions = counted.all / steps
    largest = ", ".join(
        f"`{f}` {n / counted.all:.0%}" for f, n in counted.of_functions.most_common(SHOWN)
    )
    return (
        f"| {name} | {title} | {instructions:,.0f} | {floor:,.0f} | {instructions / floor:.2f} |"
        f" {largest} |"
    )


def main(names: list[str]) -> None:
    """Print the table of some paths; of all, write it into its page."""
    known = paths()
    chosen = names or list(known)
    work = {name: worked(known[name]) for name in chosen}
    computed = counts(chosen)
    lines = [
        "| name | path | instructions per step | operations | ratio | largest shares |",
        "|---|---|---|---|---|---|",
    ]
    lines += [row(name, known[name].title, *work[name], computed[name]) for name in chosen]
    print("\n".join(lines))
    if not names:
        before, _, after = PAGE.read_text().partition("<!-- table -->\n")
        _, _, after = after.partition("<!-- end -->")
        PAGE.write_text(f"{before}<!-- table -->\n" + "\n".join(lines) + f"\n<!-- end -->{after}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a path; all if not given")
    parser.add_argument(
        "--counted", action="store_true", help=argparse.SUPPRESS
    )  # within callgrind
    given = parser.parse_args()
    (counted_here if given.counted else main)(given.names)
