"""Devices, pipes, links, long names, full disks: reported before any work is done, in a sentence, by every command."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("PIL")

from tests.boundary_folders import write_bsds
from tests.cli.commands import invoke, without_bugs
from tests.commands import invoke_study
from tests.face_folders import write_fgnet
from tests.head_folders import write_pointing04
from tests.odd_pictures import good_pictures
from tests.tables.hostile_tables import csv

import dsna_vision.datasets
from dsna._utils import atomic as files
from dsna._utils.atomic import FileError, check_outputs, check_readable, whole_file
from dsna.cli.errors import exit_on_user_error
from dsna_studies.results_file import Layout, ResultsError, ResultsFile, load_results

pytestmark = pytest.mark.skipif(os.name != "posix", reason="devices and pipes are named otherwise elsewhere")


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "t.csv").write_bytes(csv())
    return tmp_path / "tables"


@pytest.fixture
def photo(tmp_path, shipped):
    path = tmp_path / "photo.png"
    path.write_bytes(good_pictures()["colour.png"])
    return path


def ask(*arguments):
    """Run ``dsna ...``, or a study."""
    run = invoke_study if arguments[0] in ("benchmark", "study") else invoke
    return without_bugs(run(*arguments[arguments[0] == "study" :]))


def refused(run, *parts):
    assert run.exit_code == 2, run.output
    for part in parts:
        assert part in run.stderr
    assert "Remedy: " in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert len(run.stderr) < 600


def places(folder):
    """Names that no results can be written to, with what is said of them."""
    (folder / "file").write_text("mine")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "dangling").symlink_to(folder / "gone" / "further")
    os.mkfifo(folder / "pipe")
    return {
        "file": (folder / "file", "a file stands where a folder is needed"),
        "below a file": (folder / "file" / "x", "a file stands where"),
        "loop": (folder / "loop", "points to itself"),
        "dangling": (folder / "dangling", "a link to a folder that is not there"),
        "device": (Path("/dev/full"), "a device or a pipe"),
        "null": (Path("/dev/null"), "a device or a pipe"),
        "pipe": (folder / "pipe", "a device or a pipe"),
        "long": (folder / ("x" * 300), "the name is too long"),
        "long below": (folder / "new" / ("x" * 300), "the name is too long"),
    }


PLACES = ("file", "below a file", "loop", "dangling", "device", "null", "pipe", "long", "long below")


@pytest.mark.parametrize("place", PLACES)
def test_folders_for_results(tables, photo, tmp_path, place, monkeypatch):
    out, said = places(tmp_path)[place]

    def never(*_, **__):
        raise AssertionError("work was begun")

    for reader in ("load_bsds500", "load_boundaries"):
        monkeypatch.setattr(dsna_vision.datasets, reader, never)
    monkeypatch.setattr("dsna_studies.tabular.benchmark.find_tables", never)
    monkeypatch.setattr("dsna_studies.age.study.find_collections", never)
    monkeypatch.setattr("dsna_studies.pose.study.read_heads", never)
    monkeypatch.setattr("dsna_studies.edges.study.find_collections", never)
    before = sorted(tmp_path.rglob("*"))
    refused(ask("benchmark", tables, "--out", out), said)
    refused(ask("benchmark", tables, "--out", tmp_path / "good", "--report", out), said)
    for task in ("age", "pose", "edges"):
        refused(ask("study", task, "--data", tmp_path, "--out", out), said)
    refused(ask("edges", "detect", photo, "--out", out), said)
    refused(ask("edges", "evaluate", tmp_path, "--data", tmp_path, "--out", out), said)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("place", ["folder", "below a file", "loop", "dangling", "device", "null", "pipe", "long"])
def test_files_for_results(photo, tmp_path, place, monkeypatch):
    monkeypatch.setattr(dsna_vision.datasets, "load_bsds500", lambda *_: pytest.fail("work was begun"))
    found = places(tmp_path) | {"folder": (tmp_path, "a folder, but a file is needed")}
    out, said = found[place]
    said = {"dangling": "there is no folder", "device": "a device or a pipe, not a file"}.get(place, said)
    before = sorted(tmp_path.rglob("*"))
    refused(ask("edges", "detect", photo, "-o", out), said)
    refused(ask("edges", "train", "--data", tmp_path, "-o", out), said)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["results.csv", "age.md"])
def test_folders_in_the_place_of_files(tables, tmp_path, name):
    out = tmp_path / "out"
    (out / name).mkdir(parents=True)
    said = f"{name}: a folder, but a file is needed"
    if name == "results.csv":
        refused(ask("benchmark", tables, "--out", out), said)
    refused(ask("study", "age", "--data", tmp_path, "--out", out), said)
    (tmp_path / "report" / "benchmark.md").mkdir(parents=True)
    run = ask("benchmark", tables, "--out", tmp_path / "new", "--report", tmp_path / "report")
    refused(run, "benchmark.md: a folder, but a file is needed")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("kind", ["pipe", "loop", "dangling", "folder"])
def test_results_to_resume_from(tables, tmp_path, kind):
    out = tmp_path / "out"
    out.mkdir()
    _odd(out / "results.csv", kind)
    run = ask("benchmark", tables, "--out", out)
    refused(run, "results.csv: ")


@pytest.mark.parametrize("content", [b"\0" * 100, b'"' + b"x" * 200_000, b"\xff\xfe" * 50, b"a,b\n1,2\n"])
def test_results_that_are_none(tables, tmp_path, content):
    out = tmp_path / "out"
    out.mkdir()
    (out / "results.csv").write_bytes(content)
    run = ask("benchmark", tables, "--out", out)
    assert run.exit_code == 2
    assert "is not a results file" in run.stderr
    assert (out / "results.csv").read_bytes() == content


def test_numbers_in_results_that_are_none(tmp_path):
    layout = Layout(("fold",), ("seconds",), whole=("fold",))
    path = tmp_path / "results.csv"
    path.write_text("fold,seconds\ninf,1\n0,1.5\nnan,2\n1e400,3\nx,4\n1,inf\n")
    assert load_results(path, layout)["fold"].tolist() == [0]
    path.write_text("notes\n")
    with pytest.raises(ResultsError, match="is not a results file"):
        load_results(path, layout)


def _odd(path, kind):
    """Something under a name that a regular file is expected under."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.symlink_to(path if kind == "loop" else path.parent / "gone")


