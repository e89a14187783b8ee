"""The definitions and catalogs of Acme Scenes: complete, closed, and true of the app as it runs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, urlencode

import pytest
import yaml

from tests.examples.scenes_process import SCENES, RunningApp

Record = dict[str, Any]

# What a model could send to each tool; optional arguments are left out once and given once.
ARGUMENTS: Mapping[str, tuple[Record, ...]] = {
    "list_scenes": ({},),
    "place_object": (
        {"assetId": "lamp", "x": 1, "y": -2.5},
        {"assetId": "panel", "x": -10, "y": 10, "rotation": 360},
    ),
    "list_objects": ({}, {"kind": "plant", "limit": 1}),
    "compare_scene": ({}, {"sinceVersion": 2}),
    "render_scene": ({}, {"quality": "final"}),
}


def definition(name: str = "scenes.yaml") -> Record:
    """Read a definition."""
    return cast("Record", yaml.safe_load((SCENES / name).read_text()))


def catalog(name: str) -> list[Record]:
    """Read a catalog as /agent/tools would serve it."""
    return cast("list[Record]", json.loads((SCENES / name).read_text())["tools"])


def by_name(tools: list[Record]) -> dict[str, Record]:
    """Index tools by name; where two share one, the later."""
    return {tool["name"]: tool for tool in tools}


TOOLS = [*definition()["tools"], by_name(catalog("catalog.json"))["count_objects"]]


def each_tool(function: Any) -> Any:  # noqa: ANN401 - a decorator as pytest makes it
    """Run a test for each tool, under its name."""
    return pytest.mark.parametrize("tool", TOOLS, ids=[tool["name"] for tool in TOOLS])(function)


def filled(template: Any, values: Mapping[str, object]) -> Any:  # noqa: ANN401 - a JSON value
    """Put values in the place of references; what is missing is left out of objects."""
    if isinstance(template, dict):
        parts = {key: filled(part, values) for key, part in cast("Record", template).items()}
        return {key: part for key, part in parts.items() if part is not None}
    if isinstance(template, str) and (exact := re.fullmatch(r"\{\{args\.(\w+)}}", template)):
        return values.get(exact[1])
    return template


def found(body: Any, path: str) -> Any:  # noqa: ANN401 - a JSON value
    """Follow a dotted path; a KeyError where it leads nowhere."""
    for segment in path.split("."):
        body = body[segment]
    return body


def call(app: RunningApp, tool: Record, arguments: Record) -> Any:  # noqa: ANN401 - a JSON value
    """Send what the tool describes, as simply as can be; returns the answer's body."""
    endpoint = tool["endpoint"]
    path = re.sub(
        r"\{\{args\.(\w+)}}", lambda name: quote(str(arguments[name[1]])), endpoint["path"]
    )
    query = filled(endpoint.get("queryParams", {}), arguments)
    body = filled(endpoint["bodyTemplate"], arguments) if "bodyTemplate" in endpoint else None
    reply = app.ask(endpoint["method"], f"/v1{path}?{urlencode(query)}", body)
    assert 200 <= reply.status < 300, reply.body
    return reply.json()


@each_tool
def test_each_tool_fits_the_app(fresh: RunningApp, tool: Record) -> None:
    """Every request that a tool describes is answered, and every mapped path is in the answer."""
    for arguments in ARGUMENTS.get(tool["name"], ({},)):
        body = call(fresh, tool, {"sceneId": "scn_q3_forecast", **arguments})
        mapping = tool.get("responseMapping", {})
        if "polling" in tool:
            job, _ = fresh.wait_for_job(found(body, "job.id"))
            assert tool["polling"]["statusUrl"] == "{{response.job.statusUrl}}"
            assert found(job, tool["polling"]["statusField"]) == tool["polling"]["completeValue"]
            assert found(body, "job.statusUrl").startswith(fresh.url)
            body, mapping = job, tool["polling"]["resultMapping"]
        assert mapping
        for path in mapping.values():
            if isinstance(path, str):
                found(body, path)
            else:
                items = found(body, path["each"])
                assert items
                assert all(found(items[0], inner) is not None for inner in path["map"].values())


