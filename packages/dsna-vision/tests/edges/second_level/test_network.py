"""The small network: asked as plain arrays, against scipy and, where it is installed, torch."""

import numpy as np
import pytest
from scipy.ndimage import correlate, gaussian_filter
from scipy.special import expit
from tests.edges.second_level.networks import some_network

from dsna.extend.containers import InvariantError
from dsna_vision.edges.second_level.candidates import Candidates
from dsna_vision.edges.second_level.network.layers import Convolution, flow, framed, joined_planes
from dsna_vision.edges.second_level.network.network import Network, mirrored, network_planes, turned
from dsna_vision.edges.second_level.planes import View

N_PLANES = 16
MEAN = np.float32(0.1)


def some_view(height, width, seed=0):
    rng = np.random.default_rng(seed)
    maps = tuple(rng.random((height, width)).astype(np.float32) ** 4 for _ in range(2))
    return View(rng.integers(0, 256, (height, width, 3), dtype=np.uint8), maps)


def everywhere(view):
    places = np.argwhere(np.ones(view.edges.shape, dtype=bool))
    return Candidates(places, np.ones(len(places), dtype=np.float32))


def convolved(planes, layer, step=1):
    """Without frames, by scipy, in double precision."""
    weight = layer.weight.astype(np.float64)
    sums = [
        sum(correlate(plane, taps, mode="constant") for plane, taps in zip(planes, of_plane, strict=True))
        for of_plane in weight
    ]
    return np.stack(sums)[:, ::step, ::step] + layer.bias[:, None, None]


def log_odds(planes, layers):
    """The network written out: four levels down and three up."""

    def relu(x):
        return np.maximum(x, 0)

    first, second, third, fourth = layers[:3], layers[3:6], layers[6:11], layers[11:16]
    levels, x = [], planes
    for step, (down, *blocks) in zip((1, 2, 2, 2), (first, second, third, fourth), strict=True):
        x = relu(convolved(x, down, step))
        for a, b in zip(blocks[::2], blocks[1::2], strict=True):
            x = relu(x + convolved(relu(convolved(x, a)), b))
        levels.append(x)
    for layer, fine in zip(layers[16:19], levels[2::-1], strict=True):
        height, width = fine.shape[1:]
        coarse = x.repeat(2, axis=1).repeat(2, axis=2)[:, :height, :width]
        x = relu(convolved(np.concatenate([fine, coarse]), layer))
    return convolved(x, layers[19])[0]


@pytest.mark.parametrize("shape", [(1, 1), (17, 22), (46, 35)])
def test_log_odds_are_those_of_scipy(shape):
    network = some_network(N_PLANES)
    planes = np.random.default_rng(1).normal(size=(N_PLANES, *shape)).astype(np.float32)
    found = flow(framed(planes), network.layers, joined_planes)[0, 1:-1, 1:-1]
    expected = log_odds(planes.astype(np.float64), network.layers)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max() + 1e-5)
    assert np.ptp(expected) > 0 or shape == (1, 1)


def test_log_odds_are_those_of_torch():
    torch = pytest.importorskip("torch")
    network = some_network(N_PLANES)

    class Layer:
        def __init__(self, layer):
            self.weight, self.bias = torch.from_numpy(layer.weight), torch.from_numpy(layer.bias)

        def __call__(self, x, step=1, added=0, rectified=True):
            x = torch.nn.functional.conv2d(x, self.weight, self.bias, stride=step, padding=1) + added
            return torch.relu(x) if rectified else x

    def joined(fine, coarse):
        coarse = torch.nn.functional.interpolate(coarse, scale_factor=2)
        return torch.cat([fine, coarse[:, :, : fine.shape[2], : fine.shape[3]]], 1)

    planes = np.random.default_rng(1).normal(size=(N_PLANES, 25, 38)).astype(np.float32)
    found = flow(framed(planes), network.layers, joined_planes)[0, 1:-1, 1:-1]
    expected = flow(torch.from_numpy(planes)[None], list(map(Layer, network.layers)), joined)[0, 0].numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_shares_at_candidates():
    network, view = some_network(N_PLANES), some_view(41, 52)
    planes = network_planes(view, np.float32(view.edges.mean()))
    scaled = (planes - network.offset[:, None, None]) / network.scale[:, None, None]
    expected = expit(log_odds(scaled.astype(np.float64), network.layers)).repeat(2, axis=0).repeat(2, axis=1)[:41]
    found = network(view, everywhere(view)).reshape(41, 52)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.ptp(found) > 0.05


