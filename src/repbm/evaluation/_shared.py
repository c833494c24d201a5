"""What evaluations of several policies on one log share: read, examined and fitted once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from repbm.core import InputError
from repbm.evaluation._options import Question

if TYPE_CHECKING:
    from repbm.critics import FittedCritic
    from repbm.models import Comparison

_T = TypeVar("_T")


@dataclass
class SharedCritics:
    """Critics that no policy changes, and the kind of model that a log calls for."""

    scores: Comparison | None = None
    fitted: dict[str, FittedCritic] = field(default_factory=dict)


class Shared:
    """Made when it is first needed, for one log and one question; then kept. Nothing in it depends on a policy."""

    def __init__(self) -> None:
        self._asked: tuple[Any, Question] | None = None
        self._made: dict[Hashable, Any] = {}

    def about(self, log: Any, question: Question) -> None:
        """Refuse another log, and another question, than the first: what is kept would be wrong there."""
        question = replace(question, details=True, threshold=(), everyone=False)
        if self._asked is None:
            self._asked = log, question
        elif self._asked[0] is not log or self._asked[1] != question:
            raise InputError("what is shared belongs to another log or question", fix="fit again")

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        if key not in self._made:
            self._made[key] = make()
        return cast(_T, self._made[key])
