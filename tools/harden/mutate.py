"""Change a sign, a factor, an index or a comparison of the numerics, and see whether a test
notices.

    pip install cosmic-ray coverage
    python tools/harden/mutate.py reach              once: which tests run which lines, and what they cost
    python tools/harden/mutate.py run                one mutant after another; goes on where it was stopped
    python tools/harden/mutate.py run --again        those that survived once more, after tests were added (`reach` them first)
    python tools/harden/mutate.py run --files 'robust/*.py' 'studio/{handles,tolerances}.py' --seed 2
    python tools/harden/mutate.py table              killed, survived and timed out, by package

Mutants are those of cosmic-ray, drawn by seed, some of every file. Each is written into a copy of
the tree and meets the tests that run its line, cheapest first, until one fails. Tests run in a fork
of this process, which has what they import already.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src/varimech")
NUMERICS = (
    "analyses/*.py",
    "backends/{assembly,backward,batch,bound,columns,complex_step,event*,explicit,inputs,interpreted,jumps}.py",
    "backends/{kept_steps,lane*,modes,motion,newton,outputs,passage,plan_tables,samp*,scheme_tables,selection}.py",
    "backends/{slices,step_*,sundials*,sweeps,switching,tape,trajectory,workspace}.py",
    "certification/*.py",
    "coordinates/*.py",
    "coordinates/relative/*.py",
    "core/{angles,coordinate_scales,expressions,gradual,mathematics,piecewise,schedule,tables}.py",
    "elements/*.py",
    "formulations/*.py",
    "frameworks/*.py",
    "identification/*.py",
    "integrators/*.py",
    "model/*.py",
    "optimization/*.py",
    "results/{actuation,campbell,event*,hessian,lost_motion,margins,mode_motion,modes,root_locus}.py",
    "robust/*.py",
    "sensitivity/*.py",
    "solving/*.py",
    "stages/*.py",
    "studio/*.py",
    "uncertainty/*.py",
)
ASIDE = ("__init__.py", "*_figures.py", "*_notes.py", "*_text.py", "gpu_*.py", "registry.py")
"""Files in these folders that only write or draw, or run where no test does."""
LINES_FOR_ONE = 120
"""A file gets a mutant, and another for each so many lines."""
CHANGES = {
    "sign": "BinaryOperator_Add_Sub BinaryOperator_Sub_Add UnaryOperator_Delete_USub",
    "factor": (
        "BinaryOperator_Mul_Div BinaryOperator_Mul_Add BinaryOperator_Div_Mul"
        " BinaryOperator_Pow_Mul BinaryOperator_FloorDiv_Mul BinaryOperator_Mod_Mul"
    ),
    "decision": (
        "ComparisonOperator_Eq_NotEq ComparisonOperator_NotEq_Eq ComparisonOperator_Lt_LtE"
        " ComparisonOperator_Lt_GtE ComparisonOperator_LtE_Lt ComparisonOperator_LtE_Gt"
        " ComparisonOperator_Gt_GtE ComparisonOperator_Gt_LtE ComparisonOperator_GtE_Gt"
        " ComparisonOperator_GtE_Lt UnaryOperator_Delete_Not AndWithOr OrWithAnd"
    ),
    "number": "core/NumberReplacer",
}
"""What is changed, by what it is to a reader, in the words of cosmic-ray."""
ARITHMETIC = {"arith_expr", "term", "power"}
LOADED = (
    "casadi",
    "hypothesis",
    "matplotlib.pyplot",
    "numpy",
    "pint",
    "scipy.integrate",
    "scipy.optimize",
    "scipy.stats",
    "xarray",
)
"""What most tests import: done once, before the forks."""
OPTIONS = (
    "-x",
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-o",
    "faulthandler_timeout=0",
    "--tb=line",
    "-rfE",
    "--no-header",
)
EARLY = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""What is imported before the forks is not rewritten by pytest, and need not be."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the so-manyeth place (`occurrence`) where an operator of cosmic-ray
    applies.
    """

    file: str
    line: int
    column: int
    operator: str
    occurrence: int

    @property
    def name(self) -> str:
        return (
            f"{self.file}:{self.line}:{self.column} {self.operator.rpartition('/')[2]}"
            f" {self.occurrence}"
        )


def numerics_files(wanted: Sequence[str]) -> list[Path]:
    """Files that mutants are made of, from the root of the repository."""
    results: list[Path] = []
    for pattern in wanted:
        folder, _, names = pattern.partition("{")
        inside, _, rest = names.partition("}")
        patterns = [folder + name + rest for name in inside.split(",")] if names else [pattern]
        for each in patterns:
            paths = sorted((ROOT / PACKAGE).glob(each))
            assert paths, f"{each} names no file; correct it"
            numerics = [path for path in paths if not any(map(path.match, ASIDE))]
            results += [path.relative_to(ROOT) for path in numerics]
    return results


