"""A model file from a stranger is safe to load: forged ones are refused, or make models that answer as others do."""

import io
import json
import os

import numpy as np
import pytest
from tests.io import forged_models as forged
from tests.io import forged_trials as trials

import dsna
from dsna._utils.invariants import Array, InvariantError, check_fields
from dsna.forest.trees import Trees

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="cases are examined in forked processes")


@forks
def test_forged_files_are_refused_or_sound():
    verdicts = list(trials.examined(0, 300))
    assert len(verdicts) == 300
    assert [one for one in verdicts if one[2] not in ("refused", "sound")] == []
    refused = sum(verdict == "refused" for _, _, verdict in verdicts)
    assert 150 < refused < 290  # the forger forges, and not everything is refused


@pytest.fixture(scope="module")
def files():
    return trials.originals()


def entry_at(files, name, path, tmp_path):
    """Entries of a model file, the entry that holds the array at a path of the header, and where to write it again."""
    entries = forged.unpacked(files[name])
    header = json.loads(entries[forged.HEADER])
    tree = forged.at(header["state"]["fitted"], [key for part in path.split(".") for key in (part, "state")][:-1])
    return entries, f"arrays/{tree['array']}.npy", tmp_path / "model.dsna"


@pytest.mark.parametrize(
    "name, path, change, words",
    [
        ("labels", "_index.trees.leaf_rows", lambda a: a.fill(2**30), "leaf_rows"),
        ("labels", "_index.trees.leaf_rows", lambda a: a.fill(120), "row numbers beyond the last of 120 rows"),
        ("forest of labels", "trees_.leaf_rows", lambda a: a.fill(120), "row numbers beyond the last of 120 rows"),
        ("labels", "_index.trees.child", lambda a: a[0].fill(0), "before its parent"),
        ("labels", "_index.trees.child", lambda a: a[0].fill(2**30), "not a node"),
        ("labels", "_index.trees.child", lambda a: a[0].fill(-(2**31)), "no parent"),
        ("labels", "_index.trees.child", lambda a: a[0].fill(a.max()), "another tree|two"),
        ("labels", "_index.trees.split_ptr", lambda a: a[1:2].fill(2**30), "split_ptr"),
        ("labels", "_index.trees.split_ptr", lambda a: a[:1].fill(-5), "split_ptr"),
        ("labels", "_index.trees.leaf_ptr", lambda a: a[-1:].fill(2**30), "leaf_ptr"),
        ("labels", "_index.trees.roots", lambda a: a.fill(2**30), "roots"),
        ("labels", "_index.trees.roots", lambda a: a.fill(-1), "Trees"),
        ("labels", "_index.trees.split_feature", lambda a: a.fill(4), "split_feature"),
        ("labels", "_index.trees.split_feature", lambda a: a.fill(-1), "split_feature"),
        ("labels", "_index.fold", lambda a: a.fill(5), "fold"),
        ("labels", "_index.Z", lambda a: a[:1].fill(np.nan), "Z ranges from nan"),
        ("classes", "_index.label", lambda a: a.fill(3), "not class numbers"),
        ("classes", "_index.label", lambda a: a.fill(2**30), "not class numbers"),
        ("classes", "_index.label", lambda a: a.fill(-1), "not class numbers"),
        ("classes", "_index.label", lambda a: a.fill(0.5), "not class numbers"),
        ("classes, neighbours", "_trend.basis.offset", lambda a: a.fill(1e300), "Basis.offset ranges"),
        ("detector", "forest_.child", lambda a: a[:1].fill(0), "before its parent"),
        ("detector", "forest_.child", lambda a: a[:1].fill(len(a) - 1), "not a node"),
        ("detector", "forest_.feature", lambda a: a.fill(7228), "feature"),
        ("detector", "forest_.root", lambda a: a[1:].fill(2**40), "roots"),
        ("detector", "forest_.leaf_mask", lambda a: a.fill(2**30), "leaf_mask"),
        ("detector", "pool_.leaf_rows", lambda a: a.fill(2**30), "leaf_rows"),
        ("detector", "pool_.mask", lambda a: a.fill(-1), "mask"),
        ("detector", "pool_.leaf_ptr", lambda a: a[1:2].fill(2**30), "leaf_ptr"),
    ],
)
def test_arrays_that_crashed(files, tmp_path, name, path, change, words):
    entries, entry, file = entry_at(files, name, path, tmp_path)
    array = np.load(io.BytesIO(entries[entry]))
    change(array)
    file.write_bytes(forged.packed({**entries, entry: forged.as_npy(array)}))
    with pytest.raises(dsna.ModelFileError, match=f"(?s)no sound model.*({words}).*save the model again"):
        dsna.load(file)


@pytest.mark.parametrize("dtype", ["<i8", ">i4", "<f8", "<u4", "<i2"])
def test_no_kernel_is_compiled_for_other_dtypes(files, tmp_path, dtype):
    entries, entry, file = entry_at(files, "labels", "_index.trees.child", tmp_path)
    array = np.load(io.BytesIO(entries[entry])).astype(dtype)
    file.write_bytes(forged.packed({**entries, entry: forged.as_npy(array)}))
    with pytest.raises(dsna.ModelFileError, match=r"Trees.child has dtype"):
        dsna.load(file)


