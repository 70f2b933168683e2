"""Many runs of one program, for rows of parameter values: on the processor, or on a GPU.

This file stands alone: it needs numpy, and cupy for GPUs. `varimech export` puts it, as run.py,
beside a program's source and its description, so that these runs can be had where Varimech is not:

    python run.py                          check this machine against the results the bundle came with
    python run.py samples.csv results.csv  a run for each row; columns are parameters, those left
    out stay nominal

Results are those at the last time, with derivatives ("dpsi/dL") where the bundle has them, and
whether a run was good. It failed where it broke off, where
joints came apart, or where parameters are not what the mechanism takes: their bounds and what
bundle.json says beside them. What it lists as not checked is up to you. In Python:  from run import
Bundle;  Bundle(".").run({"L": [1.0, 1.01]})["psi"]
"""

from __future__ import annotations

import csv
import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

DONE = 0
"""Status of a run that went well."""
OUTCOMES = ("objectives", "gradients", "residuals", "status")
INPUTS = ("values", "reach", "independent")
STEPS = ("given_steps", "kept_steps")
SHARE = 0.8
"""Of a GPU's free memory that results of one launch may take."""

RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "finite": np.isfinite,
    "positive": lambda x: x > 0,
    "non-zero": lambda x: x != 0,
    "non-negative": lambda x: x >= 0,
    "share": lambda x: (x >= 0) & (x <= 1),
}
"""What a parameter may have to follow."""
AGREEMENT = 1e-9
"""Relative difference from the results the bundle came with that is only rounding."""


class Batch:
    """What runs share, as plain data (see `description` in sampler.py), and the record by which the
    driver finds it.

    Args:
        description, fields: see `sampler.py`.
        states: whether runs keep their states at stored times, too.
    """

    def __init__(
        self, description: Mapping[str, Any], fields: list[tuple[str, str]], *, states: bool = False
    ):
        self.description, self.states = description, states
        self.rows, self.objectives = (
            int(description["rows"]),
            int(description["sizes"]["objectives"]),
        )
        self.parameters, self.parameter_set = (
            int(description["sizes"]["parameters"]),
            int(description["sizes"]["numbers"]),
        )
        self.given, self.kept = (int(description.get(name, 0)) for name in STEPS)
        """Numbers behind the parameters of a row, which give its steps; most steps whose ends are
        kept.
        """
        record = np.dtype(fields, align=True)
        pointers = [(name, np.uintp) for name in (*INPUTS, *OUTCOMES)]
        steps = [("taken", np.uintp), ("row", np.int64), ("most", np.int64)]
        job = [("common", record), *pointers, ("rows", np.int64), *steps]
        self._job = np.dtype(job, align=True)
        self.arrays = {name: np.array(a, dtype=float) for name, a in description["arrays"].items()}
        """What all runs only read."""

    @property
    def run_size(self) -> int:
        """Bytes of what one run takes and yields."""
        results = self.rows * self.objectives * (1 + self.parameters)
        return 8 * (self.parameter_set + self.given + self.kept + results + 4)

    def empty(self, count: int, zeros: Callable[..., Any] = np.zeros) -> dict[str, Any]:
        """Where so many runs write to."""
        shape = (count, self.rows, self.objectives)
        taken = {"taken": zeros((count, self.kept + 3))} if self.kept else {}
        return {
            "objectives": zeros(shape),
            "gradients": zeros((*shape, self.parameters)),
            "residuals": zeros((count, 3)),
            "status": zeros(count, dtype=np.int64),
            **taken,
        } | ({"states_stored": self._no_states(count)} if self.states else {})

    def _no_states(self, count: int) -> np.ndarray:
        """NaN where a run stores nothing, after an event that ends it."""
        return np.full((count, self.rows, int(self.description["sizes"]["states"])), np.nan)

    def working(self, count: int, empty: Callable[..., Any] = np.empty) -> dict[str, Any]:
        """Where so many runs keep what nobody wants to know later: nowhere."""
        return {}

    def job(self, addresses: Mapping[str, int]) -> np.ndarray:
        """The record, with arrays at these addresses."""
        job = np.zeros((), dtype=self._job)
        common = job["common"]
        names = common.dtype.names or ()
        for name, value in {**self.description["sizes"], **self.description["settings"]}.items():
            if name in names:
                common[name] = value
        for name, address in addresses.items():
            own = name in (*INPUTS, *OUTCOMES) or (name == "taken" and self.kept)
            (job if own else common)[name] = address
        common["last"], job["rows"] = np.iinfo(np.int64).max, self.rows
        job["row"], job["most"] = self.parameter_set + self.given, self.kept
        return job


