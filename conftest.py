"""Property tests draw the same examples in every run of `make test`, and new ones in `make slow`."""

import os
import secrets

import pytest
from hypothesis import is_hypothesis_test, settings

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("random", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_collection_modifyitems(items):
    """Mark property tests."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.property)


@pytest.fixture(scope="session")
def ray_token():
    """Without it nobody else may use the clusters of the tests; Ray reads it once in a process."""
    return secrets.token_hex(32)


@pytest.fixture
def shipped(monkeypatch):
    """A quick detector in the place of the one that comes with dsna."""
    pytest.importorskip("PIL")
    from tests.edges.quick import Quick

    import dsna_vision.edges

    detector = Quick()
    monkeypatch.setattr(dsna_vision.edges, "pretrained", lambda levels=2: detector)
    return detector
