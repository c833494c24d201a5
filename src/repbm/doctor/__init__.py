"""The doctor: what is wrong with a log, or looks like it, before anything is estimated from it."""

from repbm.doctor._backtest import Backtest, backtest
from repbm.doctor._examination import Examination, examine
from repbm.doctor._finding import Finding, Weight
from repbm.doctor._verdict import Verdict, judge, model_of

__all__ = ["Backtest", "Examination", "Finding", "Verdict", "Weight", "backtest", "examine", "judge", "model_of"]
