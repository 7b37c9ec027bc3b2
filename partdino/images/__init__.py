"""From what a user names (folders, files, lists) to upright RGB arrays."""

from partdino.images.find import ImageFile, find_images
from partdino.images.read import ImageError, LoadedImage, read_image

__all__ = ["ImageError", "ImageFile", "LoadedImage", "find_images", "read_image"]