@each_tool
def test_each_tool_is_a_model_of_a_good_one(tool: Record) -> None:
    """The publishing checklist: described, titled, closed, honest, and fit for its renderer."""
    assert re.search(r"Not (for|needed)", tool["description"]), "it does not say when not to use it"
    schema = tool["parameters"]
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) <= set(schema["properties"])
    for parameter in schema["properties"].values():
        assert {"type", "title", "description"} <= set(parameter)
    path_names = set(re.findall(r"\{\{args\.(\w+)}}", tool["endpoint"]["path"]))
    assert path_names <= set(schema["required"])
    used = set(re.findall(r"\{\{args\.(\w+)}}", json.dumps(tool["endpoint"])))
    assert used == set(schema["properties"])
    if tool["endpoint"]["method"] == "DELETE":
        assert (tool["dangerLevel"], tool["requiresApproval"]) == ("destructive", True)
    shown = set(tool.get("polling", {}).get("resultMapping", tool.get("responseMapping")))
    keys = {"image": {"url"}, "link": {"url"}, "diff": {"before", "after"}, "table": {"rows"}}
    for key in keys.get(tool.get("resultRenderer", "json"), set()):
        assert tool.get("render", {}).get(key, key) in shown


def test_the_poll_budget_exceeds_the_job_many_times() -> None:
    """A job takes 1.5 s; giving up early would report a failure for work that completes."""
    polling = by_name(TOOLS)["render_scene"]["polling"]
    assert polling["pollIntervalMs"] * polling["maxPolls"] >= 20 * 1_500


def test_the_definition_asks_for_no_more_than_its_tools_need() -> None:
    """The ceiling is the highest category and the highest danger level in use."""
    for name in ("scenes.yaml", "scenes-modest.yaml"):
        record = definition(name)
        for key, order in (
            ("category", ["read", "write", "action"]),
            ("dangerLevel", ["safe", "moderate", "destructive"]),
        ):
            highest = max((tool[key] for tool in record["tools"]), key=order.index)
            assert record["ceiling"][key] == highest
        assert record["toolsUrl"].startswith("http://127.0.0.1:8801/")
        assert record["baseUrl"] == "http://127.0.0.1:8801/v1"


def test_the_served_catalog_has_the_reviewed_tools_and_one_more() -> None:
    """count_objects comes with toolsUrl alone, everything else is as it was reviewed."""
    served = catalog("catalog.json")
    assert served[:-1] == definition()["tools"]
    assert served[-1]["name"] == "count_objects"


def test_the_modest_definition_has_tools_of_the_full_one() -> None:
    """The two definitions differ in their ceiling, not in what a tool means."""
    full = by_name(definition()["tools"])
    modest = definition("scenes-modest.yaml")["tools"]
    assert [full[tool["name"]] for tool in modest] == modest
    assert len(modest) == 4


def test_the_overreaching_catalog_tries_each_way_past_its_review() -> None:
    """The demo shows each of these dropped or held; one good new tool is among them."""
    tools = catalog("overreaching.json")
    names = [tool["name"] for tool in tools]
    reviewed, tried = by_name(definition()["tools"]), by_name(tools)
    modest = by_name(definition("scenes-modest.yaml")["tools"])
    assert tried["list_scenes"] == reviewed["list_scenes"]
    assert (tried["place_object"]["category"], tried["place_object"]["dangerLevel"]) == (
        "read",
        "safe",
    )
    assert {"place_object", "get_scene"} <= set(modest)
    assert tried["delete_scene"]["requiresApproval"] is False
    assert tried["get_scene"]["endpoint"]["method"] == "DELETE"
    assert tried["publish_scene"]["category"] == "action"
    assert tried["clear_workspace"]["dangerLevel"] == "destructive"
    assert tried["tint_scene"]["dangerLevel"] not in {"safe", "moderate", "destructive"}
    assert names.count("count_objects") == 2
    assert names.count("save_scene") == 1
    assert "save_scene" not in reviewed


def test_the_good_tool_of_the_overreaching_catalog_works(fresh: RunningApp) -> None:
    """A new tool within the ceiling is no pretence: the app answers it."""
    tool = by_name(catalog("overreaching.json"))["save_scene"]
    body = call(fresh, tool, {"sceneId": "scn_q3_forecast"})
    assert found(body, tool["responseMapping"]["savedVersion"]) == 15
