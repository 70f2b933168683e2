"""Measures Varimech and its peers, one after the other, and writes what it found: pages in docs/
and their pictures.

Each side is a file of its own, run by the environment it needs, and prints its figures. `make
compare` runs everything; a part alone: `python tools/compare/compare.py five-bar`, or another one of
`PARTS`. Each part writes a page of its own and leaves the others as they are; `impacts` is a section of
the page of `contacts`, which measures it, too.
"""

from __future__ import annotations

import argparse

from compare_andrews import compare_andrews
from compare_contacts import compare_contacts
from compare_coordinates import compare_coordinates
from compare_derivatives import compare_derivatives
from compare_ensembles import compare_ensembles
from compare_five_bar import compare_five_bar
from compare_flexible import compare_flexible
from compare_impacts import compare_impacts
from compare_machines import compare_machines
from compare_methods import compare_methods
from compare_robust import compare_robust
from compare_scale import compare_scale

PARTS = {
    "five-bar": compare_five_bar,
    "andrews": compare_andrews,
    "scale": compare_scale,
    "machines": compare_machines,
    "contacts": compare_contacts,
    "impacts": compare_impacts,
    "methods": compare_methods,
    "coordinates": compare_coordinates,
    "flexible": compare_flexible,
    "derivatives": compare_derivatives,
    "ensembles": compare_ensembles,
    "robust": compare_robust,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure Varimech beside its peers.")
    parser.add_argument("part", nargs="?", choices=PARTS, help="all parts if not given")
    chosen = parser.parse_args().part
    for name, compare in PARTS.items():
        if chosen == name or (chosen is None and name != "impacts"):
            compare()


if __name__ == "__main__":
    main()
