"""What a release needs: source and wheel are built, checked, and installed into fresh environments.

python tools/release_check.py                      # without extras, and with each extra
python tools/release_check.py --extras app,vision  # without extras, and with these

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

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
MOST_BYTES = {"wheel": 12_000_000, "source": 20_000_000}
MOST_IMPORT_SECONDS = 1.0  # CPU time of `import dsna`, once bytecode is there
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = [extra for extra in _PROJECT["optional-dependencies"] if extra not in ("test", "docs", "release")]
#: What extras add, as one would first use it.
TRIALS = {
    "": "from dsna import DSNAClassifier, load, save",
    "report": "import matplotlib, pandas; from dsna.inspection import explain; from dsna.report import collect",
    "cli": "from dsna.cli.app import app",
    "app": "from dsna.app.train import train; from dsna.tables import read_file; import pandas, polars, zstandard",
    "serve": "import dsna.serve.application",
    "bench": "import catboost, imblearn, lightgbm, xgboost",
    "train": "import lightgbm",
    "vision": "from dsna_vision.edges import pretrained; pretrained()",
    "dask": "import dask.distributed",
    "ray": "import ray",
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


def build() -> tuple[Path, Path]:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    (wheel,), (source,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    print(run(sys.executable, "-m", "twine", "check", "--strict", wheel, source).strip())
    return wheel, source


def check_contents(wheel: Path, source: Path) -> None:
    """Licences and the shipped model are inside, nothing is that was only lying about, sizes are bounded."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    with tarfile.open(source) as archive:
        inside = archive.getnames()
    for pattern in _PROJECT["license-files"]:
        for licence in ROOT.glob(pattern):
            name = licence.relative_to(ROOT).as_posix()
            assert any(one.endswith(f"licenses/{name}") for one in names), f"{name} is not in the wheel"
            assert any(one.endswith(f"/{name}") for one in inside), f"{name} is not in the source"
    assert any(one.endswith("vision/edges/bsds500.dsna") for one in names), "the shipped model is not in the wheel"
    assert any(one.endswith("dsna/py.typed") for one in names), "py.typed is not in the wheel"
    stray = [one for one in [*names, *inside] if "__pycache__" in one or "_build/" in one or "/.venv" in one]
    assert not stray, f"lying about: {stray[:3]}"
    for kind, path in (("wheel", wheel), ("source", source)):
        size = path.stat().st_size
        print(f"{kind}: {path.name}, {size / 1e6:.1f} MB")
        assert size <= MOST_BYTES[kind], f"the {kind} is larger than {MOST_BYTES[kind] / 1e6:.0f} MB"


def check_installed(wheel: Path, extra: str, folder: Path) -> None:
    """A fresh environment with the wheel and one extra: pip is content, and what the extra is for can be used."""
    home = folder / (extra or "plain")
    venv.create(home, with_pip=True)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[{extra}]" if extra else wheel)
    run(python, "-m", "pip", "check")
    run(python, "-c", TRIALS.get(extra, "import dsna"))
    if not extra:
        run(python, "-c", _FIT)
        seconds = min(float(run(python, "-c", _IMPORT_TIME)) for _ in range(3))
        print(f"import dsna: {seconds:.2f} CPU seconds")
        assert seconds <= MOST_IMPORT_SECONDS, f"import takes more than {MOST_IMPORT_SECONDS} seconds"
    print(f"installed {f'with {extra}' if extra else 'without extras'}")
    shutil.rmtree(home)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", help="extras to try, with commas between them; all if not given")
    asked = parser.parse_args().extras
    extras = asked.split(",") if asked else EXTRAS
    unknown = set(extras) - set(EXTRAS)
    if unknown:
        parser.error(f"no such extra: {', '.join(sorted(unknown))}")
    wheel, source = build()
    check_contents(wheel, source)
    with tempfile.TemporaryDirectory() as folder:
        for extra in ("", *extras):
            check_installed(wheel, extra, Path(folder))
    print("ready")


if __name__ == "__main__":
    main()
