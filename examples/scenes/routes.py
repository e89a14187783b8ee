"""What Acme Scenes answers: one function a route, and the table of all routes at the end."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from exchange import Answer, Problem, Request, json_answer
from links import Links
from page import PAGE_HEADERS, problem_page, scene_page
from shapes import FLOOR, HEIGHT, WIDTH
from store import KINDS, Job, PlacedObject, Scene, Store
from svg import alt_text, draw_svg

_MAX_LISTED = 200
_MAX_OBJECTS = 500
_QUALITIES = ("draft", "final")

# An SVG may hold scripts; opened by itself, this one may not run any.
_PICTURE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "Cache-Control": "private, max-age=300",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """What the routes work with."""

    store: Store
    links: Links
    tools_file: Path
    on_job_queued: Callable[[], None]


# Scenes


def list_scenes(app: App, request: Request) -> Answer:
    """Every scene of the user."""
    scenes = [_summary(scene) for scene in app.store.scenes(_user(request))]
    return json_answer(200, {"scenes": scenes})


def get_scene(app: App, request: Request) -> Answer:
    """One scene."""
    return json_answer(200, _summary(_scene(app, request)))


def delete_scene(app: App, request: Request) -> Answer:
    """A scene and all that is in it, for good."""
    scene = _scene(app, request)
    app.store.delete_scene(scene.id)
    return json_answer(200, {"deleted": _summary(scene)})


def save_scene(app: App, request: Request) -> Answer:
    """The version of now becomes the saved one."""
    scene = _scene(app, request)
    app.store.mark_saved(scene.id)
    return json_answer(200, _summary(replace(scene, saved_version=scene.version)))


def compare_scene(app: App, request: Request) -> Answer:
    """A scene as text at an earlier version (the last save, if none is named) and now."""
    scene = _scene(app, request)
    since = _whole(request.query, "since", scene.saved_version, 1, scene.version)
    return json_answer(
        200,
        {
            "before": {"version": since, "text": _as_text(app, scene, since)},
            "after": {"version": scene.version, "text": _as_text(app, scene, scene.version)},
        },
    )


def preview_scene(app: App, request: Request) -> Answer:
    """The address of a picture of the scene as it is now."""
    return json_answer(200, _preview(app, _scene(app, request)))


def link_scene(app: App, request: Request) -> Answer:
    """The address of the scene's page."""
    scene = _scene(app, request)
    url = app.links.signed(f"/scenes/{scene.id}/view", scene.version)
    return json_answer(200, {"url": url, "label": f"Open {scene.name}"})


# Objects


def place_object(app: App, request: Request) -> Answer:
    """One more object on the floor."""
    scene = _scene(app, request)
    _only(request.body, ("asset", "position", "rotation"))
    position = request.body.get("position")
    if not isinstance(position, dict):
        raise _invalid('position must be an object like {"x": 0, "y": 0}.')
    place = cast("Mapping[str, object]", position)
    _only(place, ("x", "y"), "position.")
    kind = request.body.get("asset")
    if kind not in KINDS:
        raise _invalid(f"asset must be one of {', '.join(KINDS)}.")
    placed = PlacedObject(
        id="obj_" + secrets.token_hex(5),
        kind=kind,
        x=_number(place, "x", -FLOOR, FLOOR),
        y=_number(place, "y", -FLOOR, FLOOR),
        rotation=_number({"rotation": 0.0, **request.body}, "rotation", 0.0, 360.0),
    )
    if scene.object_count >= _MAX_OBJECTS:
        raise Problem(409, "scene_full", f"A scene holds at most {_MAX_OBJECTS} objects.")
    app.store.add_object(scene.id, placed)
    after = _scene(app, request)
    return json_answer(
        201, {**_object(placed), "scene": _summary(after), "preview": _preview(app, after)}
    )


def list_objects(app: App, request: Request) -> Answer:
    """The objects of a scene, oldest first, perhaps of one kind."""
    scene = _scene(app, request)
    kind = request.query.get("kind")
    if kind is not None and kind not in KINDS:
        raise _invalid(f"kind must be one of {', '.join(KINDS)}.")
    limit = _whole(request.query, "limit", 50, 1, _MAX_LISTED)
    counts = app.store.counts(scene.id)
    found = app.store.objects(scene.id, kind=kind, limit=limit)
    total = sum(counts.values()) if kind is None else counts[kind]
    return json_answer(200, {"objects": [_object(one) for one in found], "total": total})


