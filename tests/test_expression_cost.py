"""No text costs much: reading is linear in its length, evaluating has a budget.
`tools/harden/fuzz_files.py` looks for more of them.
"""

from __future__ import annotations

import resource
import sys
import time
from contextlib import suppress
from pathlib import Path

import casadi as ca
import pytest
from costly_texts import FRAGMENTS, WRAPPERS, repeated
from hypothesis import given, settings
from hypothesis import strategies as st

import varimech as vm
from varimech.core.expressions import ALL_RATES, OPERATIONS, Expression, Scope, fixed_number
from varimech.model.parameter_set import ParameterSet

SECONDS, MEGABYTES = 2.0, 100.0
"""For any text of 5,000 characters; most take a hundredth of both."""
SCOPE = Scope({"a": ca.SX.sym("a"), "b": ca.SX.sym("b"), "t": ca.SX.sym("t")})


def peak() -> float:
    """Of the memory of this process (MB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 if sys.platform == "linux" else 1024**2
    )


def cost(text: str) -> tuple[float, float]:
    """Seconds and megabytes that it takes to read a text wherever one may stand."""
    began, before = time.process_time(), peak()
    for read in (
        lambda: Expression(text).value(SCOPE),
        lambda: fixed_number(text, "m", "it"),
        lambda: ParameterSet("it").quantity(text, "m", "it"),
    ):
        with suppress(vm.ModelError):
            read()
    return time.process_time() - began, peak() - before


@given(
    st.sampled_from(FRAGMENTS),
    st.sampled_from(WRAPPERS),
    st.integers(1, 5000),
    st.sampled_from(FRAGMENTS),
    st.sampled_from(WRAPPERS),
)
@settings(max_examples=150, deadline=None)
def test_no_text_costs_much(
    inner: str, first: tuple[str, str, str], size: int, outer: str, second: tuple[str, str, str]
) -> None:
    text = (
        repeated(repeated(inner, first, size // 4), second, size)
        if outer == inner
        else repeated(inner, first, size)
    )
    seconds, megabytes = cost(text)
    assert seconds < SECONDS and megabytes < MEGABYTES, text[:100]


LIST = "[" + ",".join(["a"] * 500) + "]"


@pytest.mark.parametrize(
    "text",
    [
        f"{LIST}@[{LIST}]",
        f"[{LIST}]@({LIST}@[{LIST}])",
        f"({LIST}@[[{','.join(['a'] * 150)}]])" + "*a" * 100,
        "[" + ",".join([f"[{','.join(['1'] * 200)}]"] * 20) + "]" + "*1" * 50,
    ],
)
def test_products_of_nested_lists_have_a_budget(text: str) -> None:
    seconds, megabytes = cost(text)
    assert seconds < SECONDS and megabytes < MEGABYTES
    with pytest.raises(vm.ModelError, match=f"more than {OPERATIONS} scalar operations"):
        Expression(text).value(SCOPE)


@pytest.mark.parametrize(
    "text", ["1{}x", "1{}", "{}1 m", "1e{}", "1 {}/", "1/{}", "m{}", "1.{}5 s"]
)
def test_long_quantities_are_read_in_linear_time(text: str) -> None:
    """It was of the third degree for digits and blanks: 1 s for 1,000 of them."""
    for filler in ("1", " ", "1 ", "m", "m ", "(", "1/", "m/", "²", "e1"):
        began = time.process_time()
        for size in (1000, 100_000):
            with suppress(vm.ModelError):
                fixed_number(text.format(filler * (size // len(filler))), "m", "it")
        assert time.process_time() - began < 0.5


def test_functions_of_the_whole_model_are_computed_once() -> None:
    calls: list[str] = []

    def computed(name: str = "energy") -> ca.SX:
        calls.append(name)
        return ca.SX.sym(name)

    scope = Scope({}, {"energy": computed, "position": computed})
    Expression("[" + "energy() + position('P')*position('Q'), " * 100 + "]").value(scope)
    assert sorted(calls) == ["P", "Q", "energy"]


def test_time_derivatives_are_counted() -> None:
    scope = Scope({"t": ca.SX.sym("t")}, {"rate": lambda x: x})
    Expression("+".join(["rate(t)"] * ALL_RATES)).value(scope)
    for text in ("+".join(["rate(t)"] * (ALL_RATES + 1)), "rate(rate(rate(rate(t))))"):
        with pytest.raises(vm.ModelError, match="at most 3 nested and 20 in total are allowed"):
            Expression(text).value(scope)


def test_a_file_of_three_kilobytes_takes_no_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    row = "[" + ",".join(["1"] * 300) + "]"
    path.write_text(
        f"varimech: 1\nname: bomb\ngravity: [0, 0]\nbodies: {{b: {{mass: '([{row}] @ ({row} @"
        f" [{row}]))[0]', inertia: 1}}}}\n"
    )
    before = peak()
    with pytest.raises(
        vm.FileError, match=r"scalar operations|the operands do not match"
    ) as caught:
        vm.Mechanism.from_file(path)
    assert caught.value.field == "bodies.b.mass" and peak() - before < MEGABYTES
