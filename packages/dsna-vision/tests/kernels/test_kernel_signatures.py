"""Whatever the caller's arrays look like, each kernel is compiled once: a second signature costs seconds."""

import json
import os
import subprocess
import sys

# In a process of its own, so that other tests' calls do not count.
PROGRAM = """
import importlib, json, pkgutil, tempfile
from pathlib import Path
import joblib
import numpy as np
from sklearn.ensemble import RandomForestClassifier
import dsna
import dsna._kernels
import dsna_vision._kernels

rng = np.random.default_rng(0)
plain = rng.normal(size=(60, 4))
read_only = plain.copy()
read_only.flags.writeable = False
arrays = [
    plain,
    plain.astype(np.float32),
    np.asfortranarray(plain),
    read_only,
    np.repeat(plain, 2, axis=0)[::2],
    np.round(10 * plain).astype(np.int32),
]
few = {"n_estimators": 5, "random_state": 0}
more = dsna.Approximation(n_clusters=2, max_iter=3, hull_energy=0.9)
forests = dsna.CostSensitiveForestClassifier(5), dsna.CostSensitiveForestRegressor(5)
classes, labels = (plain[:, 0] > 0.8).astype(int), plain[:, 0]
for k, X in enumerate(arrays):
    text = np.array(["no", "yes"])[classes]
    read_only_labels = labels.copy()
    read_only_labels.flags.writeable = False
    for y in (classes, text, classes.astype(np.int8)):
        dsna.CostSensitiveForestClassifier(**few, bootstrap=k % 2 == 1).fit(X, y).predict(X)
    for y in (labels, labels.astype(np.float32), np.asfortranarray(np.column_stack([labels, -labels])), classes):
        dsna.CostSensitiveForestRegressor(**few, metric_rounds=1 + k % 2).fit(X, y).predict(X)
    dsna.DSNAClassifier(forests[0], more, random_state=0).fit(X, text).predict(X)
    regressor = dsna.DSNARegressor(forests[1], more, random_state=0)
    regressor.fit(X, read_only_labels, sample_weight=np.ones(60, np.float32)).predict(X)
dsna.DSNAClassifier(**dsna.presets.paper("classification")).fit(plain, classes).predict(plain)
dsna.DSNARegressor(**dsna.presets.paper("regression")).fit(plain, labels).predict(plain)
dsna.DSNARegressor(forests[1], n_jobs=2).fit(plain, np.column_stack([labels, labels])).predict(plain)
grown = dsna.DSNAClassifier(forests[0], metric="euclidean").fit(plain, classes)
grown.add_samples(plain[:3], classes[:3])
grown.predict(plain)
dsna.DSNAClassifier(RandomForestClassifier(5, random_state=0)).fit(plain, classes).predict(plain)

from dsna.distributed import DistributedDSNAClassifier, DistributedDSNARegressor

with tempfile.TemporaryDirectory() as folder:
    for k, store in enumerate((None, Path(folder))):  # in memory, and mapped read-only
        for kind, ordinary, y in (
            (DistributedDSNAClassifier, dsna.DSNAClassifier(forests[0]), classes),
            (DistributedDSNARegressor, dsna.DSNARegressor(forests[1], metric="euclidean", max_neighbors=None), labels),
        ):
            parts = [(arrays[k], y), (read_only[:9], y[:9])]
            kind(ordinary, sample_size=100, store=store).fit(parts, None).predict(plain)

from dsna_vision.datasets import load_bsds500
from dsna_vision.edges import EdgeDetector, TwoLevelDetector, load_detector
from tests.boundary_folders import scene, write_bsds

with tempfile.TemporaryDirectory() as folder:
    write_bsds(Path(folder), "train", 4)
    photos = load_bsds500(folder, "train")
    plain = EdgeDetector(n_estimators=1, n_patches=100, n_pool=0, random_state=0)
    plain.fit(photos).detect(scene()[0], method="se")
    detector = EdgeDetector(n_estimators=2, n_patches=150, n_pool=150, n_jobs=2, random_state=0).fit(photos)
    detector.save(Path(folder) / "model.dsna")
    joblib.dump(detector, Path(folder) / "model.joblib")
    loaded = load_detector(Path(folder) / "model.dsna")
    mapped = joblib.load(Path(folder) / "model.joblib", mmap_mode="r")  # its arrays are read-only
    photo, fixed = scene()[0], scene()[0]
    fixed.flags.writeable = False
    asked = [(detector, photo), (loaded, np.asfortranarray(photo)), (mapped, fixed), (mapped, photo[:, :, 0])]
    for one, given in asked:
        for method in ("se", "kernel", "hull", "dsna"):
            one.detect(given, method=method, scales=(0.5, 1.0))
    few = EdgeDetector(n_estimators=2, n_patches=150, n_pool=0)
    two = TwoLevelDetector(few, "boosted+perceptrons", n_estimators=2, random_state=0).fit(photos)
    two.save(Path(folder) / "two.dsna")
    joblib.dump(two, Path(folder) / "two.joblib")
    for one in (two, load_detector(Path(folder) / "two.dsna"), joblib.load(Path(folder) / "two.joblib", mmap_mode="r")):
        for given in (photo, np.asfortranarray(photo), fixed, photo[:, :, 0], photo[:31, :45]):
            one.detect(given)

found = {}
for package in (dsna._kernels, dsna_vision._kernels):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(module.name)
        for name, value in vars(module).items():
            if hasattr(value, "signatures") and not name.startswith("_"):
                found[name] = [str(s) for s in value.signatures]
print(json.dumps(found))
"""


def test_each_kernel_has_one_signature():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert {"grow_tree", "route", "gather", "approximate"} <= set(found)
    used = {name: signatures for name, signatures in found.items() if signatures}
    assert {"grow_tree", "route", "gather", "approximate", "gather_from_shard", "merge_shards"} <= set(used)
    assert {"cut_masks", "look_up", "look_up_bins", "outlines", "grow_structured"} <= set(used)
    assert {"route_patches", "cast_votes", "bend_axes", "describe_ring", "add_trees"} <= set(used)
    assert "fill_layer" in used
    assert {name: s for name, s in used.items() if len(s) > 1} == {}
