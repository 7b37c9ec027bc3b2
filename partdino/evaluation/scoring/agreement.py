"""NMI and ARI in percent under their names in the results."""

from __future__ import annotations

import numpy as np

from partdino.metrics import ari_from_contingency, nmi_from_contingency


def agreement(table: np.ndarray, prefix: str = "") -> dict[str, float]:
    """Return ``PREFIXnmi`` and ``PREFIXari`` of a contingency table in percent, none if empty."""
    if not table.any():
        return {}
    return {
        f"{prefix}nmi": 100 * nmi_from_contingency(table),
        f"{prefix}ari": 100 * ari_from_contingency(table),
    }