class Processor:
    """Runs on the processor by a compiled library; each call takes one core, and others may go on
    beside it.
    """

    def __init__(
        self,
        batch: Batch,
        library: ctypes.CDLL,
        tables: Mapping[str, int],
        entry: str = "vm_sample_all",
    ):
        self.batch, self._tables = batch, tables
        self._call = getattr(library, entry)
        self._call.argtypes, self._call.restype = [ctypes.c_void_p, ctypes.c_longlong], None

    def __call__(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Outcomes for rows of values of all parameters."""
        found = self.batch.empty(len(rows))
        arrays = {
            **self.batch.arrays,
            "values": np.ascontiguousarray(rows, dtype=float),
            **found,
            **self.batch.working(len(rows)),
        }
        job = self.batch.job(
            {**self._tables, **{name: a.ctypes.data for name, a in arrays.items()}}
        )
        self._call(job.ctypes.data, len(rows))
        return found


class Gpu:
    """Runs on a GPU by a kernel that NVRTC builds; as many at a launch as its memory holds."""

    def __init__(self, batch: Batch, source: str, entry: str = "vm_sample_all"):
        import cupy

        self.batch, self._cupy = batch, cupy
        options = ("-std=c++17", "--device-as-default-execution-space", "-w")
        self._kernel = cupy.RawModule(code=source, backend="nvrtc", options=options).get_function(
            entry
        )
        self._arrays = {name: cupy.asarray(a) for name, a in batch.arrays.items()}
        self._launch: dict[str, int] = batch.description["launch"]
        """Threads and samples of a block, blocks for the same samples, and bytes of shared memory."""
        if self._launch["shared"]:
            self._kernel.max_dynamic_shared_size_bytes = self._launch["shared"]
        has = cupy.cuda.Device().attributes
        resident = int(has["MultiProcessorCount"]) * int(has["MaxThreadsPerMultiProcessor"])
        self._reserved = resident * int(self._kernel.local_size_bytes)
        """Bytes that the driver will take at the first launch: arrays of as many runs as the GPU
        can have under way, derivatives among them.
        """

    @property
    def most(self) -> int:
        """How many runs fit at once."""
        return max(1, int(SHARE * (self._free - self._reserved)) // self.batch.run_size)

    @property
    def _free(self) -> int:
        """Bytes."""
        pool = self._cupy.get_default_memory_pool()
        return int(self._cupy.cuda.Device().mem_info[0]) + int(pool.free_bytes())

    def __call__(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Outcomes for rows of values of all parameters. Where memory is short after all, because
        others use the GPU, too, half as many runs are launched at once.

        Raises:
            MemoryError: if there is not enough for these, either.
        """
        parts, most, first, halved = [self.batch.empty(0)], self.most, 0, False
        while first < len(rows):
            part = self._attempt(rows[first : first + most])
            if part is not None:
                parts.append(part)
                first, halved = first + most, False
                continue
            self._cupy.get_default_memory_pool().free_all_blocks()
            most = min(most, len(rows) - first)
            if halved or most == 1:
                raise MemoryError(
                    f"the GPU has not enough memory for {most} runs at once, of"
                    f" {self.batch.run_size} bytes each and {self._reserved} for all;"
                    f" {self._free} bytes are free"
                )
            most, halved = most // 2, True
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _attempt(self, rows: np.ndarray) -> dict[str, np.ndarray] | None:
        """Outcomes of one launch; None where memory is short."""
        try:
            outcomes = self.launch(self._cupy.asarray(rows, dtype=float))
            return {name: self._cupy.asnumpy(a) for name, a in outcomes.items()}
        except Exception as error:
            if lacks_memory(error):
                return None
            raise

    def launch(self, values: Any) -> dict[str, Any]:
        """The same with values, and outcomes, that are on the GPU; all at once."""
        cupy, count = self._cupy, len(values)
        found = self.batch.empty(count, cupy.zeros)
        arrays = {
            **self._arrays,
            "values": cupy.ascontiguousarray(values),
            **found,
            **self.batch.working(count, cupy.empty),
        }
        job = cupy.asarray(
            np.frombuffer(
                self.batch.job({name: a.data.ptr for name, a in arrays.items()}).tobytes(),
                dtype=np.uint8,
            )
        )
        block = self._launch
        self._kernel(
            (-(-count // block["samples"]), block["groups"]),
            (block["threads"],),
            (job, np.int64(count)),
            shared_mem=block["shared"],
        )
        self._reserved = 0  # it is not free any more
        return found


def lacks_memory(error: Exception) -> bool:
    """Whether an error says that memory is short: cupy's pool, the runtime and the driver each have
    their own.
    """
    words = str(error).lower().replace("_", " ")
    return isinstance(error, MemoryError) or "out of memory" in words


class Bundle:
    """The exported mechanism in a folder."""

    def __init__(self, folder: str | Path):
        folder = Path(folder)
        self.about = json.loads((folder / "bundle.json").read_text(encoding="utf-8"))
        batch = Batch(self.about["batch"], [(name, kind) for name, kind in self.about["fields"]])
        source = (folder / self.about["source"]).read_text(encoding="utf-8")
        self._execute = (
            Gpu(batch, source)
            if self.about["target"] == "cuda"
            else _processor(batch, source, self.about["flags"])
        )
        self.nominal = {p["name"]: p["nominal"] for p in self.about["parameters"]}
        self.times = np.array(self.about["times"])

    @property
    def names(self) -> list[str]:
        """Of results: objectives, and their derivatives with respect to parameters."""
        objectives = [o["name"] for o in self.about["objectives"]]
        return objectives + [f"d{o}/d{p}" for o in objectives for p in self.about["wrt"]]

    def run(self, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """For values of parameters by name, each a list: objectives and derivatives by name,
        (sample, time), not a number where a run failed.
        """
        rows = self._rows(values)
        fit = self._allowed(rows)
        results = np.full((len(rows), len(self.times), len(self.names)), np.nan)
        if fit.any():
            found, (position, velocity) = self._execute(rows[fit]), self.about["limits"]
            residuals = found["residuals"]
            good = (
                (found["status"] == DONE)
                & (residuals[:, 0] <= position)
                & (residuals[:, 1] <= velocity)
            )
            every = _side_by_side(found["objectives"], found["gradients"])
            good &= np.isfinite(every).all(axis=(1, 2))
            every[~good] = np.nan
            results[fit] = every
        return {name: results[:, :, k] for k, name in enumerate(self.names)}

    def _rows(self, values: Mapping[str, Any]) -> np.ndarray:
        """Values of all parameters, a row a run."""
        unknown = set(values) - set(self.nominal)
        if unknown:
            raise SystemExit(
                f"no parameter is called {sorted(unknown)}; there are {list(self.nominal)}"
            )
        given = {}
        for name, value in values.items():
            try:
                given[name] = np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                raise SystemExit(f"values of {name!r} must be numbers") from None
        lengths = {name: a.size for name, a in given.items() if a.ndim}
        if len(set(lengths.values())) > 1 or any(a.ndim > 1 for a in given.values()):
            raise SystemExit(
                f"parameters need as many values each, or one number; there are {lengths}"
            )
        count = next(iter(lengths.values()), 1)
        columns = [
            np.broadcast_to(given.get(name, np.array(nominal)), count)
            for name, nominal in self.nominal.items()
        ]
        modes = [np.zeros(count)] * (self.about["batch"]["sizes"]["numbers"] - len(columns))
        return np.stack([*columns, *modes], axis=1).astype(float)

    def _allowed(self, rows: np.ndarray) -> np.ndarray:
        """Which rows keep to the bounds of parameters, and to what else each has to follow."""
        fit = np.isfinite(rows).all(axis=1)
        for column, p in zip(rows.T, self.about["parameters"], strict=False):
            low, high = p["bounds"]
            fit &= (column >= (-np.inf if low is None else low)) & (
                column <= (np.inf if high is None else high)
            )
            for rule in p["rules"]:
                fit &= RULES[rule](column)
        return fit

    def check(self) -> float:
        """The largest relative difference from the results the bundle came with."""
        sample = self.about["check"]
        found = self.run(dict(zip(self.nominal, np.array(sample["values"]).T, strict=False)))
        gradients = sample["gradients"]
        expected = np.array(sample["results"])
        if gradients is not None:
            expected = _side_by_side(expected, np.array(gradients))
        got = np.stack(list(found.values()), axis=-1)
        size = np.abs(expected).max(axis=(0, 1), keepdims=True)
        return (
            float(np.nanmax(np.abs(got - expected) / np.where(size > 0, size, 1.0)))
            if np.isfinite(got).all()
            else np.inf
        )


def _side_by_side(objectives: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """(sample, time, objectives and derivatives)"""
    samples, times, count, parameters = gradients.shape
    return np.concatenate(
        [objectives, gradients.reshape(samples, times, count * parameters)], axis=2
    )


def _processor(batch: Batch, source: str, flags: list[str]) -> Processor:
    compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if compiler is None:
        raise SystemExit("no C compiler found (cc, gcc, clang)")
    with tempfile.TemporaryDirectory(prefix="bundle-", ignore_cleanup_errors=True) as folder:
        text, library = Path(folder, "program.c"), Path(folder, "program.so")
        text.write_text(source, encoding="utf-8")
        if subprocess.run(
            [compiler, *flags, str(text), "-o", str(library), "-lm"], check=False
        ).returncode:
            raise SystemExit(f"{compiler} cannot build the program; what it says stands above")
        loaded = ctypes.CDLL(str(library))  # it stays loaded when the file is gone
    loaded.vm_scheme_table.restype = ctypes.c_void_p
    return Processor(batch, loaded, {"scheme": loaded.vm_scheme_table() or 0})


def main(arguments: list[str]) -> int:
    """See above."""
    if len(arguments) not in (0, 2):
        print(__doc__)
        return 2
    try:
        bundle = Bundle(Path(__file__).parent)
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"this program runs on a GPU and needs {error.name}, which is not installed;"
            " pip install cupy-cuda12x, or cupy-cuda13x for CUDA 13"
        ) from None
    if not arguments:
        off = bundle.check()
        print(
            f"{bundle.about['mechanism']}: largest relative difference {off:.1e}:"
            f" {'good' if off <= AGREEMENT else 'NOT GOOD'}"
        )
        return int(not off <= AGREEMENT)
    values = _read(Path(arguments[0]))
    began = time.perf_counter()
    try:
        results = bundle.run(values)
    except MemoryError as error:
        raise SystemExit(f"{error}; end other programs on the GPU") from None
    last = np.stack([history[:, -1] for history in results.values()], axis=1)
    good = np.isfinite(last).all(axis=1)
    print(
        f"{len(last)} runs in {time.perf_counter() - began:.3g} s, {len(last) - good.sum()} failed"
    )
    with open(arguments[1], "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*bundle.names, "status"])
        writer.writerows(
            [*row, "good" if well else "failed"]
            for row, well in zip(last.tolist(), good, strict=True)
        )
    return 0


def _read(path: Path) -> dict[str, list[float]]:
    """Columns of numbers by name."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            header, *rows = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SystemExit(f"{path} cannot be read: {error}") from None
    names = [name.strip() for name in header]
    if not names or len(set(names)) < len(names):
        raise SystemExit(
            f"{path}: the first line must name parameters, each once; it is {','.join(header)!r}"
        )
    columns: dict[str, list[float]] = {name: [] for name in names}
    for number, row in enumerate(rows, 2):
        if not row:
            continue
        if len(row) != len(names):
            raise SystemExit(
                f"{path}, line {number}: {len(row)} values for {len(names)} parameters"
            )
        for name, cell in zip(names, row, strict=True):
            try:
                columns[name].append(float(cell))
            except ValueError:
                raise SystemExit(
                    f"{path}, line {number}: {name} = {cell!r} is not a number"
                ) from None
    return columns


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
