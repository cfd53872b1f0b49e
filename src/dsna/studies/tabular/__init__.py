"""Ours beside everything people use, on a folder of tables: ``dsna benchmark``.

Tables (:mod:`dsna.tables`) -> folds -> methods -> scores -> results (a CSV file, resumed from) -> summary -> report.
"""
