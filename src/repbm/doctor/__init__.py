"""The doctor: what is wrong with a log, or looks like it, before anything is estimated from it."""

from repbm.doctor._examination import Examination, examine
from repbm.doctor._finding import Finding, Weight

__all__ = ["Examination", "Finding", "Weight", "examine"]
