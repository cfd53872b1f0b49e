"""A network that has learned nothing."""

import numpy as np

from dsna_vision.edges.second_level.network.layers import Convolution, widths
from dsna_vision.edges.second_level.network.network import Network


def some_network(n_planes):
    rng = np.random.default_rng(0)

    def layer(n_in, n_out):
        weight = rng.normal(size=(n_out, n_in, 3, 3)) * np.sqrt(2 / (9 * n_in))
        return Convolution(weight.astype(np.float32), rng.normal(0, 0.1, n_out).astype(np.float32))

    offset, scale = rng.normal(0.2, 0.1, n_planes), rng.uniform(0.1, 0.3, n_planes)
    layers = [layer(*width) for width in widths(n_planes)]
    return Network(offset.astype(np.float32), scale.astype(np.float32), layers)
