"""Sessions and workers of the studio: one text is the truth, mistakes and failures lose nothing,
and all pages see the same.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studio_pages import CRANK, Page, served, unpacked

import varimech as vm
from varimech.core.errors import ModelError
from varimech.files.reading import mechanism_of_text
from varimech.studio.messages import Message
from varimech.studio.session import Session
from varimech.studio.worker import Worker

ANGLE = 1.0
"""rad, of the crank at the start"""


@pytest.fixture
def session(tmp_path: Path) -> Session:
    path = tmp_path / "crank.yaml"
    path.write_text(CRANK)
    return Session(vm.Mechanism, CRANK, path)


class Published:
    """What a worker publishes; `wait` finds the first message that fits."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._more = threading.Condition()

    def __call__(self, message: bytes) -> None:
        with self._more:
            self.messages.append(unpacked(message))
            self._more.notify_all()

    def wait(self, kind: str, revision: int) -> dict[str, Any]:
        def fitting() -> dict[str, Any] | None:
            for m in self.messages:
                if m["kind"] == kind and m["revision"] == revision:
                    return m
            return None

        with self._more:
            assert self._more.wait_for(lambda: fitting() is not None, timeout=20), self.messages
            found = fitting()
        assert found is not None
        return found


@pytest.fixture
def published() -> Published:
    return Published()


@pytest.fixture
def worker(session: Session, published: Published) -> Iterator[Worker]:
    running = Worker(session, published)
    yield running
    running.end()


def slider_at(crank: float, rod: float) -> float:
    """x of the slider, by the geometry of the crank at the start."""
    return float(crank * np.cos(ANGLE) + np.sqrt(rod**2 - (crank * np.sin(ANGLE)) ** 2))


def first_place(message: dict[str, Any], point: str) -> np.ndarray:
    """Where a point is at the start, from the data of the animation."""
    animation = message["animation"]
    places = animation["motion"]["places"].reshape(animation["motion"]["frames"], -1, 2)
    k = [p.split(".")[-1] for p in animation["points"]].index(point)
    return np.asarray(places[0, k] + animation["origin"])


# the session


def test_a_final_value_goes_into_the_text_and_everything_else_stays(session: Session) -> None:
    session.set_values({"crank": 0.12}, final=True)
    assert session.text == CRANK.replace("100 mm", "120 mm") and session.state()["changed"]
    session.set_values({"crank": "0.11 m"}, final=True)
    assert session.text == CRANK.replace("100 mm", "110 mm")


def test_a_value_that_is_tried_is_not_in_the_text(session: Session) -> None:
    session.set_values({"crank": 0.12}, final=False)
    assert session.text == CRANK and session.values == {"crank": 0.12}
    assert not session.state()["can_undo"]


def test_parameters_are_shown_in_the_units_of_the_text(session: Session) -> None:
    shown = {p["name"]: p["shown"] for p in session.state()["parameters"]}
    assert shown["crank"] == {"unit": "mm", "factor": pytest.approx(1e-3)}
    session.edit(CRANK.replace("{value: 100 mm, unit: m, bounds: [0.05, 0.2]}", "0.1"))
    assert session.state()["parameters"][0]["shown"] is None
    session.edit(session.text.replace("crank: 0.1", "crank: 1e5 um"))
    assert session.state()["parameters"][0]["shown"]["unit"] == "um"
    session.edit(session.text.replace("mass: 0.8", "mas: 0.8"))
    assert session.state()["parameters"][0]["shown"]["unit"] == "um"


def test_a_model_without_parameters_moves() -> None:
    text = CRANK.replace("length: crank", "length: 0.1").replace("length: rod", "length: 0.25")
    begin, end = text.index("# what"), text.index("ground:")
    engine = Session(vm.Mechanism, text[:begin] + text[end:]).engine
    assert engine is not None and engine.parameters == []
    for kind in ("motion", "derivatives"):
        place = first_place(unpacked(getattr(engine, kind)({}).encoded()), "S")
        assert place == pytest.approx([slider_at(0.1, 0.25), 0], abs=1e-6)
    for kind in ("numbers", "tolerances", "samples"):
        assert unpacked(getattr(engine, kind)({}).encoded())["objectives"] == []
    assert engine.designs({}).content["designs"] == [{"name": None, "values": {}, "objectives": []}]


