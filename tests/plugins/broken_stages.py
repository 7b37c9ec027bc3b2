"""Stages that are wrong in one way each."""

import numpy as np


def nan_map(image):
    return np.full(image.shape[:2], np.nan)


def bright_map(image):
    return image.mean(axis=2)


def small_map(image):
    return np.zeros((3, 3))


def float_regions(image, boundary_map):
    return np.zeros(image.shape[:2])


def flat_features(image):
    return np.zeros((4, 4))


def infinite_features(image):
    return np.full((4, 4, 8), np.inf)


def failing_regions(image, boundary_map):
    raise RuntimeError("out of cheese")
