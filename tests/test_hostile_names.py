"""Names that cannot be used everywhere are refused when they are given; those that are taken can be
used everywhere, and inject nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import pendulum, swinging

import varimech as vm
from varimech.backends.compiler import find_compiler
from varimech.core.names import LONGEST, check_name, comment_text

HIDDEN = [
    "a\nb",
    "a\rb",
    "a\tb",
    "a\0b",
    "\x1b[31mred",
    "\u202eabc",
    "a\u2028b",
    "a\u00a0b",
    "\ud800",
]
UNUSABLE = ["", " ", *HIDDEN, " a", "a ", "a/b", "/etc/passwd", "x" * (LONGEST + 1)]
NAMED: dict[str, Callable[[vm.Mechanism, str], object]] = {
    "mechanism": lambda m, name: vm.Mechanism(name),
    "parameter": lambda m, name: m.parameter(name, 1.0),
    "body": lambda m, name: m.body(name, mass=1, inertia=1),
    "bar": lambda m, name: m.bar(name, "A", "B", length=1, mass=1),
    "beam": lambda m, name: m.beam(
        name, "A", "B", segments=2, E=1e9, area=1e-4, inertia=1e-8, density=1e3, length=1
    ),
    "point": lambda m, name: m.point("rod", name, (0, 0)),
    "point of the ground": lambda m, name: m.ground_point(name, (0, 0)),
    "point of a new body": lambda m, name: m.body("b", mass=1, inertia=1, points={name: (0, 0)}),
    "start of a bar": lambda m, name: m.bar("b", name, "B", length=1, mass=1),
    "end of a beam": lambda m, name: m.beam(
        "b", "A", name, segments=2, E=1e9, area=1e-4, inertia=1e-8, density=1e3, length=1
    ),
    "joint": lambda m, name: m.revolute(name, "rod.tip", "ground.Q"),
    "spring": lambda m, name: m.spring(name, "tip", "Q", stiffness=1, natural_length=1),
    "torsional spring": lambda m, name: m.torsional_spring(name, "rod", stiffness=1),
    "force": lambda m, name: m.force(name, "tip", (0, 1)),
    "torque": lambda m, name: m.torque(name, "rod", 1.0),
    "driver": lambda m, name: m.drive_angle(name, "rod", lambda t: t),
}
WITHOUT_DOTS = [
    kind for kind in NAMED if kind.split()[0] in ("body", "bar", "beam", "point", "start", "end")
]


@pytest.mark.parametrize("name", UNUSABLE, ids=ascii)
@pytest.mark.parametrize("kind", NAMED)
def test_names_that_cannot_be_used_everywhere_are_refused(kind: str, name: str) -> None:
    m = pendulum()
    if kind == "parameter" and "/" in name:  # a ratio, and no file is called so
        NAMED[kind](m, name)
        return
    before = m.to_text(), m.data.revision
    with pytest.raises(vm.ModelError, match=r"needs a name|use |leave it out"):
        NAMED[kind](m, name)
    assert (m.to_text(), m.data.revision) == before


@pytest.mark.parametrize("kind", WITHOUT_DOTS)
def test_dots_separate_bodies_from_points(kind: str) -> None:
    with pytest.raises(
        vm.ModelError,
        match=r"the name 'a\.b' of a \w+ contains '\.', which separates a body from its point",
    ):
        NAMED[kind](pendulum(), "a.b")


@pytest.mark.parametrize("name", ["", *HIDDEN, "x" * (LONGEST + 1)], ids=ascii)
def test_so_are_those_of_objectives_and_constraints(name: str) -> None:
    m, ψ = swinging(), vm.final(lambda s: s.angle("rod"))
    with pytest.raises(vm.ModelError, match=r"an objective needs a name|of an objective"):
        m.sensitivity({name: ψ}, duration=0.1)
    with pytest.raises(vm.ModelError, match=r"an objective needs a name|of an objective"):
        m.optimize({name: ψ}, over=["L"], duration=0.1)
    with pytest.raises(vm.ModelError, match=r"a constraint needs a name|of a constraint"):
        m.optimize(ψ, over=["L"], constraints={name: ψ <= 1}, duration=0.1)


FILE = """varimech: 1
name: {mechanism}
gravity: [0, 0]
parameters: {{{parameter}: 1}}
bodies:
  {body}: {{mass: 1, inertia: 1, points: {{{point}: [1, 0]}}, floating: true}}