def test_original_files_are_sound(files, tmp_path):
    for data in files.values():
        (tmp_path / "model.dsna").write_bytes(data)
        assert trials.examine(tmp_path / "model.dsna") == "sound"


@pytest.mark.parametrize("key", [np.zeros(624, np.uint32), np.ones(623, np.uint32), np.ones(624, np.int64)])
@pytest.mark.parametrize("at", [0, 624, 625, -1, 2**40, 1.5])
def test_states_of_random_generators(tmp_path, key, at):
    """numpy reads past the key where ``pos`` says so, and never draws a normal number from a key of zeros."""
    dsna.save(dsna.DSNARegressor(random_state=np.random.RandomState(0)), tmp_path / "model.dsna")
    entries = forged.unpacked((tmp_path / "model.dsna").read_bytes())
    header = json.loads(entries[forged.HEADER])
    state = dict(header["state"]["params"]["random_state"]["random"]["dict"])
    inner = dict(state["state"]["dict"])
    inner["pos"] = at
    state["state"] = {"dict": [list(pair) for pair in inner.items()]}
    header["state"]["params"]["random_state"] = {"random": {"dict": [list(pair) for pair in state.items()]}}
    entries[forged.HEADER] = json.dumps(header).encode()
    path = tmp_path / "model.dsna"
    path.write_bytes(forged.packed(entries))
    if at in (0, 624):
        assert 0 <= dsna.load(path).random_state.rand() < 1
    else:
        with pytest.raises(dsna.ModelFileError, match="random_state"):
            dsna.load(path)
    path.write_bytes(forged.packed({**entries, "arrays/0.npy": forged.as_npy(key)}))
    with pytest.raises(dsna.ModelFileError, match="random_state"):
        dsna.load(path)


def test_arrays_referred_to_without_end_are_refused(tmp_path):
    path = tmp_path / "model.dsna"
    rows = np.random.RandomState(0).randn(2000, 4)
    dsna.save(dsna.CostSensitiveForestRegressor(2, oob_score=True, random_state=0).fit(rows, rows[:, 0]), path)
    entries = forged.unpacked(path.read_bytes())
    header = json.loads(entries[forged.HEADER])
    header["state"]["fitted"]["oob_prediction_"] = [header["state"]["fitted"]["oob_prediction_"]] * 100_000
    path.write_bytes(forged.packed({**entries, forged.HEADER: json.dumps(header).encode()}))
    with pytest.raises(dsna.ModelFileError, match="too often"):
        dsna.load(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of POSIX")
def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(dsna.ModelFileError, match=r"not a regular file.*Check the path"):
            dsna.load(path)


def test_attributes_of_the_user_are_not_saved_unnoticed(tmp_path):
    model = dsna.CostSensitiveForestRegressor(2, random_state=0).fit(trials.X, trials.LABEL)
    model.note_ = "mine"
    with pytest.raises(ValueError, match=r"cannot be saved.*note_: not among.*fitted.ATTRIBUTES\. Delete"):
        dsna.save(model, tmp_path / "model.dsna")
    assert list(tmp_path.iterdir()) == []


def test_trees_check_themselves_when_made():
    trees = dsna.CostSensitiveForestRegressor(2, random_state=0).fit(trials.X, trials.LABEL).trees_
    Trees(**trees.state)
    with pytest.raises(InvariantError, match=r"Trees.leaf_rows ranges from -1"):
        Trees(**{**trees.state, "leaf_rows": trees.leaf_rows - 1 - trees.leaf_rows.min()})


@pytest.mark.parametrize(
    "array, message",
    [
        ([1, 2], "is a list"),
        (np.zeros((2, 3), np.float32), "has dtype float32, not float64"),
        (np.zeros(3), r"has shape \(3,\), not \(n, 3\)"),
        (np.zeros((2, 4)), r"has shape \(2, 4\)"),
        (np.zeros((3, 3)), r"has shape \(3, 3\), not \(n, 3\) with n=2"),
        (np.full((2, 3), np.nan), "ranges from nan to nan"),
        (np.full((2, 3), 1.5), "ranges from 1.5 to 1.5, not within 0.0 and 1.0"),
    ],
)
def test_descriptions_of_arrays(array, message):
    fields = {"ptr": Array("int64", "n+1", into="m"), "rows": Array("int32", "m", below="n")}
    values = {"ptr": np.array([0, 1, 3]), "rows": np.array([0, 1, 1], np.int32)}
    assert check_fields("Box", values, fields) == {"n": 2, "m": 3}
    with pytest.raises(InvariantError, match=f"Box.share {message}"):
        check_fields("Box", {**values, "share": array}, {**fields, "share": Array("float64", "n, 3", 0.0, 1.0)})
    for ptr in ([1, 1, 3], [0, 1, 2], [0, 4, 3]):
        with pytest.raises(InvariantError, match=r"Box.ptr does not rise from 0 to 3"):
            check_fields("Box", {**values, "ptr": np.array(ptr)}, fields)
