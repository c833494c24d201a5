"""Functions that find their columns by name, and see them as the log has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from jaxtyping import Float

from repbm.core import InputError, Label, as_label, nearest, optional
from repbm.data import Encoding, Kind
from repbm.policies._base import Choices, ObservationPolicy, checked_probabilities
from repbm.policies._callable import CallablePolicy, called, source_of

_ROWS, _FRAMES = ("row",), ("df", "frame")
_ARRAYS = ("ndarray", "Series", "Float[")
_GENERAL = frozenset(
    "x xs s o obs observation observations state states rows batch data array values features inputs".split()
)
"""What a parameter for all observations is called: so it gets them, also where a column has that name."""


class Form(StrEnum):
    """What a function is called with."""

    ARRAY = "an array of observations"
    ROW = "one row at a time, as a mapping of names"
    VALUES = "the values of one row at a time, by name"
    COLUMNS = "whole columns, by name"
    MAPPING = "a mapping of whole columns"
    POLARS = "a polars frame"
    PANDAS = "a pandas frame"


def form_of(function: Callable[..., Any]) -> Form:
    """What a function wants, by its signature: an array unless its parameters say something else.

    `row`, or a parameter annotated as a mapping or dict, is one row at a time; `df`, `frame` or one annotated as a
    DataFrame is a frame; several parameters, or keyword-only ones, are columns: values of one row, or whole columns
    where they are annotated as arrays or series.
    """
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return Form.ARRAY
    needed = [
        one for one in given if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    named = any(one.kind is one.KEYWORD_ONLY for one in needed)
    if len(needed) == 1 and not named:
        return _of_one(needed[0])
    if not needed:
        return Form.VALUES if any(one.kind is one.VAR_KEYWORD for one in given) else Form.ARRAY
    whole = all(any(word in _written(one.annotation) for word in _ARRAYS) for one in needed)
    return Form.COLUMNS if whole else Form.VALUES


def _of_one(parameter: inspect.Parameter) -> Form:
    words = _written(parameter.annotation)
    if "DataFrame" in words:
        return Form.PANDAS if "pandas" in words or words.startswith("pd.") else Form.POLARS
    if any(word in words for word in ("Mapping", "dict", "Dict")):
        return Form.MAPPING if any(word in words for word in _ARRAYS) else Form.ROW
    if words in ("float", "int", "str", "bool") or words.startswith(("float |", "str |", "int |", "bool |")):
        return Form.VALUES
    if words:
        return Form.ARRAY
    return Form.ROW if parameter.name in _ROWS else Form.POLARS if parameter.name in _FRAMES else Form.ARRAY


def _written(annotation: Any) -> str:
    """An annotation as text, with the module of a class."""
    if annotation is inspect.Parameter.empty:
        return ""
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, type) and annotation.__module__ != "builtins" and "[" not in str(annotation):
        return f"{annotation.__module__}.{annotation.__qualname__}"
    return annotation.__name__ if annotation in (float, int, str, bool, dict) else str(annotation)


def function_policy(function: Callable[..., Any], name: str | None = None) -> ObservationPolicy:
    """The policy that a function is, by what it wants."""
    form = form_of(function)
    if form is not Form.ARRAY:
        return NamedPolicy(function, form, name or _called(function))
    only = _only(function)
    if only is None or only.name.lower() in _GENERAL:
        return CallablePolicy(function, name=name)
    return SingleParameterPolicy(function, name or _called(function))


def _called(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__).strip("<>")


def _only(function: Callable[..., Any]) -> inspect.Parameter | None:
    """The only parameter that must be given, which can be given by its name."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    needed = [one for one in given if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    return needed[0] if len(needed) == 1 else None


@dataclass(frozen=True, eq=False)
class SingleParameterPolicy(ObservationPolicy):
    """A function of one thing. Where the log has a column of that name it is given this column, by one value at a
    time or, where annotated as an array, as a whole; else an array of all observations."""

    function: Callable[..., Any]
    title: str

    @property
    def name(self) -> str:
        return self.title

    @property
    def text(self) -> str | None:
        return source_of(self.function)

    @property
    def by_order(self) -> bool:
        return True

    def bind(self, observation_names: tuple[str, ...], encoding: Encoding | None = None) -> ObservationPolicy:
        only, known = _only(self.function), encoding or Encoding.of_names(observation_names)
        assert only is not None
        if known.find(only.name) is None:
            return self._of_array
        whole = any(word in _written(only.annotation) for word in _ARRAYS)
        form = Form.COLUMNS if whole else Form.VALUES
        return NamedPolicy(self.function, form, self.title, taken_for=only.name).bind(observation_names, encoding)

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        return self._of_array.choices(observations, labels)

    @property
    def _of_array(self) -> CallablePolicy:
        return CallablePolicy(self.function, name=self.title)


