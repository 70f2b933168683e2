"""Many runs of one program for rows of parameter values, on the processor or on a GPU.

This file stands alone: it needs numpy, and cupy for GPUs. `varimech export` copies it, as run.py,
beside the source and the description of a program, so that its runs need no installed Varimech:

    python run.py                          compare this machine with the results in the bundle
    python run.py samples.csv results.csv  execute one run for each row; columns are parameters,
                                           omitted ones stay nominal

Results are those at the last time, with derivatives ("dpsi/dL") if the bundle has them, and whether
the run was good. A run fails if it breaks off, if joints come apart, or if parameters are invalid
for the mechanism: bundle.json lists their bounds and further rules. It also lists conditions that
nothing checks: check them yourself. In Python:

    from run import Bundle
    Bundle(".").run({"L": [1.0, 1.01]})["psi"]
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
"""Status of a run that succeeded."""
OUTCOMES = ("objectives", "gradients", "residuals", "status")
INPUTS = ("values", "reach", "independent")
STEPS = ("given_steps", "kept_steps")
SHARE = 0.8
"""Share of a GPU's free memory that the results of one launch may take."""

RULES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "finite": np.isfinite,
    "positive": lambda x: x > 0,
    "non-zero": lambda x: x != 0,
    "non-negative": lambda x: x >= 0,
    "share": lambda x: (x >= 0) & (x <= 1),
}
"""Rules that parameter values may have to follow."""
AGREEMENT = 1e-9
"""Largest relative difference from the results in the bundle that counts as rounding."""


class Batch:
    """Data that runs share (see `description` in sampler.py), and the record by which the driver
    finds it.

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
        """Numbers behind the parameters of a row that give the steps of its run, and most steps
        whose ends are kept.
        """
        record = np.dtype(fields, align=True)
        pointers = [(name, np.uintp) for name in (*INPUTS, *OUTCOMES)]
        steps = [("taken", np.uintp), ("row", np.int64), ("most", np.int64)]
        job = [("common", record), *pointers, ("rows", np.int64), *steps]
        self._job = np.dtype(job, align=True)
        self.arrays = {name: np.array(a, dtype=float) for name, a in description["arrays"].items()}
        """Arrays that all runs only read."""

    @property
    def run_size(self) -> int:
        """Size of the arguments and results of one run (bytes)."""
        results = self.rows * self.objectives * (1 + self.parameters)
        return 8 * (self.parameter_set + self.given + self.kept + results + 4)

    def empty(self, count: int, zeros: Callable[..., Any] = np.zeros) -> dict[str, Any]:
        """Allocate the results of `count` runs."""
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
        """Allocate stored states, NaN where a run stores none after an event that ends it."""
        return np.full((count, self.rows, int(self.description["sizes"]["states"])), np.nan)

    def working(self, count: int, empty: Callable[..., Any] = np.empty) -> dict[str, Any]:
        """Allocate working arrays of `count` runs whose contents are not results: none."""
        return {}

    def job(self, addresses: Mapping[str, int]) -> np.ndarray:
        """Return the record of a job with arrays at these addresses."""
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
    """Runs on the processor by a compiled library; each call takes one core, and calls of other
    threads may run concurrently.
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
        """Return the results of rows of values of all parameters."""
        results = self.batch.empty(len(rows))
        arrays = {
            **self.batch.arrays,
            "values": np.ascontiguousarray(rows, dtype=float),
            **results,
            **self.batch.working(len(rows)),
        }
        job = self.batch.job(
            {**self._tables, **{name: a.ctypes.data for name, a in arrays.items()}}
        )
        self._call(job.ctypes.data, len(rows))
        return results


