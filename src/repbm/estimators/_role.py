"""What an estimator is, and what it therefore needs."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """How an estimator comes to its answer. Headline, disagreement, defaults and report go by this, never by a name."""

    WEIGHTING = "weighting"
    """Logged returns, weighted by how much more likely the policy makes them."""
    DOUBLY_ROBUST = "doubly robust"
    """A critic, corrected by weighted surprises."""
    CORRECTED = "corrected"
    """A critic, corrected by surprises that are weighted by how much more often the policy comes to their states."""
    BLEND = "blend"
    """Between a critic and weights, as the log suggests."""
    MODEL = "model"
    """A critic alone."""

    @property
    def weighs(self) -> bool:
        """Whether it rests on the probabilities of logged actions."""
        return self is not Role.MODEL
