"""What all comparisons use: a side run in its environment, figures as text, tables in the terminal
and on a page, time against error.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCS = ROOT / "docs"
PEERS = ROOT / ".venv-peers" / "bin" / "python"


def run_side(
    name: str, python: Path | str, asked: dict[str, Any], limit: float | None = None
) -> dict[str, Any]:
    """The report of one side, its last line of output as JSON; what it is asked goes to its
    standard input.
    """
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        side = subprocess.Popen(
            [str(python), str(HERE / f"{name}_side.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={
                **os.environ,
                **single,
                "VARIMECH_CACHE": folder,
            },  # an empty cache, so that building includes the compiler
            start_new_session=True,
        )
        try:
            options, _ = side.communicate(json.dumps(asked), limit)
        except BaseException:
            os.killpg(side.pid, signal.SIGKILL)  # with the compiler, which would go on otherwise
            side.wait()
            raise
    if side.returncode:
        raise subprocess.CalledProcessError(side.returncode, side.args)
    report: dict[str, Any] = json.loads(options.splitlines()[-1])
    return report


def number(x: float) -> str:
    """Three digits, at most."""
    return f"{x:.2f}" if x < 9.995 else f"{x:.1f}" if x < 99.95 else f"{x:,.0f}"


def time_cell(milliseconds: float | None, ours: float | None) -> str:
    """A time, and in brackets how many times as long as ours it is, where that is given."""
    if milliseconds is None:
        return "not reached"
    return f"{number(milliseconds)} ms" + (
        "" if ours is None else f" ({number(milliseconds / ours)}×)"
    )


def markdown(headings: list[str], rows: list[list[str]], left: int) -> str:
    rule = ["---"] * left + ["--:"] * (len(headings) - left)
    return "".join("| " + " | ".join(cells) + " |\n" for cells in (headings, rule, *rows))


def show(title: str, headings: list[str], rows: list[list[str]], left: int) -> None:
    table = Table(title=title, title_justify="left")
    for k, heading in enumerate(headings):
        table.add_column(heading, justify="left" if k < left else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=150).print(table)


def processor() -> str:
    """Model of the processor, where the system tells it."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def machine(versions: dict[str, str]) -> str:
    """The machine and what ran on it, as a paragraph."""
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"Machine: {processor()}, {os.cpu_count()} cores; Python {platform.python_version()},"
        f" {named}.\n"
    )


COLOURS = ("#c1121f", "#e5787f", "#1d3557", "#2a9d8f", "#e09f3e", "#6a4c93", "#7f7f7f")


def frontier(points: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Errors and times without the settings that another one beats in both."""
    kept: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda p: p["milliseconds"]):
        if not kept or point["error"] < kept[-1][0]:
            kept.append((point["error"], point["milliseconds"]))
    return [e for e, _ in kept], [t for _, t in kept]


def work_precision(
    picture: Path,
    engines: Mapping[str, list[dict[str, Any]]],
    *,
    title: str,
    error: str,
    time: str,
    limits: tuple[float, float],
    placed: Mapping[str, tuple[int, float, float]],
) -> None:
    """Time against error, a line an engine, labelled at its end or where `placed` says; the first
    one is ours.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 5.5), dpi=150, layout="constrained")
    for k, (engine, points) in enumerate(engines.items()):
        errors, times = frontier([point for point in points if point["error"] < limits[0]])
        axes.loglog(
            errors,
            times,
            "o-",
            color=COLOURS[k],
            linewidth=1.5 if k else 2.6,
            markersize=3.5 if k else 5,
        )
        at, across, up = placed.get(engine, (-1, 0, 9))
        axes.annotate(
            engine,
            (errors[at], times[at]),
            xytext=(across, up),
            textcoords="offset points",
            ha="right" if across < 0 else "left" if across > 0 else "center",
            va="top" if up < 0 else "bottom" if up > 0 else "center",
            color=COLOURS[k],
            fontweight="normal" if k else "bold",
        )
    axes.set_xlim(*limits)
    axes.set_ylim(top=2 * axes.get_ylim()[1])  # room for the highest label
    axes.set_xlabel(error)
    axes.set_ylabel(time)
    axes.set_title(title, loc="left")
    axes.grid(which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture)
