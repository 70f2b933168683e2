"""Remedies name what the caller has: options of the command, keys of the file. Pages and public
docstrings use the terms of the field.
"""

from __future__ import annotations

import inspect
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_pages import DOCS, ROOT
from typer.testing import CliRunner

import varimech as vm
from varimech.cli import completion
from varimech.cli.app import app
from varimech.cli.command_syntax import CommandSyntax
from varimech.coordinates.systems import COORDINATES
from varimech.core.messages import Call, Message, PerInterface
from varimech.files.file_syntax import FileSyntax
from varimech.schemes import BACKENDS, FORMULATIONS, INTEGRATORS

OPTIONS = {
    "step": "--step",
    "tolerance": "--tolerance",
    "formulation": "--formulation",
    "order": "--order",
}


@pytest.mark.parametrize(
    ("message", "python", "command", "file"),
    [
        (
            Message("a larger {tolerance}, or {formulation}", formulation="ali3p"),
            "a larger tolerance=, or formulation='ali3p'",
            "a larger --tolerance, or --formulation ali3p",
            "a larger `tolerance:`, or formulation: ali3p",
        ),
        (
            Message("{formulation} or {step}", formulation=("index1", "ali3p"), step=1e-8),
            "formulation='index1' or 'ali3p' or step=1e-8",
            "--formulation index1 or ali3p or --step 1e-8",
            "formulation: index1 or ali3p or step: 1e-8",
        ),
        (
            Message("give {} rough angles", Call("start", near=...)),
            "give start(near=…) rough angles",
            "give start: {near: …} rough angles",
            "give start: {near: …} rough angles",
        ),
        (
            Message("{}", Call("moments", order=1)),
            "moments(…, order=1)",
            "`varimech uncertainty --method moments --order 1`",
            "moments(…, order: 1)",
        ),
        (
            Message("add {floating}", floating=True),
            "add floating=True",
            *2 * ["add floating: true"],
        ),
        (Message("{executor} of {!r}", "{step}"), *3 * ["executor= of '{step}'"]),
        (
            Message("{}", PerInterface("distribution=…", "tolerance: …")),
            "distribution=…",
            *2 * ["tolerance: …"],
        ),
    ],
)
def test_remedies_use_the_interface_of_the_caller(
    message: Message, python: str, command: str, file: str
) -> None:
    assert str(message) == python
    assert message.text(CommandSyntax(OPTIONS)) == command
    assert message.text(FileSyntax()) == file


def test_the_text_of_an_error_is_composed_from_its_fields() -> None:
    error = vm.ModelError(
        "must be positive", element="run", field="step", value=-1.0, remedy=Message("leave {step}")
    )
    assert str(error) == "run: step = -1.0 must be positive; leave step="
    error.syntax = CommandSyntax(OPTIONS)
    assert str(error) == "run: --step -1.0 must be positive; leave --step"
    again = pickle.loads(pickle.dumps(vm.SimulationError("no", time=1.0, remedy="wait")))
    assert (str(again), again.time) == ("no; wait", 1.0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "run five-bar --step 0.01 --tolerance 1e-6",
            "--step sets a fixed step size and --tolerance selects adaptive steps",
        ),
        ("run five-bar --every 0", "--every 0 must be a whole number of steps"),
        (
            "sensitivity five-bar --method composite --formulation penalty --step 0.01",
            "use --method direct",
        ),
        ("run five-bar --step 0.5 --integrator rk4", "or --tolerance 1e-8 in its place"),
    ],
)
def test_commands_suggest_their_options(line: str, words: str) -> None:
    error = CliRunner().invoke(app, line.split()).exception
    assert isinstance(error, vm.VarimechError)
    assert words in str(error)


def test_files_get_keys(tmp_path: Path) -> None:
    path = tmp_path / "loose.yaml"
    path.write_text(
        "varimech: 1\nname: loose\nground: {O: [0, 0]}\nbodies:\n  b: {beam: [O, P], length: 1,"
        " segments: 2, E: 1e9, density: 1000}\n",
        encoding="utf-8",
    )
    with pytest.raises(vm.FileError) as caught:
        vm.Mechanism.from_file(path)
    assert "area: …" in str(caught.value) and "=…" not in str(caught.value)


def proposed(line: str, folder: Path | None = None) -> list[str]:
    """Proposals that bash gets for the last word."""
    words = line.split(" ")
    environment = {
        **os.environ,
        "_VARIMECH_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    code = "import sys; sys.argv = ['varimech']; from varimech_command import main; main()"
    completed = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=folder, capture_output=True, text=True
    )
    return completed.stdout.split()


