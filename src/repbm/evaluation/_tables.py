"""The result tables: estimates, individuals, diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from jaxtyping import Float

from repbm.core import Thresholds, number, otherwise
from repbm.doctor import NOT_SUPPORTED, Verdict, possible_returns
from repbm.estimators import Case, CorrectedSums, Estimate, EstimatorSpec, GroupSums, IndividualValues, Role
from repbm.evaluation._columns import BOUND_TERMS, DIAGNOSTICS, ESTIMATES, INDIVIDUALS, RANKING
from repbm.evaluation._headline import Entry, disagreements, headline
from repbm.evaluation._individual_rows import individual_rows, refused_rows, told_of
from repbm.evaluation._row_notes import corrected_note, few_effective, joined, learned_note, note_of, rests_on
from repbm.evaluation._rows import clipped, finite_estimate, finite_interval, row_of, within
from repbm.evaluation._whole_rows import corrected_row, weighed_row
from repbm.inference import (
    Contender,
    Refits,
    Resampling,
    bound_terms,
    contender,
    diagnostics,
    difference,
    group_diagnostics,
    interval,
    paired_difference,
    probabilities_best,
)
from repbm.policies import LearnedBehavior

if TYPE_CHECKING:
    from repbm.models import Model


class Tables:
    """The result tables as they grow."""

    def __init__(
        self,
        level: float,
        resampling: Resampling,
        thresholds: Thresholds,
        learned: LearnedBehavior | None = None,
        sample: str = "",
        sign: int = 1,
        every: int = 0,
    ) -> None:
        """`sign` is -1 where less is better."""
        self.sign, self.every = sign, every
        self.level, self.resampling, self.thresholds, self.learned = level, resampling, thresholds, learned
        self.sample = sample
        """What is to be said of the episodes, if they are not all of the log, of which there are `every` many."""
        self.estimates: list[dict[str, Any]] = []
        self._specs: dict[tuple[str, str], EstimatorSpec] = {}
        self.individuals: list[pl.DataFrame] = []
        self.diagnostics: list[pl.DataFrame] = []
        self._contenders: dict[tuple[str, str], Contender] = {}
        self._chance: dict[str, float] = {}
        self._grouped: dict[int, Resampling] = {}
        self._sampled: dict[tuple[str, str], dict[str, Any]] = {}

    def add(
        self,
        policy: str,
        spec: EstimatorSpec,
        case: Case,
        estimate: Estimate,
        earned: Float[np.ndarray, " episodes"],
        refits: Refits | None,
        weighted: bool,
        fitted: str = "",
    ) -> None:
        """A row; `earned` is what episodes earned, to their end, `weighted` says that the row rests on the
        probabilities of logged actions, and `fitted` what its model was fitted to, where not to the sample."""
        name = spec.name
        self._specs[policy, name] = spec
        estimate = finite_estimate(estimate)
        bounds = interval(estimate, self.level, self.resampling)
        if refits is not None and estimate.value is not None:
            bounds = refits.interval(estimate.value, self.level)
        possible = possible_returns(case)
        bounds = within(finite_interval(bounds), possible)
        value = clipped(estimate.value, possible) if spec.role is Role.CORRECTED else estimate.value
        gain, gain_bounds = difference(estimate, bounds, earned, self.level, self.resampling, refits)
        logged = float(earned.mean())
        gain_bounds = within(finite_interval(gain_bounds), (possible[0] - logged, possible[1] - logged))
        self._chance[policy] = float(earned.std() / np.sqrt(len(earned)))
        if value is not None and value != estimate.value:
            gain = value - logged
        learned = self.learned if weighted else None
        row = row_of(policy, spec, estimate, bounds, gain, gain_bounds) | {
            "level": self.level,
            "logged_mean": logged,
            "episodes": len(case.data),
            "behavior": None if not weighted else "logged" if learned is None else "estimated",
            "note": note_of(spec, case, estimate, bounds, learned, possible, self.sample, self.thresholds, fitted),
        }
        self.estimates.append(row | {"value": value})
        self._compete(policy, spec, contender(estimate, self.resampling, refits))
        if estimate.individual is not None:
            labels = [str(label) for label in case.data.labels_of().tolist()]
            if estimate.individuals is not None:
                self.add_individuals(policy, name, labels, estimate.individuals, possible, "log")
            else:
                reach = None if refits is None else refits.individual_reach(self.level)
                self.add_values(policy, name, labels, np.clip(estimate.individual, *possible), "log", reach)

    def add_grouped(self, policy: str, spec: EstimatorSpec, sums: GroupSums, estimate: Estimate) -> None:
        """The row of an estimate from all episodes of a log that was read in parts."""
        self._specs[policy, spec.name] = spec
        estimate, resampling = finite_estimate(estimate), self._resampling(sums)
        row = weighed_row(policy, spec, sums, estimate, resampling, self.level)
        told = learned_note(self.learned, sums.longest) if estimate.value is not None else ""
        notes = [estimate.note, rests_on(sums.episodes, self.every), row["note"], told]
        self.estimates.append(
            row
            | {
                "behavior": "logged" if self.learned is None else "estimated",
                "note": joined([*notes, few_effective(estimate, self.thresholds)]),
            }
        )
        self._compete(policy, spec, contender(estimate, resampling))

    def correct(self, policy: str, spec: EstimatorSpec, case: Case, sums: CorrectedSums, estimate: Estimate) -> None:
        """Let the last row rest on all episodes that correct it, in place of the sample that teaches it."""
        if estimate.value is None:
            return
        sample, resampling, earned = self.estimates[-1], self._resampling(sums), sums.mean_earned
        possible = sums.rewards.returns(case.discount, case.most_steps)
        row = corrected_row(policy, spec, sums, estimate, resampling, self.level, possible)
        learned = self.learned if sample["behavior"] == "estimated" else None
        note = corrected_note(case, estimate, row, learned, possible, sums, self.every, self.thresholds)
        self.estimates[-1] = sample | row | {"note": note}
        self._sampled[policy, spec.name] = sample
        self._chance[policy] = float(earned.std() / np.sqrt(len(earned)))
        self._compete(policy, spec, contender(estimate, resampling))

    def of_sample(self, policy: str, row: dict[str, Any]) -> dict[str, Any]:
        """The row as the sample alone has it."""
        return self._sampled.get((policy, row["estimator"]), row)

    def _resampling(self, sums: GroupSums | CorrectedSums) -> Resampling:
        """One for all sums of the same episodes."""
        if sums.episodes not in self._grouped:
            self._grouped[sums.episodes] = Resampling(sums, self.resampling.seed, self.thresholds.intervals)
        return self._grouped[sums.episodes]

    def _compete(self, policy: str, spec: EstimatorSpec, found: Contender | None) -> None:
        if found is not None:
            self._contenders[policy, spec.name] = found

    def settle(self, policy: str, verdict: Verdict) -> None:
        """Say in every row of a policy what the log supports, name the answer among them, and put it first."""
        rows = [row for row in self.estimates if row["policy"] == policy]
        for row in rows:
            row |= {"verdict": verdict.word, "supported": verdict.supported}
        entries = [Entry(self._specs[policy, row["estimator"]], row) for row in rows]
        answer = headline(entries, verdict)
        if answer is None:
            return
        rows[answer]["headline"] = True
        apart = disagreements(entries, answer, verdict, self.thresholds.headline, self._chance.get(policy, 0.0))
        if apart:
            rows[answer]["disagreeing"] = ", ".join(apart)
            others = [
                (row["estimator"], row["family"], number(row["value"])) for row in rows if row["estimator"] in apart
            ]
            rows[answer]["note"] = joined([rows[answer]["note"], otherwise(others)])
        first = self.estimates.index(rows[0])
        self.estimates.insert(first, self.estimates.pop(self.estimates.index(rows[answer])))

    def add_values(
        self,
        policy: str,
        name: str,
        labels: list[str],
        values: np.ndarray,
        source: str,
        reach: np.ndarray | None = None,
    ) -> None:
        """Values of individuals, and how far they may be off where that is known."""
        known = {"value": values}
        if reach is not None:
            known |= {"low": values - reach, "high": values + reach}
        self.individuals.append(individual_rows(policy, name, labels, source, known))

    def add_individuals(
        self,
        policy: str,
        name: str,
        labels: list[str],
        found: IndividualValues,
        possible: tuple[float, float],
        source: str,
    ) -> None:
        """What is expected for individuals, what may come of them, and what they gain; within what rewards allow."""
        known = told_of(found, possible, self.level)
        self.individuals.append(individual_rows(policy, name, labels, source, known))

    def refuse(self, policy: str, source: str, reasons: list[str | None]) -> None:
        """Take back what cannot be told of individuals, and say why, by whichever estimator."""
        if not any(reasons):
            return
        for k, frame in enumerate(self.individuals):
            if len(frame) and frame.select("policy", "source").row(0) == (policy, source):
                self.individuals[k] = refused_rows(frame, reasons)

    def compare(self, policy: str, source: str, found: pl.DataFrame | None) -> None:
        """Put what is recommended and what became of similar individuals beside the values, by whichever estimator."""
        for k, frame in enumerate(self.individuals):
            if found is not None and len(frame) and frame.select("policy", "source").row(0) == (policy, source):
                self.individuals[k] = frame.with_columns(found.get_columns())

    def answer(self, policy: str) -> dict[str, Any] | None:
        """The row of the answer, once it is settled."""
        return next((row for row in self.estimates if row["policy"] == policy and row["headline"]), None)

    def spec(self, policy: str, name: str) -> EstimatorSpec:
        """What stands behind a row."""
        return self._specs[policy, name]

    def individuals_by(self, policy: str) -> str | None:
        """The estimator whose individual values are shown: the answer's own, else the model's that would answer."""
        known = {name for name, frame in self._logged_individuals(policy)}
        answer = self.answer(policy)
        if answer is not None and answer["estimator"] in known:
            return answer["estimator"]
        rivals = [self._specs[policy, name] for name in known]
        best = min(rivals, key=lambda spec: (spec.role is not Role.MODEL, spec.preference), default=None)
        return None if best is None else best.name

    def individual_values(self, policy: str, name: str) -> np.ndarray:
        """The values of all logged individuals by this estimator."""
        frame = next(frame for each, frame in self._logged_individuals(policy) if each == name)
        return frame["value"].to_numpy()

    def add_support(self, policy: str, name: str, support: np.ndarray) -> None:
        """How far the log supports each logged individual, beside the values of this estimator."""
        for k, frame in enumerate(self.individuals):
            if _is(frame, policy, name, "log"):
                self.individuals[k] = frame.with_columns(support=pl.Series(support).fill_nan(None))

    def _logged_individuals(self, policy: str) -> list[tuple[str, pl.DataFrame]]:
        found = [(frame["estimator"][0], frame) for frame in self.individuals if len(frame)]
        return [(name, frame) for name, frame in found if _is(frame, policy, name, "log")]

    def add_diagnostics(self, policy: str, case: Case, model: Model | None, sums: GroupSums | None = None) -> None:
        """Step by step; of all episodes where the log was read in parts, but for what a model is asked."""
        frame = pl.DataFrame(diagnostics(case) if sums is None else group_diagnostics(sums))
        frame = frame.with_columns(pl.lit(policy).alias("policy"))
        terms: dict[str, pl.Series | pl.Expr] = {name: pl.lit(None, pl.Float64) for name in BOUND_TERMS}
        if model is not None:
            found = bound_terms(case, model.losses(case.data))
            known = {name: pl.Series(getattr(found, name), dtype=pl.Float64).fill_nan(None) for name in BOUND_TERMS}
            terms = {name: each.extend_constant(None, len(frame) - len(each)) for name, each in known.items()}
        made = frame.with_columns(**terms).select(pl.col(name).cast(kind) for name, kind in DIAGNOSTICS.items())
        self.diagnostics.append(made)

    def ranking(self) -> pl.DataFrame:
        """The answers of all policies, the best first, each with the probability that it is, and beside the best.

        Where the log supports some, those that it does not support come last, and do not compete.
        """
        answers = {row["policy"]: row for row in self.estimates if row["headline"]}
        rivals = {name: self._contenders[name, row["estimator"]] for name, row in answers.items()}
        refused = {name for name, row in answers.items() if row["verdict"] == NOT_SUPPORTED}
        refused = set() if len(refused) == len(rivals) else refused
        fair = {name: each.times(self.sign) for name, each in rivals.items() if name not in refused}
        chances = probabilities_best(fair) if len(fair) > 1 else None
        order = sorted(rivals, key=lambda name: (name in refused, -self.sign * rivals[name].value))
        rows = []
        for name in order:
            bounds = paired_difference(rivals[name], rivals[order[0]], self.level)
            behind = None if name == order[0] else (bounds.low, bounds.high)
            rows.append(
                {
                    **{key: answers[name][key] for key in ("policy", "estimator", "value", "low", "high")},
                    "probability_best": None if chances is None else chances.get(name),
                    "to_best": rivals[name].value - rivals[order[0]].value,
                    "to_best_low": None if behind is None else behind[0],
                    "to_best_high": None if behind is None else behind[1],
                }
            )
        return pl.DataFrame(rows, schema=RANKING)

    def frames(self) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        estimates = pl.DataFrame(self.estimates, schema=ESTIMATES)
        individuals = pl.concat(self.individuals) if self.individuals else pl.DataFrame(schema=INDIVIDUALS)
        return estimates, individuals, pl.concat(self.diagnostics)


def _is(frame: pl.DataFrame, policy: str, name: str, source: str) -> bool:
    return len(frame) > 0 and frame.select("policy", "estimator", "source").row(0) == (policy, name, source)
