"""The studio serves its own pages only, refuses what it does not know, and writes no file but the
opened one.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio_pages import CRANK, Page, served, wait_until

from varimech.studio.launch import OpenStudio
from varimech.studio.server import LONGEST

pytest.importorskip("uvicorn")
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def studio(folder: Path) -> Iterator[OpenStudio]:
    with served(CRANK, folder / "crank.yaml") as running:
        yield running


@pytest.fixture
def page(studio: OpenStudio) -> Iterator[Page]:
    with Page(studio.address) as connected:
        yield connected
        connected.ask("edit", text=CRANK)


def answer(studio: OpenStudio, target: str, **headers: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and body of a request as a hostile client writes it: paths are not tidied."""
    port = int(re.findall(r":(\d+)/", studio.address)[0])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.putrequest("GET", target, skip_host=True)
    for name, value in {"Host": f"127.0.0.1:{port}", **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    return response.status, {k.lower(): v for k, v in response.getheaders()}, body


def token(studio: OpenStudio) -> str:
    return studio.address.split("token=")[1]


def cookie(studio: OpenStudio) -> str:
    return answer(studio, f"/?token={token(studio)}")[1]["set-cookie"].split(";")[0]


def test_the_page_needs_the_token(studio: OpenStudio) -> None:
    status, headers, body = answer(studio, f"/?token={token(studio)}")
    assert status == 200 and "<title>Varimech Studio" in body
    assert {"httponly", "samesite=strict"} <= {
        part.strip().lower() for part in headers["set-cookie"].split(";")
    }
    assert "default-src 'none'" in headers["content-security-policy"]
    for wrong in ("/", "/?token=", "/?token=" + token(studio)[:-1], "/?token=%00", "/studio.js"):
        status, headers, body = answer(studio, wrong)
        assert status == 403 and "set-cookie" not in headers and "<title>" not in body, wrong


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "", "[::1]:80"])
def test_other_hosts_are_refused(studio: OpenStudio, host: str) -> None:
    """A name of another site that leads to this computer (DNS rebinding)."""
    assert answer(studio, f"/?token={token(studio)}", Host=host)[0] in (400, 403)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost"]
)
def test_other_origins_are_refused(studio: OpenStudio, origin: str) -> None:
    assert answer(studio, f"/?token={token(studio)}", Origin=origin)[0] == 403
    with pytest.raises(OSError, match="403"):
        Page(studio.address, origin=origin).__enter__()


def test_connections_need_the_cookie_and_an_origin(studio: OpenStudio) -> None:
    for changes in ({"cookie": ""}, {"cookie": "varimech-studio=wrong"}, {"origin": None}):
        with pytest.raises(OSError, match="403"):
            Page(studio.address, **changes).__enter__()


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/%2e%2e/server.py",
        "/..%2f..%2fserver.py",
        "/%2e%2e%2fmodules.py",
        "/studio.js/../../modules.py",
        "/crank.yaml",
        "/page.html",
        "/studio.js%00",
        "//etc/passwd",
        "/live",
    ],
)
def test_nothing_but_scripts_and_styles_is_served(studio: OpenStudio, path: str) -> None:
    assert answer(studio, "/studio.js", Cookie=cookie(studio))[0] == 200
    assert answer(studio, path, Cookie=cookie(studio))[0] in (400, 404)


def test_it_listens_on_this_computer_only(studio: OpenStudio) -> None:
    assert studio._listening.getsockname()[0] == "127.0.0.1"
    assert studio._listening.family == socket.AF_INET


def test_oversized_messages_end_the_connection_and_nothing_else(
    studio: OpenStudio, page: Page
) -> None:
    with Page(studio.address) as greedy:
        greedy.send_raw(json.dumps({"kind": "edit", "text": "#" * LONGEST}))
        with pytest.raises(ConnectionError, match="1009"):
            greedy.next("state", after_first=True)
    assert page.ask("edit", text=CRANK + "# still there\n")["text"].endswith("# still there\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        '{"kind": "exec"}',
        '{"kind": "__class__"}',
        '{"kind": ["set"]}',
        '{"kind": null}',
        '{"kind": "set"}',
        '{"kind": "set", "values": [1]}',
        '{"kind": "set", "values": {"crank": []}}',
        '{"kind": "set", "values": {"crank": null}}',
        '{"kind": "set", "values": {"crank": true}}',
        '{"kind": "set", "values": {"crank": NaN}}',
        '{"kind": "set", "values": {"crank": Infinity}}',
        '{"kind": "set", "values": {"crank": "nan m"}}',
        '{"kind": "set", "values": {"crank": "1 kg"}}',
        '{"kind": "set", "values": {"crank": "__import__(1)"}}',
        '{"kind": "set", "values": {"crank": -1}}',
        '{"kind": "set", "values": {"crank": 0.11}, "final": "yes"}',
        '{"kind": "set", "values": {"\\ud800": 1}}',
        '{"kind": "set", "values": {"crank": 0.11}, "session": 1}',
        '{"kind": "edit", "text": 1}',
        '{"kind": "edit", "text": "\\ud800"}',
        '{"kind": "edit", "text": "\\udfff"}',
        '{"kind": "undo", "steps": 3}',
        '{"kind": "take", "name": "nowhere"}',
    ],
)
def test_messages_that_are_none_are_refused_and_change_nothing(page: Page, text: str) -> None:
    before = page.session_state()
    page.send_raw(text)
    assert page.next("refused")["message"]
    assert page.session_state() == before


