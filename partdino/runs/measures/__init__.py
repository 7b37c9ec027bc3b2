"""`partdino measure`: the parts of a finished run as tables and a figure."""
