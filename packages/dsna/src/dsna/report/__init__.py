"""The page people look at: what the data are, how good a model is, how to decide by it, why it says what it says."""

from .collect import collect
from .data import About, ReportData
from .page import render_report, write_report

__all__ = ["About", "ReportData", "collect", "render_report", "write_report"]