def test_binary_messages_are_refused(page: Page) -> None:
    page.send_raw(b"\0\1\2")
    assert page.next("refused")["message"]


def test_several_values_are_set_together_or_not_at_all(page: Page) -> None:
    before = page.session_state()
    page.send("set", values={"rod": 0.26, "crank": -1})
    page.next("refused")
    assert page.session_state()["parameters"] == before["parameters"]


def test_tables_of_a_text_from_a_page_stay_in_the_folder(page: Page, folder: Path) -> None:
    (folder / "inside.csv").write_text("0,0\n1,1\n")
    (folder.parent / "outside.csv").write_text("0,0\n1,1\n")
    (folder / "link.csv").unlink(missing_ok=True)
    (folder / "link.csv").symlink_to(folder.parent / "outside.csv")
    for file in ("../outside.csv", str(folder.parent / "outside.csv"), "link.csv", "/etc/passwd"):
        problem = page.ask("edit", text=with_table(file))["problem"]
        assert "outside the folder" in problem["message"], file
        assert "root:" not in json.dumps(problem)
        assert (
            problem["line"]
            == with_table(file).splitlines().index(f"    file: {json.dumps(file)}") + 1
        )
    assert page.ask("edit", text=with_table("inside.csv"))["problem"] is None


@pytest.mark.parametrize("several", [False, True])
def test_meshes_of_a_text_from_a_page_stay_in_the_folder(
    page: Page, folder: Path, several: bool
) -> None:
    (folder.parent / "outside.stl").write_text("solid outside\nendsolid\n")
    for file in ("../outside.stl", str(folder.parent / "outside.stl"), "/etc/passwd"):
        shape = f"{{mesh: {json.dumps(file)}}}"
        text = CRANK.replace(
            "mass: 1.2,", f"mass: 1.2, shape: {f'[{shape}]' if several else shape},"
        )
        problem = page.ask("edit", text=text)["problem"]
        assert "outside the folder" in problem["message"], file
        assert text.splitlines()[problem["line"] - 1].startswith("  slider:")


def test_tables_of_the_opened_text_may_be_anywhere(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "force.csv").write_text("0,0\n1,1\n")
    text = with_table("../force.csv")
    with served(text, tmp_path / "models" / "crank.yaml") as studio, Page(studio.address) as page:
        assert page.session_state()["problem"] is None
        assert page.ask("edit", text=text + "# more\n")["problem"] is None


def with_table(file: str) -> str:
    return f"{CRANK}tables:\n  push:\n    file: {json.dumps(file)}\n"


def test_only_the_opened_file_is_written_and_only_on_request(tmp_path: Path) -> None:
    path = tmp_path / "crank.yaml"
    with served(CRANK, path) as studio, Page(studio.address) as page:
        page.ask("set", values={"crank": 0.12}, final=True)
        page.ask("keep", name="../../evil")
        assert path.read_text() == CRANK
        page.ask("save")
        assert path.read_text() == CRANK.replace("100 mm", "120 mm")
    assert [p.name for p in tmp_path.rglob("*")] == ["crank.yaml"]


def test_a_file_that_others_have_changed_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "crank.yaml"
    with served(CRANK, path) as studio, Page(studio.address) as page:
        path.write_text("# theirs\n")
        page.ask("set", values={"crank": 0.12}, final=True)
        page.send("save")
        assert "changed by another program" in page.next("refused")["message"]
        assert path.read_text() == "# theirs\n" and page.session_state()["changed"]


def test_scripts_write_names_as_text_only() -> None:
    """What is assigned to innerHTML is constant: names, messages and texts never become markup."""
    assets = Path(__file__).parents[1] / "src" / "varimech" / "web" / "assets"
    for script in assets.glob("*.js"):
        text = script.read_text(encoding="utf-8")
        assert not re.search(
            r"insertAdjacentHTML|outerHTML|document\.write|\beval\(|new Function", text
        ), script.name
        for value in re.findall(r"innerHTML = ((?:[^;\"'`]|'[^']*'|\"[^\"]*\"|`[^`]*`)+);", text):
            constant = re.fullmatch(r"(?:'[^']*'|\s|\+)+", value)
            assert constant, f"{script.name}: {value}"


CHROMIUM = shutil.which("chromium")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium to look at the page with")
def test_hostile_names_are_shown_as_they_are(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    text = CRANK.replace("name: crank", f"name: {json.dumps(HOSTILE)}")
    text = text.replace("  rod: {value", f"  {json.dumps(HOSTILE)}: {{value").replace(
        "length: rod", "length: 0.25"
    )
    text = text.replace("travel:", f"{json.dumps(HOSTILE)}:")
    path = tmp_path / "<b>crank.yaml"
    alerts: list[Any] = []
    with served(text, path) as studio, sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("dialog", lambda dialog: alerts.append(dialog))
        page.goto(studio.address)
        page.wait_for_selector("#numbers .number")
        wait_until(page, "studio.drawn.length > 1")
        shown = page.evaluate("document.body.innerText")
        assert "<b>crank.yaml" in shown and shown.count(HOSTILE) >= 4
        assert page.evaluate("document.querySelectorAll('img[src=x]').length") == 0
        bold = page.evaluate("[...document.querySelectorAll('b')].map((b) => b.textContent)")
        assert not any("crank.yaml" in text for text in bold)
        browser.close()
    assert not alerts
