"""Acme Scenes, the example app: run as a program of its own and spoken to over real HTTP."""

from __future__ import annotations

import http.client
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from tests.examples.scenes_process import ANA, BEN, SCENES, WAIT_S, RunningApp, Start, stop

LAMP = {"asset": "lamp", "position": {"x": 1.5, "y": -2}, "rotation": 90}

Change = Callable[[str], str]
CHANGES: list[tuple[str, Change]] = [
    ("signature", lambda url: url[:-1] + ("0" if url[-1] != "0" else "1")),
    ("version", lambda url: url.replace("version=6", "version=5")),
    ("scene", lambda url: url.replace("scn_lobby", "scn_ben_gallery")),
    ("no query", lambda url: url.partition("?")[0]),
    ("no signature", lambda url: url.partition("&")[0]),
    ("no ascii", lambda url: url.partition("&")[0] + "&signature=%C3%A9"),
]


# Reading


def test_a_new_database_has_the_scenes_of_both_users(app: RunningApp) -> None:
    """Each user sees their own scenes and no others; the demo counts on these names."""
    scenes = app.ask("GET", "/v1/scenes").json()["scenes"]
    counts = {scene["name"]: scene["objectCount"] for scene in scenes}
    assert counts == {"Q3 forecast": 14, "Lobby": 5, "Blank stage": 0}
    ben = app.ask("GET", "/v1/scenes", headers=BEN).json()["scenes"]
    assert [scene["name"] for scene in ben] == ["Ben's gallery"]


def test_tokens_are_stored_as_hashes_alone(app: RunningApp) -> None:
    """Who reads the database file cannot sign in with what is in it."""
    assert app.rows("SELECT id, length(token_sha256) FROM users") == [("ana", 64), ("ben", 64)]
    files = app.database.parent.glob("scenes.db*")
    assert all(b"ana-token" not in file.read_bytes() for file in files)


def test_a_scene_is_found_by_its_id(app: RunningApp) -> None:
    """The confirm of delete_scene reads name and count from here."""
    scene = app.ask("GET", "/v1/scenes/scn_q3_forecast").json()
    assert (scene["name"], scene["objectCount"]) == ("Q3 forecast", 14)


@pytest.mark.parametrize(
    ("query", "listed", "total"),
    [
        ("", 14, 14),
        ("?kind=column", 8, 8),
        ("?kind=column&limit=3", 3, 8),
        ("?limit=200", 14, 14),
        ("?limit=1", 1, 14),
    ],
)
def test_objects_are_listed_by_kind_and_limit(
    app: RunningApp, query: str, listed: int, total: int
) -> None:
    """The list says how many there are, also where it shows fewer."""
    body = app.ask("GET", f"/v1/scenes/scn_q3_forecast/objects{query}").json()
    assert (len(body["objects"]), body["total"]) == (listed, total)
    assert set(body["objects"][0]) == {"id", "kind", "position", "rotation"}


def test_objects_are_counted_by_kind(app: RunningApp) -> None:
    """count_objects, the tool that only the served catalog has, reads this."""
    body = app.ask("GET", "/v1/scenes/scn_lobby/counts").json()
    assert body == {"total": 5, "byKind": {"column": 0, "panel": 1, "plant": 2, "lamp": 2}}


def test_a_comparison_shows_what_came_after_the_save(app: RunningApp) -> None:
    """Two objects of the seeded forecast are not saved yet; a version may be named as well."""
    path = "/v1/scenes/scn_q3_forecast/comparison"
    body = app.ask("GET", path).json()
    before, after = body["before"]["text"].splitlines(), body["after"]["text"].splitlines()
    assert after[: len(before)] == before
    assert [line.split()[0] for line in after[len(before) :]] == ["lamp", "plant"]
    first = app.ask("GET", f"{path}?since=1").json()
    assert first["before"] == {"version": 1, "text": "Scene: Q3 forecast\n"}


# Pictures and the page