ODD = {
    "pipe": "a device or a pipe, not a file",
    "device": "a device or a pipe, not a file",
    "loop": "a link that points to itself",
    "dangling": "a link to a file that is not there",
    "folder": "a folder, not a file",
}


@pytest.mark.parametrize("kind", ODD)
def test_tables(tables, kind):
    _odd(tables / "odd.csv", kind)
    run = ask("benchmark", tables, "--out", tables / "out")
    refused(run, f"odd.csv: {ODD[kind]}")


@pytest.mark.parametrize("kind", [kind for kind in ODD if kind != "folder"])
def test_photos(photo, tmp_path, kind):
    _odd(tmp_path / "odd.jpg", kind)
    refused(ask("edges", "detect", tmp_path / "odd.jpg", "-o", tmp_path / "e.png"), f"odd.jpg: {ODD[kind]}")
    run = ask("edges", "detect", tmp_path, "--out", tmp_path / "maps")
    assert run.exit_code == 1
    assert f"odd.jpg: {ODD[kind]}" in run.stderr
    assert [path.name for path in (tmp_path / "maps").iterdir()] == ["photo.png"]


def test_names_of_photos(photo, tmp_path):
    refused(ask("edges", "detect", tmp_path / ("x" * 300), "-o", tmp_path / "e.png"), "the name is too long")
    odd = Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.png"))
    odd.write_bytes(photo.read_bytes())
    run = ask("edges", "detect", odd, "-o", odd.with_suffix(".npy"))
    assert run.exit_code == 0, run.output
    assert "Map: " in run.stdout


@pytest.mark.parametrize("kind", ODD)
def test_models(photo, tmp_path, kind):
    _odd(tmp_path / "odd.dsna", kind)
    run = ask("edges", "detect", photo, "-o", tmp_path / "e.png", "--model", tmp_path / "odd.dsna")
    refused(run, f"odd.dsna: {ODD[kind]}")


@pytest.mark.parametrize("kind", [kind for kind in ODD if kind != "folder"])
def test_photos_and_ground_truth_of_a_collection(tmp_path, kind):
    write_bsds(tmp_path)
    photos = sorted((tmp_path / "images" / "val").iterdir())
    truths = sorted((tmp_path / "groundTruth" / "val").iterdir())
    for path in (photos[0], truths[1]):
        path.unlink()
        _odd(path, kind)
    found = dsna_vision.datasets.load_bsds500(tmp_path, "val")
    assert len(found.problems) == 2
    assert all(ODD[kind] in problem for problem in found.problems)


@pytest.mark.parametrize("kind", ["pipe", "loop"])
def test_faces_and_heads(tmp_path, kind):
    write_fgnet(tmp_path / "fgnet")
    write_pointing04(tmp_path / "heads")
    picture, points = (sorted((tmp_path / "fgnet").rglob(ending))[0] for ending in ("*.JPG", "*.pts"))
    head, box = (sorted((tmp_path / "heads").rglob(ending))[i] for i, ending in enumerate(("*.jpg", "*.txt")))
    for path in (picture, points, head, box):
        path.unlink()
        _odd(path, kind)
    for found in (
        dsna_vision.datasets.load_fgnet(tmp_path / "fgnet"),
        dsna_vision.datasets.load_pointing04(tmp_path / "heads"),
    ):
        assert found.problems
        assert all(ODD[kind] in problem for problem in found.problems)


