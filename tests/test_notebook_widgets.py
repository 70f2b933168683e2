"""Widgets in notebooks: what they tell Python and are told, what stands in their place, and both of
them in a browser.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from notebook_pages import NotebookPage
from studio_pages import CRANK, served, unpacked

import varimech as vm
from varimech.studio.live import Live
from varimech.studio.notebook import FramedPage, StudioFrame
from varimech.studio.session import Session

CHROMIUM = shutil.which("chromium")
VIEW = "application/vnd.jupyter.widget-view+json"
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at widgets with")


@pytest.fixture(scope="module")
def gradient(tmp_path_factory: pytest.TempPathFactory) -> vm.Gradient:
    path = tmp_path_factory.mktemp("model") / "crank.yaml"
    path.write_text(CRANK, encoding="utf-8")
    gradient = vm.Mechanism.from_file(path).study("sensitivity")
    assert isinstance(gradient, vm.Gradient)
    return gradient


@pytest.fixture
def live() -> Iterator[Live]:
    session = Live(Session(vm.Mechanism, CRANK))
    session.begin()
    yield session
    session.end()


def test_front_ends_without_widgets_show_pictures(gradient: vm.Gradient) -> None:
    data, _ = vm.widget(gradient.run)._repr_mimebundle_()
    assert data[VIEW]["model_id"]
    assert data["text/html"].count("data:image/svg+xml") == 2
    assert data["text/html"].startswith(gradient.run._repr_html_()[:100])
    json.dumps(data)


def test_what_cannot_be_shown_is_refused(
    gradient: vm.Gradient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(vm.ModelError, match="is not a reportable result"):
        vm.widget(gradient.time)  # type: ignore[arg-type]
    for name in ("varimech.notebook.result_view", "varimech.notebook.frame"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(vm.ModelError, match=r"anywidget.*pip install 'varimech\[notebook\]'"):
        vm.widget(gradient)


def test_a_studio_without_widgets_is_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("varimech.studio.notebook", "varimech.notebook.frame"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with served(CRANK) as studio:
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "anywidget", None)
            data, _ = studio._repr_mimebundle_()
        assert VIEW not in data and studio.address.replace("&", "&amp;") in data["text/html"]
        data, _ = studio._repr_mimebundle_()
        assert VIEW in data and studio.address in data["text/html"]
        assert studio._repr_mimebundle_()[0][VIEW] == data[VIEW]  # one widget, however often shown


def test_a_framed_page_gets_the_newest_message_of_each_kind() -> None:
    sent: list[bytes] = []
    page = FramedPage(sent.append)
    page.put("motion", b"1")
    for kind, message in (("motion", b"2"), ("state", b"a"), ("motion", b"3")):
        page.put(kind, message)
    assert sent == [b"1"]
    page.received()
    assert sent == [b"1", b"a"]
    page.received()
    page.received()
    assert sent == [b"1", b"a", b"3"]


def test_messages_of_the_studio(live: Live) -> None:
    frame = StudioFrame(live, "a link")
    sent: list[tuple[str, dict[str, Any]]] = []
    frame.send = lambda content, buffers: sent.append((content["page"], unpacked(buffers[0])))

    def tell(page: str, what: str, **content: object) -> None:
        frame._handle_custom_msg({"page": page, "what": what, **content}, [])

    def states(page: str) -> list[str]:
        return [m["text"] for name, m in sent if name == page and m["kind"] == "state"]

    tell("one", "opened")
    tell("two", "opened")
    assert states("one") == states("two") == [CRANK]
    for _ in range(8):  # whatever has been computed meanwhile
        tell("one", "received")
        tell("two", "received")
    change = {"kind": "set", "values": {"crank": 0.12}, "final": True}
    tell("one", "request", text=json.dumps(change))
    for _ in range(8):
        tell("one", "received")
        tell("two", "received")
    changed = CRANK.replace("100 mm", "120 mm")
    assert states("one")[-1] == states("two")[-1] == live.session.text == changed
    tell("one", "request", text="nonsense")
    for _ in range(8):
        tell("one", "received")
        tell("two", "received")
    refused = [(name, m["message"]) for name, m in sent if m["kind"] == "refused"]
    assert refused == [("one", "a message is a JSON text")]
    tell("two", "closed")
    count = len(states("two"))
    live.session.undo()
    tell("one", "request", text=json.dumps({"kind": "undo"}))
    tell("two", "received")
    assert len(states("two")) == count


def test_a_notebook_shows_the_widgets(tmp_path: Path) -> None:
    """In a kernel: the studio opens no browser there, since it is shown at once."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    (tmp_path / "crank.yaml").write_text(CRANK, encoding="utf-8")
    sources = [
        "import webbrowser\nwebbrowser.open = lambda *a: 1 / 0\nimport varimech as vm\n"
        'm = vm.Mechanism.from_file("crank.yaml")\nvm.widget(m.study("simulate"))',
        "studio = m.studio()\nstudio",
        "studio.stop()",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    client = nbclient.NotebookClient(
        book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [cell["outputs"] for cell in book.cells]
    assert [len(part) for part in outputs] == [1, 1, 0]
    for (output,) in outputs[:2]:
        state = client.widget_state[output["data"][VIEW]["model_id"]]
        assert state["page"].startswith("<!DOCTYPE html>")
        assert "export default { render }" in state["_esm"]
    assert "data:image/svg+xml" in outputs[0][0]["data"]["text/html"]
    assert "http://127.0.0.1:" in outputs[1][0]["data"]["text/html"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        running = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """A browser's windows; nothing in them complains, and nothing is asked of a network."""
    opened = browser.new_context(viewport={"width": 1100, "height": 950})
    complaints: list[str] = []
    opened.on("weberror", lambda problem: complaints.append(str(problem.error)))
    opened.on(
        "request",
        lambda r: None if r.url.startswith(("blob:", "data:")) else complaints.append(r.url),
    )
    yield opened
    opened.close()
    assert [c for c in complaints if not c.startswith("about:")] == []


@in_browser
def test_a_result_moves_and_shares_its_time(context: Any, gradient: vm.Gradient) -> None:
    widget = vm.widget(gradient, show={"angle": ["rod"]})
    notebook = NotebookPage(context, widget)
    notebook.until("Boolean(window.varimech)")
    widget.time = 0.1
    notebook.until("varimech.player.time === 0.1")
    frame = notebook.frames[0]
    assert "angle" in frame.locator("#outputs").inner_text()
    frame.locator("#scrub").evaluate(
        "(s) => { s.value = 0.15; s.dispatchEvent(new Event('input')); }"
    )
    notebook.until_here(lambda: abs(widget.time - 0.15) < 1e-9)
    frame.get_by_role("button", name="Play").click()
    notebook.until_here(lambda: widget.playing)
    assert widget.time == pytest.approx(0.15)  # where it was last held
    widget.playing = False
    notebook.until("!varimech.player.playing")
    notebook.until_here(lambda: widget.time != pytest.approx(0.15))
    assert widget.time == frame.evaluate("varimech.player.time")
    height = "document.querySelector('iframe').getBoundingClientRect().height"
    assert 600 < notebook.page.evaluate(height) <= 900  # it has grown with its content


@in_browser
def test_a_frame_cannot_reach_the_notebook(context: Any, gradient: vm.Gradient) -> None:
    notebook = NotebookPage(context, vm.widget(gradient.run))
    notebook.until("Boolean(window.varimech)")
    reach = (
        "(() => { try { return window.parent.document.title; } catch (e) { return e.name; } })()"
    )
    assert notebook.frames[0].evaluate(reach) == "SecurityError"


@in_browser
def test_the_studio_is_live_in_a_notebook(context: Any, live: Live) -> None:
    notebook = NotebookPage(context, StudioFrame(live, "a link"))
    notebook.until("window.studio && studio.drawn.length > 0")
    notebook.page.evaluate("window.shown.push(window.show())")  # another output of the same widget
    notebook.until("window.studio && studio.drawn.length > 0", 1)
    frame = notebook.frames[0]
    places = "JSON.stringify([...studio.player.animation.data.motion.places.slice(0, 20)])"
    before = frame.evaluate(places)
    slider = frame.get_by_role("slider", name="crank", exact=True)
    slider.evaluate("(s) => { s.value = 0.12; s.dispatchEvent(new Event('input')); }")
    notebook.until(f"{places} !== {json.dumps(before)}")
    slider.evaluate("(s) => s.dispatchEvent(new Event('change'))")
    changed = json.dumps(CRANK.replace("100 mm", "120 mm"))
    for k in (0, 1):
        notebook.until(f"studio.text.source.value === {changed}", k)
    assert live.session.text == json.loads(changed)
    moved = frame.evaluate(places)
    notebook.until(f"{places} === {json.dumps(moved)}", 1)
    notebook.page.evaluate("window.shown[1].clean()")
    frame.get_by_role("button", name="Undo").click()
    notebook.until(f"studio.text.source.value === {json.dumps(CRANK)}")