def test_a_preview_is_a_real_picture_that_needs_no_token(app: RunningApp) -> None:
    """A chat shows the picture without a credential; it is well-formed SVG without a script."""
    preview = app.ask("GET", "/v1/scenes/scn_lobby/preview").json()
    picture = app.ask("GET", preview["url"], headers={})
    assert (picture.status, picture.headers["content-type"]) == (200, "image/svg+xml")
    assert "default-src 'none'" in picture.headers["content-security-policy"]
    tags = [part.tag.rpartition("}")[2] for part in ElementTree.fromstring(picture.body).iter()]  # noqa: S314 - our own
    assert tags.count("polygon") > 50
    assert "script" not in tags
    assert preview["alt"].startswith("Lobby: 5 objects")


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[0])
def test_a_changed_address_shows_nothing(app: RunningApp, change: tuple[str, Change]) -> None:
    """The signature covers scene and version; nobody reaches another scene by editing a link."""
    for route in ("preview", "link"):
        url = app.ask("GET", f"/v1/scenes/scn_lobby/{route}").json()["url"]
        assert app.ask("GET", url, headers={}).status == 200
        assert app.ask("GET", change[1](url), headers={}).status == 404


def test_the_page_shows_the_scene_and_runs_nothing(app: RunningApp) -> None:
    """open_scene links to it: readable without a token, with a policy that allows no script."""
    link = app.ask("GET", "/v1/scenes/scn_q3_forecast/link").json()
    assert link["label"] == "Open Q3 forecast"
    page = app.ask("GET", link["url"], headers={})
    text = page.body.decode()
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<h1>Q3 forecast</h1>" in text
    assert "<b>8</b> columns" in text
    assert "2 changes since the last save" in text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "prefers-color-scheme: dark" in text
    picture = text.partition('<img src="')[2].partition('"')[0].replace("&amp;", "&")
    assert app.ask("GET", picture, headers={}).headers["content-type"] == "image/svg+xml"


def test_text_of_a_user_stays_text_in_page_and_picture(start: Start) -> None:
    """A scene may be called anything; its name is never markup."""
    app = start()
    name = '"><script>alert(1)</script>&'
    with closing(sqlite3.connect(app.database, timeout=WAIT_S)) as connection, connection:
        connection.execute("UPDATE scenes SET name = ? WHERE id = 'scn_lobby'", (name,))
    link = app.ask("GET", "/v1/scenes/scn_lobby/link").json()
    preview = app.ask("GET", "/v1/scenes/scn_lobby/preview").json()
    for url in (link["url"], preview["url"]):
        body = app.ask("GET", url, headers={}).body
        assert b"<script" not in body
        assert b"&lt;script&gt;" in body


# Changing


def test_a_placed_object_is_in_the_database(fresh: RunningApp) -> None:
    """place_object answers with what it placed and a picture that already shows it."""
    reply = fresh.ask("POST", "/v1/scenes/scn_lobby/objects", LAMP)
    body = reply.json()
    assert (reply.status, body["kind"], body["scene"]["objectCount"]) == (201, "lamp", 6)
    stored = fresh.rows("SELECT kind, x, y, rotation FROM objects WHERE id = ?", body["id"])
    assert stored == [("lamp", 1.5, -2.0, 90.0)]
    assert fresh.ask("GET", body["preview"]["url"], headers={}).status == 200
    plain = {"asset": "panel", "position": {"x": 0, "y": 0}}
    assert fresh.ask("POST", "/v1/scenes/scn_lobby/objects", plain).json()["rotation"] == 0.0


def test_an_old_preview_keeps_showing_its_version(fresh: RunningApp) -> None:
    """What a transcript showed yesterday does not change when an object is placed today."""
    old = fresh.ask("GET", "/v1/scenes/scn_lobby/preview").json()["url"]
    before = fresh.ask("GET", old, headers={}).body
    new = fresh.ask("POST", "/v1/scenes/scn_lobby/objects", LAMP).json()["preview"]["url"]
    assert fresh.ask("GET", old, headers={}).body == before
    assert fresh.ask("GET", new, headers={}).body != before


def test_a_save_leaves_nothing_to_compare(fresh: RunningApp) -> None:
    """A save makes the version of now the one to compare with."""
    saved = fresh.ask("POST", "/v1/scenes/scn_q3_forecast/save").json()
    assert saved["savedVersion"] == saved["version"]
    body = fresh.ask("GET", "/v1/scenes/scn_q3_forecast/comparison").json()
    assert body["before"] == body["after"]