@pytest.mark.parametrize("kind", ["pipe", "device", "loop"])
def test_maps(tmp_path, kind):
    write_bsds(tmp_path / "data")
    maps = tmp_path / "maps"
    maps.mkdir()
    names = [path.stem for path in sorted((tmp_path / "data" / "images" / "val").iterdir())]
    (maps / f"{names[0]}.png").write_bytes(good_pictures()["grey.jpg"])
    _odd(maps / f"{names[1]}.png", kind)
    run = ask("edges", "evaluate", maps, "--data", tmp_path / "data")
    assert run.exit_code in (1, 2)
    assert f"{names[1]}.png" in run.stderr


def test_a_full_disk(tables, photo, tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        run = ask("edges", "detect", photo, "-o", tmp_path / "e.png")
        refused(run, "e.png: the disk is full")
        with pytest.raises(OSError, match="No space left") as caught, whole_file(tmp_path / "a") as stream:
            stream.write(b"whole")
    assert caught.value.filename == str(tmp_path / "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photo.png", "tables"]

    class Cut:
        def write(self, content):
            return len(content) - 1

        def close(self):
            pass

    def entered(self):
        self.stream = Cut()
        return self

    monkeypatch.setattr(ResultsFile, "__enter__", entered)
    run = ask("benchmark", tables, "--out", tmp_path / "out", "--methods", "kNN", "--folds", "2")
    refused_lines = run.stderr.splitlines()
    assert run.exit_code == 2
    assert "results.csv: the disk is full. Remedy: make room" in refused_lines[-1]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission(tables, photo, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    refused(ask("benchmark", tables, "--out", closed / "out"), "may not be written to")
    refused(ask("edges", "detect", photo, "-o", closed / "e.png"), "may not be written to")
    photo.chmod(0)
    refused(ask("edges", "detect", photo, "-o", tmp_path / "e.png"), "may not be read")


def test_no_permission_as_the_system_tells_it(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("")
    monkeypatch.setattr(files.os, "access", lambda *_: False)
    for check in (check_readable, lambda path: check_outputs(files=[path]), lambda path: check_outputs(folders=[path])):
        with pytest.raises(FileError, match=r"may not be (read|written to)\. Remedy: |a file stands where"):
            check(tmp_path / "a.csv")
    with pytest.raises(FileError, match="in a folder that may not be written to"):
        check_outputs(files=[tmp_path / "new.csv"], folders=[tmp_path / "new"])


def test_all_places_are_reported_at_once(tmp_path):
    with pytest.raises(FileError) as error:
        check_outputs(files=[tmp_path, "/dev/null", None], folders=["/dev/full", None, tmp_path])
    assert len(str(error.value).splitlines()) == 3


def test_names_with_nul():
    for check in (check_readable, lambda path: check_outputs(files=[path]), lambda path: check_outputs(folders=[path])):
        with pytest.raises(FileError, match="not a name that a"):
            check("a\0b")


def test_a_link_to_a_file_to_be_is_written_through(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    check_outputs(files=[tmp_path / "link"])
    with whole_file(tmp_path / "link") as stream:
        stream.write(b"whole")
    assert (tmp_path / "target").read_bytes() == b"whole"
    assert (tmp_path / "link").is_symlink()


def test_interrupted_while_it_is_imported():
    code = """
import sys
import dsna.cli.main
class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == "dsna.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Impatient())
dsna.cli.main.main()
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 130, run.stderr
    assert run.stderr.strip() == "Stopped before anything was begun."


def test_an_interruption_that_python_drops_comes_again(tables):
    code = """
import signal, sys, time
import dsna_studies.__main__ as studies, dsna_studies.tabular.benchmark as benchmark
signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells turn off in what they run in the background
class Dropping:
    def __del__(self):
        raise KeyboardInterrupt
def slow(*_, **__):
    Dropping()
    while True:
        time.sleep(0.01)
benchmark.find_tables = slow
studies.main()
"""
    command = [sys.executable, "-c", code, "benchmark", str(tables), "--out", str(tables.parent / "out")]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)
    assert run.returncode == 130, run.stderr
    assert "Traceback" not in run.stderr
    assert "Stopped." in run.stderr


def test_whoever_reads_the_output_may_leave():
    with pytest.raises(BrokenPipeError), exit_on_user_error("benchmark", "", ""):  # which typer ends quietly
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
