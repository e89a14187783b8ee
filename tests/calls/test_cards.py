"""What a person is shown before a call runs (contract section 5, approvals in words)."""

from __future__ import annotations

import pytest

from remit.calls.cards import Card, approval_card, preview_arguments
from remit.calls.lookup import MISSING, Found
from remit.values.json import JsonObject
from tests.calls.making import planned, settled
from tests.catalog.documents import Json, endpoint_tool, load, load_tool, parameters

SCHEMA = parameters(
    sceneId={"type": "string", "title": "Scene"},
    note="string",
    pw={"type": "string", "format": "password"},
)
DELETING: Json = endpoint_tool(
    "delete_scene",
    title="Delete scene",
    category="write",
    dangerLevel="destructive",
    parameters=SCHEMA,
    endpoint={
        "method": "DELETE",
        "path": "/scenes/{{args.sceneId}}",
        "queryParams": {"pw": "{{args.pw}}"},
    },
)


def card(
    args: JsonObject,
    pins: JsonObject | None = None,
    *,
    preview: Found = MISSING,
    **changes: object,
) -> Card:
    """The card of a call."""
    tool, definition = load_tool({**DELETING, **changes})
    request = planned((tool, definition), args, pins)
    return approval_card(
        tool, settled(tool, args, pins), request, reason="the tool is destructive", preview=preview
    )


def title_of(found: Card) -> str:
    """The title with its inserted values in brackets."""
    return "".join(f"[{part.text}]" if part.inserted else part.text for part in found.title)


def test_card_shows_arguments_after_pinning_under_their_titles() -> None:
    """The human sees the arguments after pinning (section 5; OWASP ASI03)."""
    found = card({"sceneId": "s-evil", "note": "n"}, {"sceneId": "s-good"})

    assert found.arguments == (("Scene", "s-good"), ("note", "n"))
    assert found.request.shown_url == "https://api.acme.example/v1/scenes/s-good"


def test_platforms_line_is_not_the_apps() -> None:
    """What kind of act, how bad, on which host; the app cannot write it (section 5)."""
    found = card({"sceneId": "s"}, title="Harmless look", confirm={"title": "Just looking"})

    assert (found.act, found.danger, found.host) == (
        "DELETES",
        "cannot be undone",
        "api.acme.example",
    )
    assert title_of(found) == "Just looking"
    assert found.verb == "Harmless look"


@pytest.mark.parametrize(
    ("method", "category", "act"),
    [
        ("DELETE", "read", "DELETES"),
        ("POST", "write", "ADDS OR CHANGES DATA"),
        ("PUT", "write", "CHANGES DATA"),
        ("POST", "action", "SETS SOMETHING OFF"),
        ("GET", "action", "SETS SOMETHING OFF"),
        ("GET", "read", "READS"),
    ],
)
def test_act_is_told_from_facts(method: str, category: str, act: str) -> None:
    """Category and method say what kind of act it is (contract section 5)."""
    endpoint = {"method": method, "path": "/x"}

    assert card({}, endpoint=endpoint, category=category).act == act


def test_inserted_values_are_set_apart() -> None:
    """Title and preview are the app's words, inserted values set apart (section 5)."""
    found = card({"sceneId": "s"}, confirm={"title": "Delete {{args.sceneId}} {{args.note}}"})

    assert title_of(found) == "Delete [s] [(unknown)]"


def test_title_takes_the_previews_fields() -> None:
    """`{{preview.…}}` is the preview's mapped result (contract section 5)."""
    record = {
        **DELETING,
        "confirm": {
            "title": "Delete “{{preview.name}}” with {{preview.count}} objects",
            "preview": {
                "tool": "get_thing",
                "args": {"id": "{{args.sceneId}}", "x": "{{args.gone}}"},
            },
        },
    }
    definition = load(record, endpoint_tool())
    tool = definition.tools[0]
    args: JsonObject = {"sceneId": "s"}
    found = approval_card(
        tool,
        settled(tool, args),
        planned((tool, definition), args),
        reason="x",
        preview={"name": "Q3", "count": 14},
    )

    assert title_of(found) == "Delete “[Q3]” with [14] objects"
    assert preview_arguments(tool, settled(tool, args)) == {"id": "s"}
    assert preview_arguments(tool, settled(tool, args, {"gone": 1})) == {"id": "s", "x": 1}


def test_title_is_plain_one_line_and_short() -> None:
    """At most 200 characters, control and bidirectional characters made visible (5, 7)."""
    confirm = {"title": "Delete {{args.note}} now"}
    found = card({"sceneId": "s", "note": "a\n\u202eb\x1b[2J"}, confirm=confirm)
    assert title_of(found) == "Delete [a ⟨U+202E⟩b⟨U+001B⟩[2J] now"

    long = card({"sceneId": "s", "note": "x" * 500}, confirm=confirm)
    assert sum(len(part.text) for part in long.title) <= 200
    assert long.title[1].text.endswith("…")


def test_secret_arguments_are_on_no_card() -> None:
    """A `writeOnly` or password parameter is sent and never shown (contract section 2)."""
    found = card({"sceneId": "s", "pw": "hunter2"}, confirm={"title": "With {{args.pw}}"})

    assert ("pw", "***") in found.arguments
    assert title_of(found) == "With [***]"
    assert found.request.shown_url.endswith("?pw=***")
    assert found.request.url == "https://api.acme.example/v1/scenes/s?pw=hunter2"


def test_long_and_hidden_values_are_shown_as_such() -> None:
    """Nothing is cut without saying so, and nothing hides (contract section 7)."""
    found = card({"sceneId": "s", "note": "y" * 1000})
    assert found.arguments[1][1].endswith("… (1,000 characters)")
    assert card({"sceneId": "a\u200bb"}).arguments[0][1] == "a⟨U+200B⟩b"
