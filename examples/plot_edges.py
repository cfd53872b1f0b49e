"""
Edges in a photo
================

A forest votes for the outlines of training patches that look like those of a photo, and what it finds is scored anew,
each edge in a frame of its own. The detector comes with the package and is for research only.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

from dsna_vision.edges import pretrained

N_PIXELS = 427  # rows of the photo that are used

# %%
# A photo that scikit-learn ships, at half its size.

photo = load_sample_image("china.jpg")[:N_PIXELS:2, : N_PIXELS * 3 // 2 : 2].copy()
edges = pretrained().detect(photo)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.imshow(photo)
right.imshow(edges, cmap="gray_r")
for ax in (left, right):
    ax.set_axis_off()

# %%
# ``dsna edges detect photo.jpg --overlay --threshold 0.3`` draws clear edges over a photo of your own.

plt.show()
