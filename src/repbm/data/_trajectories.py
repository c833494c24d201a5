"""The one dataset type: logged episodes, flat and ragged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from repbm.core import InputError
from repbm.data._categorical import Categorical
from repbm.data._encoding import Encoding
from repbm.data._segments import StepValues, gather, indices, over_blocks, totals

LARGEST_NUMBER = 1e100
"""Of either sign. Whatever is fitted or estimated squares sums of rewards and weights: beyond it they may exceed
floating point."""
LARGEST_OBSERVATION = 1e37
"""Of either sign. Trees look at observations in single precision, which ends at 3e38."""


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Logged episodes: all steps of all episodes in one array a column, episode k from `offsets[k]`.

    Memory grows with the steps logged. Every episode has at least one step. `terminated[k]` says that the
    world ended episode k; otherwise the log stopped it (truncated). `final_observations[k]` is the state after
    the last step, NaN where it was not logged. `behavior` is the probability with which the logging policy
    took each logged action, where known. `columns` carries further columns of the log, one value a step. `encoding`
    says what the observations were in the table that they came from.
    """

    observations: Float[np.ndarray, "steps dimensions"]
    actions: Categorical
    rewards: Float[np.ndarray, " steps"]
    offsets: Int[np.ndarray, " ends"]
    terminated: Bool[np.ndarray, " episodes"]
    final_observations: Float[np.ndarray, "episodes dimensions"]
    behavior: Float[np.ndarray, " steps"] | None = None
    episode_labels: Shaped[np.ndarray, " episodes"] | None = None
    observation_names: tuple[str, ...] = ()
    columns: Mapping[str, Categorical | Float[np.ndarray, " steps"]] = field(default_factory=dict)
    encoding: Encoding | None = None

    def __repr__(self) -> str:
        known = "" if self.behavior is None else ", probabilities known"
        return (
            f"Trajectories({len(self)} episodes, {len(self.rewards)} steps, {len(self.actions.labels)} actions, "
            f"{self.observations.shape[1]} observations{known})"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What the log calls its observations; their numbers, from 0, where it names none."""
        return self.observation_names or tuple(map(str, range(self.observations.shape[1])))

    def __len__(self) -> int:
        """The number of episodes."""
        return len(self.offsets) - 1

    @property
    def truncated(self) -> Bool[np.ndarray, " episodes"]:
        return ~self.terminated

    @cached_property
    def lengths(self) -> Int[np.ndarray, " episodes"]:
        return np.diff(self.offsets)

    @cached_property
    def longest(self) -> int:
        return int(self.lengths.max())

    @cached_property
    def steps(self) -> Int[np.ndarray, " steps"]:
        """The step t of every logged decision within its episode, from 0."""
        return indices(self.offsets)

    @property
    def starts(self) -> Int[np.ndarray, " episodes"]:
        """Flat positions of the first step of every episode."""
        return self.offsets[:-1]

    @property
    def lasts(self) -> Int[np.ndarray, " episodes"]:
        """Flat positions of the last step of every episode."""
        return self.offsets[1:] - 1

    @property
    def initial_observations(self) -> Float[np.ndarray, "episodes dimensions"]:
        return self.observations[self.starts]

    @cached_property
    def alive(self) -> Int[np.ndarray, " longest"]:
        """How many episodes have a step t, for every t."""
        ended = np.bincount(self.lengths, minlength=self.longest + 1)
        return len(self) - np.cumsum(ended)[:-1]

    def next_observations(self) -> Float[np.ndarray, "steps dimensions"]:
        """The state after every step; NaN after a last step whose final state was not logged."""
        following = np.empty_like(self.observations)
        following[:-1] = self.observations[1:]
        following[self.lasts] = self.final_observations
        return following

    def discounted(self, terms: StepValues, discount: float) -> StepValues:
        """discount^t times the term of step t."""
        if discount == 1:
            return terms
        powers = discount ** np.arange(self.longest)
        steps = self.steps
        return lambda at: terms(at) * powers[steps[at]]

    def returns(self, discount: float = 1.0) -> Float[np.ndarray, " episodes"]:
        """sum_t discount^t r_t of every episode."""
        return totals(self.discounted(lambda at: self.rewards[at], discount), self.offsets)

    def delayed(self, values: Float[np.ndarray, " steps"], initial: float) -> StepValues:
        """The value one step earlier in the same episode; `initial` at its first step."""
        steps = self.steps

        def terms(at: slice) -> Float[np.ndarray, " block"]:
            start, stop, _ = at.indices(len(values))
            earlier = np.concatenate([values[max(start - 1, 0) : max(start, 1)], values[start : stop - 1]])
            return np.where(steps[at] == 0, initial, earlier)

        return terms

    def step_sums(self, terms: StepValues) -> Float[np.ndarray, " longest"]:
        """The sum over episodes of the terms of step t, for every t."""
        steps = self.steps
        return sum(
            over_blocks(
                lambda block: np.bincount(steps[block.entries], terms(block.entries), self.longest),
                self.offsets,
            ),
            start=np.zeros(self.longest),
        )

    def labels_of(self, episodes: Shaped[np.ndarray, " m"] | None = None) -> Shaped[np.ndarray, " m"]:
        """What the log calls these episodes; their numbers, from 0, where it names none."""
        labels = np.arange(len(self)) if self.episode_labels is None else self.episode_labels
        return labels if episodes is None else labels[episodes]

    def positions(self, episodes: Shaped[np.ndarray, " m"]) -> Int[np.ndarray, " picked"]:
        """Flat positions of the steps of the chosen episodes, in the order chosen: positions or a mask."""
        return gather(self.offsets, np.arange(len(self))[episodes])

    def take(self, episodes: Shaped[np.ndarray, " m"]) -> Trajectories:
        """The chosen episodes, in the order chosen: positions (repeats allowed) or a mask."""
        chosen = np.arange(len(self))[episodes]
        if not len(chosen):
            raise InputError("no episode is left")
        return self._reassembled(
            self.positions(chosen),
            np.concatenate([[0], np.cumsum(self.lengths[chosen])]),
            terminated=self.terminated[chosen],
            final_observations=self.final_observations[chosen],
            episode_labels=self.labels_of(chosen),
        )

    def until(self, horizon: int) -> Trajectories:
        """Only the first `horizon` steps of every episode; what is cut off there counts as truncated."""
        if horizon < 1:
            raise InputError(f"a horizon of {horizon} leaves no step", fix="give at least 1")
        if horizon >= self.longest:
            return self
        cut = np.flatnonzero(self.lengths > horizon)
        final = self.final_observations.copy()
        final[cut] = self.observations[self.starts[cut] + horizon]
        ended = self.terminated.copy()
        ended[cut] = False
        return self._reassembled(
            np.flatnonzero(self.steps < horizon),
            np.concatenate([[0], np.cumsum(np.minimum(self.lengths, horizon))]),
            terminated=ended,
            final_observations=final,
        )

    def split(self, share: float, generator: np.random.Generator) -> tuple[Trajectories, Trajectories]:
        """A random split by whole episodes: the first part holds `share` of them; neither part is empty."""
        if len(self) < 2:
            raise InputError("a log of one episode cannot be split", fix="log more episodes")
        first = min(max(round(share * len(self)), 1), len(self) - 1)
        order = generator.permutation(len(self))
        return self.take(np.sort(order[:first])), self.take(np.sort(order[first:]))

    def _reassembled(
        self, positions: Int[np.ndarray, " kept"], offsets: Int[np.ndarray, " ends"], **episodes: np.ndarray
    ) -> Trajectories:
        return replace(
            self,
            observations=self.observations[positions],
            actions=self.actions[positions],
            rewards=self.rewards[positions],
            offsets=offsets,
            behavior=None if self.behavior is None else self.behavior[positions],
            columns={name: column[positions] for name, column in self.columns.items()},
            **episodes,
        )
