"""Commands about Varimech itself: methods, doctor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from . import options as o
from .output_files import give_json


def methods(as_json: o.Json = False, out: o.JsonFile = None) -> None:
    """List formulations, integrators and coordinates, with their uses and combinations.

    An integrator works only with some formulations; coordinates work with all of them.

    Examples:

      varimech methods

      varimech run five-bar --integrator dopri5 --coordinates rtdyn1
    """
    from ..coordinates.systems import COORDINATES
    from ..core.registry import load_plugins
    from ..schemes import FORMULATIONS, INTEGRATORS, choose, formulations_of, integrators_of

    load_plugins()
    kinds: dict[str, Mapping[str, Any]] = {
        "formulation": FORMULATIONS,
        "integrator": INTEGRATORS,
        "coordinates": COORDINATES,
    }
    pairs = {name: integrators_of(f) for name, f in FORMULATIONS.items()}
    pairs |= {name: formulations_of(i) for name, i in INTEGRATORS.items()}
    pairs |= {name: list(FORMULATIONS) for name in COORDINATES}
    if as_json or out is not None:
        rows = [
            {
                "kind": kind,
                "name": name,
                "title": entry.title,
                "suits": entry.suits,
                "goes_with": pairs[name],
            }
            for kind, entries in kinds.items()
            for name, entry in entries.items()
        ]
        chosen = {"nothing": choose(1.0)[0].title, "step": choose(1.0, step=0.1)[0].title}
        give_json({"methods": rows, "chosen_for": chosen}, as_json, out)
    if not as_json:
        _print(kinds, pairs)


def _print(kinds: Mapping[str, Mapping[str, Any]], pairs: Mapping[str, list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    from ..schemes import choose

    console = Console()
    for kind, entries in kinds.items():
        table = Table(kind, "suits", "combines with", title_justify="left", show_lines=True)
        for name, entry in entries.items():
            table.add_row(name, entry.suits, ", ".join(pairs[name]))
        console.print(table)
    console.print(f"Default, also with a tolerance: {choose(1.0)[0].title}.")
    console.print(f"Default for equal steps (step=…): {choose(1.0, step=0.1)[0].title}.")


def doctor(as_json: o.Json = False, out: o.JsonFile = None) -> None:
    """Check versions, compiler and cache, and suggest fixes for problems.

    Exit codes: 0: no problems; 1: something is missing (everything works, but more slowly).

    Example:

      varimech doctor
    """
    from .doctor import examine

    findings = examine()
    give_json(
        {f.what: {"found": f.status, "fine": f.fine, "remedy": f.remedy} for f in findings},
        as_json,
        out,
    )
    if not as_json:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table

        table = Table("what", "found", "")
        for f in findings:
            verdict = (
                "[green]fine[/]" if f.fine else f"[yellow]{escape(f.remedy or 'check this')}[/]"
            )
            table.add_row(escape(f.what), escape(f.status), verdict)
        Console().print(table)
    raise typer.Exit(0 if all(f.fine for f in findings) else 1)
