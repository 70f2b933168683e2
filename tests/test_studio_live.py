"""Handles, live tolerances, jobs and designs of the studio, without a browser."""

from __future__ import annotations

import json
import math
import os
import threading
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studio_pages import unpacked

import varimech as vm
from varimech.benchmarks import BENCHMARKS
from varimech.benchmarks.five_bar import mechanism
from varimech.core.errors import ModelError
from varimech.files.editing import with_tolerance
from varimech.files.reading import mechanism_of_text
from varimech.studio.handles import PointTarget, brought, pulled
from varimech.studio.live import Live
from varimech.studio.live_actions import pull, set_tolerance, take_result
from varimech.studio.messages import Message
from varimech.studio.session import Session
from varimech.studio.tolerances import sampled, summary
from varimech.uncertainty.horizon import HorizonWarning

STARTER = files("varimech.files").joinpath("starter.yaml").read_text(encoding="utf-8")
FIVE_BAR = BENCHMARKS["five-bar"].model_file.read_text(encoding="utf-8")
WANTED = (0.75, -1.9)
"""m, 0.1 m above the path of point 2 of the five-bar"""


@pytest.fixture(scope="module")
def five_bar() -> Session:
    return Session(vm.Mechanism, FIVE_BAR)


@pytest.fixture(scope="module")
def shared() -> Session:
    """For tests that leave the design as it is."""
    return Session(vm.Mechanism, STARTER)


@pytest.fixture
def session() -> Session:
    return Session(vm.Mechanism, STARTER)


def engine_of(session: Session) -> Any:
    assert session.engine is not None
    return session.engine


def distance_from_path(values: dict[str, float]) -> float:
    """Independent of the studio: another integrator, dense output, and segments between them."""
    run = mechanism().simulate(duration=5.0, tolerance=1e-10, output=5e-4, parameters=values)
    path = run.position("2").to_numpy()
    a, d = path[:-1], np.diff(path, axis=0)
    share = np.clip(((np.array(WANTED) - a) * d).sum(1) / (d * d).sum(1), 0, 1)
    return float(np.linalg.norm(a + share[:, None] * d - np.array(WANTED), axis=1).min())


def test_the_path_of_the_coupler_point_passes_a_given_point(five_bar: Session) -> None:
    engine = engine_of(five_bar)
    assert distance_from_path({}) > 0.05
    reached = brought(engine, {}, PointTarget("2", WANTED), goal=1e-8)
    assert reached.distance < 1e-7
    for p in engine.parameters:
        assert p["low"] <= reached.values[p["name"]] <= p["high"]
    assert distance_from_path(reached.values) < 1e-5  # steps of 1 ms, compared with exact ones


def test_a_point_is_brought_to_a_place_at_a_time(five_bar: Session) -> None:
    engine = engine_of(five_bar)
    reached = pulled(engine, {}, PointTarget("2", (0.5, -1.9), time=1.0005), goal=1e-9)
    assert reached.distance < 1e-9
    run = mechanism().simulate(duration=1.0005, tolerance=1e-10, parameters=reached.values)
    assert run.position("2").to_numpy()[-1] == pytest.approx((0.5, -1.9), abs=1e-5)


def test_only_the_chosen_parameters_follow_and_what_is_left_is_reported(session: Session) -> None:
    pull(session, objective="wear", value=50.0, over=["crank"], final=True)
    assert session.values == pytest.approx({"crank": 0.12})  # its bound
    assert session.handle is not None
    assert session.handle["at_bounds"] == ["crank"] and not session.handle["reached"]
    value = engine_of(session).problem({"crank": 0.12}).gradient("adjoint").final_values[1]
    assert session.handle["left"] == pytest.approx(float(value) - 50.0, rel=1e-6)
    session.undo()
    assert session.values == {} and session.text == STARTER


def test_an_objective_is_brought_to_a_value(session: Session) -> None:
    pull(session, objective="travel", value=0.33, final=True)
    assert session.handle is not None and session.handle["reached"]
    again = Session(vm.Mechanism, session.text)
    rows: Any = engine_of(again).numbers({}).content["objectives"]
    assert rows[0]["value"] == pytest.approx(0.33, abs=1e-8)


