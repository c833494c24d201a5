"""The doctor: is the log sound, and what does it support?"""

from repbm.doctor._backtest import Backtest, backtest
from repbm.doctor._checks import Check, possible_returns, zero_or_one
from repbm.doctor._counts import LogCounts
from repbm.doctor._examination import Examination, examine
from repbm.doctor._finding import FINDINGS, Finding, Severity
from repbm.doctor._individual_support import refusals
from repbm.doctor._judging import can_be_answered, verdict_of
from repbm.doctor._positivity import Region
from repbm.doctor._verdict import NOT_SUPPORTED, Verdict, judge

__all__ = [
    "FINDINGS",
    "NOT_SUPPORTED",
    "Backtest",
    "Check",
    "Examination",
    "Finding",
    "LogCounts",
    "Region",
    "Severity",
    "Verdict",
    "backtest",
    "can_be_answered",
    "examine",
    "judge",
    "possible_returns",
    "refusals",
    "verdict_of",
    "zero_or_one",
]
