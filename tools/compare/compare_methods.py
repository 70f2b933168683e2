"""Which formulation and integrator suit what, measured on all benchmarks; docs/methods.md."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from methods_side import ACCURACIES, MECHANISMS
from pages import DOCS, machine, markdown, number, run_side, show

from varimech.schemes import (
    COORDINATES,
    FORMULATIONS,
    INTEGRATORS,
    choose,
    formulations_of,
    integrators_of,
)

PAGE = DOCS / "methods.md"
CHOICE = f"""\
# Methods

A method is a formulation (how constraints are kept) with an integrator (how time is stepped). Both are chosen by name, `varimech methods`
lists them, and combinations that cannot be are refused with one that can.

```python
import varimech as vm
from varimech.benchmarks import five_bar

m, objectives = five_bar.mechanism(), five_bar.objectives()
m.simulate(0.5)  # {choose(1.0)[0].title}; tolerance 1e-8
m.simulate(0.5, tolerance=1e-6)  # the same, looser; output=0.01 spaces the stored results
m.simulate(0.5, step=1e-3)  # {choose(1.0, step=0.1)[0].title}
m.simulate(0.5, step=1e-3, integrator="generalised-alpha")
m.simulate(0.5, integrator="dopri5", formulation="independent")
m.simulate(0.5, step=1e-3, formulation=vm.Penalty(factor=1e8, omega=20))
m.simulate(0.5, coordinates="rtdyn1")
m.sensitivity(objectives, duration=0.5, method="composite")  # a second road to the same derivatives
m.sensitivity(objectives, duration=0.5, method="complex-step")  # a third, without any derivative; at the end of the run only
m.sensitivity(objectives, duration=0.5).certify()  # all of them, compared: docs/certificate.md
```

What to take:

- **Nothing said** is right for most mechanisms: steps chosen for a tolerance, exact constraints, high order. It takes redundant constraints,
  drivers and massless parts, passes singular positions, and is cheap enough for moderately stiff ones.
- **A fixed step** (`step=…`) for stiff forces that need not be resolved, for real-time work, and where energy should be kept over very long
  runs. `hht` and `generalised-alpha` damp vibrations that the step cannot resolve; the trapezoidal rule does not.
- **Beams** vibrate along their segments far faster than anything else moves: take `step=`, which need not follow that, for many segments or
  long runs, and a tolerance for few segments and many digits ([flexible.md](flexible.md) has steps and errors).
- **`dopri5`** for coarse tolerances and forces with kinks.
- **`cvodes`, `idas`** where a tolerance is wanted and forces are so stiff that explicit steps become too many. Their derivatives are those
  of the continuous problem, to the tolerance, not of the discrete solution.
- **`independent`, `index1-stabilised`, `penalty`** to compare with programs that use them, and as further roads to the same numbers.

Derivatives of runs that choose their steps are exact for the steps chosen: these are held fixed, and `method="finite-difference"` replays
them.

Coordinates are a third choice: `natural` ones where nothing is said, or relative ones, `rtdyn0` and `rtdyn1`, along a tree of joints. Results
are the same; [coordinates.md](coordinates.md) tells by measurements which are faster for what.
"""
MEASURED = """\
## What accuracy costs

Milliseconds for a whole run (start to end, compiled; CVODES and IDAS interpret the rates) to reach a largest error of all points at 50 times,
relative to the largest coordinate; "–": not reached, stopped with a reason, or longer than 8 s for all settings tried. `make compare`
measures this anew (`python tools/compare/compare.py methods` this page only). The first column is the method that is chosen where nothing
is said.
"""


def listed(kind: str, schemes: Mapping[str, Any], pairs: dict[str, list[str]]) -> str:
    return markdown(
        [kind, "suits", "goes with"],
        [[f"`{n}`", schemes[n].suits, ", ".join(p)] for n, p in pairs.items()],
        3,
    )


def compare_methods() -> None:
    """Measure, print, and write the page."""
    report = run_side("methods", sys.executable, {})
    chosen = "index1 · dop853"
    methods = sorted(next(iter(report["mechanisms"].values())), key=lambda name: name != chosen)
    rows = [
        [
            f"{name}{f' ({MECHANISMS[name][2]})' if MECHANISMS[name][2] else ''}" if k == 0 else "",
            f"{accuracy:g}",
        ]
        + ["–" if times[method][k] is None else number(times[method][k]) for method in methods]
        for name, times in report["mechanisms"].items()
        for k, accuracy in enumerate(ACCURACIES)
    ]
    headings = ["benchmark", "error", *methods]
    show("Milliseconds to an accuracy", headings, rows, 2)
    formulations = {name: integrators_of(f) for name, f in FORMULATIONS.items()}
    integrators = {name: formulations_of(i) for name, i in INTEGRATORS.items()}
    parts = [
        CHOICE,
        "## Formulations\n",
        listed("formulation", FORMULATIONS, formulations),
        "## Integrators\n",
        listed("integrator", INTEGRATORS, integrators),
        "## Coordinates\n",
        markdown(
            ["coordinates", "suits"], [[f"`{name}`", c.suits] for name, c in COORDINATES.items()], 2
        ),
    ]
    parts += [MEASURED, markdown(headings, rows, 2), machine(report["versions"])]
    PAGE.write_text("\n".join(parts), encoding="utf-8")
