"""Rules on mappings, renderers and polling."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.documents import ABSENT, destructive, job, of_rule, places, rules, target, tool


@pytest.mark.promise("T-37")
def test_a_tool_without_mapping_is_found_with_what_it_costs() -> None:
    """Seed: returning your whole response object costs tokens on every call."""
    (found,) = of_rule("whole-body-answer", tool(responseMapping=ABSENT))
    assert found.level == "warning"
    assert "tokens" in found.message
    assert places("whole-body-answer", job(resultMapping=ABSENT)) == ["/polling"]
    assert places("whole-body-answer", job()) == []


def test_tools_whose_handler_chooses_what_the_model_reads_need_no_mapping() -> None:
    """Contract section 8: `content` is what the model reads; a client's handler answers itself."""
    assert rules(target()) == []
    client = target(
        target={"type": "client", "name": "open_url"}, category="action", dangerLevel="safe"
    )
    assert places("whole-body-answer", client) == []


@pytest.mark.promise("T-61")
@pytest.mark.parametrize(
    ("rule", "found"),
    [
        (".", True),
        ("data.items", True),
        ("results", True),
        ("items.*", True),
        ({"each": "items", "map": {"item": "."}, "limit": 5}, True),
        ("items.0.id", False),
        ("items.*.id", False),
        ("meta.warnings", False),
        ("data.id", False),
        ({"each": "items", "map": {"id": "id"}, "limit": 5}, False),
    ],
)
def test_a_mapping_of_a_whole_list_or_object_is_found(rule: object, found: bool) -> None:
    """Seed, checklist: the few fields the agent needs and nothing else."""
    assert ("whole-array-answer" in rules(tool(responseMapping={"out": rule}))) is found
    assert ("whole-array-answer" in rules(job(resultMapping={"out": rule}))) is found


@pytest.mark.promise("T-61")
def test_a_mapping_of_many_fields_is_found() -> None:
    """Fields of a list count once."""
    twelve = {f"f{n}": f"scene.f{n}" for n in range(12)}
    assert places("many-fields", tool(responseMapping=twelve)) == []
    assert places("many-fields", tool(responseMapping=twelve | {"more": "more"})) == [
        "/responseMapping"
    ]
    each = {"list": {"each": "list", "map": twelve, "limit": 5}, "total": "total"}
    assert places("many-fields", tool(responseMapping=each)) == ["/responseMapping"]


def test_an_empty_mapping_is_found() -> None:
    """The model learns nothing at all."""
    assert places("empty-mapping", tool(responseMapping={})) == ["/responseMapping"]
    search = {"method": "POST", "path": "/scenes/{{args.sceneId}}/search"}
    found = places("empty-mapping", tool(name="find_scene", endpoint=search, responseMapping={}))
    assert found == ["/responseMapping"]


def test_a_write_that_answers_nothing_may_say_so() -> None:
    """A DELETE by 204 has nothing to map, and passes `--strict` with an empty mapping."""
    assert rules(destructive(responseMapping={})) == []
    (found,) = of_rule("whole-body-answer", destructive(responseMapping=ABSENT))
    assert "where the answer holds nothing, write responseMapping: {}" in found.mend
    (found,) = of_rule("whole-body-answer", tool(responseMapping=ABSENT))
    assert "{}" not in found.mend


def test_a_list_without_limit_is_noted() -> None:
    """What a limit leaves out is counted; what a cut leaves out is not."""
    each = {"scenes": {"each": "scenes", "map": {"id": "id"}}}
    (found,) = of_rule("each-without-limit", tool(responseMapping=each))
    assert (found.level, found.at) == ("note", "/responseMapping/scenes")


def test_a_response_mapping_beside_polling_is_found() -> None:
    """Contract section 6: resultMapping takes its place."""
    assert places("mapping-never-used", job() | {"responseMapping": {"a": "a"}}) == [
        "/responseMapping"
    ]


LIST = {"each": "scenes", "map": {"id": "id"}, "limit": 5}


