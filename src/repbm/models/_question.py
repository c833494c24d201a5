"""What a model was asked when it was fitted, kept with it: whoever asks it again means the same unless they say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ModelQuestion:
    """The discount, how many steps, the seed of rollouts, the policy as the user wrote it, what the log calls its
    observations, its actions, how its observations were coded, and the lowest and the highest return that its rewards
    allow."""

    discount: float
    horizon: int
    seed: int
    policy: str
    observations: tuple[str, ...]
    actions: tuple[str | int, ...]
    encoding: Mapping[str, Any] | None = None
    returns: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> ModelQuestion:
        asked = cls(
            float(stored["discount"]),
            int(stored["horizon"]),
            int(stored["seed"]),
            str(stored["policy"]),
            tuple(stored["observations"]),
            tuple(stored["actions"]),
            stored.get("encoding"),
            None if stored.get("returns") is None else (float(stored["returns"][0]), float(stored["returns"][1])),
        )
        if not (0 <= asked.discount <= 1 and asked.horizon >= 1 and asked.seed >= 0):
            raise ValueError("what it was asked makes no sense")
        return asked

    def possible(self, discount: float, horizon: int | None) -> tuple[float, float] | None:
        """The returns that are possible with another discount and horizon, where these leave no more to earn."""
        longer = horizon is None or horizon > self.horizon
        return None if longer or discount > self.discount else self.returns