def test_a_deleted_scene_is_gone_with_all_that_showed_it(fresh: RunningApp) -> None:
    """Delete is for good: objects, page and pictures as well."""
    link = fresh.ask("GET", "/v1/scenes/scn_lobby/link").json()["url"]
    reply = fresh.ask("DELETE", "/v1/scenes/scn_lobby")
    assert (reply.status, reply.json()["deleted"]["name"]) == (200, "Lobby")
    assert fresh.ask("GET", "/v1/scenes/scn_lobby").status == 404
    assert fresh.ask("DELETE", "/v1/scenes/scn_lobby").status == 404
    gone = fresh.ask("GET", link, headers={})
    assert (gone.status, b"no scene behind this link" in gone.body) == (404, True)
    assert fresh.rows("SELECT count(*) FROM objects WHERE scene_id = 'scn_lobby'") == [(0,)]


def test_one_key_changes_things_once(fresh: RunningApp) -> None:
    """A second send under the same Idempotency-Key gets the first answer, also after a restart."""
    path, headers = "/v1/scenes/scn_lobby/objects", {**ANA, "Idempotency-Key": "call-1"}
    first = fresh.ask("POST", path, LAMP, headers=headers)
    again = fresh.ask("POST", path, LAMP, headers=headers)
    assert (first.status, first.body) == (again.status, again.body)
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert fresh.ask("GET", "/v1/scenes/scn_lobby").json()["objectCount"] == 6
    other = fresh.ask("POST", path, {**LAMP, "rotation": 0}, headers=headers)
    assert (other.status, other.json()["code"]) == (422, "key_reused")
    gone = {**ANA, "Idempotency-Key": "call-2"}
    deleted = [fresh.ask("DELETE", "/v1/scenes/scn_lobby", headers=gone) for _ in range(2)]
    assert [reply.status for reply in deleted] == [200, 200]


def test_keys_of_two_users_do_not_meet(fresh: RunningApp) -> None:
    """The same key from somebody else is another change."""
    headers = {"Idempotency-Key": "same"}
    ana = fresh.ask("POST", "/v1/scenes/scn_lobby/objects", LAMP, headers={**ANA, **headers})
    ben = fresh.ask("POST", "/v1/scenes/scn_ben_gallery/objects", LAMP, headers={**BEN, **headers})
    assert (ana.status, ben.status) == (201, 201)


def test_a_refusal_is_not_kept_under_its_key(fresh: RunningApp) -> None:
    """Nothing was changed, so the mended request may come under the same key."""
    path, headers = "/v1/scenes/scn_lobby/objects", {**ANA, "Idempotency-Key": "k"}
    assert fresh.ask("POST", path, {**LAMP, "asset": "sofa"}, headers=headers).status == 422
    assert fresh.ask("POST", path, LAMP, headers=headers).status == 201


def test_each_request_is_written_down(fresh: RunningApp) -> None:
    """The demo proves from this table what reached the app, and that a refused call did not."""
    fresh.ask("GET", "/v1/scenes/scn_lobby/objects?kind=lamp")
    headers = {**ANA, "Idempotency-Key": "call-9", "X-Acme-Client": "remit"}
    preview = fresh.ask("POST", "/v1/scenes/scn_lobby/objects", LAMP, headers=headers).json()
    fresh.ask("GET", preview["preview"]["url"], headers={})
    fresh.ask("GET", "/v1/scenes", headers={"Authorization": "Bearer wrong"})
    objects = "/v1/scenes/scn_lobby/objects"
    assert fresh.rows(
        "SELECT method, path, query, user_id, idempotency_key, client, status"
        " FROM requests ORDER BY number"
    ) == [
        ("GET", objects, "kind=lamp", "ana", None, None, 200),
        ("POST", objects, "", "ana", "call-9", "remit", 201),
        ("GET", "/pictures/scenes/scn_lobby.svg", "", None, None, None, 200),
        ("GET", "/v1/scenes", "", None, None, None, 401),
    ]


# Rendering