def places(file: Path) -> dict[str, list[Mutant]]:
    """Every change of a file that is numerics, by what it changes: outside of decorators and of
    what is raised.
    """
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator

    source = (ROOT / file).read_text(encoding="utf-8")
    aside: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        for part in [node] if isinstance(node, ast.Raise) else getattr(node, "decorator_list", []):
            aside.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    nodes = list(ast_nodes(get_ast(source)))
    results: dict[str, list[Mutant]] = {change: [] for change in CHANGES}
    for change, short in (
        (change, name) for change, names in CHANGES.items() for name in names.split()
    ):
        name = short if "/" in short else f"core/Replace{short}"
        operator, occurrence = get_operator(name)(), -1
        for node in nodes:
            for (line, column), _ in operator.mutation_positions(node):
                occurrence += 1
                if line not in aside and ("Binary" not in name or node.parent.type in ARITHMETIC):
                    results[change].append(Mutant(str(file), line, column, name, occurrence))
    return results


def drawn(seed: int, files: Sequence[str]) -> list[Mutant]:
    """One mutant of every file, then another of every long one, and so on; no two at one place."""
    rounds: dict[int, list[Mutant]] = defaultdict(list)
    for file in numerics_files(files):
        chance, kinds = (
            random.Random(f"{seed} {file.relative_to(PACKAGE)}"),
            list(places(file).values()),
        )
        for each in kinds:
            chance.shuffle(each)
        chance.shuffle(kinds)
        in_turn = [
            mutant for of_each_kind in zip_longest(*kinds) for mutant in of_each_kind if mutant
        ]
        one_a_place = list({(mutant.line, mutant.column): mutant for mutant in in_turn}.values())
        expected = 1 + len((ROOT / file).read_text(encoding="utf-8").splitlines()) // LINES_FOR_ONE
        for turn, mutant in enumerate(one_a_place[:expected]):
            rounds[turn].append(mutant)
    return [mutant for turn in sorted(rounds) for mutant in rounds[turn]]


