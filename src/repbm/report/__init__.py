"""Results for people: tables as text, figures of experiments."""

from repbm.report._examination import examination_lines
from repbm.report._plots import figures
from repbm.report._reproduction import Page, reproduction_page
from repbm.report._tables import estimates_lines, estimates_tables, number, ranking_line, result_cells

__all__ = [
    "Page",
    "estimates_lines",
    "estimates_tables",
    "examination_lines",
    "figures",
    "number",
    "ranking_line",
    "reproduction_page",
    "result_cells",
]
