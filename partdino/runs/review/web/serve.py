"""Serving a review until it is ended."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import FrameType

import uvicorn

from partdino.errors import ConfigError
from partdino.runs.lock import lock_folder
from partdino.runs.measures.user_table import join, read_user_table
from partdino.runs.reporting import Reporter
from partdino.runs.review.beside import Beside
from partdino.runs.review.finished import open_run
from partdino.runs.review.web.app import review_app
from partdino.runs.review.web.downloads import Downloads
from partdino.runs.review.web.session import ReviewSession

_ADDRESS = "127.0.0.1"  # this machine alone
_TOKEN_BYTES = 32
_PATIENCE = 1  # seconds for answers that are under way at the end


def serve_review(
    folder: Path,
    port: int,
    reporter: Reporter,
    ready: Callable[[str], None],
    metadata: Path | None = None,
    beside: Path | None = None,
) -> None:
    """Serve the review of a run's output folder until a signal ends it.

    Parameters
    ----------
    folder
        The output folder of a finished run, which is locked meanwhile.
    port
        Where to listen on 127.0.0.1; 0 takes one that is free.
    reporter
        Where to warn of photos that were replaced, and of names without a photo.
    ready
        Called with the address to open, once it answers.
    metadata
        A table of the user's, see `read_user_table`.
    beside
        The output folder of another finished run over the same photos, which is only read.

    Raises
    ------
    PartDinoError
        There is no finished run, its review cannot be read, the run beside it has other photos, or
        the port is taken.
    """
    run = open_run(folder)
    told = join(read_user_table(metadata), list(run.names)) if metadata else None
    if told and told.unmatched:
        reporter.warn(told.unmatched)
    run.warn_of_replaced(reporter)
    other = Beside.open(run, beside) if beside else None
    with (
        lock_folder(folder),
        closing(Downloads(folder, metadata)) as downloads,
        _listen(port) as listener,
    ):
        session = ReviewSession(run, told, other)
        port, token = listener.getsockname()[1], secrets.token_urlsafe(_TOKEN_BYTES)
        config = uvicorn.Config(
            review_app(session, downloads, port, token),
            http="h11",
            ws="none",
            lifespan="off",
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_PATIENCE,
        )
        # It listens already: who comes before the server is up waits for it.
        ready(f"http://{_ADDRESS}:{port}/?token={token}")
        _Server(config, downloads).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that stops what is being made before it waits for answers."""

    def __init__(self, config: uvicorn.Config, downloads: Downloads) -> None:
        super().__init__(config)
        self._downloads = downloads

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._downloads.stop()
        super().handle_exit(sig, frame)


def _listen(port: int) -> socket.socket:
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_ADDRESS, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise ConfigError(f"--port {port}: {error.strerror}; choose another or none") from error
    return listener