@pytest.mark.parametrize(("quality", "size"), [("draft", (960, 660)), ("final", (1920, 1320))])
def test_a_rendering_goes_through_its_states_to_a_picture(
    fresh: RunningApp, quality: str, size: tuple[int, int]
) -> None:
    """render_scene is polled: 202 and queued, then rendering, then done with a real PNG."""
    reply = fresh.ask("POST", "/v1/scenes/scn_q3_forecast/renders", {"quality": quality})
    job = reply.json()["job"]
    assert (reply.status, job["status"]) == (202, "queued")
    assert job["statusUrl"] == f"{fresh.url}/v1/jobs/{job['id']}"
    done, seen = fresh.wait_for_job(job["id"])
    assert "rendering" in seen
    assert (done["status"], done["progress"]) == ("done", 100)
    picture = fresh.ask("GET", done["image"]["url"], headers={})
    assert picture.headers["content-type"] == "image/png"
    assert struct.unpack(">II", picture.body[16:24]) == size
    start = picture.body.index(b"IDAT")
    length = struct.unpack(">I", picture.body[start - 4 : start])[0]
    pixels = zlib.decompress(picture.body[start + 4 : start + 4 + length])
    assert len(pixels) == size[1] * (size[0] * 3 + 1)
    assert len({pixels[at : at + 3] for at in range(1, len(pixels), 3 * 97)}) > 10


def test_an_empty_scene_cannot_be_rendered(fresh: RunningApp) -> None:
    """A job can fail, and says why in words."""
    job = fresh.ask("POST", "/v1/scenes/scn_blank/renders", {}).json()["job"]
    failed, _ = fresh.wait_for_job(job["id"])
    assert failed["status"] == "failed"
    assert "no objects" in failed["error"]["message"]
    assert "image" not in failed


def test_a_scene_deleted_meanwhile_fails_its_job(fresh: RunningApp) -> None:
    """Who waits for the picture is told what became of it, also once the renderer is through."""
    job = fresh.ask("POST", "/v1/scenes/scn_lobby/renders", {}).json()["job"]
    fresh.ask("DELETE", "/v1/scenes/scn_lobby")
    failed, _ = fresh.wait_for_job(job["id"])
    assert (failed["status"], "deleted" in failed["error"]["message"]) == ("failed", True)
    later = fresh.ask("POST", "/v1/scenes/scn_q3_forecast/renders", {}).json()["job"]
    fresh.wait_for_job(later["id"])  # one after the other: the first is through as well by then
    assert fresh.wait_for_job(job["id"])[0]["status"] == "failed"
    assert fresh.rows("SELECT picture FROM jobs WHERE id = ?", job["id"]) == [(None,)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_job_cut_off_by_the_end_is_rendered_after_the_next_start(
    start: Start, number: signal.Signals
) -> None:
    """A job that was accepted is not lost, whether the app was stopped or killed."""
    first = start(render_s=60)
    job = first.ask("POST", "/v1/scenes/scn_lobby/renders", {}).json()["job"]
    first.wait_for_job(job["id"], until={"rendering"})
    stop(first, number)
    second = start(render_s=0.1)
    done, _ = second.wait_for_job(job["id"])
    assert done["status"] == "done"


# The catalog


def test_the_catalog_is_served_with_a_tag_and_read_each_time(start: Start) -> None:
    """Remit fetches it without a credential, asks conditionally, and sees a new tool at once."""
    app = start()
    first = app.ask("GET", "/agent/tools", headers={})
    assert first.body == app.tools.read_bytes()
    tag = first.headers["etag"]
    unchanged = app.ask("GET", "/agent/tools", headers={"If-None-Match": f'"other", W/{tag}'})
    assert (unchanged.status, unchanged.body, unchanged.headers["etag"]) == (304, b"", tag)
    app.tools.write_bytes((SCENES / "overreaching.json").read_bytes())
    changed = app.ask("GET", "/agent/tools", headers={"If-None-Match": tag})
    assert changed.status == 200
    assert changed.headers["etag"] != tag
    app.tools.unlink()
    assert app.ask("GET", "/agent/tools", headers={}).json()["code"] == "catalog_unavailable"


# Refusals


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer nobody"},
        {"Authorization": "Basic ana-token"},
        {"Authorization": "ana-token"},
        {"Authorization": "Bearer "},
    ],
)
def test_without_a_valid_token_nothing_is_told(app: RunningApp, headers: dict[str, str]) -> None:
    """401 with a challenge, before anything is looked up."""
    reply = app.ask("GET", "/v1/scenes/scn_lobby", headers=headers)
    assert (reply.status, reply.json()["code"]) == (401, "unauthorized")
    assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("scene", ["scn_ben_gallery", "scn_none", "%2e%2e", "scn_lobby%2F"])
