"""A finished run in the formats of other tools, one file a format: `partdino.runs.exports.formats`.

::

    output folder --> FinishedRun --> ExportImage, one at a time --> Exporter --> OUT
"""