studies:
  objectives:
    {objective}: {{final: time}}
"""
LINES = {"mechanism": 2, "parameter": 4, "body": 6, "point": 6, "objective": 9}


@pytest.mark.parametrize("name", [r"a\nb", r"a\r/b", r" a", r"\u202Ea", "x" * (LONGEST + 1)])
@pytest.mark.parametrize("kind", LINES)
def test_files_are_refused_with_the_line(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(
        FILE.format(**{**{each: each for each in LINES}, kind: f'"{name}"'}), encoding="utf-8"
    )
    with pytest.raises(vm.FileError, match=r"use |leave it out") as caught:
        vm.Mechanism.from_file(path)
    assert caught.value.line == LINES[kind] and str(caught.value).isprintable()


def test_urdf_files_are_refused_with_the_joint_or_link(tmp_path: Path) -> None:
    pytest.importorskip("urdf_parser_py")
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
        ' iyz="0"/></inertial>'
    )
    for link, joint in (("arm.v2", "hinge"), ("arm", "hinge.1"), ("left/arm", "hinge")):
        path = tmp_path / "robot.urdf"
        path.write_text(
            f'<robot name="r"><link name="base"/><link name="{link}">{inertial}</link><joint'
            f' name="{joint}" type="continuous"><parent link="base"/><child link="{link}"/><axis'
            ' xyz="0 1 0"/></joint></robot>'
        )
        with pytest.raises(
            vm.ModelError, match=r"contains '[./]', which separates .*use another character"
        ):
            vm.Mechanism.from_urdf(path)


ODD = [
    "$x^{",
    "<b>&amp;",
    "</script><script>alert(1)</script>".replace("/", "\\"),
    "*\\",
    "%s{}{0}",
    "=1+1",
    "x" * LONGEST,
    "??\\",
    '"quoted"',
]


def odd_chain() -> vm.Mechanism:
    """A chain of bars in which everything has an odd name."""
    m = vm.Mechanism(ODD[0], gravity=(0, -9.81))
    m.ground_point(ODD[0], (0, 0))
    for k, odd in enumerate(ODD):
        m.bar(
            odd,
            odd,
            ODD[k + 1] if k + 1 < len(ODD) else "end",
            length=m.parameter(odd, 1.0),
            mass=1,
        )
        m.revolute(f"{odd[:-1]}J", f"{ODD[k - 1] if k else 'ground'}.{odd}", f"{odd}.{odd}")
    m.start(angle=dict.fromkeys(ODD, -1.0))
    return m


def test_names_that_are_taken_can_be_used_everywhere(tmp_path: Path) -> None:
    m = odd_chain()
    objectives = {odd: vm.final(f"angle({odd!r})") for odd in ODD}
    objectives["</script><script>alert(1)</script>"] = objectives[ODD[0]]
    gradient = m.sensitivity(
        objectives, wrt=ODD[:1], duration=0.02, step=0.01, backend="interpreted"
    )
    run = gradient.run
    for ending in (".nc", ".csv", ".mat"):
        run.save(tmp_path / f"run{ending}")
        gradient.save(tmp_path / f"gradient{ending}")
    run.draw(trace=ODD[3]).savefig(tmp_path / "drawing.svg")
    again = vm.load_run(tmp_path / "run.nc")
    assert again.info["mechanism"] == ODD[0]
    for odd in ODD:
        assert again.angle(odd).equals(run.angle(odd))
    page = vm.report(tmp_path / "page.html", gradient, model=m.to_text()).read_text(
        encoding="utf-8"
    )
    usual = vm.report(
        tmp_path / "usual.html", swinging().simulate(0.02, step=0.01, backend="interpreted")
    )
    assert (
        set(active_tags(page)) == set(active_tags(usual.read_text(encoding="utf-8")))
        and "alert(1)" in page
    )
    (tmp_path / "model.yaml").write_text(m.to_text(), encoding="utf-8")
    assert vm.Mechanism.from_file(tmp_path / "model.yaml").to_text() == m.to_text()


def active_tags(page: str) -> list[tuple[Any, ...]]:
    """Tags of a page that can do something, with the attributes that matter."""
    results = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            does = [
                name
                for name, _ in attrs
                if name.startswith("on") or name in ("src", "href", "srcdoc")
            ]
            if does or tag in ("script", "iframe", "object", "embed", "link", "img", "svg"):
                results.append((tag, *does))

    Reader().feed(page)
    return results


INJECTIONS = [
    "x*/int evil;/*",
    "x*\\\r/int evil;",
    "x*\\\n/int evil;",
    "x*??/\n/int evil;",
    "*\\",
    "*/",
    "**//",
    "/*",
    "/",
    "?" * 5 + "/",
]


@pytest.mark.parametrize("text", INJECTIONS, ids=ascii)
def test_no_text_ends_a_comment(text: str) -> None:
    _check_comment(text)


@given(st.text(st.sampled_from("*/\\?\r\n a\u2028"), max_size=12))
@settings(max_examples=300)
def test_neither_does_any_other(text: str) -> None:
    _check_comment(text)


def _check_comment(text: str) -> None:
    safe = comment_text(text)
    assert safe.isprintable() and not re.search(r"\*/|/\*|\\|\?\?", safe)
    assert comment_text(safe) == safe
    plain = re.sub(r"[\\/\s?*]", "", text.replace("\u2028", ""))
    assert re.sub(r"[\\/\s?*]", "", safe) == plain  # what can be read stays


@pytest.mark.skipif(
    find_compiler() is None or shutil.which("cc") is None, reason="no C compiler on this machine"
)
@pytest.mark.parametrize("text", INJECTIONS[:4], ids=ascii)
def test_exported_c_has_nothing_but_its_function(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where a name or unit came past all checks: what compilers see without comments is the
    same, trigraphs and all.
    """
    seen = []
    for k, name in enumerate(("plain", text)):
        m = swinging()
        equations = m.equations()
        object.__setattr__(equations, "mechanism", name)
        object.__setattr__(equations, "parameter_names", (name, "M"))
        (folder := tmp_path / str(k)).mkdir()
        equations.to_c(folder, name="motion")
        command = ["cc", "-std=c99", "-trigraphs", "-w", "-E", "-P", str(folder / "motion.h")]
        seen.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert seen[0] == seen[1] and "motion(" in seen[0] and "evil" not in seen[1]


