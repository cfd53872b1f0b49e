"""``python -m dsna_studies benchmark | age | pose | edges``: methods compared on tables, and the paper's tasks."""

from __future__ import annotations

from .cli.benchmark import benchmark
from .cli.reproduce import reproduce as app

app.command()(benchmark)

if __name__ == "__main__":
    app(prog_name="python -m dsna_studies")
