"""``dsna warmup``: every kernel that the tasks need is in the cache afterwards."""

import json
import os
import subprocess
import sys

import pytest
from tests.cli.commands import run_without

PROGRAM = """
import sys
from dsna.cli.main import main
sys.argv = ["dsna", "warmup"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
import json
from dsna._kernels.approximation.groups import group_neighbors
from dsna_vision._kernels.detection import cast_votes
from dsna._kernels.approximation.neighbors import gather
from dsna._kernels.approximation.query import approximate
from dsna_vision._kernels.second_level.rescoring import add_trees
from dsna_vision._kernels.second_level.frames import bend_axes, describe_ring
from dsna_vision._kernels.structured import grow_structured
from dsna._kernels.forest.tree import grow_tree, route
kernels = [group_neighbors, cast_votes, gather, approximate, grow_structured, grow_tree, route]
kernels += [add_trees, bend_axes, describe_ring]
print(json.dumps({one.py_func.__name__: len(one.signatures) for one in kernels}))
"""


def test_warmup_compiles_all_tasks_and_names_the_cache():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    *said, found = done.stdout.splitlines()
    assert [line for line in said if " of " in line] == [
        "1 of 4: classification",
        "2 of 4: regression",
        "3 of 4: edges",
        "4 of 4: training edges of two levels",
    ]
    place = said[-1].removeprefix("All kernels are in ").removesuffix(".")
    assert os.path.isdir(place)
    assert any(name.startswith("tree.grow_tree") and name.endswith(".nbc") for name in os.listdir(place))
    assert set(json.loads(found).values()) == {1}


@pytest.mark.parametrize(
    "missing, kept, said",
    [
        ("lightgbm", ["classification", "regression", "edges"], "training edges of two levels"),
        ("skimage", ["classification", "regression"], "edges in photos"),
    ],
)
def test_what_is_not_installed_is_skipped_and_named(missing, kept, said):
    done = run_without([missing], "warmup")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.partition(": ")[2] for line in lines if " of " in line and line[0].isdigit()] == kept
    assert [line for line in lines if line.startswith("Skipped: ")] == [line for line in lines if said in line]
    assert "pip install" in done.stdout
