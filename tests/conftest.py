"""Which tests take so long that only `make verify` runs them; random input is the same every time;
nothing is compiled that no test waits for.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress

# processes of pytest-xdist use all cores already; threads of OpenBLAS would wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from varimech.backends import native
from varimech.backends.background import Work
from varimech.backends.compiler import BuildError
from varimech.backends.machine import lane_machine, machine
from varimech.elements import registry

settings.register_profile("repeatable", derandomize=True, database=None)
# a test that passes here passes everywhere; tools/ look for what is new
settings.load_profile("repeatable")

SLOW = (
    "test_adjoint.py::test_direct_and_adjoint_agree[governor",
    "test_adjoint.py::test_direct_and_adjoint_agree[tree",
    "test_andrews.py::test_direct_equals_extrapolated_differences_of_the_program",
    "test_beams_dynamic.py::test_a_soft_pendulum_is_that_of_a_beam_whose_bending_stiffness_grows_with_its_stretch",
    "test_beams_sensitivity.py::test_derivatives_are_those_of_differences[32",
    "test_beams_static.py::test_the_elastica[10.0-linear",
    "test_beams_static.py::test_the_elastica[5.0-linear",
    "test_benchmarks.py::test_a_slightly_wrong_mechanism_fails[bicycle",
    "test_benchmarks.py::test_a_slightly_wrong_mechanism_fails[bricard",
    "test_benchmarks.py::test_a_slightly_wrong_mechanism_fails[chain",
    "test_benchmarks.py::test_a_slightly_wrong_mechanism_fails[flexible-slider-crank",
    "test_benchmarks.py::test_a_slightly_wrong_mechanism_fails[gear-train",
    "test_benchmarks.py::test_a_slightly_wrong_mechanism_fails[governor",
    "test_benchmarks.py::test_a_slightly_wrong_mechanism_fails[rolling-disc",
    "test_benchmarks.py::test_a_slightly_wrong_mechanism_fails[tree",
    "test_benchmarks.py::test_chain_references_come_from_its_equations_of_motion",
    "test_benchmarks.py::test_json_has_what_every_benchmark_has[bricard",
    "test_benchmarks.py::test_json_has_what_every_benchmark_has[chain",
    "test_benchmarks.py::test_json_has_what_every_benchmark_has[flexible",
    "test_benchmarks.py::test_json_has_what_every_benchmark_has[gear-train",
    "test_benchmarks.py::test_json_has_what_every_benchmark_has[governor",
    "test_benchmarks.py::test_json_has_what_every_benchmark_has[rolling-disc",
    "test_benchmarks.py::test_json_has_what_every_benchmark_has[tree",
    "test_benchmarks.py::test_no_tolerance_is_as_large_as_what_it_checks[bricard",
    "test_benchmarks.py::test_no_tolerance_is_as_large_as_what_it_checks[chain",
    "test_benchmarks.py::test_no_tolerance_is_as_large_as_what_it_checks[flexible",
    "test_benchmarks.py::test_no_tolerance_is_as_large_as_what_it_checks[governor",
    "test_benchmarks.py::test_no_tolerance_is_as_large_as_what_it_checks[tree",
    "test_benchmarks.py::test_passes_with_its_own_settings[bricard",
    "test_benchmarks.py::test_passes_with_its_own_settings[chain",
    "test_benchmarks.py::test_passes_with_its_own_settings[flexible",
    "test_benchmarks.py::test_passes_with_its_own_settings[gear-train",
    "test_benchmarks.py::test_passes_with_its_own_settings[governor",
    "test_benchmarks.py::test_passes_with_its_own_settings[rolling-disc",
    "test_benchmarks.py::test_passes_with_its_own_settings[tree",
    "test_benchmarks.py::test_tree_references_come_from_another_program",
    "test_cams_and_curves.py::test_an_eccentric_cam_moves_its_follower_as_the_closed_form[flat-rtdyn0",
    "test_cams_and_curves.py::test_an_eccentric_cam_moves_its_follower_as_the_closed_form[knife-rtdyn0",
    "test_cams_and_curves.py::test_an_eccentric_cam_moves_its_follower_as_the_closed_form[roller-rtdyn0",
    "test_coordinates.py::test_motion_reactions_and_sensitivities_agree[governor",
    "test_coordinates.py::test_motion_reactions_and_sensitivities_agree[tree",
    "test_curve_contacts.py::test_second_derivatives_of_a_curve_contact",
    "test_docs.py::test_blocks_run[docs/certificate",
    "test_docs.py::test_blocks_run[docs/methods",
    "test_docs.py::test_blocks_run[docs/monte_carlo",
    "test_docs.py::test_pages_print_what_they_say[9_robust_design",
    "test_double_wishbone.py::test_cheapest_tolerances_of_camber_and_toe",
    "test_event_studies.py::test_all_methods_agree_over_26_impacts",
    "test_examples.py::test_the_five_bar_draws_the_ellipse_as_well_as_it_can",
    "test_examples.py::test_the_five_bar_is_kept_still[third-exact",
    "test_examples.py::test_the_governor_settles_where_statics_say",
    "test_examples.py::test_the_preload_keeps_the_tappet_on_its_cam",
    "test_examples.py::test_the_rod_is_as_light_as_it_may_be",
    "test_examples.py::test_the_squeezer_is_lighter_on_its_bearing",
    "test_examples.py::test_the_woodpecker_doubles_its_period",
    "test_examples.py::test_the_woodpecker_reaches_its_limit_cycle",
    "test_examples.py::test_tolerances_of_the_",
    "test_fit.py::test_intervals_hold_the_truth_as_often_as_they_say",
    "test_flexible_five_bar.py::test_agrees_with_the_reference_for_the_stiff_beam[4-False",
    "test_flexible_five_bar.py::test_the_reference_gives_the_stored_values",
    "test_flexible_slider_crank.py::test_a_stiff_rod_moves_as_a_rigid_one",
    "test_flexible_slider_crank.py::test_any_number_of_segments[7",
    "test_flexible_slider_crank.py::test_references_come_from_another_program",
    "test_friction_in_space.py::test_second_derivatives_of_the_way",
    "test_hostile_results.py::test_a_study_whose_scheduler_is_killed_names_its_checkpoint",
    "test_initial_conditions.py::test_the_gap_in_space",
    "test_lane_plans.py::test_lanes_have_the_bits_of_single_runs[chosen steps-native",
    "test_lane_plans.py::test_lanes_have_the_bits_of_single_runs[trapezoidal rule-native",
    "test_monte_carlo.py::test_intervals_hold_the_truth_as_often_as_they_say",
    "test_notebooks.py::test_notebooks_run_and_show_something[2",
    "test_notebooks.py::test_notebooks_run_and_show_something[3",
    "test_notebooks.py::test_notebooks_run_and_show_something[4",
    "test_notebooks.py::test_notebooks_run_and_show_something[5",
    "test_notebooks.py::test_notebooks_run_and_show_something[7",
    "test_openturns.py::test_blocks_of_the_page_run",
    "test_openturns.py::test_the_example",
    "test_optimize.py::test_certificates_of_optima",
    "test_optimize.py::test_five_bar_with_exact_second_derivatives[start1",
    "test_optimize.py::test_the_best_linear_buffer",
    "test_random_contacts.py::test_equal_steps_have_the_same_events[double pendulum with friction",
    "test_random_contacts.py::test_some_of_each_family[double pendulum with friction",
    "test_relative.py::test_sensitivities_by_all_methods[small tree-rtdyn0",
    "test_squeezer_grades.py::test_no_other_grades_are_cheaper",
    "test_tolerances.py::test_as_accurate_as_asked[bricard",
    "test_tolerances.py::test_as_accurate_as_asked[governor",
    "test_tolerances.py::test_as_accurate_as_asked[slider-crank",
    "test_tolerances.py::test_five_bar_gradients_of_order_four",
    "test_tolerances.py::test_governor_to_its_end",
    "test_winding.py::test_large_trees_agree_in_all_coordinates[3",
)
"""Beginnings of names: long comparisons of what others compare in less time."""


@pytest.fixture(scope="session", autouse=True)
def _machine() -> None:
    """Built once, before tests that count, hide or break compilers."""
    with suppress(BuildError):
        machine()
        lane_machine()


@pytest.fixture(autouse=True)
def _no_builds_in_the_background(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code built in the background comes too late for a test, and takes the processor from the
    next ones; tests of such builds are marked.
    """
    if request.node.get_closest_marker("builds_in_background") is None:
        monkeypatch.setattr(native, "in_background", _done_at_once)


def _done_at_once(task: Callable[[], None], estimated: float = 0.0) -> Work:
    work = Work(task, estimated)
    work.set()
    return work


@pytest.fixture(autouse=True)
def _only_built_in_elements() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = dict(registry.ELEMENTS)
    yield
    registry.ELEMENTS.clear()
    registry.ELEMENTS.update(before)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spend less time on the search for garbage. Objects that exist after collection stay to the
    end: searching them again and again took a seventh of the time of all tests. Searching the others
    thirty times less often saves another twentieth.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 50, 50)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them."""
    for item in items:
        if item.nodeid.removeprefix("tests/").startswith(SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def ctrl_c_heard() -> Iterator[None]:
    """Ctrl-C as at a terminal: shells ignore SIGINT for what runs in the background, and programs
    that are started by a test inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def own_registries() -> Iterator[None]:
    """What a test registers is gone after it."""
    from varimech.schemes import FORMULATIONS, INTEGRATORS

    integrators, formulations = dict(INTEGRATORS), dict(FORMULATIONS)
    yield
    INTEGRATORS.clear()
    INTEGRATORS.update(integrators)
    FORMULATIONS.clear()
    FORMULATIONS.update(formulations)