def test_tiles_leave_no_trace():
    network, view = some_network(N_PLANES), some_view(90, 700)
    asked = everywhere(view)[np.arange(0, 90 * 700, 7)]
    found = network(view, asked)
    np.testing.assert_array_equal(network(view, asked, tile=48), found)
    changed = View(view.photo.copy(), view.maps)
    changed.photo[:, -40:] = 255
    away = asked.places[:, 1] < 700 - 40 - 192
    again = network(changed, asked)
    np.testing.assert_array_equal(again[away], found[away])
    assert not np.array_equal(again[~away], found[~away])


def test_planes_of_mirrored_and_turned_photos():
    view = some_view(30, 44)
    planes = network_planes(view, MEAN)
    assert planes.shape == (N_PLANES, 15, 22)
    for change, expected in ((np.fliplr, mirrored(planes)), (np.rot90, turned(planes))):
        other = View(change(view.photo).copy(), tuple(change(one).copy() for one in view.maps))
        np.testing.assert_allclose(network_planes(other, MEAN), expected, atol=1e-4)


def test_odd_photos():
    network, view = some_network(N_PLANES), some_view(31, 45)
    assert network_planes(view, MEAN).shape == (N_PLANES, 16, 23)
    none = Candidates(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.float32))
    assert network(view, none).shape == (0,)
    assert np.isfinite(network(some_view(1, 1), everywhere(some_view(1, 1)))).all()


def test_arrays_that_do_not_belong_together_are_refused():
    network = some_network(N_PLANES)
    assert network.n_maps == 2
    state, layers = network.state, network.layers
    wide = Convolution(np.zeros((1, 17, 3, 3), np.float32), np.zeros(1, np.float32))
    for change, said in (
        ({"layers": layers[:-1]}, "follow one another"),
        ({"layers": [*layers[:-1], wide]}, "follow one another"),
        ({"offset": network.offset[1:], "scale": network.scale[1:]}, "follow one another"),
        ({"scale": 0 * network.scale}, "scale"),
    ):
        with pytest.raises(InvariantError, match=said):
            Network.restored({**state, **change})
    with pytest.raises(InvariantError, match="weight"):
        Convolution(np.full((1, 1, 3, 3), np.nan, np.float32), np.zeros(1, np.float32))
    with pytest.raises(InvariantError, match="weight"):
        Convolution(np.zeros((1, 1, 5, 5), np.float32), np.zeros(1, np.float32))


@pytest.fixture
def training(monkeypatch):
    """With few steps, and nothing to say."""
    pytest.importorskip("torch")
    module = pytest.importorskip("dsna_vision.edges.second_level.network.training")
    monkeypatch.setattr(module, "EPOCHS", (20, 10))
    return module


def said(text):
    assert text.startswith("network: ")


def test_it_learns(training):
    """Where a plane is above 0; the same from the same seed."""
    rng = np.random.default_rng(0)
    lessons = []
    for _ in range(3):
        planes = gaussian_filter(rng.normal(size=(N_PLANES, 24, 32)), (0, 2, 2)).astype(np.float16)
        lessons.append(training.Lesson(planes, (planes[3] > 0).astype(np.float32), np.ones((24, 32), np.float32)))
    network, again = (training.train_network(lessons, np.random.default_rng(1), said) for _ in range(2))
    found = network.log_odds(lessons[0].planes.astype(np.float32))
    assert np.mean((found > 0) == lessons[0].share) > 0.8
    np.testing.assert_array_equal(again.log_odds(lessons[0].planes.astype(np.float32)), found)


def test_folded_layers_answer_as_before(training):
    torch = pytest.importorskip("torch")
    layer = training._Layer.drawn(torch, 3, 4, np.random.default_rng(0))
    planes = torch.from_numpy(np.random.default_rng(1).normal(2, 3, (1, 3, 40, 40)).astype(np.float32))
    for _ in range(100):  # until the mean and spread that are kept are those of the photo
        expected = layer(planes, step=2).detach()
    kept = layer.folded().kept()
    found = kept(framed(planes[0].numpy()), step=2)[:, 1:-1, 1:-1]
    np.testing.assert_allclose(found, expected[0].numpy(), atol=0.02)
    assert expected.std() > 0.1
