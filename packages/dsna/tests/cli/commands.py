"""How tests run commands."""

import subprocess
import sys


def invoke(*arguments, **how):
    """Run ``dsna ...`` in this process; ``input=`` is its standard input."""
    from typer.testing import CliRunner

    from dsna.cli.app import app

    return CliRunner().invoke(app, list(map(str, arguments)), **how)


def without_bugs(run):
    """A run that ended by itself or by an exit code, not by an exception that nobody expected."""
    assert run.exception is None or isinstance(run.exception, SystemExit), repr(run.exception)
    return run


def run_without(modules, *arguments):
    """Run ``dsna ...`` in a process of its own that lacks some modules."""
    hide = "".join(f"sys.modules[{name!r}] = None; " for name in modules)
    code = f"import sys; {hide}sys.argv[1:] = {list(map(str, arguments))}; from dsna.cli.main import main; main()"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