def count_objects(app: App, request: Request) -> Answer:
    """How many objects of each kind a scene holds."""
    counts = app.store.counts(_scene(app, request).id)
    return json_answer(200, {"total": sum(counts.values()), "byKind": counts})


# Rendering


def render_scene(app: App, request: Request) -> Answer:
    """Queue a rendering of the scene as it is now; the answer says where to ask for it."""
    scene = _scene(app, request)
    _only(request.body, ("quality",))
    quality = request.body.get("quality", "draft")
    if not isinstance(quality, str) or quality not in _QUALITIES:
        raise _invalid(f"quality must be one of {', '.join(_QUALITIES)}.")
    job = Job(
        id="job_" + secrets.token_hex(5),
        user_id=_user(request),
        scene_id=scene.id,
        version=scene.version,
        quality=quality,
        status="queued",
        progress=0,
        error=None,
    )
    app.store.add_job(job)
    app.on_job_queued()
    return json_answer(202, {"job": _job(app, job)})


def get_job(app: App, request: Request) -> Answer:
    """How far a rendering is, and its picture once it is done."""
    job = app.store.job(request.places["job"], _user(request))
    if job is None:
        raise Problem(404, "job_not_found", "You have no job with this id.")
    body = _job(app, job)
    if job.status == "failed":
        body["error"] = {"code": "render_failed", "message": job.error}
    elif job.status == "done" and app.store.job_picture(job.id) is not None:
        scale = 2 if job.quality == "final" else 1
        url = app.links.signed(f"/pictures/jobs/{job.id}.png", job.version)
        body["image"] = {
            "url": url,
            "alt": f"Rendering of version {job.version}",
            "width": WIDTH * scale,
            "height": HEIGHT * scale,
        }
    return json_answer(200, body)


# Without a token: the catalog, and what a signed address shows


def serve_tools(app: App, request: Request) -> Answer:
    """The tool catalog, read from its file each time: a new tool needs no restart."""
    try:
        text = app.tools_file.read_bytes()
    except OSError as error:
        raise Problem(503, "catalog_unavailable", "The tool catalog cannot be read.") from error
    tag = f'"{hashlib.sha256(text).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    known = [part.strip().removeprefix("W/") for part in _header(request, "if-none-match")]
    if tag in known or "*" in known:
        return Answer(status=304, headers=headers)
    return Answer(status=200, body=text, headers=headers)


def serve_preview(app: App, request: Request) -> Answer:
    """The picture of one version of a scene."""
    scene = app.store.scene(request.places["scene"]) if _is_signed(app, request) else None
    if scene is None:
        raise Problem(404, "picture_not_found", "This address shows no picture.")
    version = int(request.query["version"])
    drawn = draw_svg(scene, app.store.objects(scene.id, up_to_version=version))
    headers = _PICTURE_HEADERS
    return Answer(status=200, body=drawn, content_type="image/svg+xml", headers=headers)


def serve_rendering(app: App, request: Request) -> Answer:
    """The finished picture of a job."""
    job_id = request.places["job"]
    picture = app.store.job_picture(job_id) if _is_signed(app, request) else None
    if picture is None:
        raise Problem(404, "picture_not_found", "This address shows no picture.")
    return Answer(status=200, body=picture, content_type="image/png", headers=_PICTURE_HEADERS)


def show_page(app: App, request: Request) -> Answer:
    """The page of a scene, as it is now."""
    scene = app.store.scene(request.places["scene"]) if _is_signed(app, request) else None
    if scene is None:
        words = "The scene may have been deleted, or the link was cut short. Ask for a new link."
        status, body = 404, problem_page("There is no scene behind this link", words)
    else:
        picture = app.links.signed(f"/pictures/scenes/{scene.id}.svg", scene.version)
        path = picture.removeprefix(app.links.base_url)
        status, body = 200, scene_page(scene, app.store.objects(scene.id), path)
    headers = {**PAGE_HEADERS, "Cache-Control": "no-store"}
    return Answer(
        status=status, body=body, content_type="text/html; charset=utf-8", headers=headers
    )


# What a value must be


def _invalid(message: str) -> Problem:
    return Problem(422, "invalid_request", message)


def _only(body: Mapping[str, object], names: tuple[str, ...], inside: str = "") -> None:
    for name in body:
        if name not in names:
            known = ", ".join(inside + known for known in names)
            raise _invalid(f"The body may hold {known}, and nothing else.")


