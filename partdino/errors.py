"""Errors a user can cure. The CLI prints their message as one line and never a traceback."""


class PartDinoError(Exception):
    """Base of every error whose message is written for the user: what is wrong, where, the cure."""


class InputError(PartDinoError):
    """An input file or folder is missing, empty, unreadable or not an image."""


class OutputError(PartDinoError):
    """An output cannot be written, or exists and may not be overwritten."""


class OutputNameError(OutputError):
    """No file of that name can be there: it is too long, or a file is where a folder must be."""


class ConfigError(PartDinoError):
    """An option or a configuration file holds a value that cannot work."""


class WeightsError(PartDinoError):
    """Weights are missing, cannot be fetched, fail their hash, or do not fit the backbone."""


class ModelError(PartDinoError):
    """A fitted model file is malformed or does not fit the backbone or weights at hand."""


class DatasetError(PartDinoError):
    """A benchmark folder or annotation file is missing or malformed."""


class StoreError(PartDinoError):
    """A feature store is missing, unfinished, damaged, or does not fit what it is used with."""


class ReviewError(PartDinoError):
    """A review is damaged, is of other parts, or is asked for a change that makes no sense."""


class DeviceError(PartDinoError):
    """A device has failed in a way that no later computation of the process would survive."""


class ClusterLostError(DeviceError):
    """The head of a Ray cluster is gone. Ray soon ends the process, and its calls never return."""


class Stopped(BaseException):
    """A signal asks the run to end. No error: nothing that handles errors must stop it.

    Attributes
    ----------
    signal
        Its number.
    state
        How far the run has come and how to go on, for the user.
    """

    def __init__(self, signal: int, state: str = "") -> None:
        super().__init__(signal, state)
        self.signal = signal
        self.state = state