def test_wrong_handles_are_refused(shared: Session) -> None:
    for wrong in (
        {"objective": "nothing", "value": 1.0},
        {"objective": "travel"},
        {"point": "P", "place": [0.0, 0.0, 0.0]},
        {"point": "P", "place": [float("nan"), 0.0]},
        {"objective": "travel", "value": 0.3, "over": ["nothing"]},
        {"objective": "travel", "value": 0.3, "over": []},
    ):
        with pytest.raises(ModelError):
            pull(shared, **wrong)


def test_live_moments_are_those_of_the_analysis(shared: Session) -> None:
    engine = engine_of(shared)
    rows: Any = engine.tolerances({"rod": 0.26}).content["objectives"]
    nominal = STARTER.replace("value: 250 mm", "value: 260 mm")
    with pytest.warns(HorizonWarning):
        moments = engine_of(Session(vm.Mechanism, nominal)).problem().moments(order=1)
    for k, row in enumerate(rows):
        assert row["deviation"] == pytest.approx(float(moments.std[-1, k]), rel=1e-6)
        assert sum(row["shares"].values()) == pytest.approx(1.0)
    assert rows[0]["limits"] == [0.3, None]


def test_samples_agree_with_moments_and_follow_the_design(shared: Session) -> None:
    engine = engine_of(shared)
    rows: Any = engine.tolerances({}).content["objectives"]
    samples = sampled(engine, {})
    travel = summary(samples["travel"])
    assert travel["count"] == 2000 and sum(travel["histogram"]["counts"]) == 2000
    bins = travel["histogram"]
    end = bins["start"] + bins["width"] * len(bins["counts"])
    assert (bins["start"], end) == pytest.approx((samples["travel"][0], samples["travel"][-1]))
    # first order; errors of 2,000 samples are 1.6 % of σ (1 standard error)
    assert travel["deviation"] == pytest.approx(rows[0]["deviation"], rel=0.08)
    assert travel["mean"] == pytest.approx(rows[0]["value"], abs=0.2 * travel["deviation"])
    assert travel["quantiles"][2]["value"] == np.median(samples["travel"])
    moved = summary(sampled(engine, {"crank": 0.11})["travel"])
    value = engine.problem({"crank": 0.11}).gradient("adjoint").final_values[0]
    assert moved["mean"] == pytest.approx(float(value), abs=0.2 * moved["deviation"])
    assert abs(moved["mean"] - travel["mean"]) > 5 * moved["deviation"]


def test_tolerances_are_written_into_the_text(session: Session) -> None:
    set_tolerance(session, "crank", "0.2 mm")
    assert "crank: {value: 100 mm, bounds: [80 mm, 120 mm], tolerance: 0.2 mm}" in session.text
    assert session.text.count("\n") == STARTER.count("\n")
    session.undo()
    assert session.text == STARTER


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("  L: 30 mm  # long\n", "  L: {value: 30 mm, tolerance: 0.1 mm}  # long\n"),
        ("  L: {value: 30 mm}\n", "  L: {value: 30 mm, tolerance: 0.1 mm}\n"),
        ("  L:\n    value: 0.03\n", "  L:\n    tolerance: 0.0001\n    value: 0.03\n"),
    ],
)
def test_a_tolerance_is_added_in_place(before: str, after: str) -> None:
    assert with_tolerance(f"parameters:\n{before}", "L", 1e-4) == f"parameters:\n{after}"


def finished(session: Session) -> dict[str, Any]:
    for _ in range(600):
        state = session.jobs.state()
        assert state is not None
        if state["status"] != "running":
            return state
        time.sleep(0.1)
    raise AssertionError("the job does not end")


def test_a_job_optimises_and_its_design_is_taken_over(session: Session) -> None:
    session.edit(STARTER.replace("starts: 8", "starts: 1"))
    session.start_job("optimize")
    with pytest.raises(ModelError, match="is running"):
        session.start_job("certify")
    state = finished(session)
    assert state["status"] == "done", state["note"]
    take_result(session)
    rows: Any = engine_of(session).numbers(session.values).content["objectives"]
    assert rows[0]["value"] >= 0.3 - 1e-6 and rows[1]["value"] < 165.0
    assert session.history.can_undo


def signal_for_long(process: int) -> None:
    """Signals that do nothing, for 20 s, to a process that may have ended."""
    for _ in range(200):
        os.kill(process, 0)
        time.sleep(0.1)


