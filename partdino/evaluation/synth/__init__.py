"""Synthetic photos of animals and faces, with exact part masks and keypoints.

For tests, and for trying the evaluators before downloading a benchmark.
"""

from partdino.evaluation.synth.layouts import LAYOUTS, Layout, prepare_folder, write_layout
from partdino.evaluation.synth.scene import Scene, render_animal, render_face

__all__ = [
    "LAYOUTS",
    "Layout",
    "Scene",
    "prepare_folder",
    "render_animal",
    "render_face",
    "write_layout",
]