class Reach:
    """Which tests run which lines, and the seconds of processor time they take; tests that fail, or
    take too long, are left out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: dict[str, float] = {}
        self.tests: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        if path.exists():
            stored = json.loads(path.read_text(encoding="utf-8"))
            self.seconds.update(stored["seconds"])
            for file, lines in stored["tests"].items():
                self.tests[file].update(lines)

    def measure(self, arguments: list[str], longest: float) -> None:
        """Run tests, each under its own name for coverage, and add what they reach."""
        import coverage

        record = coverage.Coverage(data_file=None, source=[str(ROOT / PACKAGE)], branch=False)
        record.start()
        timed = _Timed(record, longest)
        pytest.main(
            ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line", *arguments],
            plugins=[timed],
        )
        record.stop()
        self.seconds.update(timed.seconds)
        data = record.get_data()
        for measured in data.measured_files():
            lines = self.tests[str(Path(measured).relative_to(ROOT))]
            for line, names in data.contexts_by_lineno(measured).items():
                here = lines.setdefault(str(line), [])
                here += [name for name in names if name in timed.seconds and name not in here]
        self.path.write_text(
            json.dumps({"seconds": self.seconds, "tests": self.tests}), encoding="utf-8"
        )

    def of(self, mutant: Mutant, budget: float) -> list[str]:
        """Tests that run the statement of a mutant, or else its file, or else are named after it:
        cheapest first, up to a sum of seconds.
        """
        lines = self.tests[mutant.file]
        names = {name for line in _statement(mutant) for name in lines.get(str(line), ())}
        names = names or {name for tests in lines.values() for name in tests}
        names = names or {name for name in self.seconds if Path(mutant.file).stem in name}
        chosen: list[str] = []
        for name in sorted(names, key=lambda name: (self.seconds[name], name)):
            budget -= self.seconds[name]
            if chosen and budget < 0:
                break
            chosen.append(name)
        return chosen


class _Timed:
    """Names tests to coverage, times them, and stops those that take too long."""

    def __init__(self, record: Any, longest: float) -> None:
        self.record, self.longest = record, longest
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        def too_long(*_: object) -> None:
            raise TimeoutError("takes too long for mutants")

        before = sum(os.times()[:4])
        self.record.switch_context(item.nodeid)
        signal.signal(signal.SIGPROF, too_long)
        signal.setitimer(signal.ITIMER_PROF, self.longest)
        result = yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.record.switch_context("")
        self.seconds.setdefault(item.nodeid, sum(os.times()[:4]) - before)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self.seconds[report.nodeid] = float("nan")

    def pytest_sessionfinish(self) -> None:
        self.seconds = {name: round(s, 3) for name, s in self.seconds.items() if s == s}


def _statement(mutant: Mutant) -> range:
    """Lines of the innermost statement a mutant is in; of the head only, where others
    stand in it.
    """
    best = range(0)
    for node in ast.walk(ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt) and node.lineno <= mutant.line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            end = max(body[0].lineno - 1, node.lineno) if body else node.end_lineno or 0
            if mutant.line <= end:
                best = range(node.lineno, end + 1)
    return best


class Copy:
    """A copy of the tree, in which mutants are written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        aside = shutil.ignore_patterns(".*", "__pycache__", "build", "site", "*.egg-info")
        shutil.copytree(ROOT, folder, ignore=aside)

    def outcome(self, mutant: Mutant, tests: list[str], seconds: float) -> tuple[str, str]:
        """Whether tests kill a mutant, and the first that does."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        path = self.folder / mutant.file
        source = path.read_text(encoding="utf-8")
        changed = mutate_code(source, get_operator(mutant.operator)(), mutant.occurrence)
        assert changed is not None and changed != source
        path.write_text(changed, encoding="utf-8")
        try:
            return self._tried(tests, seconds)
        finally:
            path.write_text(source, encoding="utf-8")

    def _tried(self, tests: list[str], seconds: float) -> tuple[str, str]:
        stated = self.folder / "told.txt"
        child = os.fork()
        if child == 0:
            self._test(tests, seconds, stated)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            slow = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL)
            return ("timeout", "") if slow else ("killed", f"signal {os.WTERMSIG(status)}")
        text, code = stated.read_text(encoding="utf-8", errors="replace"), os.WEXITSTATUS(status)
        if code == pytest.ExitCode.OK:
            return "survived", ""
        failed = [line for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        if not failed:
            raise RuntimeError(f"tests did not run:\n{text}")
        return "killed", failed[0][:200]

    def _test(self, tests: list[str], seconds: float, stated: Path) -> None:
        """In the fork: never returns. Processor time is what is limited, so a busy machine does not
        matter.
        """
        limit = int(10 + 2 * seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        signal.alarm(10 * limit)
        with stated.open("w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.chdir(self.folder)
        sys.path.insert(0, str(self.folder / "src"))
        sys.dont_write_bytecode = True
        os.environ["PYTHONPATH"], os.environ["PYTHONDONTWRITEBYTECODE"] = (
            str(self.folder / "src"),
            "1",
        )
        try:
            code = int(pytest.main([*OPTIONS, *EARLY, *tests]))
        except BaseException:
            traceback.print_exc()
            code = pytest.ExitCode.INTERNAL_ERROR
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run(given: argparse.Namespace) -> None:
    """Try all mutants of a seed that have not been tried, or those that survived."""
    for name in LOADED:
        importlib.import_module(name)
    reach, results = Reach(given.folder / "reach.json"), given.folder / "results.jsonl"
    done = outcomes(results)
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        copy = Copy(Path(place) / "tree")
        for mutant in drawn(given.seed, given.files):
            last = done.get(mutant.name)
            expected = (
                last is not None and last["outcome"] == "survived" if given.again else last is None
            )
            if not expected or given.only not in mutant.name:
                continue
            tests = given.tests or reach.of(mutant, given.budget)
            outcome, by = (
                copy.outcome(mutant, tests, given.budget) if tests else ("survived", "no test")
            )
            entry = asdict(mutant) | {
                "name": mutant.name,
                "outcome": outcome,
                "by": by,
                "tests": len(tests),
            }
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
            print(f"{outcome:9} {mutant.name}  ({len(tests)} tests) {by}", flush=True)


def outcomes(results: Path) -> dict[str, dict[str, Any]]:
    """What became of each mutant, the last time it was tried."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return {entry["name"]: entry for entry in map(json.loads, lines)}


def table(results: Path) -> None:
    """Print how many there were of each outcome, by package, and who survived."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    entries = outcomes(results).values()
    for entry in entries:
        for package in (
            Path(entry["file"]).relative_to(PACKAGE).parts[0].removesuffix(".py"),
            "all",
        ):
            counts[package][entry["outcome"]] += 1
    print(f"{'package':14}{'mutants':>9}{'killed':>9}{'timeout':>9}{'survived':>9}")
    for package, count in sorted(counts.items(), key=lambda pair: pair[0] == "all"):
        print(
            f"{package:14}{count.total():9}{count['killed']:9}{count['timeout']:9}{count['survived']:9}"
        )
    for entry in entries:
        if entry["outcome"] == "survived":
            print("survived", entry["name"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["reach", "run", "table"])
    parser.add_argument(
        "tests",
        nargs="*",
        help="tests to measure (default: all), or to run in place of those that reach a mutant",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--budget", type=float, default=20, help="seconds of tests a mutant meets at most"
    )
    parser.add_argument(
        "--longest",
        type=float,
        default=4,
        help="for reach: seconds beyond which a test is left out",
    )
    parser.add_argument("--again", action="store_true", help="those that survived")
    parser.add_argument(
        "--files", nargs="+", default=NUMERICS, help="of the package, in place of all NUMERICS"
    )
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build" / "mutants", help="where results are kept"
    )
    given = parser.parse_intermixed_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.command == "reach":
        os.chdir(ROOT)
        Reach(given.folder / "reach.json").measure(given.tests, given.longest)
    elif given.command == "run":
        run(given)
    else:
        table(given.folder / "results.jsonl")


if __name__ == "__main__":
    main()
