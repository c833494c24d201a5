"""Tables to Trajectories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from repbm.core import EncodingRules, InputError
from repbm.data import Categorical, Encoding, Trajectories
from repbm.logs._coded import as_words, check_coded, coded_layout
from repbm.logs._columns import Columns, has_fractions, whole
from repbm.logs._ends import checked_ends, column_of, endings
from repbm.logs._faults import Faults
from repbm.logs._layout import Asked, Layout
from repbm.logs._observed import codings_of, final_observations, observations_of
from repbm.logs._part_layout import layout_of
from repbm.logs._rewards import in_last_rows, known_worth, rewards_of, valued
from repbm.logs._structure import structure
from repbm.logs._tables import Source, Table, joined, parts_of
from repbm.logs._typed import typed


def read_log(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
    ends: str | None = None,
    missing: str = "impute",
    gaps: str = "refuse",
    worth: Mapping[str, float] | None = None,
    needs_observations: bool = True,
    rules: EncodingRules = EncodingRules(),  # noqa: B008 - frozen
    encoding: Encoding | None = None,
) -> Trajectories:
    """Read a log: one row a step.

    `source` is a path to a file (CSV, TSV, Parquet, Excel; compressed too), to a folder or a pattern of them, `-` for
    standard input, a frame of polars, pandas, pyarrow or DuckDB, a mapping of arrays, a list of episodes (mappings of
    arrays: observations, actions, rewards, terminated, truncated), a Minari dataset or `minari:NAME`, or a dataset of
    d3rlpy or its .h5 file.

    Columns: `episode`, optional `step`, observations `obs_*`, `action`, `reward`, `terminated`, optional `truncated`,
    optional `behavior_prob` (or `pscore`, `propensity`, `action_prob`). Columns that have other usual names, such as
    `patient_id` or `treatment`, are found if there is just one; without `obs_*`, all that is left is observed. The
    `notes` of the result's `encoding` say what was taken for what. The state after an episode's last step stands in
    `next_obs_*` columns or in a last row with an empty action. `columns` maps our names to the table's own; `obs` maps
    to several, separated by commas. `keep` names further columns to carry along. Rows may come in any order if there is
    a `step`; `gaps="allow"` lets steps be skipped.

    Observations may be numbers, true or false, text, dates, and missing, unless `missing="refuse"`: the result's
    `encoding` says how they became numbers (see `Coding`). It is fitted to observations alone. With `encoding`, that of
    other rows of the same log, observations are coded as there.

    A log without a column `terminated` needs `ends`: "terminated" or "truncated" (all episodes), "reward" (those whose
    last reward is not 0 terminated), "horizon" (all but the longest did) or "COLUMN=VALUE"; unless each episode has one
    row, or rewards stand in last rows alone. `worth` says what each word is worth where rewards are text.
    """
    ends = checked_ends(ends)
    for name, said, known in (("missing", missing, ("impute", "refuse")), ("gaps", gaps, ("allow", "refuse"))):
        if said not in known:
            raise InputError(f"--{name} {said}", fix=f"say {' or '.join(known)}")
    parts = parts_of(source)
    asked, faults = Asked(dict(columns or {}), keep, needs_observations, ends), Faults()
    layouts = [layout_of(part, asked, faults) for part in parts]
    faults.settle()
    found = next(one for one in layouts if one is not None)
    for part, other in zip(parts[1:], layouts[1:], strict=True):
        more = [name for name in (other or found).columns if name not in found.columns]
        if more:
            raise InputError(
                f"there is a column '{more[0]}', which {parts[0].name} does not have",
                where=part.name,
                fix="give all files the same columns",
            )
    further = column_of(ends)
    if further is not None and further not in parts[0].schema:
        raise InputError(f"--ends {ends}: there is no column '{further}'", where=parts[0].name)
    table = joined(parts, list(dict.fromkeys([*found.columns, *([further] if further else [])])))
    if worth:
        table.columns[found.reward] = valued(table.columns[found.reward], worth, found.reward, table)
    found = found if encoding is None else coded_layout(found, encoding)
    return _trajectories(table, found, ends, missing, gaps == "allow", rules, encoding)


def _trajectories(
    table: Table,
    found: Layout,
    ends: str | None,
    missing: str,
    gaps: bool,
    rules: EncodingRules,
    given: Encoding | None,
) -> Trajectories:
    words = set() if given is None else as_words(found, given)
    numeric = [found.reward, *([found.behavior_prob] if found.behavior_prob else [])]
    for name in {*found.observations, *found.next_observations, *numeric} - words:
        if name not in numeric or str(table.columns[name].dtype) == "String":
            table.columns[name] = typed(table.columns[name])
    guessed = known_worth(table.columns[found.reward])
    if guessed:
        table.columns[found.reward] = valued(table.columns[found.reward], guessed, found.reward, table)
    faults = Faults()
    shape = faults.tried(lambda: structure(table, found, gaps))
    if shape is None:
        # Whatever else is wrong can be said all the same.
        at = Columns(table, table.columns[found.action].is_not_null().to_numpy())
        faults.tried(lambda: rewards_of(at, found.reward, True))
        codings_of(at, found, None, missing, rules, faults)
        faults.settle()
        raise AssertionError
    at = Columns(table, shape.rows)
    actions = faults.tried(lambda: at.labels(found.action, "an action"))
    only_last = in_last_rows(at, found.reward, shape)
    rewards = faults.tried(lambda: rewards_of(at, found.reward, only_last))
    behavior = None
    if found.behavior_prob is not None:
        behavior = faults.tried(lambda: _behavior(at, found.behavior_prob or ""))
    kept = {name: faults.tried(lambda name=name: _kept(at, name)) for name in found.kept}
    if given is None:
        codings, notes = codings_of(at, found, shape, missing, rules, faults)
    else:
        check_coded(given, at)
        codings, notes = list(given.codings), []
    earned = np.zeros(int(shape.offsets[-1])) if rewards is None else rewards
    ended = faults.tried(lambda: endings(table, found, shape, ends, earned, only_last))
    if faults.found:
        observations_of(at, codings, shape, faults)  # for their faults
    faults.settle()
    assert ended is not None
    assert actions is not None
    terminated, assumed = ended
    if guessed:
        told = ", ".join(f"{word} is {number:g}" for word, number in guessed.items())
        notes = [f"of the words in {found.reward}, {told} (otherwise: --worth WORD=NUMBER)", *notes]
    if only_last:
        notes = [f"{found.reward} stands in last rows alone: 0 in the others", *notes]
    notes = [*found.notes, *([assumed] if assumed else []), *notes]
    # Our name of a column, and the table's own.
    theirs = dict(zip(found.observation_names, found.next_observations or found.observations, strict=True))
    finals = final_observations(table, codings, theirs if found.next_observations else {}, shape, at)
    for name in set(table.columns) - set(found.observations):
        del table.columns[name]
    observations = observations_of(at, codings, shape, faults)
    faults.settle()
    encoding = Encoding(tuple(codings), found.action, tuple(notes))
    return Trajectories(
        observations=observations,
        actions=actions,
        rewards=earned,
        offsets=shape.offsets.astype(np.int64),
        terminated=terminated,
        final_observations=finals,
        behavior=behavior,
        episode_labels=shape.labels,
        observation_names=encoding.names,
        columns={name: column for name, column in kept.items() if column is not None},
        encoding=encoding,
    )


def _behavior(at: Columns, name: str) -> np.ndarray:
    probabilities = at.numbers(name).astype(np.float64, copy=False)
    low, high = probabilities.min(), probabilities.max()
    if low <= 0 or high > 1:
        row = int(np.flatnonzero((probabilities <= 0) | (probabilities > 1))[0])
        hint = " (log-probabilities?)" if high <= 0 else ""
        raise InputError(
            f"column '{name}' is {probabilities[row]:g}{hint}",
            where=at.place(row),
            fix="the probability of an action that was taken is above 0 and at most 1",
        )
    return probabilities


def _kept(at: Columns, name: str) -> Categorical | np.ndarray:
    series = at.series(name)
    if has_fractions(series) or whole(series).dtype.is_float():
        return at.numbers(name).astype(np.float64, copy=False)
    return at.labels(name, "a policy's action")
