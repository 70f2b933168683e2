"""Which tests take so long that only `make verify` runs them."""

from __future__ import annotations

import pytest

SLOW = (
    "test_adjoint.py::test_direct_and_adjoint_agree[tree",
    "test_adjoint.py::test_direct_and_adjoint_agree[governor",
    "test_andrews.py::test_direct_equals_extrapolated_differences_of_the_program",
    "test_beams_sensitivity.py::test_derivatives_are_those_of_differences[32",
    *(
        f"test_benchmarks.py::test_json_has_what_every_benchmark_has[{name}"
        for name in ("tree", "governor", "bricard", "flexible")
    ),
    "test_benchmarks.py::test_passes_with_its_own_settings[tree",
    "test_benchmarks.py::test_passes_with_its_own_settings[bricard",
    "test_benchmarks.py::test_passes_with_its_own_settings[governor",
    "test_benchmarks.py::test_passes_with_its_own_settings[flexible",
    "test_benchmarks.py::test_tree_references_come_from_another_program",
    "test_coordinates.py::test_motion_reactions_and_sensitivities_agree[tree",
    "test_coordinates.py::test_motion_reactions_and_sensitivities_agree[governor",
    "test_examples.py::test_the_five_bar_draws_the_ellipse_as_well_as_it_can",
    "test_examples.py::test_the_rod_is_as_light_as_it_may_be",
    "test_examples.py::test_the_squeezer_is_lighter_on_its_bearing",
    "test_examples.py::test_tolerances_of_the_squeezer",
    "test_fit.py::test_intervals_hold_the_truth_as_often_as_they_say",
    "test_flexible_five_bar.py::test_the_reference_gives_the_stored_values",
    "test_flexible_slider_crank.py::test_references_come_from_another_program",
    "test_flexible_slider_crank.py::test_any_number_of_segments[7",
    "test_monte_carlo.py::test_intervals_hold_the_truth_as_often_as_they_say",
    "test_openturns.py::test_the_example",
    "test_optimize.py::test_the_best_linear_buffer",
    "test_tolerances.py::test_as_accurate_as_asked[bricard",
    "test_tolerances.py::test_as_accurate_as_asked[governor",
    "test_tolerances.py::test_as_accurate_as_asked[slider-crank",
    "test_tolerances.py::test_five_bar_gradients_of_order_four",
)
"""Beginnings of names: long comparisons of what others compare in less time."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them."""
    for item in items:
        if item.nodeid.removeprefix("tests/").startswith(SLOW):
            item.add_marker(pytest.mark.slow)