def test_exported_descriptions_are_json(tmp_path: Path) -> None:
    name = '"}, {"x\\'
    m = vm.Mechanism(name, gravity=(0, -9.81))
    m.ground_point("O", (0, 0))
    m.bar("rod", "O", "tip", length=m.parameter(name, 1.0), mass=1)
    m.revolute("O")
    m.start(angle={"rod": -1.0})
    if find_compiler() is None:
        pytest.skip("no C compiler on this machine")
    m.problem({name: vm.final(lambda s: s.angle("rod"))}, duration=0.1, step=0.01).export(
        tmp_path, target="c"
    )
    about: dict[str, Any] = json.loads((tmp_path / "bundle.json").read_text(encoding="utf-8"))
    assert (about["mechanism"], about["parameters"][0]["name"], about["objectives"][0]["name"]) == (
        name,
        name,
        name,
    )
    assert name not in (tmp_path / "program.c").read_text(encoding="utf-8")


@given(st.text(max_size=8))
@settings(max_examples=200)
def test_a_name_is_taken_or_refused_with_a_remedy(name: str) -> None:
    try:
        check_name("point", name, "./")
    except vm.ModelError as error:
        assert str(error).isprintable() and re.search(r"needs a name|use |leave it out", str(error))  # noqa: PT017 - or none
    else:
        assert name.isprintable() and name == name.strip() and name and not set(name) & set("./")