def test_a_scene_of_somebody_else_does_not_exist(app: RunningApp, scene: str) -> None:
    """The answer is the same as for an id that nobody has, on every route of a scene."""
    asked = [("GET", ""), ("DELETE", ""), ("GET", "/objects"), ("GET", "/link"), ("POST", "/save")]
    for method, rest in asked:
        reply = app.ask(method, f"/v1/scenes/{scene}{rest}")
        assert (reply.status, reply.json()["code"]) == (404, "scene_not_found")


def test_a_job_of_somebody_else_does_not_exist(fresh: RunningApp) -> None:
    """Jobs are as private as scenes."""
    job = fresh.ask("POST", "/v1/scenes/scn_lobby/renders", {}).json()["job"]
    assert fresh.ask("GET", f"/v1/jobs/{job['id']}", headers=BEN).status == 404


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"asset": "sofa"}, "asset"),
        ({"asset": ["lamp"]}, "asset"),
        ({"asset": None}, "asset"),
        ({"position": None}, "position"),
        ({"position": {"x": 1}}, "y must be"),
        ({"position": {"x": "1", "y": 0}}, "x must be"),
        ({"position": {"x": True, "y": 0}}, "x must be"),
        ({"position": {"x": 10.5, "y": 0}}, "x must be"),
        ({"position": {"x": float("nan"), "y": 0}}, "x must be"),
        ({"position": {"x": 10**400, "y": 0}}, "x must be"),
        ({"position": {"x": 0, "y": 0, "z": 0}}, "position.x, position.y"),
        ({"rotation": -1}, "rotation"),
        ({"rotation": None}, "rotation"),
        ({"colour": "red"}, "nothing else"),
    ],
)
def test_a_wrong_object_is_refused_by_name(
    app: RunningApp, change: dict[str, object], word: str
) -> None:
    """422 names the field and what it may be; nothing is placed."""
    reply = app.ask("POST", "/v1/scenes/scn_lobby/objects", {**LAMP, **change})
    assert (reply.status, reply.json()["code"]) == (422, "invalid_request")
    assert word in reply.json()["message"]
    assert app.ask("GET", "/v1/scenes/scn_lobby").json()["objectCount"] == 5


@pytest.mark.parametrize(
    "path",
    [
        "objects?kind=sofa",
        "objects?limit=0",
        "objects?limit=201",
        "objects?limit=many",
        "objects?limit=%D9%A3",
        "comparison?since=0",
        "comparison?since=99",
    ],
)
def test_a_wrong_query_is_refused(app: RunningApp, path: str) -> None:
    """A value outside its range is said, not bent."""
    assert app.ask("GET", f"/v1/scenes/scn_lobby/{path}").status == 422


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        (b"{", "application/json", 400, "invalid_json"),
        (b"[1]", "application/json", 400, "invalid_json"),
        (b"\xff\xfe", "application/json", 400, "invalid_json"),
        (b"[" * 60_000, "application/json", 400, "invalid_json"),
        (b'{"x": ' + b"9" * 5000 + b"}", "application/json", 400, "invalid_json"),
        (b"asset=lamp", "application/x-www-form-urlencoded", 415, "not_json"),
        (b" " * 70_000, "application/json", 413, "body_too_large"),
    ],
    ids=["cut", "array", "not utf-8", "deep", "endless number", "form", "too large"],
)
def test_a_body_that_cannot_be_read_is_refused(
    app: RunningApp, body: bytes, content_type: str, status: int, code: str
) -> None:
    """Each kind of broken body has its own answer, and the app goes on."""
    headers = {**ANA, "Content-Type": content_type}
    reply = app.ask("POST", "/v1/scenes/scn_lobby/objects", body, headers=headers)
    assert (reply.status, reply.json()["code"]) == (status, code)
    assert app.ask("GET", "/v1/scenes").status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/scenes/", 404),
        ("GET", "/v1/scenes/../scenes", 404),
        ("PUT", "/v1/scenes", 405),
        ("DELETE", "/v1/scenes", 405),
        ("POST", "/agent/tools", 405),
        ("PATCH", "/v1/scenes/scn_lobby", 405),
        ("BREW", "/v1/scenes", 501),
    ],
)
def test_an_address_or_method_that_is_not_there_is_said(
    app: RunningApp, method: str, path: str, status: int
) -> None:
    """Every refusal is JSON with code and message, also those of the HTTP layer itself."""
    reply = app.ask(method, path)
    assert reply.status == status
    assert set(reply.json()) == {"code", "message"}
    assert (reply.headers.get("allow") is not None) == (status == 405)


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (b"POST /v1/scenes HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"POST /v1/scenes HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400),
        (b"POST /v1/scenes HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        (b"POST /v1/scenes HTTP/1.1\r\nContent-Length: 50\r\n\r\n{}", 400),
        (b"what is this\r\n\r\n", 400),
    ],
)
def test_a_request_of_unclear_length_ends_its_connection(
    app: RunningApp, request_text: bytes, status: int
) -> None:
    """What cannot be told apart from the next request is never read as one."""
    parts = urlsplit(app.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=WAIT_S) as peer:
        peer.sendall(request_text)
        peer.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: peer.recv(65536), b""))
    assert answer.count(b"HTTP/1.1 ") <= 1
    assert str(status).encode() in answer.partition(b"\r\n")[0]


