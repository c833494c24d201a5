"""The doctor: is the log sound, and what does it support?"""

from repbm.doctor._backtest import Backtest, backtest
from repbm.doctor._examination import Examination, examine
from repbm.doctor._finding import Finding, Severity
from repbm.doctor._verdict import Verdict, judge

__all__ = ["Backtest", "Examination", "Finding", "Severity", "Verdict", "backtest", "examine", "judge"]
