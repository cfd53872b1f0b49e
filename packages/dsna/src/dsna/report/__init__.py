"""The report on a model as a web page: data, quality, decisions, explanations and suspicious rows."""

from .collect import collect
from .data import About, ReportData
from .page import render_report, write_report

__all__ = ["About", "ReportData", "collect", "render_report", "write_report"]
