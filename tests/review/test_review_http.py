"""The server of the review: who may use it, and what it answers."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from review_runs import NAMES, stripes

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from starlette.testclient import TestClient

from partdino.runs.review.finished import open_run
from partdino.runs.review.web.app import review_app
from partdino.runs.review.web.downloads import Downloads
from partdino.runs.review.web.session import ReviewSession
from partdino.runs.writers.pieces import pieces_path

PORT, TOKEN = 50321, "t0ken"
SITE = f"http://127.0.0.1:{PORT}"
EVERYTHING = (
    "/",
    "/static/favicon.svg",
    "/static/nothing.js",
    "/api/run",
    "/api/review",
    "/api/images/0/photo.jpg",
    "/api/images/0/labels.png",
    "/api/images/0/pieces.png",
    "/api/parts/1/halves",
    "/api/beside",
    "/api/table",
    "/api/images/0/objects",
    "/api/downloads",
    "/api/downloads/progress",
    "/api/downloads/latest",
    "/api/images/0/beside.png",
    "/api/images/0/figure.svg",
    "/nothing",
)


@pytest.fixture
def stranger(own_folder: Path) -> Iterator[TestClient]:
    """A browser that was not given the address."""
    with closing(Downloads(own_folder)) as downloads:
        app = review_app(ReviewSession(open_run(own_folder)), downloads, PORT, TOKEN)
        yield TestClient(app, base_url=SITE)


@pytest.fixture
def client(stranger: TestClient) -> TestClient:
    """A browser that has opened the address."""
    assert stranger.get(f"/?token={TOKEN}").status_code == 200
    stranger.headers["Origin"] = SITE
    return stranger


def patch(client: TestClient, seen: int, *changes: dict, **more: object):
    return client.patch("/api/review", json={"seen": seen, "changes": changes}, **more)


def name_part(number: int, name: str) -> dict:
    return {"part": number, "said": {"name": name}}


@pytest.mark.parametrize("path", EVERYTHING)
def test_nothing_without_the_token(stranger: TestClient, path: str):
    for query in ("", "?token=", "?token=wrong", f"?token={TOKEN}x"):
        answer = stranger.get(path + query)
        assert answer.status_code == 403 and "set-cookie" not in answer.headers
    stranger.cookies.set(f"partdino_{PORT}", "wrong")
    assert stranger.get(path).status_code == 403


def test_the_token_is_good_for_the_page_alone(stranger: TestClient):
    assert stranger.get(f"/api/run?token={TOKEN}").status_code == 403
    assert stranger.post(f"/?token={TOKEN}", headers={"Origin": SITE}).status_code == 403


def test_the_token_becomes_a_strict_cookie(stranger: TestClient):
    cookie = stranger.get(f"/?token={TOKEN}").headers["set-cookie"]
    assert cookie == f"partdino_{PORT}={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    assert stranger.get("/api/run").status_code == 200


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", ""])
def test_another_host_is_refused(client: TestClient, host: str):
    for path in (*EVERYTHING, f"/?token={TOKEN}"):
        assert client.get(path, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://127.0.0.1:{PORT}"])
def test_another_origin_is_refused(client: TestClient, origin: str):
    assert client.get("/api/run", headers={"Origin": origin}).status_code == 403
    assert patch(client, 0, name_part(1, "x"), headers={"Origin": origin}).status_code == 403


def test_no_write_without_an_origin(client: TestClient, own_folder: Path):
    del client.headers["Origin"]
    assert client.get("/api/run").status_code == 200
    assert patch(client, 0, name_part(1, "x")).status_code == 403
    assert not (own_folder / "review.json").exists()


@pytest.mark.parametrize("path", [*EVERYTHING, f"/?token={TOKEN}"])
def test_every_answer_has_a_strict_policy(client: TestClient, path: str):
    for cookies in (True, False):
        if not cookies:
            client.cookies.clear()
        headers = client.get(path).headers
        policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'" and policy["script-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2fapp.py",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/api/images/-1/photo.jpg",
        "/api/images/12/photo.jpg",
        "/api/images/%2e%2e%2frun",
        "/api/images/finch%2f00.jpg/photo.jpg",
        "/api/images/99999999999999999999/labels.png",
    ],
)
def test_no_path_leads_elsewhere(client: TestClient, path: str):
    assert client.get(path).status_code == 404


def test_the_run_is_told_by_names(client: TestClient):
    about = client.get("/api/run").json()
    assert about.pop("session")
    expected = {"title": "out", "num_parts": 4, "images": list(NAMES), "without_pieces": []}
    expected |= {"beside": None, "shared": [], "tells_objects": False}
    assert about == expected


def test_pictures_come_by_id(client: TestClient):
    labels = client.get("/api/images/3/labels.png?whole")
    assert labels.headers["content-type"] == "image/png"
    assert (np.asarray(Image.open(io.BytesIO(labels.content))) == stripes(3, None)).all()
    photo = Image.open(io.BytesIO(client.get("/api/images/3/photo.jpg?whole").content))
    assert photo.size == (90, 60)
    example = client.get("/api/images/3/example.jpg?members=1,2&colour=ff0000")
    assert example.headers["content-type"] == "image/jpeg"


@pytest.mark.parametrize("query", ["", "members=1", "members=x&colour=ff0000", "colour=red"])
def test_examples_of_no_part_are_refused(client: TestClient, query: str):
    assert client.get(f"/api/images/3/example.jpg?{query}").status_code == 400


@pytest.mark.parametrize("opacity", ["", "2", "-1", "x", "0.5;"])
def test_figures_of_no_opacity_are_refused(client: TestClient, opacity: str):
    assert client.get(f"/api/images/0/figure.svg?opacity={opacity}").status_code == 400
    figure = client.get("/api/images/0/figure.svg?opacity=0.6")
    assert figure.headers["content-type"].startswith("image/svg+xml")
    assert figure.headers["cache-control"] == "no-store"


def test_a_change_is_kept_on_the_disk(client: TestClient, own_folder: Path):
    labels = (own_folder / "labels" / f"{NAMES[0]}.png").read_bytes()
    hidden = {"part": 3, "said": {"background": True}}
    said = {"photo": NAMES[1], "said": "fine"}
    answer = patch(client, 0, name_part(1, "head"), hidden, said)
    assert answer.status_code == 200
    state = answer.json()
    assert state["revision"] == 1 and state["lookup"][:5] == [0, 1, 2, 0, 4]
    assert [part["name"] for part in state["parts"]][:2] == ["head", "part 2"]
    kept = json.loads((own_folder / "review.json").read_text())
    assert kept["parts"] == {"1": {"name": "head"}, "3": {"background": True}}
    assert kept["photos"] == {NAMES[1]: "fine"}
    assert (own_folder / "labels" / f"{NAMES[0]}.png").read_bytes() == labels
    again = ReviewSession(open_run(own_folder))
    assert json.loads(json.dumps(again.state)) | {"since": 0} == state


def test_no_update_is_lost(client: TestClient):
    assert patch(client, 0, name_part(1, "head")).status_code == 200
    late = patch(client, 0, name_part(2, "wing"))
    assert late.status_code == 409
    assert late.json()["said"]["parts"] == {"1": {"name": "head"}}
    assert patch(client, late.json()["revision"], name_part(2, "wing")).json()["revision"] == 2


def test_another_window_sees_it(client: TestClient):
    assert client.get("/api/review?seen=0").status_code == 204
    patch(client, 0, name_part(1, "head"))
    assert client.get("/api/review?seen=0").json()["revision"] == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"seen": 0}',
        b'{"seen": 0, "changes": 3}',
        b'{"seen": 0, "changes": ["x"]}',
        b'{"seen": 0, "changes": [{"part": 9, "said": {}}]}',
        b'{"seen": 0, "changes": [{"photo": "../x", "said": "fine"}]}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_change_changes_nothing(client: TestClient, own_folder: Path, body: bytes):
    assert client.patch("/api/review", content=body).status_code == 400
    assert not (own_folder / "review.json").exists()


def test_a_huge_change_is_refused_unread(client: TestClient):
    assert client.patch("/api/review", content=b"x" * 4_000_001).status_code == 413


def test_a_photo_that_is_gone_says_so(client: TestClient, own_folder: Path):
    (own_folder.parent / "photos" / NAMES[0]).unlink()
    assert client.get("/api/images/0/photo.jpg").status_code == 204
    assert client.get("/api/images/0/labels.png").status_code == 200


def test_a_full_disk_is_told_and_changes_nothing(client: TestClient, own_folder: Path):
    (own_folder / "review.json").mkdir()  # where nothing can be written over
    answer = patch(client, 0, name_part(1, "head"))
    assert answer.status_code == 507 and "review.json" in answer.json()["error"]
    assert client.get("/api/review").json()["revision"] == 0


def test_pieces_come_with_their_name(client: TestClient, own_folder: Path):
    answer = client.get("/api/images/3/pieces.png")
    planes = np.array(Image.open(io.BytesIO(answer.content)), int)
    assert (planes[..., 2] == stripes(3, None)).all()
    mend = {"pieces": answer.headers["pieces"], "size": [60, 90], "given": {"0": [0, 5400]}}
    said = {"mended": NAMES[3], "said": mend}
    assert patch(client, 0, said).status_code == 200
    labels = client.get("/api/images/3/labels.png?whole").content
    assert not np.asarray(Image.open(io.BytesIO(labels))).any()
    pieces_path(own_folder, NAMES[4]).unlink()
    assert client.get("/api/images/4/pieces.png").status_code == 204


def test_mends_of_another_size_or_photo_change_nothing(client: TestClient):
    name = client.get("/api/images/3/pieces.png").headers["pieces"]
    other = {"mended": NAMES[3], "said": {"pieces": name, "size": [6, 9], "given": {"0": [0, 5]}}}
    answer = patch(client, 0, other)
    assert answer.status_code == 400 and "labelled anew" in answer.json()["error"]
    assert client.get("/api/review").json()["revision"] == 0


def test_halves_are_what_is_to_be_said(client: TestClient):
    halves = client.get("/api/parts/2/halves").json()
    assert halves["revision"] == 0 and halves["split"] == 5
    assert patch(client, 0, {"split": 5, "said": halves["said"]}).status_code == 200
    assert [part["part"] for part in client.get("/api/review").json()["parts"]] == [1, 2, 3, 4, 5]
    refused = client.get("/api/parts/2/halves")  # of one cluster by now
    assert refused.status_code == 400 and "cannot be split" in refused.json()["error"]
    assert client.get("/api/parts/9/halves").status_code == 400


def test_only_labels_of_the_latest_revision_are_kept(client: TestClient):
    before = client.get("/api/review").json()["version"]
    kept = client.get(f"/api/images/3/labels.png?v={before}")
    assert "immutable" in kept.headers["cache-control"]
    halves = client.get("/api/parts/2/halves").json()
    patch(client, 0, {"split": 5, "said": halves["said"]})
    state = client.get("/api/review").json()
    assert state["version"] != before and state["versions"] == {}
    old = client.get(f"/api/images/3/labels.png?v={before}")
    assert old.headers["cache-control"] == "no-store"
    new = client.get(f"/api/images/3/labels.png?v={state['version']}")
    assert "immutable" in new.headers["cache-control"] and new.content == old.content


def test_after_a_change_those_mended_photos_come_that_it_names(client: TestClient):
    def mend(photo: int, given: dict | None) -> dict:
        pieces = client.get(f"/api/images/{photo}/pieces.png").headers["pieces"]
        said = given and {"pieces": pieces, "size": [60, 90], "given": given}
        return {"mended": NAMES[photo], "said": said}

    first, second = mend(3, {"0": [0, 5]}), mend(4, {"2": [7, 9]})
    answer = patch(client, 0, first).json()
    assert answer["since"] == 0 and answer["said"]["mended"] == {NAMES[3]: first["said"]}
    answer = patch(client, 1, second).json()
    assert answer["since"] == 1 and answer["said"]["mended"] == {NAMES[4]: second["said"]}
    assert set(answer["versions"]) == {"3", "4"}
    assert patch(client, 2, mend(3, None)).json()["said"]["mended"] == {NAMES[3]: None}
    assert patch(client, 3, name_part(1, "wing")).json()["said"]["mended"] == {}
    state = client.get("/api/review?seen=-1").json()
    assert "since" not in state and state["said"]["mended"] == {NAMES[4]: second["said"]}