def test_undo_redo_and_revert(session: Session) -> None:
    texts = [CRANK]
    for value in ("120 mm", "130 mm"):
        session.set_values({"crank": value}, final=True)
        texts.append(CRANK.replace("100 mm", value))
    session.undo()
    assert session.text == texts[1] and session.values == {"crank": pytest.approx(0.12)}
    session.undo()
    session.undo()  # there is nothing before the first
    assert session.text == CRANK and not session.state()["can_undo"]
    session.redo()
    session.redo()
    assert session.text == texts[2] and not session.state()["can_redo"]
    session.revert()
    assert session.text == CRANK and not session.state()["changed"]
    session.undo()
    assert session.text == texts[2]
    session.undo()
    session.set_values({"crank": 0.14}, final=True)
    assert not session.state()["can_redo"]  # another way was taken


def test_saving_writes_the_text_and_undo_goes_behind_it(session: Session) -> None:
    assert session.path is not None
    session.set_values({"rod": 0.26}, final=True)
    session.save()
    assert session.path.read_text() == CRANK.replace("250 mm", "260 mm")
    assert not session.state()["changed"]
    session.undo()
    assert session.state()["changed"] and session.text == CRANK
    session.save()
    assert session.path.read_text() == CRANK


def test_a_session_without_a_file_saves_nothing() -> None:
    with pytest.raises(ModelError, match="no file was opened"):
        Session(vm.Mechanism, CRANK).save()


def test_a_text_with_mistakes_keeps_the_last_mechanism(session: Session) -> None:
    engine = session.engine
    wrong = CRANK.replace("mass: 0.8", "mas: 0.8")
    session.edit(wrong)
    state = session.state()
    assert session.text == wrong and session.engine is engine
    assert state["problem"]["line"] == CRANK.splitlines().index(line_of("rod: {bar")) + 1
    assert [p["name"] for p in state["parameters"]] == ["crank", "rod"]
    session.edit("{")
    assert session.engine is engine and session.state()["problem"]["line"]
    session.undo()
    session.undo()
    assert session.state()["problem"] is None


def line_of(part: str) -> str:
    return next(line for line in CRANK.splitlines() if part in line)


def test_a_session_that_begins_with_mistakes_goes_on_when_they_are_mended() -> None:
    session = Session(vm.Mechanism, CRANK.replace("revolute", "revolut"))
    assert session.engine is None and session.state()["parameters"] == []
    with pytest.raises(ModelError, match="has errors"):
        session.set_values({"crank": 0.1}, final=True)
    session.edit(CRANK)
    assert session.engine is not None and session.problem is None


def test_values_only_keep_the_engine(session: Session) -> None:
    engine = session.engine
    session.edit(CRANK.replace("100 mm", "0.12").replace("# the short one", "# shorter"))
    assert session.engine is engine and session.values == {"crank": 0.12}
    session.edit(CRANK.replace("mass: 0.5", "mass: 0.6"))
    assert session.engine is not engine and session.values == {}


def test_kept_designs_are_taken_again(session: Session) -> None:
    session.keep("A")
    session.set_values({"crank": 0.12}, final=True)
    session.take("A")
    assert session.text == CRANK and session.state()["can_undo"]
    with pytest.raises(ModelError, match="B"):
        session.take("B")


def test_a_text_with_mistakes_keeps_the_values_of_the_last_design(session: Session) -> None:
    session.set_values({"crank": 0.12}, final=True)
    session.edit(session.text.replace("mass: 0.8", "mas: 0.8"))
    assert session.values == {"crank": 0.12} and session.problem is not None


def test_a_text_with_mistakes_is_not_kept(session: Session) -> None:
    session.edit(CRANK.replace("mass: 0.8", "mas: 0.8"))
    with pytest.raises(ModelError, match="correct"):
        session.keep("A")
    session.edit(CRANK.replace("mass: 0.8", "mass: 0.9"))
    assert session.problem is None and session.state()["kept"] == []


def test_sliders_show_tolerances_as_the_text_states_them() -> None:
    session = Session(
        vm.Mechanism, CRANK.replace("tolerance: 0.3 mm", "tolerance: 0.3 mm, sigmas: 2")
    )
    rod = session.state()["parameters"][1]
    assert rod["tolerance"] == pytest.approx(0.3e-3, rel=1e-12)


