"""Documents that the lint tests start from: one tool and one app with nothing to mend."""

from __future__ import annotations

from typing import Any

from remit.catalog.mistakes import Mistake
from remit.catalog.tools import as_records
from remit.lint.run import lint_catalog, lint_definition

ABSENT: Any = object()
"""As a change: the key is left out."""


def closed(properties: dict[str, Any] | None = None, *required: str) -> dict[str, Any]:
    """A closed schema of the given properties."""
    return {
        "type": "object",
        "properties": properties or {},
        "required": list(required),
        "additionalProperties": False,
    }


def text(description: str = "Id of the scene.", **changes: object) -> dict[str, Any]:
    """The schema of a described text."""
    return {"type": "string", "description": description, **changes}


def tool(**changes: object) -> dict[str, Any]:
    """A tool that reads one scene, changed; ``ABSENT`` takes a key out."""
    record = {
        "name": "get_scene",
        "description": "Reads the name of one scene. Not for a list of them; use list_scenes.",
        "category": "read",
        "dangerLevel": "safe",
        "parameters": closed({"sceneId": text()}, "sceneId"),
        "endpoint": {"method": "GET", "path": "/scenes/{{args.sceneId}}"},
        "responseMapping": {"name": "name"},
    } | changes
    return {key: value for key, value in record.items() if value is not ABSENT}


def target(**changes: object) -> dict[str, Any]:
    """A tool on a component of the app, changed."""
    record = tool(
        name="list_marks",
        description="Lists the marks. Not for one of them; use get_mark.",
        parameters=closed(),
        endpoint=ABSENT,
        target={"type": "app", "component": "api", "method": "GET", "path": "/marks"},
        responseMapping=ABSENT,
    )
    return {key: value for key, value in (record | changes).items() if value is not ABSENT}


def destructive(**changes: object) -> dict[str, Any]:
    """A tool that deletes a scene and asks as it should, changed."""
    record = tool(
        name="delete_scene",
        description="Deletes one scene for good. Not for hiding it; use archive_scene.",
        category="write",
        dangerLevel="destructive",
        requiresApproval=True,
        confirm={
            "title": "Delete {{preview.name}}",
            "preview": {"tool": "get_scene", "args": {"sceneId": "{{args.sceneId}}"}},
        },
        endpoint={"method": "DELETE", "path": "/scenes/{{args.sceneId}}"},
        responseMapping={"deleted": "id"},
    )
    return {key: value for key, value in (record | changes).items() if value is not ABSENT}


def job(**polling: object) -> dict[str, Any]:
    """A tool whose job is polled; the polling is changed."""
    record = {
        "statusUrl": "/renders/{{response.id}}",
        "statusField": "status",
        "completeValue": "done",
        "failedValue": "failed",
        "resultMapping": {"name": "name"},
        "pollIntervalMs": 2000,
        "maxPolls": 60,
    } | polling
    return tool(
        name="render_scene",
        description="Renders one scene. Not for a quick look; use get_preview.",
        category="action",
        dangerLevel="moderate",
        endpoint={"method": "POST", "path": "/scenes/{{args.sceneId}}/renders"},
        responseMapping=ABSENT,
        polling={key: value for key, value in record.items() if value is not ABSENT},
    )


def app(*tools: dict[str, Any], **changes: object) -> dict[str, Any]:
    """A definition of the given tools, changed."""
    record = {
        "id": "acme-scenes",
        "name": "Acme Scenes",
        "baseUrl": "https://api.acme.example",
        "auth": {"type": "bearer"},
        "tools": list(tools) or [tool()],
    } | changes
    return {key: value for key, value in record.items() if value is not ABSENT}


def findings(document: object) -> tuple[Mistake, ...]:
    """The findings of a tool, of a catalog or of a definition."""
    if isinstance(document, dict) and "auth" not in document and "tools" not in document:
        return lint_catalog([document])
    is_catalog = as_records(document) is not None
    return lint_catalog(document) if is_catalog else lint_definition(document)


def of_rule(rule: str, document: object) -> list[Mistake]:
    """The findings of one rule."""
    return [mistake for mistake in findings(document) if mistake.rule == rule]


def places(rule: str, document: object) -> list[str]:
    """Where one rule finds something, as a person reads the place."""
    return [mistake.at for mistake in of_rule(rule, document)]


def rules(document: object) -> list[str]:
    """The rules that find something, in order."""
    return [mistake.rule for mistake in findings(document)]
