"""``annotations.zip`` and ``labels.json`` for CVAT: masks as run lengths, labels in our colours."""

from __future__ import annotations

import zipfile

from partdino.files import atomic_path, write_json
from partdino.runs.exports.formats.coco import CocoExporter

_INSIDE = "annotations/instances_default.json"  # where CVAT looks


class CvatExporter(CocoExporter):
    """Writes what a CVAT task takes as "COCO 1.0", and the labels to paste into its constructor."""

    help = "CVAT: annotations.zip (COCO 1.0) and labels to paste"
    knows_by_stem = True

    def close(self) -> None:
        """Write both files; raises `OutputError`."""
        labels = [
            {"name": part.name, "color": part.hex, "type": "any", "attributes": []}
            for part in self.target.parts
        ]
        write_json(self.out / "labels.json", labels)
        with (
            atomic_path(self.out / "annotations.zip") as temporary,
            zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open(_INSIDE, "w", force_zip64=True) as stream,
        ):
            self.save(stream)


EXPORTER = CvatExporter