def _number(body: Mapping[str, object], name: str, low: float, high: float) -> float:
    value = body.get(name)
    # Python counts True as a 1; comparing refuses infinities and NaN as well.
    if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
        return float(value) + 0.0  # -0.0 is 0
    raise _invalid(f"{name} must be a number from {low:g} to {high:g}.")


def _whole(query: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = query.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise _invalid(f"{name} must be a whole number from {low} to {high}.")
    return int(text)


def _header(request: Request, name: str) -> list[str]:
    return request.headers.get(name, "").split(",")


def _is_signed(app: App, request: Request) -> bool:
    return app.links.holds(request.path, request.query)


def _user(request: Request) -> str:
    if request.user is None:
        raise Problem(401, "unauthorized", "This needs your token.")
    return request.user.id


def _scene(app: App, request: Request) -> Scene:
    scene = app.store.scene(request.places["scene"], user_id=_user(request))
    if scene is None:
        # The same words for a scene of somebody else: whether it exists is theirs to know.
        message = "You have no scene with this id. GET /v1/scenes lists yours."
        raise Problem(404, "scene_not_found", message)
    return scene


# How a value is said in JSON


def _summary(scene: Scene) -> dict[str, object]:
    return {
        "id": scene.id,
        "name": scene.name,
        "objectCount": scene.object_count,
        "version": scene.version,
        "savedVersion": scene.saved_version,
    }


def _object(placed: PlacedObject) -> dict[str, object]:
    return {
        "id": placed.id,
        "kind": placed.kind,
        "position": {"x": placed.x, "y": placed.y},
        "rotation": placed.rotation,
    }


def _preview(app: App, scene: Scene) -> dict[str, object]:
    url = app.links.signed(f"/pictures/scenes/{scene.id}.svg", scene.version)
    alt = alt_text(scene, app.store.objects(scene.id))
    return {"url": url, "alt": alt, "width": WIDTH, "height": HEIGHT}


def _job(app: App, job: Job) -> dict[str, object]:
    return {
        "id": job.id,
        "sceneId": job.scene_id,
        "status": job.status,
        "progress": job.progress,
        "statusUrl": f"{app.links.base_url}/v1/jobs/{job.id}",
    }


def _as_text(app: App, scene: Scene, version: int) -> str:
    lines = [f"Scene: {scene.name}"]
    lines += [
        f"{one.kind:<6}  x {one.x:g}, y {one.y:g}, turned {one.rotation:g} degrees ({one.id})"
        for one in app.store.objects(scene.id, up_to_version=version)
    ]
    return "\n".join(lines) + "\n"


# The table


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method and path; what needs no token is public or opened by a signed address."""

    method: str
    path: str
    answer: Callable[[App, Request], Answer]
    needs_token: bool = True


ROUTES: tuple[Route, ...] = (
    Route(method="GET", path="/v1/scenes", answer=list_scenes),
    Route(method="GET", path="/v1/scenes/{scene}", answer=get_scene),
    Route(method="DELETE", path="/v1/scenes/{scene}", answer=delete_scene),
    Route(method="POST", path="/v1/scenes/{scene}/save", answer=save_scene),
    Route(method="GET", path="/v1/scenes/{scene}/comparison", answer=compare_scene),
    Route(method="GET", path="/v1/scenes/{scene}/preview", answer=preview_scene),
    Route(method="GET", path="/v1/scenes/{scene}/link", answer=link_scene),
    Route(method="GET", path="/v1/scenes/{scene}/objects", answer=list_objects),
    Route(method="POST", path="/v1/scenes/{scene}/objects", answer=place_object),
    Route(method="GET", path="/v1/scenes/{scene}/counts", answer=count_objects),
    Route(method="POST", path="/v1/scenes/{scene}/renders", answer=render_scene),
    Route(method="GET", path="/v1/jobs/{job}", answer=get_job),
    Route(method="GET", path="/agent/tools", answer=serve_tools, needs_token=False),
    Route(method="GET", path="/scenes/{scene}/view", answer=show_page, needs_token=False),
    Route(
        method="GET", path="/pictures/scenes/{scene}.svg", answer=serve_preview, needs_token=False
    ),
    Route(method="GET", path="/pictures/jobs/{job}.png", answer=serve_rendering, needs_token=False),
)
