"""Results for people: tables as text."""

from repbm.report._tables import estimates_lines, estimates_tables, number

__all__ = ["estimates_lines", "estimates_tables", "number"]
