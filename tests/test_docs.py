"""The documentation tells the truth: code runs, errors are as told, formulas name tests that exist,
nothing public is left out.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tomllib
import warnings
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
import yaml
from latex2mathml.converter import convert
from markdown_pages import DOCS, ROOT, blocks, not_run, run_and_capture, run_page, same
from site_pages import formulas

import varimech as vm
from varimech.backends import complex_step
from varimech.cli import doctor
from varimech.elements.builder import Model
from varimech.elements.clamp import Clamp
from varimech.elements.registry import BUILT_IN
from varimech.model import fields
from varimech.model.frame import Frame
from varimech.model.joint import Joint

JOINTS = [kind for kind in BUILT_IN if issubclass(kind, Joint) and kind is not Clamp]
ELEMENTS = sorted(page for page in (DOCS / "elements").glob("*.md") if page.name != "index.md")
TUTORIAL = DOCS / "tutorial"
STARTER = ROOT / "src" / "varimech" / "files" / "starter.yaml"
ELSEWHERE = {
    "figures.md": "test_notebook.py",
    "frameworks.md": "test_torch.py",
    "interchange.md": "test_interchange.py",
    "optimisation.md": "test_optimize.py",
    "reliability.md": "test_openturns.py",
    "uncertainty.md": "test_moments.py",
    "README.md": "test_readme.py",
}
"""Pages that are run by tests that know what has to come out."""
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
STEPS = sorted(TUTORIAL.glob("[1-9]_*.md"))
HOWTO = sorted((DOCS / "howto").glob("*.md"))
TOLD = [*STEPS, *HOWTO, DOCS / "troubleshooting.md"]
"""Pages whose blocks print what they say."""
OTHERS = [p for p in PAGES if p.name not in ELSEWHERE and p not in (*ELEMENTS, *TOLD)]
RUN = [p for p in OTHERS if any(not not_run(title) for title, _ in blocks(p))]
NOT_RUN = 12
"""At most so many blocks may be left out: other programs, other machines."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(TUTORIAL)


@pytest.mark.usefixtures("own_registries")
@pytest.mark.parametrize("page", RUN, ids=[str(p.relative_to(ROOT)) for p in RUN])
def test_blocks_run(page: Path) -> None:
    with warnings.catch_warnings(action="ignore", category=vm.HorizonWarning):
        run_page(page)


