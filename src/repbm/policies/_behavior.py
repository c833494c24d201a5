"""The behavior learned from the log: how probable every logged action was, where nobody wrote it down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize

from repbm.core import BehaviorRules, InputError, stream
from repbm.data import Trajectories, found_states, numbered_states
from repbm.policies._behavior_kinds import EFFORT, KINDS, Chances, Kind, by_table

_COMPARED_WORK = 5_000_000
"""Steps times features times actions that a comparison of kinds may take."""
_SMALLEST = 1e-12


@dataclass(frozen=True, eq=False)
class Reliability:
    """Predicted probabilities beside what happened: the mean of each in bins of the predicted, and how many."""

    predicted: Float[np.ndarray, " bins"]
    observed: Float[np.ndarray, " bins"]
    count: Int[np.ndarray, " bins"]

    @property
    def relative_error(self) -> float:
        """The mean over logged actions of |predicted - observed| / observed of their bin."""
        taken = self.observed * self.count
        away = np.abs(self.predicted - self.observed)
        return float((away * self.count)[taken > 0].sum() / taken.sum())

    @property
    def chance_error(self) -> float:
        """What that would be on average, were every prediction right: E|z| sum_bins sqrt(n p (1 - p)) / actions, for a
        standard normal z. Less than this a log does not tell."""
        predicted = self.predicted.clip(0, 1)
        spread = np.sqrt(self.count * predicted * (1 - predicted)).sum()
        return float(np.sqrt(2 / np.pi) * spread / self.decisions)

    @property
    def decisions(self) -> int:
        """How many logged actions tell it."""
        return round(float((self.observed * self.count).sum()))


@dataclass(frozen=True, eq=False)
class LearnedBehavior:
    """How probable every action was at every logged step, and in other episodes of the same kind.

    Each episode is judged by what the others teach (cross-fitting). Of the kinds, the one under which held-out actions
    are most likely; then calibrated on them: mu = (1 - mixed) p^(1 / temperature) / sum + mixed * share, with `share`
    how often the log takes each action, so that none is impossible. Episodes that taught nothing may be judged by any
    fold.
    """

    kind: str
    likelihoods: Mapping[str, float]
    """The mean log-likelihood of a held-out action, of every kind that was tried."""
    probabilities: Float[np.ndarray, "steps actions"]
    temperature: float
    mixed: float
    reliability: Reliability
    folds: Int[np.ndarray, " episodes"]
    """The fold of every episode,"""
    pieces: tuple[Chances, ...]
    """and what the others teach, for each fold, before it is calibrated."""
    shares: Float[np.ndarray, " actions"]
    states: Float[np.ndarray, "states dimensions"] | None = None
    """The states that a table knows by number; None where observations are looked at."""

    @property
    def effort(self) -> int:
        """How long it takes to be asked, in multiples of what trees take."""
        return EFFORT.get(self.kind, 1)

    def __repr__(self) -> str:
        error = max(self.reliability.relative_error, self.reliability.chance_error)
        return f"LearnedBehavior({self.kind}, probabilities off by up to {error:.1%})"

    def logged(self, data: Trajectories) -> Float[np.ndarray, " steps"]:
        """The probability of the action that was taken."""
        return self.probabilities[np.arange(len(data.rewards)), data.actions.codes]

    def elsewhere(self, data: Trajectories, folds: Int[np.ndarray, " episodes"]) -> Float[np.ndarray, "steps actions"]:
        """The probabilities of all actions at every step of other episodes, each judged by what is known without this
        fold. Actions must have the codes of the log that taught."""
        x = _features(data) if self.states is None else _numbers(self.states, data)
        fold = np.repeat(folds, data.lengths)
        guessed = np.empty((len(x), len(self.shares)))
        for k, piece in enumerate(self.pieces):
            own = np.flatnonzero(fold == k)
            if len(own):
                guessed[own] = piece(x[own])
        return _calibrated(guessed, self.shares, self.temperature, self.mixed)


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
    count = min(rules.folds, len(data))
    fold = np.repeat(generator.permutation(len(data)) % count, data.lengths)
    compared = int(np.clip(_COMPARED_WORK // (x.shape[1] * actions), rules.fewest_compared_steps, rules.compared_steps))
    few = np.sort(generator.permutation(len(codes))[:compared])
    kinds: dict[str, tuple[Kind, np.ndarray]] = {name: (kind, x) for name, kind in KINDS.items()}
    if found is not None:
        kinds = {"table": (by_table, found[1][:, None].astype(np.float64)), **kinds}
    trial = _Trial(codes[few], fold[few], actions, rules)
    for name, (kind, seen) in kinds.items():
        trial.add(name, kind, seen[few])
    best = trial.best
    if len(few) == len(codes) <= rules.learned_steps:
        guessed, pieces = trial.guesses[best], trial.pieces[best]
    else:
        guessed, pieces = _cross_fitted(*kinds[best], codes, fold, actions, rules.learned_steps)
    shares = np.bincount(codes, minlength=actions) / len(codes)
    temperature, mixed, _ = _calibration(guessed[few], codes[few], shares)
    probabilities = _calibrated(guessed, shares, temperature, mixed)
    return LearnedBehavior(
        best,
        trial.likelihoods,
        probabilities,
        temperature,
        mixed,
        reliability(probabilities[few], codes[few], rules),
        folds=fold[data.starts],
        pieces=tuple(pieces[k] for k in range(count)),
        shares=shares,
        states=found[0] if found is not None and best == "table" else None,
    )


def reliability(
    probabilities: Float[np.ndarray, "steps actions"],
    codes: Int[np.ndarray, " steps"],
    rules: BehaviorRules = BehaviorRules(),  # noqa: B008 - frozen
) -> Reliability:
    """In bins of equally many pairs of step and action."""
    predicted = probabilities.ravel()
    happened = (codes[:, None] == np.arange(probabilities.shape[1])).ravel()
    bins = int(np.clip(len(predicted) // rules.fewest_in_bin, 1, rules.bins))
    # Equal probabilities stay together.
    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, bins + 1)[1:-1]))
    place = np.searchsorted(edges, predicted, side="left")
    count = np.bincount(place)
    full = count > 0
    sums = [np.bincount(place, each)[full] for each in (predicted, happened)]
    return Reliability(sums[0] / count[full], sums[1] / count[full], count[full])


def _features(data: Trajectories) -> Float[np.ndarray, "steps features"]:
    return np.column_stack([data.observations, data.steps])


def _numbers(states: Float[np.ndarray, "states dimensions"], data: Trajectories) -> Float[np.ndarray, "steps 1"]:
    """The number of the state of every step; -1 for one that is not among these."""
    place, known = found_states(states, data.observations)
    return np.where(known, place, -1.0)[:, None]


@dataclass
class _Trial:
    """Kinds of behavior, compared on held-out steps; one that falls far behind is given up after two folds."""

    codes: Int[np.ndarray, " steps"]
    fold: Int[np.ndarray, " steps"]
    actions: int
    rules: BehaviorRules
    guesses: dict[str, Float[np.ndarray, "steps actions"]] = field(default_factory=dict)
    """Of kinds that were not given up,"""
    pieces: dict[str, dict[int, Chances]] = field(default_factory=dict)
    """and what they learned without each fold."""
    losses: dict[str, Float[np.ndarray, " steps"]] = field(default_factory=dict)
    """-log likelihood of every action, of these kinds."""
    likelihoods: dict[str, float] = field(default_factory=dict)
    """The mean log likelihood; of kinds that were given up as far behind the best as in two folds."""

    @property
    def best(self) -> str:
        return max(self.guesses, key=lambda name: self.likelihoods[name])

    def add(self, name: str, kind: Kind, x: Float[np.ndarray, "steps features"]) -> None:
        folds = np.unique(self.fold)
        first = np.isin(self.fold, folds[:2])
        guessed = np.empty((len(x), self.actions))
        pieces = self._fill(guessed, kind, x, folds[:2])
        if self.guesses and len(folds) > 2:
            behind = self._losses(guessed, first) - self.losses[self.best][first]
            if behind.mean() > self.rules.given_up * behind.std() / np.sqrt(len(behind)):
                self.likelihoods[name] = self.likelihoods[self.best] - float(behind.mean())
                return
        pieces |= self._fill(guessed, kind, x, folds[2:])
        self.guesses[name], self.pieces[name] = guessed, pieces
        self.losses[name] = self._losses(guessed, np.ones(len(x), dtype=bool))
        self.likelihoods[name] = -float(self.losses[name].mean())

    def _fill(
        self, guessed: np.ndarray, kind: Kind, x: np.ndarray, folds: Int[np.ndarray, " some"]
    ) -> dict[int, Chances]:
        told, pieces = _cross_fitted(kind, x, self.codes, self.fold, self.actions, len(x), folds)
        own = np.isin(self.fold, folds)
        guessed[own] = told[own]
        return pieces

    def _losses(self, guessed: np.ndarray, rows: np.ndarray) -> Float[np.ndarray, " some"]:
        shares = np.bincount(self.codes, minlength=self.actions) / len(self.codes)
        temperature, mixed, _ = _calibration(guessed[rows], self.codes[rows], shares)
        chances = _calibrated(guessed[rows], shares, temperature, mixed)
        return -np.log(chances[np.arange(len(chances)), self.codes[rows]])


def _cross_fitted(
    kind: Kind,
    x: np.ndarray,
    codes: np.ndarray,
    fold: np.ndarray,
    actions: int,
    most: int,
    folds: Int[np.ndarray, " some"] | None = None,
) -> tuple[Float[np.ndarray, "steps actions"], dict[int, Chances]]:
    """What the other folds teach about every step, from at most so many of their steps; of all folds, or these."""
    result, pieces = np.empty((len(x), actions)), {}
    for k in np.unique(fold) if folds is None else folds:
        others, own = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        learned = others[:: -(-len(others) // most)] if len(others) else own
        pieces[int(k)] = kind(x[learned], codes[learned], actions)
        result[own] = pieces[int(k)](x[own])
    return result, pieces


def _calibrated(
    guessed: Float[np.ndarray, "steps actions"], shares: Float[np.ndarray, " actions"], temperature: float, mixed: float
) -> Float[np.ndarray, "steps actions"]:
    powers = np.maximum(guessed, _SMALLEST) ** (1 / temperature)
    return (1 - mixed) * powers / powers.sum(axis=1, keepdims=True) + mixed * shares


def _calibration(
    guessed: Float[np.ndarray, "steps actions"], codes: Int[np.ndarray, " steps"], shares: Float[np.ndarray, " actions"]
) -> tuple[float, float, float]:
    """Temperature and mixed share under which the actions taken are most likely; the mean of -log likelihood."""
    logs = np.log(np.maximum(guessed, _SMALLEST))
    rows = np.arange(len(codes))

    def settings(at: np.ndarray) -> tuple[float, float]:
        return float(np.exp(np.clip(at[0], -3, 3))), float(1 / (1 + np.exp(-np.clip(at[1], -12, 6))))

    def loss(at: np.ndarray) -> float:
        temperature, mixed = settings(at)
        scaled = logs / temperature
        own = np.exp(scaled[rows, codes] - np.logaddexp.reduce(scaled, axis=1))
        return float(-np.log((1 - mixed) * own + mixed * shares[codes]).mean())

    found = minimize(loss, np.array([0.0, -4.0]), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-7})
    return (*settings(found.x), float(found.fun))