def test_a_refused_body_is_not_read_as_the_next_request(app: RunningApp) -> None:
    """A connection that stays open answers the request after a 401 as what it is."""
    with closing(http.client.HTTPConnection(app.address, timeout=WAIT_S)) as connection:
        connection.request("POST", "/v1/scenes/scn_lobby/objects", b"DELETE / HTTP/1.1\r\n\r\n")
        refused = connection.getresponse()
        refused.read()
        assert refused.status == 401
        connection.request("GET", "/v1/scenes", headers=ANA)
        assert connection.getresponse().status == 200


def test_head_tells_the_headers_alone(app: RunningApp) -> None:
    """HEAD is GET without the body."""
    reply = app.ask("HEAD", "/v1/scenes")
    assert (reply.status, reply.body) == (200, b"")
    assert int(reply.headers["content-length"]) > 0


# Starting and ending


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_app_cleanly(start: Start, number: signal.Signals) -> None:
    """Exit code 0 and no word, also while a client holds a connection open."""
    app = start()
    with closing(http.client.HTTPConnection(app.address, timeout=WAIT_S)) as connection:
        connection.request("GET", "/v1/scenes", headers=ANA)
        connection.getresponse().read()
        assert stop(app, number) == (0, "")
    with pytest.raises(ConnectionError):
        app.ask("GET", "/v1/scenes")


def test_a_restart_keeps_everything(start: Start) -> None:
    """The database is not seeded twice, and old pictures open again under the new address."""
    first = start()
    url = first.ask("POST", "/v1/scenes/scn_lobby/objects", LAMP).json()["preview"]["url"]
    stop(first)
    second = start()
    assert second.ask("GET", "/v1/scenes/scn_lobby").json()["objectCount"] == 6
    assert second.ask("GET", url, headers={}).status == 200


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--port", "0", "--database", "{folder}/none/scenes.db"], "database"),
        (["--port", "0", "--database", "{folder}/text.txt"], "database"),
        (["--port", "{taken}", "--database", "{folder}/scenes.db"], "Port"),
        (["--port", "70000", "--database", "{folder}/scenes.db"], "Port"),
    ],
)
def test_what_cannot_start_says_why_in_one_line(
    app: RunningApp, tmp_path: Path, options: list[str], word: str
) -> None:
    """No traceback: the thing and the mend, and exit code 1."""
    (tmp_path / "text.txt").write_text("This is no database, but a text of some length.\n" * 50)
    taken = str(urlsplit(app.url).port)
    filled = [part.format(folder=tmp_path, taken=taken) for part in options]
    command = [sys.executable, str(SCENES / "app.py"), *filled]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert word in ended.stderr