def test_the_tab_key_completes_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my.yaml").write_text(
        "parameters: {rod: 1, radius: 2, mass: 3}\nstudies: {objectives: {travel: {}}}\n",
        encoding="utf-8",
    )
    (tmp_path / "models").mkdir()
    (tmp_path / "mine.txt").touch()
    monkeypatch.chdir(tmp_path)
    assert completion.models("m") == ["models/", "my.yaml"]
    assert completion.models("five") == ["five-bar"]
    assert completion.one_of("dopri5", "rk4")("d") == ["dopri5"]

    class Context:
        def __init__(self, model: str):
            self.params: dict[str, str | None] = {"model": None}
            self.args = [model]

    for model, keys, begun, names in (
        ("my.yaml", ("parameters",), "r", ["rod=", "radius="]),
        ("my.yaml", ("studies", "objectives"), "", ["travel="]),
        ("five-bar", ("parameters",), "L_", ["L_A1="]),
        ("missing.yaml", ("parameters",), "", []),
        ("mine.txt", ("parameters",), "", []),
    ):
        assert completion.named(*keys, ending="=")(Context(model), begun) == names  # type: ignore[arg-type]


def test_completion_knows_all_methods() -> None:
    for kind, registry in (
        ("integrators", INTEGRATORS),
        ("formulations", FORMULATIONS),
        ("coordinates", COORDINATES),
    ):
        assert completion.schemes(kind)("") == list(registry)
    assert set(completion.BACKENDS) == set(BACKENDS)


def test_completion_knows_methods_of_installed_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(INTEGRATORS, "mine", INTEGRATORS["rk4"])
    assert completion.schemes("integrators")("mi") == []
    monkeypatch.setattr(completion, "entry_points", lambda group: ["one"])
    assert completion.schemes("integrators")("mi") == ["mine"]
    assert completion.schemes("integrators")("do") == ["dopri5", "dop853"]


def test_shells_get_proposals() -> None:
    assert proposed("varimech sensitivity five-bar --wrt L_") == ["L_A1"]


@pytest.mark.parametrize(
    "words", [["--help"], ["run", "--help"], ["benchmark", "-h"]], ids=" ".join
)
def test_help_loads_nothing_that_computes(words: list[str]) -> None:
    """It takes a quarter of a second, and importing all of this another one."""
    output, loaded = executed(*words)
    assert "Usage" in output
    assert not loaded


def test_a_run_loads_no_labels_figures_or_definitions_of_units(tmp_path: Path) -> None:
    """A second, where nothing is written that needs them."""
    executed("new", str(tmp_path / "my.yaml"))
    output, loaded = executed("run", str(tmp_path / "my.yaml"), "--duration", "20 ms")
    assert "Run of 'crank-slider': 0.02 s" in output
    assert loaded == {"casadi", "numpy"}


def executed(*words: str) -> tuple[str, set[str]]:
    """What a command prints, and which of the large packages it loads."""
    code = (
        "import sys\nfrom varimech_command import main\ntry:\n    main()\nexcept SystemExit:\n   "
        " pass\nprint('LOADED', *({'casadi', 'numpy', 'pandas', 'xarray', 'scipy', 'matplotlib',"
        " 'pint'} & set(sys.modules)))"
    )
    computed = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    ).stdout
    output, _, loaded = computed.rpartition("LOADED")
    return output, set(loaded.split())


# terms

OLD_TERMS = {
    r"\b(?<!of )(?<!unconstrained )freedoms?\b": "degree(s) of freedom, DOF",
    r"\bverbs?\b": "analysis",
    r"\bcards?\b": "GPU",
    r"\b(?:carry|carried|carries) out\b": "execute",
    r"\bwritten out\b": "unrolled",
    r"\bswept\b": "recursive",
    r"\blook(?:s|ed|ing)? after\b": "handle, rerun individually",
    r"\b(?:tells?|told)\b": "show, report, return, describe",
    r"\bspeaks? of\b": "use, name",
    r"\bsays? no\b": "refuse",
    r"\bspreads?\b": "distribution, uncertainty, tolerance",
    r"\bhouse\b": "layer, package",
    r"\bwhat is given at the start\b": "initial conditions",
    r"\bfaster than light\b": "diverged",
    r"\bwithout a word\b": "without a warning",
}
"""Terms that were used once, and what the field says instead."""


def old_terms(text: str) -> list[str]:
    """Where prose uses one of them; code and names of tests are left out."""
    prose = re.sub(r"```.*?^ *```$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    return [
        f"{prose[max(0, found.start() - 30) : found.end() + 30]!r}: write {instead}"
        for term, instead in OLD_TERMS.items()
        for found in re.finditer(term, prose)
    ]


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_pages_use_the_terms_of_the_field(page: Path) -> None:
    assert old_terms(page.read_text(encoding="utf-8")) == []


def test_public_docstrings_use_the_terms_of_the_field() -> None:
    texts = {}
    for name in vm.__all__:
        value = getattr(vm, name)
        texts[name] = inspect.getdoc(value) or ""
        for member in dir(value) if inspect.isclass(value) else ():
            if not member.startswith("_"):
                texts[f"{name}.{member}"] = inspect.getdoc(getattr(value, member)) or ""
    assert len(texts) > 300
    assert {name: old for name, text in texts.items() if (old := old_terms(text))} == {}


def test_old_terms_are_found() -> None:
    assert len(old_terms("It tells the freedoms that a card has, carried out without a word.")) == 5
    assert old_terms("`tells` a degree of freedom, ```text\ntold\n```") == []