class Gpu:
    """Runs on a GPU by a kernel that NVRTC builds; a launch has as many runs as the memory holds."""

    def __init__(self, batch: Batch, source: str, entry: str = "vm_sample_all"):
        import cupy

        self.batch, self._cupy = batch, cupy
        options = ("-std=c++17", "--device-as-default-execution-space", "-w")
        self._kernel = cupy.RawModule(code=source, backend="nvrtc", options=options).get_function(
            entry
        )
        self._arrays = {name: cupy.asarray(a) for name, a in batch.arrays.items()}
        self._launch: dict[str, int] = batch.description["launch"]
        """Threads and samples of a block, blocks for the same samples, and bytes of shared memory.
        """
        if self._launch["shared"]:
            self._kernel.max_dynamic_shared_size_bytes = self._launch["shared"]
        has = cupy.cuda.Device().attributes
        resident = int(has["MultiProcessorCount"]) * int(has["MaxThreadsPerMultiProcessor"])
        self._reserved = resident * int(self._kernel.local_size_bytes)
        """Memory (bytes) that the driver takes at the first launch: arrays of as many runs as the
        GPU executes concurrently, derivatives included.
        """

    @property
    def most(self) -> int:
        """Number of runs whose results fit into memory."""
        return max(1, int(SHARE * (self._free - self._reserved)) // self.batch.run_size)

    @property
    def _free(self) -> int:
        """Free memory of the GPU (bytes)."""
        pool = self._cupy.get_default_memory_pool()
        return int(self._cupy.cuda.Device().mem_info[0]) + int(pool.free_bytes())

    def __call__(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the results of rows of values of all parameters. If memory is short because others
        use the GPU, too, half as many runs are launched at once.

        Raises:
            MemoryError: if memory does not suffice for these, either.
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
        """Return the results of one launch; None if memory is short."""
        try:
            outcomes = self.launch(self._cupy.asarray(rows, dtype=float))
            return {name: self._cupy.asnumpy(a) for name, a in outcomes.items()}
        except Exception as error:
            if lacks_memory(error):
                return None
            raise

    def launch(self, values: Any) -> dict[str, Any]:
        """Launch runs for values on the GPU, all at once; results stay on the GPU."""
        cupy, count = self._cupy, len(values)
        results = self.batch.empty(count, cupy.zeros)
        arrays = {
            **self._arrays,
            "values": cupy.ascontiguousarray(values),
            **results,
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
        self._reserved = 0  # the driver has taken it
        return results


def lacks_memory(error: Exception) -> bool:
    """Return whether an error reports a lack of memory: cupy's pool, the runtime and the driver
    each have their own error.
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
        """Names of results: objectives, and their derivatives with respect to parameters."""
        objectives = [o["name"] for o in self.about["objectives"]]
        return objectives + [f"d{o}/d{p}" for o in objectives for p in self.about["wrt"]]

    def run(self, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Run for values of parameters by name, each a number or a list.

        Returns:
            Objectives and derivatives by name, (sample, time), NaN where a run failed.
        """
        rows = self._rows(values)
        fit = self._allowed(rows)
        results = np.full((len(rows), len(self.times), len(self.names)), np.nan)
        if fit.any():
            outcomes, (position, velocity) = self._execute(rows[fit]), self.about["limits"]
            residuals = outcomes["residuals"]
            good = (
                (outcomes["status"] == DONE)
                & (residuals[:, 0] <= position)
                & (residuals[:, 1] <= velocity)
            )
            every = _side_by_side(outcomes["objectives"], outcomes["gradients"])
            good &= np.isfinite(every).all(axis=(1, 2))
            every[~good] = np.nan
            results[fit] = every
        return {name: results[:, :, k] for k, name in enumerate(self.names)}

    def _rows(self, values: Mapping[str, Any]) -> np.ndarray:
        """Return the values of all parameters, one row for each run."""
        unknown = set(values) - set(self.nominal)
        if unknown:
            raise SystemExit(
                f"no parameter is called {sorted(unknown)}; there are {list(self.nominal)}"
            )
        arrays = {}
        for name, value in values.items():
            try:
                arrays[name] = np.asarray(value, dtype=float)
            except (TypeError, ValueError):
                raise SystemExit(f"values of {name!r} must be numbers") from None
        lengths = {name: a.size for name, a in arrays.items() if a.ndim}
        if len(set(lengths.values())) > 1 or any(a.ndim > 1 for a in arrays.values()):
            raise SystemExit(
                f"parameters need as many values each, or one number; there are {lengths}"
            )
        count = next(iter(lengths.values()), 1)
        columns = [
            np.broadcast_to(arrays.get(name, np.array(nominal)), count)
            for name, nominal in self.nominal.items()
        ]
        modes = [np.zeros(count)] * (self.about["batch"]["sizes"]["numbers"] - len(columns))
        return np.stack([*columns, *modes], axis=1).astype(float)

    def _allowed(self, rows: np.ndarray) -> np.ndarray:
        """Return which rows satisfy the bounds and rules of all parameters."""
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
        """Return the largest relative difference from the results in the bundle."""
        sample = self.about["check"]
        results = self.run(dict(zip(self.nominal, np.array(sample["values"]).T, strict=False)))
        gradients = sample["gradients"]
        expected = np.array(sample["results"])
        if gradients is not None:
            expected = _side_by_side(expected, np.array(gradients))
        got = np.stack(list(results.values()), axis=-1)
        size = np.abs(expected).max(axis=(0, 1), keepdims=True)
        return (
            float(np.nanmax(np.abs(got - expected) / np.where(size > 0, size, 1.0)))
            if np.isfinite(got).all()
            else np.inf
        )


def _side_by_side(objectives: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """Concatenate objectives and derivatives: (sample, time, objectives and derivatives)."""
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
            raise SystemExit(f"{compiler} cannot build the program; see its messages above")
        loaded = ctypes.CDLL(str(library))  # it stays loaded when the file is gone
    loaded.vm_scheme_table.restype = ctypes.c_void_p
    return Processor(batch, loaded, {"scheme": loaded.vm_scheme_table() or 0})


def main(arguments: list[str]) -> int:
    """Execute the command line; see the module."""
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
    """Read columns of numbers by name."""
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
