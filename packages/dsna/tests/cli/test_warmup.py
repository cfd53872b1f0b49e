"""``dsna warmup``: every kernel that the tasks need is in the cache afterwards."""

import json
import os
import subprocess
import sys

from dsna.cli.warmup import compile_kernels

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
        "1 of 3: classification",
        "2 of 3: regression",
        "3 of 3: edges",
    ]
    place = said[-1].removeprefix("All kernels are in ").removesuffix(".")
    assert os.path.isdir(place)
    assert any(name.startswith("tree.grow_tree") and name.endswith(".nbc") for name in os.listdir(place))
    assert set(json.loads(found).values()) == {1}


def test_without_other_packages_it_compiles_tables(monkeypatch, capsys):
    monkeypatch.setattr("dsna.cli.warmup.plugins", lambda group: {})
    compile_kernels()
    assert [line for line in capsys.readouterr().out.splitlines() if " of " in line] == [
        "1 of 2: classification",
        "2 of 2: regression",
    ]