@dataclass(frozen=True, eq=False)
class NamedPolicy(ObservationPolicy):
    """A function of named columns. It sees what the log has: text, flags, dates, and None (in arrays NaN) if missing.

    It returns actions, or probabilities: rows in the order of `actions`, or mappings of actions to probabilities.
    Called row by row it is slow on long logs; a function of whole columns or of a frame is not.
    """

    function: Callable[..., Any]
    form: Form
    title: str
    encoding: Encoding | None = None
    taken_for: str | None = None
    """The column that its only parameter is taken for, since it has that name and nothing else says so."""

    @property
    def name(self) -> str:
        return self.title

    @property
    def text(self) -> str | None:
        return source_of(self.function)

    @property
    def by_column(self) -> str | None:
        return self.taken_for

    def bind(self, observation_names: tuple[str, ...], encoding: Encoding | None = None) -> NamedPolicy:
        bound = replace(self, encoding=encoding or Encoding.of_names(observation_names))
        bound._columns()
        return bound

    def choices(self, observations: Float[np.ndarray, "batch dimensions"], labels: tuple[Label, ...]) -> Choices:
        asked = CallablePolicy(self._asked, getattr(self.function, "actions", None), self.title)
        answers = asked.answer(observations)
        if isinstance(answers, list) and answers and isinstance(answers[0], Mapping):
            return _mapped(answers, f"policy {self.name}")
        return asked.read(answers, len(observations), labels)

    def _columns(self) -> dict[str, str]:
        """The function's parameters, and which of our columns each is."""
        if self.encoding is None:
            raise InputError(
                f"policy {self.name} goes by the names of observations, which are not known",
                fix="tell them with policy.bind(names)",
            )
        if self.form not in (Form.VALUES, Form.COLUMNS):
            return {coding.name: coding.name for coding in self.encoding.codings}
        found = {}
        every = {name: coding.name for coding in self.encoding.codings for name in (coding.column, coding.name)}
        parameters = inspect.signature(self.function).parameters.values()
        for one in parameters:
            coding = self.encoding.find(one.name)
            if coding is not None:
                found[one.name] = coding.name
            elif one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
                guess = nearest(one.name, every)
                known = ", ".join(coding.name for coding in self.encoding.codings[:12])
                raise InputError(
                    f"policy {self.name} asks for '{one.name}', which is no observation of the log",
                    fix=f"did you mean '{guess}'?" if guess else f"the observations are {known}",
                )
        if any(one.kind is one.VAR_KEYWORD for one in parameters):
            found = {coding.name: coding.name for coding in self.encoding.codings} | found
        return found

    def _asked(self, observations: np.ndarray) -> Any:
        assert self.encoding is not None
        wanted = self._columns()
        decoded = self.encoding.decoded(observations, list(wanted.values()))
        columns = {name: decoded[ours] for name, ours in wanted.items()}
        try:
            return self._answers(columns, wanted)
        except InputError as fault:
            if self.taken_for is None:
                raise
            fix = (
                f"it is given the column '{self.taken_for}', by one value at a time; for all its values annotate it as "
                "np.ndarray, for all columns call its parameter 'observations'"
            )
            raise InputError(fault.what, where=fault.where, fix=fix) from fault

    def _answers(self, columns: Mapping[str, np.ndarray], wanted: Mapping[str, str]) -> Any:
        who, act = f"policy {self.name}", self.function
        if self.form is Form.MAPPING:
            return called(who, act, columns)
        if self.form is Form.COLUMNS:
            return called(who, act, **columns)
        if self.form is Form.PANDAS:
            return called(who, act, optional("pandas", "pandas").DataFrame(columns))
        values = self._nullable(columns, wanted)
        if self.form is Form.POLARS:
            return called(who, act, optional("polars", "polars").DataFrame(values))
        rows = (dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True))
        if self.form is Form.ROW:
            return [_plain(called(who, act, row)) for row in rows]
        return [_plain(called(who, act, **row)) for row in rows]

    def _nullable(self, columns: Mapping[str, np.ndarray], wanted: Mapping[str, str]) -> dict[str, list[Any]]:
        """The columns as lists, with None where a value is missing."""
        assert self.encoding is not None
        result = {}
        for name, values in columns.items():
            coding = self.encoding.find(wanted[name])
            listed = values.tolist()
            if coding is not None and coding.missing and coding.kind in (Kind.NUMBER, Kind.ELAPSED):
                listed = [None if value != value else value for value in listed]
            result[name] = listed
        return result


def _plain(answer: Any) -> Any:
    """One answer: an action, or numbers."""
    if isinstance(answer, np.ndarray) and answer.ndim == 0:
        return answer.item()
    return answer


def _mapped(answers: Sequence[Any], who: str) -> Choices:
    """Mappings of actions to probabilities."""
    place: dict[Label, int] = {}
    try:
        for answer in answers:
            for action in answer:
                place.setdefault(as_label(action), len(place))
        matrix = np.zeros((len(answers), len(place)))
        for k, answer in enumerate(answers):
            for action, probability in answer.items():
                matrix[k, place[as_label(action)]] = probability
    except (AttributeError, TypeError, ValueError) as fault:
        raise InputError(f"{who} returns what is no mapping of actions to probabilities ({fault})") from fault
    return Choices(tuple(place), checked_probabilities(matrix, who))
