"""From what a user names (folders, files, lists) to upright RGB arrays."""

from partdino.images.find import find_images
from partdino.images.listing import ImageFile
from partdino.images.read import ImageError, LoadedImage, read_image

__all__ = ["ImageError", "ImageFile", "LoadedImage", "find_images", "read_image"]
