"""Experiments on why the method works, each a command of ``partdino study``."""