@pytest.mark.parametrize(
    ("renderer", "mapping", "render", "fits"),
    [
        ("image", {"url": "a"}, {}, True),
        ("image", {"previewUrl": "preview.url"}, {}, True),
        ("image", {"objectId": "id", "picture": "preview.href"}, {}, True),
        ("image", {"name": "name"}, {}, False),
        ("image", {"thumbUrl": "a", "fullUrl": "b"}, {}, False),
        ("image", {"thumbUrl": "a", "fullUrl": "b"}, {"url": "fullUrl"}, True),
        ("image", {"a": "a"}, {"url": "a"}, True),
        ("image", {"a": "a"}, {"url": "b"}, False),
        ("link", {"name": "name"}, {}, False),
        ("link", {"name": "name", "href": "x"}, {"label": "name"}, True),
        ("table", {"scenes": LIST}, {}, True),
        ("table", {"scenes": LIST, "others": LIST}, {}, False),
        ("table", {"scenes": LIST, "others": LIST}, {"rows": "scenes"}, True),
        ("table", {"rows": "data.rows"}, {}, True),
        ("table", {"total": "total"}, {}, False),
        ("diff", {"before": "a", "after": "b"}, {}, True),
        ("diff", {"patch": "p"}, {}, True),
        ("diff", {"before": "a"}, {}, False),
        ("diff", {"old": "a", "new": "b"}, {"before": "old", "after": "new"}, True),
        ("json", {"name": "name"}, {}, True),
    ],
)
def test_a_renderer_that_the_result_cannot_feed_is_found(
    renderer: str, mapping: dict[str, Any], render: dict[str, str], fits: bool
) -> None:
    """Contract section 2: what does not fit is drawn as json; `lint` says so."""
    document = tool(resultRenderer=renderer, responseMapping=mapping, render=render or ABSENT)
    assert ("renderer-fit" not in rules(document)) is fits


@pytest.mark.promise("T-42", "T-62")
@pytest.mark.parametrize(
    ("interval_ms", "max_polls", "words", "short"),
    [
        (1000, 10, "", True),
        (1000, 60, "", False),
        (5000, 60, "", False),
        (1000, 10, " Takes a few seconds.", True),
        (1000, 45, " Takes a few seconds.", False),
        (1000, 30, " It is done within 5 seconds.", False),
        (2000, 100, " A job may take up to 5 minutes.", True),
        (2000, 200, " A job may take up to 5 minutes.", False),
        (2000, 60, " This takes several minutes.", True),
        (2000, 900, " Large scenes take 2 hours.", True),
    ],
)
def test_a_poll_budget_below_the_worst_case_is_found(
    interval_ms: int, max_polls: int, words: str, short: bool
) -> None:
    """Seed: their product comfortably exceeds your job's realistic worst case."""
    document = job(pollIntervalMs=interval_ms, maxPolls=max_polls)
    document["description"] += words
    found = of_rule("poll-budget", document)
    assert (len(found) == 1) is short
    assert all((m.level, m.at) == ("warning", "/polling/maxPolls") for m in found)


def test_polls_that_come_too_fast_or_never_end_are_found() -> None:
    """Both are the app's trouble before they are anybody else's."""
    assert rules(job(pollIntervalMs=200, maxPolls=900)) == ["poll-interval"]
    assert rules(job(pollIntervalMs=60_000, maxPolls=1_441)) == ["poll-forever"]
    assert rules(job(pollIntervalMs=60_000, maxPolls=1_440)) == []


def test_polling_without_failed_value_is_noted() -> None:
    """A job that failed looks like one that still runs."""
    assert [(m.rule, m.level) for m in of_rule("no-failed-value", job(failedValue=ABSENT))] == [
        ("no-failed-value", "note")
    ]


@pytest.mark.parametrize(
    ("complete", "failed", "twice"),
    [
        ("done", "done", True),
        (["a", "b"], ["c", "b"], True),
        (1, True, False),
        ("1", 1, False),
        (None, None, True),
    ],
)
def test_one_status_of_two_meanings_is_found(complete: object, failed: object, twice: bool) -> None:
    """Values are compared by JSON equality (contract section 6)."""
    assert ("poll-value-twice" in rules(job(completeValue=complete, failedValue=failed))) is twice


def test_a_short_time_limit_on_a_write_is_found() -> None:
    """A late answer to a write is an unknown outcome; a late read is only a late read."""
    post = {"method": "POST", "path": "/scenes/{{args.sceneId}}"}
    assert places("short-timeout", tool(category="write", endpoint=post, timeoutMs=500)) == [
        "/timeoutMs"
    ]
    assert places("short-timeout", tool(timeoutMs=500)) == []


def test_an_idempotent_get_is_noted() -> None:
    """Contract section 3: no Idempotency-Key on a GET."""
    assert rules(tool(idempotent=True)) == ["idempotent-get"]
