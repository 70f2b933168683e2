"""The page of limitations agrees with the code: every combination is tried."""

from __future__ import annotations

import pytest
import write_limitations as limitations

PAGE = limitations.PAGE.read_text(encoding="utf-8")
QUICK, LONG = ("formulations", "coordinates"), ("integrators", "derivatives", "analyses")


def stated(name: str) -> str:
    return PAGE.split(f"<!-- table of {name} -->")[1].split(f"<!-- end of {name} -->")[0].strip()


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)]
)
def test_combinations_run_or_are_refused_as_stated(name: str) -> None:
    """Errors other than those of Varimech end the test; each refusal offers an alternative."""
    messages = limitations.refusals(limitations.TABLES[name])
    assert stated(name) == limitations.table(messages)
    for row in messages.values():
        for message in filter(None, row.values()):
            assert "; " in message, f"no remedy: {message}"


def test_every_table_is_tried() -> None:
    assert {*QUICK, *LONG} == set(limitations.TABLES)


def test_traits_are_those_of_the_integrators() -> None:
    assert stated("traits") == limitations.table(limitations.traits())


def test_a_table_shows_what_is_refused() -> None:
    columns = {"runs": lambda m: m.simulate(0.01), "fails": lambda m: m.simulate(-1.0)}
    m = limitations.pendulum()
    row = {name: limitations.tried(m, analysis) for name, analysis in columns.items()}
    assert row["runs"] == "" and "duration" in row["fails"]
    assert limitations.table({"pendulum": row}).endswith("| pendulum | ✓ | – |")
    with pytest.raises(ValueError, match="invalid literal"):  # a fault is not taken for a refusal
        limitations.tried(m, lambda m: int("no"))
