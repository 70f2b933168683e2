"""Gradients over many impacts: the last section but one of docs/contacts.md."""

from __future__ import annotations

import re
import sys
from typing import Any

from pages import DOCS, ROOT, markdown, number, run_side, show
from rich.console import Console

PAGE = DOCS / "contacts.md"
TITLE = "## Gradients over many impacts"
TEXT = """\
The benchmark `clearance-slider-crank` has {impacts} impacts and {releases} releases within 35 ms: the slider bounces until it stays in contact with its guide, then
leaves the guide and bounces again. The table shows how long compiled code takes to compute the gradient of {objectives} objectives with respect to the
clearance, the restitution and the crank length (the fastest of many calls). `python tools/compare/compare.py impacts` repeats the measurements of
this section only.
"""


def section(report: dict[str, Any]) -> str:
    """The section as text."""
    headings = [
        "tolerance",
        "motion",
        "direct",
        "relative to motion",
        "adjoint",
        "relative to motion",
    ]
    rows = []
    for t in report["times"]:
        row = [f"{t['tolerance']:g}", f"{number(t['motion'])} ms"]
        for method in ("direct", "adjoint"):
            row += [f"{number(t[method])} ms", f"{number(t[method] / t['motion'])} times"]
        rows.append(row)
    show("Gradients over many impacts", headings, rows, 1)
    columns = ["method and coordinates", f"deviation from {report['first']}"]
    agreement = [[name, f"{off:.0e}"] for name, off in report["off"].items()]
    show("Agreement", columns, agreement, 1)
    return "\n".join(
        [
            f"{TITLE}\n",
            TEXT.format(**report),
            markdown(headings, rows, 1),
            "The next table compares derivatives from different methods and coordinates, at a tolerance of"
            " 1e-12. It shows the largest deviation of a derivative, relative to the largest derivative of"
            ' the same objective. "Differences" are fourth-order central differences of complete runs; each'
            " of these runs locates all events.\n",
            markdown(columns, agreement, 1),
        ]
    )


def measured() -> str:
    """Measure, show, and return the section."""
    with Console(stderr=True).status("measuring: contacts, impacts"):
        report = run_side("contacts_impacts", sys.executable, {})
    return section(report)


def compare_impacts() -> None:
    """Measure and replace the section on the page."""
    page, new = PAGE.read_text(encoding="utf-8"), measured()
    old = re.search(rf"^{TITLE}\n.*?(?=^## )", page, flags=re.MULTILINE | re.DOTALL)
    begin, end = old.span() if old else [page.index("## First calls")] * 2
    PAGE.write_text(f"{page[:begin]}{new}\n{page[end:]}", encoding="utf-8")
    Console(stderr=True).print(f"written: {PAGE.relative_to(ROOT)}, one section")
