"""Figures of experiments, as functions of stored rows."""

from repbm.experiments.figures._figures import figures

__all__ = ["figures"]
