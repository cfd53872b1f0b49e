"""How tests run ``python -m dsna_studies ...``."""

import subprocess
import sys


def invoke_study(*arguments, **how):
    """Run ``python -m dsna_studies ...`` in this process."""
    from typer.testing import CliRunner

    from dsna_studies.cli.app import app

    return CliRunner().invoke(app, list(map(str, arguments)), **how)


def run_study_without(modules, *arguments):
    """Run ``python -m dsna_studies ...`` in a process of its own that lacks some modules."""
    hide = "".join(f"sys.modules[{name!r}] = None; " for name in modules)
    code = (
        f"import sys; {hide}sys.argv[1:] = {list(map(str, arguments))}; from dsna_studies.__main__ import main; main()"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
