"""What a release needs: source and wheel of each package are built, checked, and installed into fresh environments.

python tools/release_check.py                     # without extras, and with each extra
python tools/release_check.py --extras app,serve  # without extras, and with these

Builds into dist/, which is emptied first. Environments are made in a temporary folder. Needs the extra `release`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
MOST_IMPORT_SECONDS = 1.0  # CPU time of `import dsna`, once bytecode is there


class Package(NamedTuple):
    """A package to be released: its folder, its licence, the most bytes of its wheel, and what has to be in it."""

    folder: Path
    licence: str
    most_bytes: int
    inside: tuple[str, ...]

    @property
    def project(self) -> dict[str, Any]:
        return dict(tomllib.loads((self.folder / "pyproject.toml").read_text("utf-8"))["project"])


PACKAGES = {
    "dsna": Package(ROOT / "packages/dsna", "BSD-3-Clause", 2_000_000, ("dsna/py.typed",)),
    "dsna-vision": Package(
        ROOT / "packages/dsna-vision",
        "BSD-3-Clause AND LicenseRef-BSDS500-Research",
        12_000_000,
        ("dsna_vision/py.typed", "edges/bsds500.dsna"),
    ),
}
EXTRAS = [
    f"{name}[{extra}]"
    for name, package in PACKAGES.items()
    for extra in package.project["optional-dependencies"]
    if extra not in ("test", "docs", "release")
]
#: What packages and extras add, as one would first use it.
TRIALS = {
    "dsna": "from dsna import DSNAClassifier, load, save",
    "dsna[report]": "import matplotlib, pandas; from dsna.inspection import explain; from dsna.report import collect",
    "dsna[cli]": "from dsna.cli.app import app",
    "dsna[app]": "from dsna.app.train import train; from dsna.tables import read_file; import polars, zstandard",
    "dsna[serve]": "import dsna.serve.application",
    "dsna[dask]": "import dask.distributed",
    "dsna[ray]": "import ray",
    "dsna-vision": "from dsna_vision.edges import pretrained; pretrained()",
    "dsna-vision[train]": "import lightgbm",
}
_FIT = """
import tempfile, time, numpy as np, dsna
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3)); y = (X[:, 0] > 1).astype(int)
model = dsna.DSNAClassifier(dsna.CostSensitiveForestClassifier(5), random_state=0).fit(X, y)
with tempfile.TemporaryDirectory() as folder:
    dsna.save(model, f"{folder}/m.dsna")
    assert (dsna.load(f"{folder}/m.dsna").predict(X) == model.predict(X)).all()
"""
_IMPORT_TIME = "import time; start = time.process_time(); import dsna; print(time.process_time() - start)"


def run(*command: str | Path) -> str:
    """The output of a command outside the clone, so that nothing of it is imported by accident."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([*map(str, command)], cwd=tempfile.gettempdir(), env=clean, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}\nfailed with {done.returncode}")
    return done.stdout


def build(package: Package) -> tuple[Path, Path]:
    before = {*DIST.glob("*")}
    run(sys.executable, "-m", "build", "--outdir", DIST, package.folder)
    made = {*DIST.glob("*")} - before
    (wheel,), (source,) = ([path for path in made if path.name.endswith(end)] for end in (".whl", ".tar.gz"))
    print(run(sys.executable, "-m", "twine", "check", "--strict", wheel, source).strip())
    return wheel, source


def check_contents(package: Package, wheel: Path, source: Path) -> None:
    """Licences and what is shipped are inside, nothing is that was only lying about, the wheel's size is bounded."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        described = archive.read(metadata).decode()
    with tarfile.open(source) as archive:
        inside = archive.getnames()
    assert f"License-Expression: {package.licence}\n" in described, f"{wheel.name} has another licence"
    for licence in package.project["license-files"]:
        assert any(name.endswith(f"licenses/{licence}") for name in names), f"{licence} is not in the wheel"
        assert any(name.endswith(f"/{licence}") for name in inside), f"{licence} is not in the source"
    for needed in package.inside:
        assert any(name.endswith(needed) for name in names), f"{needed} is not in the wheel"
    stray = [name for name in [*names, *inside] if "__pycache__" in name or "_build/" in name or "/.venv" in name]
    assert not stray, f"lying about: {stray[:3]}"
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB, {package.licence}")
    assert size <= package.most_bytes, f"the wheel is larger than {package.most_bytes / 1e6:.0f} MB"


def check_installed(what: str, folder: Path) -> None:
    """A fresh environment with a package, or one of its extras: pip is content, and what it is for can be used."""
    home = folder / what
    venv.create(home, with_pip=True)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "--find-links", DIST, what)
    run(python, "-m", "pip", "check")
    run(python, "-c", TRIALS.get(what, "import dsna"))
    if what == "dsna":
        run(python, "-c", _FIT)
        seconds = min(float(run(python, "-c", _IMPORT_TIME)) for _ in range(3))
        print(f"import dsna: {seconds:.2f} CPU seconds")
        assert seconds <= MOST_IMPORT_SECONDS, f"import takes more than {MOST_IMPORT_SECONDS} seconds"
    if what == "dsna-vision":
        run(python, "-m", "dsna", "edges", "--help")
    print(f"installed {what}")
    shutil.rmtree(home)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", help="extras of dsna to try, with commas between them; all if not given")
    asked = parser.parse_args().extras
    extras = [f"dsna[{extra}]" for extra in asked.split(",")] if asked else EXTRAS
    unknown = set(extras) - set(EXTRAS)
    if unknown:
        parser.error(f"no such extra: {', '.join(sorted(unknown))}")
    shutil.rmtree(DIST, ignore_errors=True)
    for package in PACKAGES.values():
        check_contents(package, *build(package))
    with tempfile.TemporaryDirectory() as folder:
        for what in (*PACKAGES, *extras):
            check_installed(what, Path(folder))
    print("ready")


if __name__ == "__main__":
    main()
