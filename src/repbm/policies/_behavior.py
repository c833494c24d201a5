"""The behavior learned from the log: how probable every logged action was, where nobody wrote it down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from repbm.core import BehaviorRules, InputError, stream
from repbm.data import Trajectories, found_states, numbered_states
from repbm.policies._behavior_kinds import EFFORT, KINDS, MOST_FEATURES, Chances, by_table
from repbm.policies._behavior_trial import Candidate, Told, Trial, cross_fitted
from repbm.policies._calibration import Calibration, log_likelihoods, mixture
from repbm.policies._reliability import Reliability, reliability

_COMPARED_WORK = 5_000_000
"""Steps times features times actions that a comparison of kinds may take."""


@dataclass(frozen=True, eq=False)
class BehaviorPart:
    """One kind of behavior, fitted without each fold, and calibrated on what it says of these."""

    kind: str
    count: float
    """How much it counts among all parts."""
    pieces: Mapping[int, Chances]
    """What it learned without each fold."""
    calibration: Calibration
    states: Float[np.ndarray, "states dimensions"] | None = None
    """The states that a table knows by number; None where observations are looked at."""

    def elsewhere(self, data: Trajectories, fold: Int[np.ndarray, " steps"]) -> Float[np.ndarray, "steps actions"]:
        x = _features(data) if self.states is None else _numbers(self.states, data)
        guessed = np.empty((len(x), len(self.calibration.shares)))
        for k, piece in self.pieces.items():
            own = np.flatnonzero(fold == k)
            if len(own):
                guessed[own] = piece(x[own])
        return self.calibration(guessed)


@dataclass(frozen=True, eq=False)
class LearnedBehavior:
    """How probable every action was at every logged step, and in other episodes of the same kind.

    Each episode is judged by what the others teach (cross-fitting). Several kinds are calibrated on that, and mixed so
    that held-out actions are most likely: mu = sum_k count_k mu_k. Where one kind is right the others hardly count,
    where none is a mixture is nearer than the best of them. Episodes that taught nothing may be judged by any fold.
    """

    parts: tuple[BehaviorPart, ...]
    """Those that count, the first one most."""
    likelihoods: Mapping[str, float]
    """The mean log-likelihood of a held-out action, of every kind that was tried."""
    likelihood: float
    """The same of the mixture."""
    probabilities: Float[np.ndarray, "steps actions"]
    reliability: Reliability
    folds: Int[np.ndarray, " episodes"]
    """The fold of every episode."""

    @property
    def kind(self) -> str:
        """The kinds that count, the first one most."""
        return ", ".join(part.kind for part in self.parts)

    @property
    def effort(self) -> int:
        """How long it takes to be asked, in multiples of what trees take."""
        return max(EFFORT.get(part.kind, 1) for part in self.parts)

    def __repr__(self) -> str:
        error = max(self.reliability.relative_error, self.reliability.chance_error)
        return f"LearnedBehavior({self.kind}, probabilities off by up to {error:.1%})"

    def logged(self, data: Trajectories) -> Float[np.ndarray, " steps"]:
        """The probability of the action that was taken."""
        return self.probabilities[np.arange(len(data.rewards)), data.actions.codes]

    def elsewhere(self, data: Trajectories, folds: Int[np.ndarray, " episodes"]) -> Float[np.ndarray, "steps actions"]:
        """The probabilities of all actions at every step of other episodes, each judged by what is known without this
        fold. Actions must have the codes of the log that taught."""
        fold = np.repeat(folds, data.lengths)
        return _mean((part.count, part.elsewhere(data, fold)) for part in self.parts)


def learn_behavior(
    data: Trajectories,
    seed: int = 0,
    rules: BehaviorRules = BehaviorRules(),  # noqa: B008 - frozen
) -> LearnedBehavior:
    """The behavior behind a log, from its observations, the time of the decision, and what was done."""
    if len(data) < 2:
        raise InputError(
            "the behavior cannot be learned from one episode: it would be judged by itself",
            fix="log more episodes, or add a column behavior_prob",
        )
    codes, actions = data.actions.codes, len(data.actions.labels)
    x, found = _features(data), numbered_states(data)
    generator = stream(seed, "behavior")
    folds = generator.permutation(len(data)) % min(rules.folds, len(data))
    fold = np.repeat(folds, data.lengths)
    compared = int(np.clip(_COMPARED_WORK // (x.shape[1] * actions), rules.fewest_compared_steps, rules.compared_steps))
    few = np.sort(generator.permutation(len(codes))[:compared])
    candidates = {
        name: Candidate(kind, x) for name, kind in KINDS.items() if x.shape[1] <= MOST_FEATURES.get(name, x.shape[1])
    }
    if found is not None:
        candidates = {"table": Candidate(by_table, found[1][:, None].astype(np.float64), found[0]), **candidates}
    trial = Trial(codes[few], fold[few], np.bincount(codes, minlength=actions) / len(codes), rules)
    for name, candidate in candidates.items():
        trial.add(name, candidate.kind, candidate.x[few])
    # Those that take many times as long to be asked, of other episodes too, count only where they are the best alone.
    told = {name: each for name, each in trial.told.items() if name == trial.best or name not in EFFORT}
    mixed = Mixed.of(told, codes[few], np.arange(len(few)), trial.shares, rules)
    if not len(few) == len(codes) <= rules.learned_steps:
        # Those that count learn from more steps.
        each = np.arange(folds.max() + 1)
        told = {
            name: cross_fitted(
                candidates[name].kind, candidates[name].x, codes, fold, actions, rules.learned_steps, each
            )
            for name in mixed.counts
        }
        mixed = Mixed.of(told, codes[few], few, trial.shares, rules)
    probabilities = mixed.chances
    return LearnedBehavior(
        tuple(
            BehaviorPart(name, count, mixed.told[name].pieces, mixed.calibrations[name], candidates[name].states)
            for name, count in mixed.counts.items()
        ),
        trial.likelihoods,
        float(log_likelihoods(probabilities[few], codes[few]).mean()),
        probabilities,
        reliability(probabilities[few], codes[few], rules),
        folds,
    )


@dataclass(frozen=True, eq=False)
class Mixed:
    """Kinds, calibrated and mixed so that the actions taken at some steps are most likely; the best of them alone where
    that is as good, but for chance."""

    counts: Mapping[str, float]
    """What each counts, the first one most; those that hardly would are left out."""
    calibrations: Mapping[str, Calibration]
    told: Mapping[str, Told]

    @classmethod
    def of(
        cls,
        told: Mapping[str, Told],
        codes: Int[np.ndarray, " some"],
        at: Int[np.ndarray, " some"],
        shares: Float[np.ndarray, " actions"],
        rules: BehaviorRules,
    ) -> Mixed:
        calibrations = {name: Calibration.of(each.guessed[at], codes, shares) for name, each in told.items()}
        chances = [calibrations[name](each.guessed[at]) for name, each in told.items()]
        likelihoods = [log_likelihoods(each, codes) for each in chances]
        parts = mixture(chances, codes, rules.least_count)
        alone = int(np.argmax([each.mean() for each in likelihoods]))
        gain = log_likelihoods(_mean(zip(parts, chances, strict=True)), codes) - likelihoods[alone]
        if gain.mean() <= rules.evidence * gain.std() / np.sqrt(len(codes)):
            parts = np.eye(len(told))[alone]
        counts = dict(zip(told, parts.tolist(), strict=True))
        kept = sorted((name for name in counts if counts[name] > 0), key=lambda name: -counts[name])
        return cls({name: counts[name] for name in kept}, calibrations, told)

    @property
    def chances(self) -> Float[np.ndarray, "steps actions"]:
        """Of all steps."""
        each = ((count, self.calibrations[name](self.told[name].guessed)) for name, count in self.counts.items())
        return _mean(each)


def _mean(each: Iterable[tuple[float, Float[np.ndarray, "steps actions"]]]) -> Float[np.ndarray, "steps actions"]:
    """Of chances that count so much."""
    result = None
    for count, chances in each:
        result = count * chances if result is None else result + count * chances
    assert result is not None
    return result


def _features(data: Trajectories) -> Float[np.ndarray, "steps features"]:
    return np.column_stack([data.observations, data.steps])


def _numbers(states: Float[np.ndarray, "states dimensions"], data: Trajectories) -> Float[np.ndarray, "steps 1"]:
    """The number of the state of every step; -1 for one that is not among these."""
    place, known = found_states(states, data.observations)
    return np.where(known, place, -1.0)[:, None]
