"""Thousands of forged model files; tests/io/test_forged_models.py examines the first of them."""

import os

import pytest
from tests.io import forged_trials as trials

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not hasattr(os, "fork"), reason="cases are examined in forked processes")
def test_forged_files_are_refused_or_sound():
    verdicts = list(trials.examined(300, 6000))
    assert len(verdicts) == 5700
    assert [one for one in verdicts if one[2] not in ("refused", "sound")] == []
