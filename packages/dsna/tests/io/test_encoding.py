"""Values as model files tell them, and back; strings that are not what they say are refused."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from tests.io.test_model_file import same

from dsna.io.encoding import Decoder, Encoder


def by_encoding(value):
    """A value as a model file tells it, and back."""
    encoder = Encoder()
    tree = json.loads(json.dumps(encoder.tree(value, "value"), allow_nan=False))
    arrays = [array.copy() for array in encoder.arrays]
    return Decoder(SimpleNamespace(array=arrays.__getitem__), "this version").value(tree)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -(2**70), 0.1, -0.0, float("nan"), float("inf"), -float("inf"), "", "é\ud800\0", [], (), {},
        [1, (2.0, "x", [None])], {"a": {"b": (1,)}}, {1: "x", (1, 2): "y", None: []}, {"array": 0, "dict": []},
        np.float64(0.1), np.float32("nan"), np.int8(-3), np.bool_(True), np.str_("é"), np.datetime64("2024-01-01"),
        np.empty((0, 3)), np.array(7), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(10)[::-3],
        np.array(["x", "yy"]), np.array([b"x"]), np.array([["x"], ["yy"]], dtype=object), np.array([], dtype=object),
        np.array(["", "a\0", "\ud800", "é", "\U0001f600"], dtype=object), np.array("x", dtype=object),
        np.array([1 + 2j]), np.array(["2024-01-01"], dtype="M8[D]"), np.array([1, 2], dtype=">i4"),
    ],
    ids=repr,
)  # fmt: skip
def test_values_come_back(value):
    assert same(by_encoding(value), value)


def test_one_array_under_two_names_stays_one():
    array = np.arange(3.0)
    again = by_encoding([array, array, array.copy()])
    assert again[0] is again[1]
    assert again[0] is not again[2]
    assert again[0].flags.writeable


def decoded(tree, *arrays):
    return Decoder(SimpleNamespace(array=arrays.__getitem__), "this version").value(tree)


def test_one_array_of_strings_under_two_names_is_written_once():
    words = np.array(["a", "bb"], dtype=object)
    encoder = Encoder()
    trees = [encoder.tree(words, "a"), encoder.tree(words, "b"), encoder.tree(words.copy(), "c")]
    assert trees[0] == trees[1] != trees[2]
    assert len(encoder.arrays) == 4


def test_strings_take_the_bytes_that_they_have():
    words = np.array(["x" * 10_000, *["y"] * 9_999], dtype=object)
    encoder = Encoder()
    encoder.tree(words, "words")
    assert sum(array.nbytes for array in encoder.arrays) == 10_000 + 9_999 + 8 * 10_000


@pytest.mark.parametrize(
    "ends, shape",
    [
        ([1, 3], [3]), ([1, 3], [-1]), ([1, 3], [True]), ([1, 3], 2), ([1, 3], [2, 0]), ([1, 3], [2**70, 0]),
        ([1, 2], [2]), ([1, 4], [2]), ([2, 1], [2]), ([-1, 3], [2]), ([2**62, 3], [2]), ([], [0]),
    ],
)  # fmt: skip
def test_strings_with_other_ends_or_shapes_are_refused(ends, shape):
    data = np.frombuffer(b"abc", dtype=np.uint8)
    with pytest.raises((ValueError, OverflowError)):
        decoded({"strings": 0, "ends": 1, "shape": shape}, data, np.array(ends, dtype=np.int64))


@pytest.mark.parametrize("data", [np.frombuffer(b"a\xffc", np.uint8), np.zeros(3), np.zeros((3, 1), np.uint8)])
def test_bytes_that_are_no_strings_are_refused(data):
    with pytest.raises(ValueError, match=r"decode|cannot be strings"):
        decoded({"strings": 0, "ends": 1, "shape": [2]}, data, np.array([1, 3]))
    with pytest.raises(ValueError, match="cannot be strings"):
        decoded({"strings": 0, "ends": 1, "shape": [2]}, np.zeros(3, np.uint8), np.array([1.0, 3.0]))
