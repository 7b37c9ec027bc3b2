"""The script of a report: modules of the review's page as one, as a file has none beside it."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

_MODULES = ("make", "tip", "draw", "table", "report")  # each after those that it imports
_IMPORT = re.compile(r"^import \{[^}]*\} from \"\./\w+\.js\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)


def report_script() -> str:
    """Return the script, without anything that would end it in HTML."""
    folder = files("partdino.runs.review.web") / "static"
    modules = ((folder / f"{name}.js").read_text(encoding="utf-8") for name in _MODULES)
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", module)) for module in modules)


def source_hash(script: str) -> str:
    """Return what a Content-Security-Policy calls a script that it lets run, and no other.

    >>> source_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
