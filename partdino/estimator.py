"""`PartDiscovery`: the whole method behind the interface of a scikit-learn clusterer."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from partdino.describe.description import ImageDescription
from partdino.describe.placement import describe_images
from partdino.describe.settling import settle
from partdino.describe.source import Source
from partdino.describe.workers import stage_workers
from partdino.engine.outcomes import Outcome
from partdino.engine.pool import Pool
from partdino.engine.threads import one_thread
from partdino.errors import InputError
from partdino.images.find import search_images
from partdino.images.formats import unread_sentence
from partdino.images.remote import tree_path
from partdino.images.sizes import resize_image
from partdino.options import FittedOptions, Options, SettledOptions, validate
from partdino.parts.fitting import fit_model
from partdino.parts.labelling import label_image, outline_pixels
from partdino.parts.model import PartModel
from partdino.parts.model_file import load_model, save_model
from partdino.parts.outline import OUTLINE_SIZE
from partdino.parts.result import PartSegmentation
from partdino.runs.store import DescriptionStore

Images = str | Path | np.ndarray | Sequence[str | Path | np.ndarray]


class PartDiscovery(Options, ClusterMixin, BaseEstimator):
    """Splits the object in every image into K parts, the same part with the same number.

    The parameters are the fields of `partdino.options.Options`, all by keyword, and nothing is done
    with them before `fit`.

    Images are given as a folder, a path, a URL, a uint8 (H, W, 3) RGB or (H, W) grey array, or a
    sequence of these. Results come in that order, those of a folder sorted by name, those of the
    same file once. An image that cannot be read is left out with a warning and listed in
    `failures_`. Arrays are named ``image_000000``.. by their place.

    Attributes
    ----------
    model_ : PartModel
        What was learnt.
    options_ : FittedOptions
        What the parameters stand for on this machine and with these images.
    n_parts_ : int
        K, the number of parts: `parts`, or what was chosen where that is "auto" or a range.
    parts_curve_ : PartCurve or None
        What K was chosen by, if it was chosen by `fit`.
    failures_ : list of tuple of str
        Name and reason of every image that the last call could not use.

    Examples
    --------
    >>> from partdino import PartDiscovery
    >>> discovery = PartDiscovery(parts=6).fit("photos")  # doctest: +SKIP
    >>> discovery.predict("photos/bird.jpg")[0].label_map.shape  # doctest: +SKIP
    (375, 500)
    """

    # An estimator is itself alone, whatever parameters another one has.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def fit(self, images: Images, y: None = None) -> PartDiscovery:
        """Learn the parts of a collection of images.

        Parameters
        ----------
        images
            See the class.
        y
            Ignored.

        Raises
        ------
        PartDinoError
            A parameter cannot work, weights cannot be had, or no image has a foreground.
        """
        with TemporaryDirectory(prefix="partdino-") as folder:
            self._fit(as_sources(images), DescriptionStore(Path(folder)))
        return self

    def fit_predict(
        self, images: Images, y: None = None, outline_size: int = OUTLINE_SIZE
    ) -> list[PartSegmentation]:
        """Learn the parts of images and label the same images, describing each only once.

        Equal to ``fit(images).predict(images)``; `outline_size` as there.
        """
        sources = as_sources(images)
        with TemporaryDirectory(prefix="partdino-") as folder:
            store = DescriptionStore(Path(folder))
            names = self._fit(sources, store)
            named = {source.name: source for source in sources}
            return [self._label(named[name], store.read(name), outline_size) for name in names]

    def predict(self, images: Images, outline_size: int = OUTLINE_SIZE) -> list[PartSegmentation]:
        """Label images with the parts that were learnt.

        Parameters
        ----------
        images
            See the class.
        outline_size
            Outlines follow the edges of an image at up to so many pixels on its longer side; 0: as
            fine as `region_size`.

        Returns
        -------
        list of PartSegmentation
            One for every readable image, in their order.
        """
        return list(self.iter_predict(images, outline_size))

    def iter_predict(
        self, images: Images, outline_size: int = OUTLINE_SIZE
    ) -> Iterator[PartSegmentation]:
        """Label images one after the other: `predict` for more than fit into memory."""
        check_is_fitted(self)
        sources = as_sources(images)
        self.failures_: list[tuple[str, str]] = []
        with self._workers() as pool:
            outcomes = describe_images(sources, self._backbone, self.options_, pool)
            named = {source.name: source for source in sources}
            for outcome in self._successes(outcomes):
                yield self._label(named[outcome.name], outcome.result, outline_size)

    def save(self, path: str | Path) -> None:
        """Write what was learnt to a safetensors file; raises `OutputError`."""
        check_is_fitted(self)
        save_model(self.model_, Path(path))

    @classmethod
    def load(cls, path: str | Path, **running: object) -> PartDiscovery:
        """Read a saved model.

        Parameters
        ----------
        path
            Written by `save` or by ``partdino segment``.
        **running
            Parameters that say how to run, not what to compute: ``weights``, ``masks``,
            ``device``, ``precision``, ``batch_size``, ``workers``, ``engine``.

        Raises
        ------
        ModelError
            The file is no model, or the backbone's weights differ from those it was fitted with.
        """
        model = load_model(Path(path))
        asked = model.asked(running, str(path))
        discovery = cls(**vars(asked))
        discovery._keep(model)
        discovery._backbone, settled, _ = settle(asked)
        discovery.options_ = FittedOptions(**vars(settled), parts=model.options.parts)
        discovery.failures_ = []
        model.check_backbone(discovery._backbone)
        return discovery

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _fit(self, sources: Sequence[Source], store: DescriptionStore) -> list[str]:
        """Describe and fit; return the names of the images that could be read."""
        asked = validate(self.get_params())
        self._backbone, settled, _ = settle(asked)
        self.options_: SettledOptions = settled
        self.failures_ = []
        names = []
        with self._workers() as pool:
            outcomes = describe_images(sources, self._backbone, self.options_, pool)
            for outcome in self._successes(outcomes):
                store.write(outcome.name, outcome.result)
                names.append(outcome.name)
            weights_sha256 = self._backbone.weights.sha256
            self._keep(fit_model(store, names, asked.parts, settled, weights_sha256, pool))
        self.options_ = FittedOptions(**vars(settled), parts=self.n_parts_)
        return names

    def _keep(self, model: PartModel) -> None:
        self.model_ = model
        self.n_parts_ = model.options.parts
        self.parts_curve_ = model.curve

    @one_thread()
    def _label(
        self, source: Source, description: ImageDescription, outline_size: int
    ) -> PartSegmentation:
        pixels = outline_pixels(description, self.model_, outline_size)
        photo = _load_small(source, pixels) if pixels else None
        return label_image(source.name, description, self.model_, photo=photo)

    def _workers(self) -> AbstractContextManager[Pool | None]:
        options = self.options_
        return stage_workers(options.workers, options.engine, options.device)

    def _successes(self, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
        """Yield what succeeded; warn of what failed and keep it in `failures_`."""
        for outcome in outcomes:
            if outcome.failure is None:
                yield outcome
            else:
                self.failures_.append((outcome.name, outcome.failure))
                warnings.warn(f"left out {outcome.name}: {outcome.failure}", stacklevel=3)


def _load_small(source: Source, pixels: int) -> np.ndarray | None:
    """Return a photo of at most so many pixels; None, with a warning, where it is gone by now."""
    try:
        photo = source.load(pixels).pixels
    except InputError as error:
        warnings.warn(f"outline of {source.name} not refined: {error}", stacklevel=4)
        return None
    scale = min(1.0, math.sqrt(pixels * 3 / photo.size))  # of what was in memory already
    return resize_image(photo, (round(len(photo) * scale), round(photo.shape[1] * scale)))


def as_sources(images: Images) -> list[Source]:
    """Turn whatever `PartDiscovery` takes into named sources.

    Raises
    ------
    InputError
        There is no image, or an array is not uint8 (H, W, 3) or (H, W).
    """
    items = [images] if isinstance(images, (str, Path, np.ndarray)) else list(images)
    placed = [
        (place, Source(f"image_{place:06}", _as_rgb(item, place)))
        for place, item in enumerate(items)
        if isinstance(item, np.ndarray)
    ]
    places = {
        Path(tree_path(item)): place
        for place, item in reversed(list(enumerate(items)))
        if not isinstance(item, np.ndarray)
    }
    named = [item for item in items if not isinstance(item, np.ndarray)]
    files, unread = search_images(named) if named or not placed else ([], {})
    if sentence := unread_sentence(unread):
        warnings.warn(sentence, stacklevel=3)
    placed += [(_place(file.path, places), Source(file.name, file.path)) for file in files]
    return [source for _, source in sorted(placed, key=itemgetter(0))]


def _place(file: Path | str, places: Mapping[Path, int]) -> int:
    """Return the place of a file, or of the folder that it is in; what lists name comes last."""
    path = Path(tree_path(file))
    return next((places[p] for p in (path, *path.parents) if p in places), len(places))


def _as_rgb(array: np.ndarray, index: int) -> np.ndarray:
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or 0 in array.shape:
        raise InputError(
            f"image {index} is {array.dtype} {array.shape}; pass uint8 (H, W, 3) or (H, W)"
        )
    if array.ndim == 2:
        return np.repeat(array[:, :, None], 3, axis=2)
    if array.shape[2] != 3:
        raise InputError(f"image {index} has {array.shape[2]} channels; pass RGB or grey")
    return array