def test_sliders_state_the_values_whatever_a_study_says() -> None:
    text = CRANK.replace("step: 0.01}", "step: 0.01, parameters: {crank: 0.15}}")
    session = Session(vm.Mechanism, text)
    assert session.engine is not None
    seen = unpacked(session.engine.motion({"rod": 0.3}).encoded())
    assert first_place(seen, "S")[0] == pytest.approx(slider_at(0.1, 0.3), abs=1e-6)


def test_parameters_without_derivatives_are_named(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("varimech.studio.engine.MOST_PARAMETERS", 1)
    assert session.engine is not None
    assert session.engine.numbers({}).content["without"] == ["rod"]


# the worker


def test_motion_numbers_and_derivatives_follow_the_design(
    session: Session, worker: Worker, published: Published
) -> None:
    assert first_place(published.wait("motion", 0), "S")[0] == pytest.approx(
        slider_at(0.1, 0.25), abs=1e-6
    )
    session.set_values({"crank": 0.12}, final=True)
    worker.wake()
    revision = session.revision
    moved = published.wait("motion", revision)
    assert first_place(moved, "S")[0] == pytest.approx(slider_at(0.12, 0.25), abs=1e-6)
    numbers = published.wait("numbers", revision)["objectives"][0]
    m = vm.Mechanism.from_file(write(session))
    expected = m.study("sensitivity", objectives=["travel"], wrt=["crank", "rod"])
    assert numbers["value"] == pytest.approx(float(expected.final_values[0]), rel=1e-9)
    curves = published.wait("derivatives", revision)["plots"]
    assert all(len(c["derivatives"]) == 2 for plot in curves for c in plot["curves"])


def write(session: Session) -> Path:
    session.save()
    assert session.path is not None
    return session.path


def test_an_impossible_design_is_explained_and_the_next_one_is_shown(
    session: Session, worker: Worker, published: Published
) -> None:
    session.set_values({"rod": 0.05}, final=False)  # shorter than the height of the crank's end
    worker.wake()
    failure = published.wait("failed", session.revision)
    assert failure["of"] == "motion" and "assembly fails" in failure["message"]
    session.set_values({"rod": 0.25}, final=False)
    worker.wake()
    assert published.wait("motion", session.revision)


@pytest.mark.parametrize("prompt", [math.inf, 0.0])
def test_slow_gradients_wait_for_a_pause(
    session: Session, published: Published, monkeypatch: pytest.MonkeyPatch, prompt: float
) -> None:
    monkeypatch.setattr("varimech.studio.worker.PAUSE", 1000.0)
    monkeypatch.setattr("varimech.studio.worker.PROMPT", prompt)
    monkeypatch.setattr("varimech.studio.worker.REST", math.inf)
    polite = Worker(session, published, ("numbers",), (), polite=True)
    published.wait("numbers", session.revision)
    session.set_values({"crank": 0.12}, final=False)
    polite.wake()
    if prompt == 0.0:
        time.sleep(0.2)
        assert published.messages[-1]["revision"] < session.revision
        monkeypatch.setattr("varimech.studio.worker.PAUSE", 0.0)
        polite.wake()
    published.wait("numbers", session.revision)
    polite.end()


def test_slow_gradients_follow_without_a_pause_all_of_one_design(
    session: Session, published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a slider moves, no kind of numbers waits for its end."""
    monkeypatch.setattr("varimech.studio.worker.PAUSE", 1000.0)
    monkeypatch.setattr("varimech.studio.worker.PROMPT", 0.0)
    polite = Worker(session, published, ("numbers", "tolerances"), (), polite=True)
    published.wait("tolerances", session.revision)
    for k in range(20):
        session.set_values({"crank": 0.1 + 0.001 * k}, final=False)
        polite.wake()
        time.sleep(0.01)
    published.wait("tolerances", session.revision)
    polite.end()
    shown = [(m["kind"], m["revision"]) for m in published.messages]
    assert [r for k, r in shown if k == "numbers"] == [r for k, r in shown if k == "tolerances"]


def test_no_error_ends_the_worker(
    session: Session, worker: Worker, published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    published.wait("motion", 0)
    engine = session.engine
    assert engine is not None

    def broken(values: object) -> Message:
        raise ZeroDivisionError("by nothing")

    with monkeypatch.context() as patched:
        patched.setattr(engine, "motion", broken)
        session.set_values({"crank": 0.11}, final=False)
        worker.wake()
        assert (
            published.wait("failed", session.revision)["message"] == "ZeroDivisionError: by nothing"
        )
    session.set_values({"crank": 0.12}, final=False)
    worker.wake()
    published.wait("motion", session.revision)


def test_what_is_out_of_date_is_left_out(
    session: Session, worker: Worker, published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    published.wait("derivatives", 0)
    engine = session.engine
    assert engine is not None
    motion = engine.motion

    def slow(values: Any) -> Message:
        time.sleep(0.05)
        return motion(values)

    monkeypatch.setattr(engine, "motion", slow)
    for k in range(40):
        session.set_values({"crank": 0.1 + 0.001 * k}, final=False)
        worker.wake()
        time.sleep(0.002)
    published.wait("derivatives", session.revision)
    motions = [m["revision"] for m in published.messages if m["kind"] == "motion"]
    assert motions[-1] == session.revision and len(motions) < 15


# several pages


def test_all_pages_see_the_same(tmp_path: Path) -> None:
    with (
        served(CRANK, tmp_path / "crank.yaml") as studio,
        Page(studio.address) as first,
        Page(studio.address) as second,
    ):
        states = first.next("state"), second.next("state")
        assert states[0] == states[1]
        first.send("set", values={"crank": 0.12}, final=True)
        seen = second.next("state")
        assert seen["text"] == CRANK.replace("100 mm", "120 mm")
        while (motion := second.next("motion"))["revision"] < seen["revision"]:
            pass
        assert first_place(motion, "S")[0] == pytest.approx(slider_at(0.12, 0.25), abs=1e-6)
        with Page(studio.address) as third:
            assert third.next("state") == seen
            assert third.next("motion")["revision"] == seen["revision"]


def test_pages_that_ask_at_once_lose_nothing(tmp_path: Path) -> None:
    with served(CRANK, tmp_path / "crank.yaml") as studio:

        def drag(name: str, values: list[float]) -> None:
            with Page(studio.address) as page:
                for value in values:
                    page.send("set", values={name: value}, final=True)
                page.send("keep", name=name)
                while name not in page.next("state")["kept"]:
                    pass

        pages = [
            threading.Thread(target=drag, args=("crank", [0.11, 0.12, 0.13])),
            threading.Thread(target=drag, args=("rod", [0.26, 0.27, 0.28])),
        ]
        for page in pages:
            page.start()
        for page in pages:
            page.join(timeout=20)
        with Page(studio.address) as last:
            text = last.next("state")["text"]
        assert text == CRANK.replace("100 mm", "130 mm").replace("250 mm", "280 mm")


def test_a_mechanism_opens_in_a_studio_and_stays_as_it_is() -> None:
    m = mechanism_of_text(vm.Mechanism, CRANK)
    before = m.to_text()
    with m.studio(browser=False) as studio, Page(studio.address) as page:
        page.ask("set", values={"crank": 0.12}, final=True)
        designed = mechanism_of_text(vm.Mechanism, studio.text)
        assert page.session_state()["file"] is None
        assert f'href="{studio.address}"' in studio._repr_mimebundle_()[0]["text/html"]
    assert designed.parameters["crank"].value == 0.12 and m.to_text() == before
    with pytest.raises(OSError, match="refused"):
        Page(studio.address)


def test_waiting_ends_when_the_studio_is_stopped() -> None:
    m = mechanism_of_text(vm.Mechanism, CRANK)
    studio = m.studio(browser=False)
    threading.Timer(0.2, studio.stop).start()
    begin = time.monotonic()
    studio.wait()
    assert 0.1 < time.monotonic() - begin < 10


def test_a_port_that_is_taken_is_named() -> None:
    with served(CRANK) as studio:
        port = int(studio.address.split(":")[2].split("/")[0])
        with pytest.raises(ModelError, match=f"port {port} is in use"):
            served(CRANK, port=port)


def test_arrays_arrive_as_they_are_and_numbers_that_json_lacks_as_null() -> None:
    message = Message("test", value=float("nan"), nested=[float("inf"), 1.5])
    message.content["arrays_of"] = [
        message.double(np.array([1.5, np.nan])),
        message.single(np.ones(3)),
    ]
    found = unpacked(message.encoded())
    assert found["value"] is None and found["nested"] == [None, 1.5]
    assert found["arrays_of"][0].tolist()[0] == 1.5 and np.isnan(found["arrays_of"][0][1])
    assert found["arrays_of"][1].tolist() == [1, 1, 1]
