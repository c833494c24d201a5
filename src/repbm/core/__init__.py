"""What every room shares: errors, thresholds, random numbers, the bootstrap, labels, progress, files, extras."""

from repbm.core._bootstrap import middle, resampled_counts
from repbm.core._codes import CODES, Code
from repbm.core._draws import draw
from repbm.core._errors import FailsElsewhere, InputError, nearest, reason
from repbm.core._extras import needs_networks, optional
from repbm.core._files import is_partial, locked, partial_file, partial_folder, write_whole, writing
from repbm.core._json import as_json
from repbm.core._labels import Label, as_label
from repbm.core._numbers import in_words, number
from repbm.core._progress import Progress, silent
from repbm.core._random import stream
from repbm.core._side_by_side import SideBySide
from repbm.core._threads import SHORT_LOG, in_threads, one_thread, side_by_side, work_alone
from repbm.core._thresholds import (
    BacktestRules,
    BalanceRules,
    BehaviorRules,
    ChoiceRules,
    ConfoundingRules,
    DistributionRules,
    EncodingRules,
    FitRules,
    FittedQRules,
    HeadlineRules,
    HistoryRules,
    IndividualRules,
    IntervalRules,
    LogRules,
    MemoryRules,
    NoveltyRules,
    PositivityRules,
    RatioRules,
    RolloutRules,
    SubgroupRules,
    SupportRules,
    Thresholds,
)
from repbm.core._words import all_words, otherwise, say

__all__ = [
    "CODES",
    "SHORT_LOG",
    "BacktestRules",
    "BalanceRules",
    "BehaviorRules",
    "ChoiceRules",
    "Code",
    "ConfoundingRules",
    "DistributionRules",
    "EncodingRules",
    "FailsElsewhere",
    "FitRules",
    "FittedQRules",
    "HeadlineRules",
    "HistoryRules",
    "IndividualRules",
    "InputError",
    "IntervalRules",
    "Label",
    "LogRules",
    "MemoryRules",
    "NoveltyRules",
    "PositivityRules",
    "Progress",
    "RatioRules",
    "RolloutRules",
    "SideBySide",
    "SubgroupRules",
    "SupportRules",
    "Thresholds",
    "all_words",
    "as_json",
    "as_label",
    "draw",
    "in_threads",
    "in_words",
    "is_partial",
    "locked",
    "middle",
    "nearest",
    "needs_networks",
    "number",
    "one_thread",
    "optional",
    "otherwise",
    "partial_file",
    "partial_folder",
    "reason",
    "resampled_counts",
    "say",
    "side_by_side",
    "silent",
    "stream",
    "work_alone",
    "write_whole",
    "writing",
]
