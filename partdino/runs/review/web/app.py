"""What the server answers: the page, the run and its review as JSON, pictures by a photo's id."""

from __future__ import annotations

import json
import re
from asyncio import CancelledError
from collections.abc import Callable
from importlib.resources import files

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from partdino.errors import OutputError, PartDinoError, ReviewError
from partdino.runs.review.figure import figure_svg
from partdino.runs.review.mend import pieces_hash
from partdino.runs.review.pictures import example_jpeg, labels_png, photo_jpeg, pieces_png
from partdino.runs.review.web.downloads import Downloads, kinds
from partdino.runs.review.web.guard import Guard
from partdino.runs.review.web.session import ReviewSession, StaleError
from partdino.runs.writers.pieces import pieces_path

_KINDS = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_MAX_BODY = 4_000_000  # bytes of a change: one that says something of each of 50,000 photos
# Pictures of a finished run never change; the page asks for them with its session's number, and for
# labels with what they depend on in the review: one that is not of the latest is not to be kept.
_KEEP = {"Cache-Control": "private, max-age=86400, immutable"}
_MEMBERS = re.compile(r"\d{1,3}(,\d{1,3}){0,254}")
_COLOUR = re.compile(r"[0-9a-f]{6}")
_SHARE = re.compile(r"0(\.\d{1,3})?|1")
_PICTURES = {"png": "image/png", "jpg": "image/jpeg", "svg": "image/svg+xml"}


def review_app(session: ReviewSession, downloads: Downloads, port: int, token: str) -> ASGIApp:
    """Return the application of a review.

    Parameters
    ----------
    session
        The review.
    downloads
        What the page gives to save.
    port
        Where the server listens on 127.0.0.1.
    token
        What the printed address holds.
    """
    handlers = _Handlers(session, downloads)
    routes = [
        Route("/", handlers.page),
        Route("/static/{name}", handlers.static),
        Route("/api/run", handlers.run),
        Route("/api/review", handlers.review, methods=["GET"]),
        Route("/api/review", handlers.change, methods=["PATCH"]),
        Route("/api/images/{index:int}/photo.jpg", handlers.photo),
        Route("/api/table", handlers.table),
        Route("/api/beside", handlers.beside),
        Route("/api/images/{index:int}/beside.png", handlers.labels_beside),
        Route("/api/parts/{part:int}/halves", handlers.halves),
        Route("/api/images/{index:int}/labels.png", handlers.labels),
        Route("/api/images/{index:int}/pieces.png", handlers.pieces),
        Route("/api/images/{index:int}/objects", handlers.objects),
        Route("/api/images/{index:int}/example.jpg", handlers.example),
        Route("/api/images/{index:int}/figure.svg", handlers.figure),
        Route("/api/downloads", handlers.kinds, methods=["GET"]),
        Route("/api/downloads", handlers.make, methods=["POST"]),
        Route("/api/downloads/progress", handlers.progress),
        Route("/api/downloads/latest", handlers.latest),
    ]
    return Guard(Starlette(routes=routes), port, token)