def test_a_cancelled_job_ends_its_process(session: Session) -> None:
    session.start_job("optimize")
    number = session.jobs._process.pid
    session.jobs.cancel()
    assert finished(session)["status"] == "cancelled"
    with pytest.raises(ProcessLookupError):  # when the thread of the job has seen its end
        signal_for_long(number)
    with pytest.raises(ModelError, match="no design"):
        take_result(session)


def test_designs_are_compared(session: Session) -> None:
    session.keep("A")
    session.set_values({"crank": 0.11}, final=True)
    session.compare("A")
    engine = engine_of(session)
    rows: Any = engine.designs(session.values).content["designs"]
    assert [row["name"] for row in rows] == [None, "A"]
    assert [row["values"]["crank"] for row in rows] == [0.11, 0.1]
    assert rows[1]["objectives"][0]["value"] == pytest.approx(0.31986980, rel=1e-6)
    motion: Any = engine.motion(session.values).content["animation"]
    assert "before" in motion
    session.forget("A")
    assert session.ghost is None and "before" not in engine.motion({}).content["animation"]


def test_a_change_of_another_page_survives_a_tolerance(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes while the text with the tolerance is made."""
    other = threading.Thread(
        target=session.set_values, args=({"rod": 0.26},), kwargs={"final": True}
    )

    def meanwhile(*given: Any) -> str:
        other.start()
        other.join(0.2)  # it has to wait until the tolerance is written
        return with_tolerance(*given)

    monkeypatch.setattr("varimech.studio.live_actions.with_tolerance", meanwhile)
    set_tolerance(session, "crank", 1e-4)
    other.join()
    known = mechanism_of_text(vm.Mechanism, session.text).parameters
    assert known["rod"].value == 0.26
    assert known["crank"].distribution.width == pytest.approx(1e-4)


def test_states_come_in_their_order(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    live, sent = Live(session), list[int]()

    class Shown:
        def put(self, kind: str, message: bytes) -> None:
            end = 4 + int.from_bytes(message[:4], "little")
            sent.append(json.loads(message[4:end])["revision"])

    page = Shown()
    live.join(page)
    own, composed, newer = session.state, threading.Event(), threading.Event()

    def slow() -> dict[str, Any]:
        state = own()
        if not composed.is_set():
            composed.set()
            newer.wait(0.3)  # for the page that asks later, if it does not wait
        return state

    monkeypatch.setattr(session, "state", slow)

    def ask(crank: float) -> None:
        request = {"kind": "set", "values": {"crank": crank}, "final": True}
        live.receive(page, json.dumps(request))

    first = threading.Thread(target=ask, args=(0.101,))
    first.start()
    composed.wait()
    ask(0.102)
    newer.set()
    first.join()
    assert len(sent) == 3 and sent == sorted(sent)


@pytest.mark.parametrize("width", [math.inf, math.nan, -1e-3, 0.0])
def test_tolerances_that_are_none_are_refused(shared: Session, width: float) -> None:
    before = shared.text
    with pytest.raises(ModelError, match="positive finite"):
        set_tolerance(shared, "crank", width)
    assert shared.text == before


def test_a_kept_design_whose_table_is_gone_does_not_keep_others_from_changing(
    tmp_path: Path,
) -> None:
    (tmp_path / "force.csv").write_text("0, 0\n1, 5\n2, 0\n")
    drag = """['-0.5*velocity("slider.S")[0]', 0]"""
    assert drag in STARTER
    tables = "tables:\n  F: {file: force.csv}\n\nforces:"
    text = STARTER.replace(drag, "['F(t)', 0]").replace("forces:", tables, 1)
    session = Session(vm.Mechanism, text, tmp_path / "model.yaml")
    assert session.problem is None
    session.keep("driven")
    (tmp_path / "force.csv").unlink()
    session.edit(STARTER)
    assert session.problem is None and session.text == STARTER
    assert engine_of(session).kept == {"driven": None}
    session.take("driven")
    assert session.problem is not None and "force.csv" in str(session.problem["message"])


def test_no_name_of_a_parameter_is_taken_for_an_array() -> None:
    message = Message("designs", values={"array": 1.0, "rod": 0.25})
    message.content["x"] = message.double(np.array([1.0, 2.0]))
    content = unpacked(message.encoded())
    assert content["values"] == {"array": 1.0, "rod": 0.25}
    assert content["x"].tolist() == [1.0, 2.0]
