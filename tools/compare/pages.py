"""What both comparisons use: a side run in its environment, figures as text, tables in the terminal and on a page."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCS = ROOT / "docs"
PEERS = ROOT / ".venv-peers" / "bin" / "python"


def run_side(name: str, python: Path | str, asked: dict[str, Any], limit: float | None = None) -> dict[str, Any]:
    """The report of one side, its last line of output as JSON; what it is asked goes to its standard input."""
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [str(python), str(HERE / f"{name}_side.py")],
            input=json.dumps(asked),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=limit,
            cwd=folder,
            env={**os.environ, **single, "VARIMECH_CACHE": folder},  # an empty cache, so that building includes the compiler
        )
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def number(x: float) -> str:
    """Three digits, at most."""
    return f"{x:.2f}" if x < 9.995 else f"{x:.1f}" if x < 99.95 else f"{x:,.0f}"


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
    return f"Machine: {processor()}, {os.cpu_count()} cores; Python {platform.python_version()}, {named}.\n"