@pytest.mark.usefixtures("own_registries")
@pytest.mark.parametrize("page", TOLD, ids=lambda p: p.stem)
def test_pages_print_what_they_say(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for stated, printed in run_and_capture(page, capsys):
        assert same(stated, printed), f"{page.name} says\n{stated}\nbut this is printed:\n{printed}"
    for picture in re.findall(r"images/tutorial/([\w-]+\.png)", page.read_text(encoding="utf-8")):
        assert (DOCS / "images" / "tutorial" / picture).exists() and Path(
            picture
        ).stat().st_size > 5_000


def test_every_guide_is_listed_and_runs() -> None:
    """Each task has code with output, or says that it is not run, and links to what explains it."""
    listed = (DOCS / "howto" / "index.md").read_text(encoding="utf-8")
    tasks = 0
    for page in HOWTO:
        if page.name == "index.md":
            continue
        for task in page.read_text(encoding="utf-8").split("\n## ")[1:]:
            title = task.splitlines()[0]
            assert f"[{title}]({page.name}#" in listed, title
            assert "```text" in task or "not run" in task, title
            assert "Links: [" in task, title
            tasks += 1
    assert tasks >= 20


def test_words_are_compared_with_care() -> None:
    assert same("ψ = 1.25 m, 3… runs", "ψ = 1.2500001 m, 37 runs")
    assert not same("ψ = 1.25 m", "ψ = 1.26 m") and not same("a b", "a") and not same("a", "b")


def test_blocks_that_are_left_out_are_few_and_say_so() -> None:
    left_out = [
        (p.name, title) for p in PAGES for title, _ in blocks(p) if title.endswith("not run")
    ]
    assert len(left_out) <= NOT_RUN, left_out
    for page, test in ELSEWHERE.items():
        assert page in (ROOT / "tests" / test).read_text(encoding="utf-8"), (
            f"{page} is run by nobody"
        )


def test_blocks_that_are_files_are_those_files() -> None:
    named = [
        (p.with_name(title), text)
        for p in PAGES
        for title, text in blocks(p)
        if title.endswith(".py") and not not_run(title)
    ]
    assert named
    for file, text in named:
        assert file.read_text(encoding="utf-8") == text, f"{file.name} is not what its page shows"


def test_lines_from_examples_are_there() -> None:
    shown = [
        (title.removeprefix("from "), text)
        for p in PAGES
        for title, text in blocks(p)
        if title.startswith("from ")
    ]
    assert shown
    for file, text in shown:
        lines = [line.strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines()]
        for line in text.splitlines():
            assert line.strip() in lines, f"{file} has no line {line!r}"


def test_the_tutorial_shows_the_starter_and_what_can_be_asked_of_it() -> None:
    page = TUTORIAL / "0_model_file.md"
    (title, text), starter = blocks(page, "yaml")[0], vm.Mechanism.from_file(STARTER)
    assert ROOT / title.removeprefix("from ") == STARTER
    lines = [
        re.sub(r" +#.*", "", line) for line in STARTER.read_text(encoding="utf-8").splitlines()
    ]
    shown = text.splitlines()
    first = lines.index(shown[0])
    assert [line for line in lines[first:] if line][: len(shown)] == shown
    asked = re.findall(
        r"^varimech (\w+) my.yaml --out", page.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert {"run", "sensitivity"} <= set(asked)
    for study in asked:
        assert getattr(starter.studies, study.replace("run", "simulate")) is not None, (
            f"the starter says nothing of {study}"
        )


def test_commands_write_to_folders_of_their_own() -> None:
    for page in PAGES:
        stated = [
            line for _, text in blocks(page, "sh") for line in text.splitlines() if "--out" in line
        ]
        folders = [re.search(r"--out (\S+)", line) for line in stated]
        names = [computed[1] for computed in folders if computed]
        assert len(set(names)) == len(names) and "out" not in names, f"{page.name}: {names}"


# elements


@pytest.mark.parametrize("page", ELEMENTS, ids=lambda p: p.stem)
def test_elements_run_and_refuse_as_documented(page: Path) -> None:
    namespace = run_page(page)
    listed = re.findall(
        r"^\| `(.+?)` \| (.+) \|$",
        page.read_text(encoding="utf-8").split("## Errors")[1],
        flags=re.MULTILINE,
    )
    assert listed
    for code, says in listed:
        with pytest.raises(vm.VarimechError) as caught:
            eval(code, namespace)
        assert str(caught.value).startswith(says.removesuffix(" …")), code


@pytest.mark.parametrize("page", ELEMENTS, ids=lambda p: p.stem)
def test_elements_have_drawing_symbols_and_equation(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert (DOCS / "images" / "elements" / f"{page.stem}.svg").exists()
    assert f"../images/elements/{page.stem}.svg" in text
    assert "| symbol | meaning | unit | argument |" in text
    assert re.search(r"## Equations\n\n```math\n\S", text)


def test_every_element_method_has_a_page() -> None:
    shown = "\n".join(text for page in ELEMENTS for _, text in blocks(page))
    words = [name for name in dir(Model) if not name.startswith("_")]
    assert "revolute" in words and "start" in words
    for word in words:
        if inspect.isfunction(getattr(Model, word)):
            assert f"m.{word}(" in shown, f"no page of docs/elements shows m.{word}(…)"


def test_every_joint_has_a_page() -> None:
    assert {joint.method() for joint in JOINTS} <= {page.stem for page in ELEMENTS}


def _joint(kind: type[Joint], dimension: int) -> tuple[int, int]:
    """(equations, degrees of freedom left) of a body on the ground."""
    n = dimension
    m = vm.Mechanism("m", dimension=n)
    m.ground_point("O", np.zeros(n))
    body = m.body(
        "b", mass=1.0, inertia=0.1 if n == 2 else (0.1, 0.1, 0.1), points={"P": np.ones(n)}
    )
    directions = [f.name for f in kind.fields() if f.file_type == "Vector"]
    if n == 2 and kind.kind == "revolute":
        directions = []
    options: dict[str, Any] = {name: np.eye(n)[k] for k, name in enumerate(directions)}
    options |= {f.name: 1.0 for f in kind.fields() if isinstance(f, fields.Scalar) and f.required}
    joint = getattr(m, kind.method())("j", "ground.O", "b.P", **options)
    o, R = ca.SX.sym("o", n), ca.SX.sym("R", n, n)
    equations = joint.residuals(
        {m.data.ground: m.data.ground_frame(), body: Frame(o, R, 0 * o, 0 * R)}
    ).numel()
    return equations, (3 if n == 2 else 6) - equations


@pytest.mark.parametrize("kind", JOINTS, ids=lambda kind: kind.kind)
def test_joints_have_as_many_equations_as_documented(kind: type[Joint]) -> None:
    text = (DOCS / "elements" / f"{kind.method()}.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"(plane|space), (?:the joint|it) adds (\d) equations? and leaves (\d|no) degrees? of freedom",
        text,
    )
    for left, plane, space in re.findall(
        r"leaves (\d|no) degrees? of freedom\. It adds (\d) equations in the plane and (\d) in space",
        text,
    ):
        listed += [("plane", plane, left), ("space", space, left)]
    results = {
        int(space == "space") + 2: (int(rows), int(left.replace("no", "0")))
        for space, rows, left in listed
    }
    assert results == {dimension: _joint(kind, dimension) for dimension in kind.dimensions}


# tests that pages name


@cache
def _known() -> set[str]:
    """Tests and their files."""
    known = set()
    for file in (ROOT / "tests").glob("test_*.py"):
        known.add(file.name)
        tree = ast.parse(file.read_text(encoding="utf-8"))
        known |= {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        }
    return known


def _named(text: str) -> set[str]:
    return set(re.findall(r"\btest_\w+(?:\.py)?", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_named_tests_exist(page: Path) -> None:
    assert _named(page.read_text(encoding="utf-8")) <= _known()


@pytest.mark.parametrize("page", ELEMENTS, ids=lambda p: p.stem)
def test_elements_name_their_tests(page: Path) -> None:
    assert _named(page.read_text(encoding="utf-8").split("## Tests")[1])


def _statements(text: str) -> list[str]:
    """Paragraphs of the theory, each with the formulas that are set off in it and what follows
    them.
    """
    results: list[str] = []
    for paragraph in re.split(r"\n\n+", text):
        goes_on = paragraph.startswith("```math") or (
            results and results[-1].rsplit("\n\n")[-1].startswith("```math")
        )
        if goes_on and not paragraph.startswith("#"):
            results[-1] += "\n\n" + paragraph
        else:
            results.append(paragraph)
    return results


def test_every_formula_names_a_test() -> None:
    """A statement is a paragraph with its formulas; where there is an equals sign, a test has to be
    named, not only a file.
    """
    statements = [
        s
        for s in _statements((DOCS / "theory.md").read_text(encoding="utf-8"))
        if "=" in re.sub(r"`[^`]*`", "", re.sub(r"```(math)?", "", s))
    ]
    assert len(statements) > 20
    without = [
        s
        for s in statements
        if not any(name in _known() and not name.endswith(".py") for name in _named(s))
    ]
    assert not without, "no test is named for:\n\n" + "\n\n".join(without)


def test_formulas_are_typeset() -> None:
    """Commands that the converter does not know would be printed as they are."""
    count = 0
    for page in PAGES:
        for _, text in blocks(page, "math"):
            for formula in formulas(text):
                count += 1
                shown = re.sub(r"<[^>]*>", "", convert(formula))
                assert "\\" not in shown and "§" not in shown, f"{page.name}: {formula}"
    assert count > 100


# what pages say of machines without a compiler


def test_what_needs_a_compiler_is_documented(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("VARIMECH_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "ziglang", None)
    monkeypatch.setattr(
        complex_step, "_call", complex_step._call.__wrapped__
    )  # not what an earlier test has loaded
    m = vm.Mechanism("pendulum", gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=m.parameter("L", 1.0, unit="m"), mass=3.0)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    angle, distributions = vm.final(lambda s: s.angle("rod")), {"L": vm.Tolerance(0.01)}
    assert m.monte_carlo(angle, distributions, duration=0.1, step=0.05, samples=20).failed == 0
    certificate = str(
        m.sensitivity(angle, duration=0.1, step=0.05).certify(
            relative_steps=[1e-3, 1e-4, 1e-5, 1e-6]
        )
    )
    assert "adjoint: differs" in certificate and "complex-step: differs" not in certificate
    refused: list[Callable[[], object]] = [
        lambda: m.sensitivity(angle, duration=0.1, method="complex-step"),
        lambda: m.problem(angle, duration=0.1, step=0.05).export(tmp_path / "bundle", target="c"),
        lambda: m.simulate(0.1, backend="native"),
    ]
    for call in refused:
        with pytest.raises(vm.VarimechError, match="no C compiler found"):
            call()
    assert "Four features need a compiler" in (DOCS / "install.md").read_text(encoding="utf-8")


# the project


def test_installation_names_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (DOCS / "install.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)
    extras = set(project["optional-dependencies"]) - {"dev", "docs"}
    assert len(named) == len(set(named)) and set(named) == extras == set(doctor.EXTRAS.values())


def test_licences_of_all_packages_are_listed() -> None:
    """What these need in turn depends on the machine, and what they state on their versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *chain(*(extras[e] for e in doctor.EXTRAS.values()))]
    page = (DOCS / "licences.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| ([\w-]+) \|", page, flags=re.MULTILINE))
    assert {re.split(r"[>\[]", name)[0] for name in needed} <= listed and len(listed) > 30


def test_the_citation_is_that_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    page = (DOCS / "citing.md").read_text(encoding="utf-8")
    author, version = citation["authors"][0]["name"], citation["version"]
    assert f"{{{{{author}}}}}" in page and f"{{{version}}}" in page and citation["title"] in page


def test_sources_are_those_of_the_files() -> None:
    page = (DOCS / "citing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .+? \| (.+?) \| `([\w/]+\.py)` \|$", page, flags=re.MULTILINE)
    assert len(rows) > 10
    for source, file in rows:
        doc = (ROOT / "src" / "varimech" / file).read_text(encoding="utf-8").split('"""')[1]
        assert source in " ".join(doc.split()), f"{file} names another source than {source}"


# the interface


def test_every_public_name_is_in_the_reference() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    stated = set(re.findall(r"^::: varimech\.(\w+)", pages, flags=re.MULTILINE)) | set(
        re.findall(r"`vm\.(\w+)", pages)
    )
    assert set(vm.__all__) <= stated
    assert {
        name for name in re.findall(r"^::: varimech\.(\w+)$", pages, flags=re.MULTILINE)
    } <= set(vm.__all__)


def test_every_analysis_and_element_method_is_in_the_reference() -> None:
    stated = set(
        re.findall(
            r"^        - (\w+)$",
            (DOCS / "api" / "mechanism.md").read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
    )
    assert stated == {name for name in dir(vm.Mechanism) if not name.startswith("_")}


def test_the_site_loads_nothing_from_elsewhere() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert (
        "font: false" in settings
        and "polyfills: [assets/iframe-worker.js]" in settings
        and "http" not in settings
    )