class _Handlers:
    """The answers. Those that read pictures are no coroutines: they run in threads."""

    def __init__(self, session: ReviewSession, downloads: Downloads) -> None:
        self._session, self._downloads = session, downloads
        folder = files(__package__) / "static"
        self._static = {each.name: each.read_bytes() for each in folder.iterdir()}

    async def page(self, request: Request) -> Response:
        return self._file("index.html")

    async def static(self, request: Request) -> Response:
        return self._file(request.path_params["name"])

    async def run(self, request: Request) -> Response:
        return JSONResponse(self._session.about())

    async def review(self, request: Request) -> Response:
        state = self._session.state
        if request.query_params.get("seen") == str(state["revision"]):
            return Response(status_code=204)
        return JSONResponse(state)

    async def change(self, request: Request) -> Response:
        if int(request.headers.get("content-length", _MAX_BODY + 1)) > _MAX_BODY:
            return _refuse("the change is too large", 413)
        try:
            body = json.loads(await request.body())
            seen, changes = body["seen"], list(body["changes"])
            state = await run_in_threadpool(self._session.change, seen, changes)
        except StaleError:
            return JSONResponse(self._session.state, 409)
        except (ValueError, KeyError, TypeError, RecursionError):
            return _refuse("that is no change", 400)
        except ReviewError as error:
            return _refuse(str(error), 400)
        except OutputError as error:
            return _refuse(str(error), 507)
        return JSONResponse(state)

    def photo(self, request: Request) -> Response:
        whole = "whole" in request.query_params
        return self._picture(request, lambda index: photo_jpeg(self._session.run, index, whole))

    def labels(self, request: Request) -> Response:
        whole = "whole" in request.query_params
        run, review = self._session.run, self._session.drawn
        return self._picture(request, lambda index: labels_png(run, review, index, whole))

    def pieces(self, request: Request) -> Response:
        run, review = self._session.run, self._session.drawn
        answer = self._picture(request, lambda index: pieces_png(run, review, index))
        if answer.status_code == 200:  # what a mend of it has to name
            path = pieces_path(run.folder, run.images[request.path_params["index"]].stem)
            answer.headers["Pieces"] = pieces_hash(path.read_bytes())
        return answer

    def table(self, request: Request) -> Response:
        try:
            return JSONResponse(self._session.table())
        except PartDinoError as error:
            return _refuse(str(error), 404)

    def objects(self, request: Request) -> Response:
        index = request.path_params["index"]
        if index >= len(self._session.run.images):
            return _refuse("there is no such photo", 404)
        try:
            return JSONResponse(self._session.objects(index))
        except PartDinoError as error:
            return _refuse(str(error), 404)

    def beside(self, request: Request) -> Response:
        parts = self._session.parts_beside()
        return JSONResponse(parts) if parts else _refuse("there is no run beside", 404)

    def labels_beside(self, request: Request) -> Response:
        beside = self._session.beside
        return self._picture(request, lambda index: beside.labels_png(index) if beside else None)

    def halves(self, request: Request) -> Response:
        try:
            return JSONResponse(self._session.halves(request.path_params["part"]))
        except ReviewError as error:
            return _refuse(str(error), 400)

    def example(self, request: Request) -> Response:
        members = request.query_params.get("members", "")
        colour = request.query_params.get("colour", "")
        if not _MEMBERS.fullmatch(members) or not _COLOUR.fullmatch(colour):
            return _refuse("that is no part", 400)
        parts = [int(member) for member in members.split(",")]
        run, review = self._session.run, self._session.drawn
        return self._picture(
            request, lambda index: example_jpeg(run, review, index, parts, f"#{colour}")
        )

    def figure(self, request: Request) -> Response:
        given = request.query_params.get("opacity", "")
        if not _SHARE.fullmatch(given):
            return _refuse("an opacity is from 0 to 1", 400)
        run, review = self._session.run, self._session.drawn
        return self._picture(request, lambda index: figure_svg(run, review, index, float(given)))

    async def kinds(self, request: Request) -> Response:
        return JSONResponse(kinds())

    async def make(self, request: Request) -> Response:
        try:
            asked = json.loads(await request.body())
            kind, photos = str(asked["kind"]), asked["photos"] is True
        except (ValueError, KeyError, TypeError, RecursionError):
            return _refuse("that is nothing to save", 400)
        try:
            made = await run_in_threadpool(self._downloads.make, kind, photos)
        except PartDinoError as error:
            return _refuse(str(error), 400)
        except CancelledError:  # the server has waited long enough for its end
            return _refuse("the review has ended", 503)
        size = made.path.stat().st_size
        return JSONResponse({"name": made.path.name, "bytes": size, "warnings": made.warnings})

    async def progress(self, request: Request) -> Response:
        done, total = self._downloads.progress
        return JSONResponse({"done": done, "total": total})

    async def latest(self, request: Request) -> Response:
        if (made := self._downloads.latest) is None:
            return _refuse("there is nothing to save", 404)
        return FileResponse(made.path, filename=made.path.name)

    def _file(self, name: str) -> Response:
        if name not in self._static:
            return _refuse("there is no such file", 404)
        kind = _KINDS[name.rpartition(".")[2]]
        return Response(self._static[name], headers={"Content-Type": kind})

    def _picture(self, request: Request, make: Callable[[int], bytes | None]) -> Response:
        index = request.path_params["index"]
        if index >= len(self._session.run.images):
            return _refuse("there is no such photo", 404)
        try:
            current = request.query_params.get("v") in (None, self._session.version(index))
            content = make(index)
        except PartDinoError as error:
            return _refuse(str(error), 404)
        if content is None:
            # A photo that is gone, or of which nothing is kept: no error, which browsers would log.
            return Response(status_code=204)
        kind = request.url.path.rpartition(".")[2]
        headers = _KEEP if current and kind != "svg" else {}  # a figure depends on all of a review
        return Response(content, media_type=_PICTURES[kind], headers=headers)


def _refuse(reason: str, status: int) -> Response:
    return JSONResponse({"error": reason}, status)
