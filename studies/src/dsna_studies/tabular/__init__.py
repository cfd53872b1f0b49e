"""Our methods and common alternatives on a folder of tables: ``python -m dsna_studies benchmark``.

Tables (:mod:`dsna.tables`) -> folds -> methods -> scores -> results (a CSV file, resumed from) -> summary -> report.
"""
