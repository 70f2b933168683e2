"""Drawing mechanisms by strokes: each is one change of the text, and the drawn pose is the start."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from studio_pages import CRANK

import varimech as vm
from varimech.benchmarks import BENCHMARKS
from varimech.cli.studio import EMPTY
from varimech.core.errors import ModelError
from varimech.files.editing import ORDER, plain, with_entry, with_value
from varimech.files.reading import mechanism_of_text
from varimech.studio.mobility import mobility
from varimech.studio.session import Session
from varimech.studio.sketch import Sketch

PLACES = {"A": (0, 0), "B": (0.3, 0), "C": (0.04, 0.1), "D": (0.26, 0.2)}


def at(*place: float) -> dict[str, Any]:
    return {"at": list(place)}


def node(name: str) -> dict[str, str]:
    return {"node": name}


def nodes(session: Session) -> dict[str, tuple[float, float]]:
    return {n["name"]: n["place"] for n in session.state()["drawing"]["nodes"]}


def messages(session: Session) -> list[str]:
    return [f["message"] for f in session.state()["drawing"]["findings"]]


@pytest.fixture
def empty() -> Session:
    session = Session(vm.Mechanism, EMPTY)
    session.drawing = True
    return session


@pytest.fixture
def four_bar(empty: Session) -> Session:
    empty.draw("ground", end=at(0, 0))
    empty.draw("ground", end=at(0.3, 0))
    empty.draw("link", begin=node("A"), end=at(0.04, 0.1))
    empty.draw("link", begin=node("C"), end=at(0.26, 0.2))
    empty.draw("link", begin=node("D"), end=node("B"))
    return empty


def test_the_drawn_pose_is_the_one_that_the_model_assembles(four_bar: Session) -> None:
    mechanism = mechanism_of_text(vm.Mechanism, four_bar.text)
    run = mechanism.simulate(duration=0.001, step=0.001)
    for name, place in PLACES.items():
        assert run.paths([name])[name][0] == pytest.approx(place, abs=1e-6)
    lengths = {n: p.value for n, p in mechanism.data.parameter_set.parameters.items()}
    assert lengths == pytest.approx(
        {"L1": math.hypot(0.04, 0.1), "L2": math.hypot(0.22, 0.1), "L3": math.hypot(0.04, 0.2)},
        rel=1e-6,
    )


def test_each_stroke_is_undone_by_one_undo(four_bar: Session) -> None:
    texts = [four_bar.text]
    four_bar.draw("driver", body="L1")
    texts.append(four_bar.text)
    four_bar.draw("point", body="L2", at=[0.15, 0.3])
    texts.append(four_bar.text)
    four_bar.draw("spring", begin=node("E"), end=at(0.1, 0.5))
    assert len(set(texts)) == 3
    for text in reversed(texts):
        four_bar.undo()
        assert four_bar.text == text


def test_sections_of_a_drawn_file_are_in_their_order(four_bar: Session) -> None:
    four_bar.draw("driver", body="L1")
    keys = [key for key in plain(four_bar.text) if key in ORDER]
    assert keys == [key for key in ORDER if key in keys]
    assert len(keys) == 7


def test_a_driver_begins_at_the_drawn_angle_and_takes_its_degree_of_freedom(
    four_bar: Session,
) -> None:
    drawing = four_bar.state()["drawing"]
    assert (drawing["dofs"], drawing["free"]) == (1, 1)
    four_bar.draw("driver", body="L1")
    drawing = four_bar.state()["drawing"]
    assert (drawing["dofs"], drawing["free"]) == (1, 0)
    assert "angle" not in plain(four_bar.text)["start"]
    run = mechanism_of_text(vm.Mechanism, four_bar.text).simulate(duration=0.25, step=0.01)
    begin = math.atan2(0.1, 0.04)
    turned = run.angle("L1").to_numpy()
    assert turned[[0, -1]] == pytest.approx([begin, begin + math.pi / 2], abs=1e-6)


def test_a_moved_point_changes_the_lengths_of_its_links_only(four_bar: Session) -> None:
    before = plain(four_bar.text)["parameters"]["L1"]
    four_bar.draw("move", node="D", to=[0.25, 0.25])
    after = plain(four_bar.text)["parameters"]
    assert after["L1"] == before
    assert after["L2"]["value"] == f"{1e3 * math.hypot(0.21, 0.15):.7g} mm"
    assert after["L3"]["value"] == f"{1e3 * math.hypot(0.05, 0.25):.7g} mm"
    assert nodes(four_bar)["D"] == pytest.approx((0.25, 0.25), abs=1e-6)
    four_bar.draw("move", node="B", to=[0.35, 0])
    assert plain(four_bar.text)["ground"]["B"] == [0.35, 0]


@pytest.mark.parametrize("turn", [0.0, 0.4])
def test_a_carried_link_keeps_its_shape(four_bar: Session, turn: float) -> None:
    four_bar.draw("point", body="L2", at=[0.15, 0.25])
    before = nodes(four_bar)
    c, s = math.cos(turn), math.sin(turn)
    begin, (dx, dy) = (
        before["C"],
        (before["D"][0] - before["C"][0], before["D"][1] - before["C"][1]),
    )
    first = (begin[0] + 0.02, begin[1] - 0.01)
    second = (first[0] + c * dx - s * dy, first[1] + s * dx + c * dy)
    four_bar.draw("carry", body="L2", to=[first, second])
    after = nodes(four_bar)
    assert after["C"] == pytest.approx(first, abs=1e-6)
    assert after["D"] == pytest.approx(second, abs=1e-6)
    assert math.dist(after["E"], after["C"]) == pytest.approx(
        math.dist(before["E"], before["C"]), abs=1e-6
    )
    assert after["A"] == pytest.approx(before["A"])
    lengths = {p["name"]: p["now"] for p in four_bar.state()["parameters"]}
    assert lengths["L1"] == pytest.approx(math.dist(after["A"], first), abs=1e-6)
    assert lengths["L2"] == pytest.approx(math.hypot(dx, dy), abs=1e-6)
    assert not any("assembl" in message for message in messages(four_bar))


def test_a_typed_length_keeps_its_unit_and_closes_the_loop(four_bar: Session) -> None:
    four_bar.draw("value", section="bodies", name="L2", key="length", text="250")
    assert plain(four_bar.text)["parameters"]["L2"]["value"] == "250 mm"
    places = nodes(four_bar)
    assert math.dist(places["C"], places["D"]) == pytest.approx(0.25, abs=1e-9)
    assert places["C"] == pytest.approx(PLACES["C"], abs=1e-6)
    four_bar.draw(
        "value", section="bodies", name="L2", key="length", text="1 m"
    )  # beyond its bounds
    assert plain(four_bar.text)["parameters"]["L2"] == {
        "value": "1 m",
        "bounds": ["0.5 m", "2 m"],
    }
    four_bar.undo()
    with pytest.raises(ModelError, match="outside its bounds"):
        four_bar.draw("value", section="bodies", name="L2", key="length", text="-1 m")
    with pytest.raises(ModelError, match="dimension"):
        four_bar.draw("value", section="bodies", name="L2", key="mass", text="9 mm")


def test_names_change_everywhere(four_bar: Session) -> None:
    four_bar.draw("driver", body="L1")
    four_bar.draw("rename", kind="body", old="L1", new="crank")
    four_bar.draw("rename", kind="point", old="C", new="pin 1")
    data = plain(four_bar.text)
    assert data["bodies"]["crank"]["bar"] == ["A", "pin 1"]
    assert data["bodies"]["crank"]["length"] == "crank"
    assert data["joints"]["pin 1"] == {"revolute": ["crank.pin 1", "L2.pin 1"]}
    assert data["drivers"]["motor1"]["angle"] == "crank"
    assert four_bar.problem is None
    assert nodes(four_bar)["pin 1"] == pytest.approx(PLACES["C"], abs=1e-6)
    with pytest.raises(ModelError, match="in use"):
        four_bar.draw("rename", kind="point", old="A", new="B")
    with pytest.raises(ModelError, match="expressions"):  # L2 is a parameter, too
        four_bar.draw("rename", kind="body", old="L2", new="con rod")


def test_deleting_a_link_takes_all_that_depends_on_it(four_bar: Session) -> None:
    four_bar.draw("driver", body="L1")
    four_bar.draw("damper", begin=node("C"), end=at(0, 0.3))
    four_bar.draw("delete", kind="body", name="L1")
    data = plain(four_bar.text)
    assert set(data["parameters"]) == {"L2", "L3"}
    assert set(data["joints"]) == {"B", "D"}
    assert "drivers" not in data and "forces" not in data
    assert four_bar.problem is None
    four_bar.draw("delete", kind="point", name="B")
    assert [m for m in messages(four_bar) if "L2 is not connected to the ground" in m]
    with pytest.raises(ModelError, match="delete these links"):
        four_bar.draw("delete", kind="point", name="D")


def test_a_slider_crank_with_three_bodies_at_a_point(empty: Session) -> None:
    empty.draw("ground", end=at(0, 0))
    empty.draw("link", begin=node("A"), end=at(0.06, 0.08))
    empty.draw("link", begin=node("B"), end=at(0.3, 0))
    empty.draw("slider", end=node("C"), axis=[1, 0])
    assert plain(empty.text)["joints"]["guide1"]["prismatic"] == ["ground.A", "S1.C"]
    assert empty.state()["drawing"]["dofs"] == 1
    assert empty.state()["drawing"]["sliders"] == [{"name": "S1", "node": "C", "axis": (1.0, 0.0)}]
    empty.draw("link", begin=node("B"), end=at(0.1, 0.3))
    assert empty.state()["drawing"]["dofs"] == 2
    empty.draw("slider", end=node("D"), axis=[0, 2])
    mechanism = mechanism_of_text(vm.Mechanism, empty.text)
    assert mechanism.dofs == empty.state()["drawing"]["dofs"] == 1
    assert mechanism.simulate(duration=0.01).paths(["D"])["D"][0] == pytest.approx((0.1, 0.3))


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "andrews", "pendulum", "chain"])
def test_degrees_of_freedom_are_those_that_the_model_has(name: str) -> None:
    text = BENCHMARKS[name].model_file.read_text(encoding="utf-8")
    mechanism = mechanism_of_text(vm.Mechanism, text)
    counted = mobility(Sketch(text, mechanism))
    assert counted is not None
    assert counted.dofs == mechanism.dofs
    assert len(counted.angles) == counted.free


def test_what_is_missing_is_said_where_it_is(empty: Session) -> None:
    assert messages(empty)[0].startswith("Draw a link")
    empty.draw("link", begin=at(0, 0), end=at(0.1, 0))
    finding = empty.state()["drawing"]["findings"][0]
    assert finding["at"] == "L1" and "not connected to the ground" in finding["message"]
    empty.draw("ground", end=node("A"))
    assert messages(empty) == []
    empty.edit(empty.text.replace("-9.81", "0"))
    assert messages(empty) == [
        "Nothing moves it: add a driver, gravity, a spring or an initial speed."
    ]
    empty.draw("ground", end=node("B"))
    assert "structure" in messages(empty)[0]


def test_errors_of_assembly_are_shown(four_bar: Session) -> None:
    four_bar.edit(four_bar.text.replace("L3: {value: 203.9608 mm", "L3: {value: 102 mm"))
    four_bar.edit(four_bar.text.replace("L2: {value: 241.6609 mm", "L2: {value: 121 mm"))
    finding = four_bar.state()["drawing"]["findings"][0]
    with pytest.raises(vm.AssemblyError) as raised:
        _ = mechanism_of_text(vm.Mechanism, four_bar.text).simulate(duration=0.1)
    assert finding["message"].split(";")[0] in str(raised.value)
    assert nodes(four_bar)["D"] == PLACES["D"]  # as it was drawn


def test_comments_and_studies_of_a_file_stay(tmp_path: Path) -> None:
    text = BENCHMARKS["four-bar"].model_file.read_text(encoding="utf-8")
    session = Session(vm.Mechanism, text)
    session.draw("link", begin=node("B0"), end=at(0.5, 2))
    assert text.splitlines()[0] in session.text
    assert plain(session.text)["studies"] == plain(text)["studies"]
    mechanism = mechanism_of_text(vm.Mechanism, session.text)
    assert mechanism.dofs == mechanism_of_text(vm.Mechanism, text).dofs + 1
    assert plain(session.text)["start"]["speed"] == {"crank 0": -1.0}


def test_strokes_that_make_no_sense_are_refused(four_bar: Session) -> None:
    before = four_bar.text
    senseless: list[tuple[str, dict[str, Any]]] = [
        ("link", {"begin": node("A"), "end": node("A")}),
        ("link", {"begin": node("Z"), "end": at(1, 1)}),
        ("ground", {"end": at(math.inf, 0)}),
        ("slider", {"end": node("A")}),
        ("driver", {"body": "ground"}),
        ("posed", {}),
        ("ground", {"end": {}}),
        ("ground", {"end": "A"}),
        ("delete", {"kind": "force", "name": "none"}),
        ("delete", {"kind": "point", "name": "none"}),
        ("value", {"section": "name", "name": "L1", "key": "mass", "text": "1"}),
        ("value", {"section": "bodies", "name": "L1", "key": "mass", "text": "1}, x: {"}),
        ("rename", {"kind": "body", "old": "L1", "new": "a/b"}),
        ("rename", {"kind": "point", "old": "none", "new": "x"}),
    ]
    for stroke, arguments in senseless:
        with pytest.raises(ModelError):
            four_bar.draw(stroke, **arguments)
    assert four_bar.text == before
    four_bar.edit("bodies: [")
    with pytest.raises(ModelError, match="errors"):
        four_bar.draw("ground", end=at(1, 1))


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("value: 100 mm", "vale: 1"),
        ("value: 100 mm, unit: m", "unit: 2020-99-99"),
        ("parameters:\n", "parameters: [1]\nmore:\n"),
        ("axis: [1, 0]", "axis: [1, 0, 0]"),
        ("start:", "drivers: 3\nstart:"),
        ("start:", "points: {crank: {P: [0, 0]}}\nstart:"),
    ],
)
def test_texts_with_mistakes_have_a_drawing_or_say_that_they_have_none(
    was: str, becomes: str
) -> None:
    session = Session(vm.Mechanism, CRANK)
    session.drawing = True
    session.edit(CRANK.replace(was, becomes))
    state = session.state()
    assert state["problem"] is not None
    assert state["drawing"]["nodes"] or state["drawing"]["findings"]
    session.undo()
    assert set(nodes(session)) == {"O", "P", "S"}


def test_spatial_mechanisms_are_not_drawn() -> None:
    text = BENCHMARKS["governor"].model_file.read_text(encoding="utf-8")
    session = Session(vm.Mechanism, text)
    session.drawing = True
    assert "spatial" in messages(session)[0]
    with pytest.raises(ModelError, match="planar"):
        session.draw("ground", end=at(0, 0))


@pytest.mark.parametrize("name", sorted(BENCHMARKS))
def test_every_benchmark_has_a_drawing(name: str) -> None:
    text = BENCHMARKS[name].model_file.read_text(encoding="utf-8")
    session = Session(vm.Mechanism, text)
    session.drawing = True
    drawing = session.state()["drawing"]
    assert drawing["nodes"] or "spatial" in drawing["findings"][0]["message"]


def test_entries_are_replaced_or_added_in_place() -> None:
    text = "varimech: 1\n# first\nground:\n  A: [0, 0]  # origin\nstudies: {}\n"
    changed = with_value(text, ("ground", "A"), "[1, 2]")
    assert changed == text.replace("[0, 0]", "[1, 2]")
    assert with_value(changed, ("ground", "B"), "[3, 4]").count("\n") == text.count("\n") + 1
    with_bodies = with_entry(text, "bodies", "L", "{mass: 1}")
    assert list(yaml.safe_load(with_bodies)) == ["varimech", "ground", "bodies", "studies"]
