"""``images/``, ``masks/`` and ``metadata.jsonl``: an imagefolder of Hugging Face's datasets."""

from __future__ import annotations

import json

from partdino.files import atomic_path
from partdino.runs.exports.exporter import Exporter, Target
from partdino.runs.exports.finished import ExportImage
from partdino.runs.writers.labels import write_label_map
from partdino.runs.writers.spool import Spool


class HfExporter(Exporter):
    """Writes pairs of a photo and a grey mask whose values are the parts."""

    help = "Hugging Face imagefolder: photos, grey masks"
    needs_photos = True

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._lines = Spool(target.out)

    @classmethod
    def file(cls, stem: str) -> str:
        """Where the mask is."""
        return f"masks/{stem}.png"

    def add(self, image: ExportImage) -> None:
        """Write one mask; errors as of `Exporter.add`."""
        write_label_map(self.out / self.file(image.stem), image.label_map)
        line = {
            "file_name": f"{self.photo_folder}/{image.name}",
            "mask_file_name": self.file(image.stem),
        }
        self._lines.write(json.dumps(line) + "\n")

    def close(self) -> None:
        """Write `metadata.jsonl`; raises `OutputError`."""
        with atomic_path(self.out / "metadata.jsonl") as temporary, temporary.open("wb") as stream:
            self._lines.move_to(stream)


EXPORTER = HfExporter
