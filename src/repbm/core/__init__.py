"""What every room shares: errors, random streams, labels, optional frameworks."""

from repbm.core._draws import draw
from repbm.core._errors import InputError, nearest
from repbm.core._extras import optional
from repbm.core._labels import Label, as_label
from repbm.core._numbers import number
from repbm.core._random import stream
from repbm.core._thresholds import (
    BacktestRules,
    ChoiceRules,
    FitRules,
    HeadlineRules,
    LogRules,
    NoveltyRules,
    SubgroupRules,
    SupportRules,
    Thresholds,
)

__all__ = [
    "BacktestRules",
    "ChoiceRules",
    "FitRules",
    "HeadlineRules",
    "InputError",
    "Label",
    "LogRules",
    "NoveltyRules",
    "SubgroupRules",
    "SupportRules",
    "Thresholds",
    "as_label",
    "draw",
    "nearest",
    "number",
    "optional",
    "stream",
]
