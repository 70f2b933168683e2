"""Conversion of a file to a mechanism; errors have file, line, field and remedy."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from ..core.errors import FileError, ModelError, near_names
from ..core.names import check_name
from ..core.registry import load_plugins
from ..elements.builder import Model
from ..elements.registry import registered
from ..model.parameter import Tolerance
from .checking import check_studies
from .document import SECTIONS, Document, document_class
from .entries import ParameterEntry
from .field_types import SolidEntry
from .measured_data import DataEntry
from .source_map import SourceMap, Where, parse_yaml, placing_errors, read_yaml
from .tolerance_fields import ToleranceEntry

M = TypeVar("M", bound=Any)

RENAMED = {"spread": "distribution"}
"""Keys of earlier versions → the keys that replaced them."""
LISTED, EXPLAINED = 9, 50
"""Largest number of further problems of a file that are listed below the first, and of problems of
each kind that are examined for this list.
"""
VERSION_MISSING = "is missing; the first line of a model file is `varimech: 1`"


def _read_document(path: Path) -> tuple[SourceMap, Document]:
    """Read and check a file, as far as this is possible without a mechanism.

    Raises:
        FileError: for the first problem; further ones are listed below it.
    """
    marked = read_yaml(path)
    return marked, checked(marked)


def checked(marked: SourceMap) -> Document:
    """Validate the data of a file and return the document."""
    if not isinstance(marked.data, dict):
        problem = (
            "is not a model file: it has no keys such as name: and bodies: (`varimech new` writes"
            " one to start from)"
        )
        raise FileError(problem, marked.path, 1)
    kinds = registered()
    try:
        return document_class().model_validate(marked.data)
    except ValidationError as error:
        load_plugins()
        # the file may contain an element that another package has registered meanwhile
        if registered() != kinds:
            return checked(marked)
        raise _file_error(marked, error) from None


def build(marked: SourceMap, document: Document, model: Model) -> None:
    """Call the builder methods of an empty model, in the order of the sections of a document."""
    for name, entry in document.parameters.items():
        with placing_errors(marked, ("parameters", name)):
            model.parameter(name, entry.value, **_parameter(entry))
        if isinstance(entry.tolerance, ToleranceEntry):
            with placing_errors(marked, ("parameters", name, "tolerance")):
                model.tolerance(name, **entry.tolerance.made(), sigmas=entry.sigmas)
    for name, table in document.tables.items():
        with placing_errors(marked, ("tables", name)):
            model.table(name, **table.arguments(marked.path.parent))
    for name, place in document.ground.items():
        with placing_errors(marked, ("ground", name)):
            model.ground_point(name, place)
    _add_elements(marked, document, "bodies", model)
    for body, points in document.points.items():
        for name, place in points.items():
            with placing_errors(marked, ("points", body, name)):
                model.point(body, name, place)
    for section in ("joints", "modes", "states", "signals", "forces", "drivers", "events"):
        _add_elements(marked, document, section, model)
    for section in ("states", "signals", "forces"):
        for name in getattr(document, section):
            with placing_errors(marked, (section, name)):
                model.data.forces[name].check_references(model.data)
    if document.start is not None:
        with placing_errors(marked, ("start",)):
            model.start(**document.start.keywords())


def _add_elements(marked: SourceMap, document: Document, section: str, model: Model) -> None:
    for name, entry in getattr(document, section).items():
        with placing_errors(marked, (section, name)):
            entry.add_to(model, name, marked.path.parent)


def _parameter(entry: ParameterEntry) -> dict[str, Any]:
    given = entry.given("value", "tolerance", "sigmas", "distribution")
    if entry.tolerance is not None and entry.distribution is not None:
        raise ModelError("tolerance and distribution state the same twice", remedy="leave one out")
    if entry.sigmas is not None and entry.tolerance is None:
        raise ModelError("sigmas belongs to a tolerance", remedy="give one, or leave it out")
    if entry.tolerance is not None and not isinstance(entry.tolerance, ToleranceEntry):
        sigmas = 3.0 if entry.sigmas is None else float(entry.sigmas)
        given["distribution"] = Tolerance(entry.tolerance, sigmas)
    if entry.distribution is not None:
        given["distribution"] = entry.distribution.made()
    return given


def _file_error(marked: SourceMap, error: ValidationError) -> FileError:
    """The first problem with its position; below it, some further ones and the number of those not
    listed.
    """
    placed = sorted(
        ((_where(marked.data, problem), problem) for problem in error.errors(include_url=False)),
        key=lambda each: marked.line(each[0]),
    )
    wrong, missing = (
        [each for each in placed if (each[1]["type"] == "missing") == which]
        for which in (False, True)
    )
    texts: dict[Where, str] = {}
    meant: set[Where] = set()
    for where, problem in wrong[:EXPLAINED]:
        text, key = _explained(problem, where)
        texts.setdefault(where, text)
        if key is not None:
            meant.add((*where[:-1], key))
    for where, _ in missing[:EXPLAINED]:
        if where not in meant:  # a misspelt key is one problem, not two
            texts.setdefault(where, VERSION_MISSING if where == ("varimech",) else "is missing")
    errors = sorted((marked.error(*each) for each in texts.items()), key=lambda e: e.line or 0)
    first, further = errors[0], errors[1:]
    if not further:
        return first
    left = len(further[LISTED:]) + len(wrong[EXPLAINED:]) + len(missing[EXPLAINED:])
    more = "\n".join(str(e) for e in further[:LISTED]) + (f"\n… and {left} more" if left else "")
    return FileError(f"{first.reason}\n{more}", first.path, first.line, first.field)


def _where(data: Any, problem: Any) -> Where:
    """Path to a problem in the file: the path of pydantic without kinds of entries and members of
    unions, which are not in the file.
    """
    steps = list(problem["loc"])
    if steps[0] in SECTIONS and len(steps) > 2:
        del steps[2]  # pydantic inserts the kind of an entry there
    where = list[str | int]()
    for step in steps:
        if (
            step in data
            if isinstance(data, dict)
            else isinstance(data, list) and step in range(len(data))
        ):
            where.append(step)
            data = data[step]
    return (*where, steps[-1]) if problem["type"] == "missing" else tuple(where)


def _explained(problem: Any, where: Where) -> tuple[str, str | None]:
    """Description of a problem, and the key that is probably meant."""
    kind, value, loc = problem["type"], problem.get("input"), problem["loc"]
    if kind == "extra_forbidden":
        reason, meant = _meant(str(where[-1]), _known_keys(loc))
        return f"there is no such key; {reason}", meant
    if isinstance(value, dict) and list(value.values()) == [None]:
        (value,) = value  # expand `P: revolute`
    shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}…"
    if kind == "literal_error" and where == ("varimech",):
        return f"{shown} is not a supported version of the format, which is 1", None
    if kind == "literal_error" and (near := _near(str(value), _options(_reached(loc)[1]))):
        return f"{shown}: did you mean {near!r}?", None
    if kind == "value_error":
        return f"{shown} {problem['ctx']['error']}", None
    message = problem["msg"]
    return f"{shown}: {message[0].lower()}{message[1:]}", None


def _meant(key: str, known: list[str]) -> tuple[str, str | None]:
    """A remedy for an unknown key, and the key that is probably meant."""
    before, colon, _ = key.partition(":")
    if colon and before in known:
        return f"did you mean {before!r}? A space belongs after the colon", before
    if key[:1].isdigit():
        return "a decimal number has a point, 0.5, and no comma", None
    if RENAMED.get(key) in known:
        return f"write {RENAMED[key]!r} instead", RENAMED[key]
    near = _near(key, known)
    return f"did you mean {near!r}?" if near else f"known are {', '.join(known)}", near


def _near(name: str, known: list[str]) -> str | None:
    return next(iter(near_names(name, known)), None)


def _known_keys(loc: tuple[int | str, ...]) -> list[str]:
    """Valid keys at the position of an unknown one."""
    here, _ = _reached(loc[:-1])
    if isinstance(here, type) and issubclass(here, BaseModel):
        return [field.alias or name for name, field in here.model_fields.items()]
    return []


def _reached(loc: tuple[int | str, ...]) -> tuple[Any, object]:
    """The entries at a position of a file, and the type of its last field."""
    document = document_class()
    here: object = document
    annotation: object = None
    for step in loc:
        if here is document and step in document.kinds:
            here = document.kinds[str(step)]
        elif isinstance(here, dict):
            here = here.get(str(step), here)
        elif isinstance(here, type) and issubclass(here, BaseModel) and step in here.model_fields:
            annotation = here.model_fields[str(step)].annotation
            here = _model_in(annotation) or here
    return here, annotation


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The class of entries that a field holds, one or several."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def _options(annotation: object) -> list[str]:
    """All texts that a literal type allows."""
    if isinstance(annotation, str):
        return [annotation]
    return [text for part in get_args(annotation) for text in _options(part)]


def read_mechanism(make: Callable[..., M], path: Path) -> M:
    """Read a mechanism with its studies from a file."""
    return _made(make, *_read_document(path))


def mechanism_of_text(
    make: Callable[..., M],
    text: str,
    path: Path | None = None,
    known_files: Container[str] | None = None,
) -> M:
    """Read a mechanism with its studies from the text of a file.

    Args:
        make: class of mechanisms.
        text: of the file.
        path: of the file, if it has one.
        known_files: tables, data and meshes that may be read from anywhere; others must be below the
            folder of the file. None if the text is trusted.
    """
    marked = parse_yaml(text, path or Path("text"))
    document = checked(marked)
    if known_files is not None:
        _check_named_files(marked, document, known_files, None if path is None else path.parent)
    return _made(make, marked, document)


def named_files(text: str, path: Path | None = None) -> frozenset[str]:
    """Files that a model text refers to: tables, data and meshes; empty if the text has errors."""
    try:
        document = checked(parse_yaml(text, path or Path("text")))
    except FileError:
        return frozenset()
    return frozenset(file for *_, file, _ in _named_files(document))


def _measured(document: Document) -> dict[str, DataEntry]:
    """Measured data of a document."""
    fit = document.studies.fit
    return {} if fit is None else fit.data


def _named_files(document: Document) -> Iterator[tuple[Where, str, str, str]]:
    """Files that a document refers to: position, field, path, and the permitted alternative."""
    for name, table in document.tables.items():
        if table.file is not None:
            yield ("tables", name), "file", table.file, "give x: and y:"
    for name, data in _measured(document).items():
        if data.file is not None:
            yield ("studies", "fit", "data", name), "file", data.file, "give times: and values:"
    for section in SECTIONS:
        for name, entry in getattr(document, section).items():
            for key, value in entry:
                for solid in value if isinstance(value, list) else [value]:
                    if isinstance(solid, SolidEntry) and solid.mesh is not None:
                        yield (section, name, key), "mesh", solid.mesh, "give a box"


def _check_named_files(
    marked: SourceMap, document: Document, known: Container[str], folder: Path | None
) -> None:
    for where, field, file, instead in _named_files(document):
        if file in known:
            continue
        if folder is None or not (folder / file).resolve().is_relative_to(folder.resolve()):
            with placing_errors(marked, where):
                raise ModelError(
                    "is outside the folder of the model",
                    field=field,
                    value=file,
                    remedy=f"copy the file into that folder, or {instead}",
                )


def _made(make: Callable[..., M], marked: SourceMap, document: Document) -> M:
    with placing_errors(marked, ("name",)):
        check_name("mechanism", document.name)
    with placing_errors(marked, ("gravity",) if document.gravity is not None else ("name",)):
        mechanism = make(document.name, gravity=document.gravity, dimension=document.dimension)
    build(marked, document, mechanism)
    check_studies(marked, document.studies, mechanism)
    mechanism.studies = document.studies
    for data in _measured(document).values():
        data.locate(marked.path.parent)
    return mechanism
