"""A Markdown page with the accuracy and the time of solved benchmarks."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version

from . import BENCHMARKS, Outcome
from .outcome import Check, worst


def page(outcomes: Mapping[str, Outcome]) -> str:
    """Return the page for solved benchmarks.

    Args:
        outcomes: name → outcome.
    """
    lines = [
        "# Benchmark library",
        "",
        "This page lists the accuracy of Varimech for benchmark problems, most of which are"
        " published. For each problem, a file in `src/varimech/benchmarks/` computes the results and"
        " compares them with reference values. The file also names the sources of these values."
        " `varimech benchmark all --page FILE` writes this page.",
        "",
        "For each benchmark, the table shows the worst check, that is, the check with the largest"
        " ratio of error to tolerance. Both times refer to a single run: *build* is the time to derive"
        " and compile the equations and to assemble the initial state, and *run* is the integration"
        " time. The sections below list all checks. In the names of the checks, *direct* and *adjoint*"
        " denote the method by which a derivative is computed, and (SI) means that the value is in SI"
        " units.",
        "",
        f"Machine: {_machine()}.",
        "",
        "| benchmark | checks | worst check | share | build | run | |",
        "| --- | --: | --- | --: | --: | --: | --- |",
    ]
    for name, outcome in outcomes.items():
        check, seconds = worst(outcome.checks), outcome.to_json()["seconds"]
        cells = (
            f"[{name}](#{name})",
            str(len(outcome.checks)),
            _cell(check.name),
            f"{check.share:.2%}",
            f"{seconds['build']:.2f} s",
            f"{seconds['run']:.3f} s",
            "passed" if outcome.passed else "**failed**",
        )
        lines.append(f"| {' | '.join(cells)} |")
    for name, outcome in outcomes.items():
        lines += ["", *_section(name, outcome)]
    return "\n".join(lines) + "\n"


def _section(name: str, outcome: Outcome) -> list[str]:
    """Return method and checks of one benchmark."""
    return [
        f"## {name}",
        "",
        f"{BENCHMARKS[name].title}. Method: {outcome.to_json()['method']}.",
        "",
        "| check | computed | reference | error | tolerance | |",
        "| --- | --: | --: | --: | --: | --- |",
        *(_row(c) for c in outcome.checks),
    ]


def _row(c: Check) -> str:
    numbers = f"{c.value:.10g} | {c.reference:.10g} | {c.error:.1e} | {c.tolerance:.1e}"
    return f"| {_cell(c.name)} | {numbers} | {'passed' if c.passed else '**failed**'} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _machine() -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in ("varimech", "casadi", "numpy"))
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}; Python"
        f" {platform.python_version()}, {versions}"
    )
