"""Rules on honest danger."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.documents import (
    ABSENT,
    closed,
    destructive,
    of_rule,
    places,
    rules,
    target,
    text,
    tool,
)


def post(name: str, description: str = "Does it. Not twice.", **changes: object) -> dict[str, Any]:
    """A writing tool of the given words."""
    return tool(
        **{
            "name": name,
            "description": description,
            "category": "write",
            "dangerLevel": "moderate",
            "endpoint": {"method": "POST", "path": "/things/{{args.sceneId}}"},
        }
        | changes
    )


@pytest.mark.promise("T-14", "T-60")
@pytest.mark.parametrize(
    ("category", "danger"), [("read", "safe"), ("write", "safe"), ("read", "moderate")]
)
def test_a_delete_called_safe_or_read_is_found(category: str, danger: str) -> None:
    """Issue 2, point 4: honest danger."""
    document = destructive(category=category, dangerLevel=danger)
    (found,) = of_rule("understated-danger", document)
    assert found.level == "warning"
    assert "DELETE" in found.message


@pytest.mark.promise("T-14")
@pytest.mark.parametrize(
    "document",
    [
        post("delete_scene", dangerLevel="safe"),
        post("archive_and_delete", dangerLevel="safe"),
        post("account_delete", dangerLevel="safe"),
        post("deleteScene", dangerLevel="safe"),
        post("drop_table", dangerLevel="safe"),
        post("send_email", dangerLevel="safe"),
        post("create_refund", dangerLevel="safe"),
        post("transfer_funds", dangerLevel="safe"),
        post("tidy", "Deletes old scenes. Not new ones.", dangerLevel="safe"),
        post("tidy", "Permanently erases the scene, not its copies.", dangerLevel="safe"),
        post("tidy", "This tool wipes a disk. Not for scenes.", dangerLevel="safe"),
        post(
            "close_account",
            "Closes the account and deletes all its data. Not for pausing.",
            dangerLevel="safe",
        ),
        post("tidy", title="Purge the cache", dangerLevel="safe"),
        post(
            "tidy",
            dangerLevel="safe",
            endpoint={"method": "POST", "path": "/orders/{{args.sceneId}}/cancel"},
        ),
        tool(
            name="scene_state",
            endpoint={"method": "GET", "path": "/scenes/{{args.sceneId}}/delete"},
        ),
        target(
            name="publish",
            category="write",
            dangerLevel="safe",
            target={"type": "app", "component": "api", "method": "POST", "path": "/x"},
        ),
    ],
)
def test_words_of_destruction_money_and_sending_under_safe_are_found(
    document: dict[str, Any],
) -> None:
    """Issue 2: words such as delete, pay, send under `safe`."""
    assert len(places("understated-danger", document)) == 1


@pytest.mark.parametrize(
    "document",
    [
        tool(name="list_deleted_items", endpoint={"method": "GET", "path": "/deleted-items"}),
        tool(name="list_mail", endpoint={"method": "GET", "path": "/sent-items/{{args.sceneId}}"}),
        tool(name="get_transfer", description="Reads one transfer. Not for a list of them."),
        tool(description="Lists orders and refunds of one scene. Not for one order."),
        tool(description="Finds scenes that users may delete. Not for their objects."),
        tool(description="Reads a scene without removing it from the queue."),
        tool(
            name="search_payments",
            description="Searches payments. Not for refunds.",
            endpoint={"method": "POST", "path": "/payments/search"},
        ),
        post(
            "rename_scene",
            "Renames a scene. Not for deleting it; use delete_scene.",
            dangerLevel="safe",
        ),
        post("set_transferable", "Marks points as transferable, not as spent.", dangerLevel="safe"),
        post("add_comment", "Adds a comment to a payment. Not for refunds.", dangerLevel="safe"),
        post("reset_view", "Resets the zoom of the view. Not the scene.", dangerLevel="safe"),
        post("remove_filter", "Removes the filter of a list. Not its items.", dangerLevel="safe"),
        post("drop_pin", "Drops a pin on the map. Not for routes.", dangerLevel="safe"),
        destructive(
            name="unfollow",
            description="Unfollows a person. Not for blocking.",
            dangerLevel="safe",
            endpoint={"method": "DELETE", "path": "/follows/{{args.sceneId}}"},
        ),
        destructive(name="unsubscribe", dangerLevel="moderate"),
        destructive(),
    ],
)
def test_words_that_only_sound_dangerous_are_left_alone(document: dict[str, Any]) -> None:
    """A read that speaks of deleted things deletes nothing."""
    assert places("understated-danger", document) == []


@pytest.mark.parametrize(
    ("document", "found"),
    [
        (
            tool(
                name="scene_title",
                endpoint={"method": "POST", "path": "/title"},
                parameters=closed(),
            ),
            True,
        ),
        (tool(endpoint={"method": "PUT", "path": "/scenes/{{args.sceneId}}"}), True),
        (tool(endpoint={"method": "PATCH", "path": "/scenes/{{args.sceneId}}"}), True),
        (tool(name="search_scenes", endpoint={"method": "POST", "path": "/x"}), False),
        (tool(name="scenes", endpoint={"method": "POST", "path": "/scenes/search"}), False),
        (tool(name="scenes", endpoint={"method": "POST", "path": "/graphql"}), False),
        (tool(), False),
    ],
)
def test_a_writing_method_called_read_is_found(document: dict[str, Any], found: bool) -> None:
    """`read` promises that nothing is changed (contract section 2)."""
    assert ("read-that-writes" in rules(document)) is found


def test_a_get_called_write_is_noted() -> None:
    """A GET may be repeated and cached by anybody on the way."""
    (found,) = of_rule("get-that-writes", tool(category="write"))
    assert found.level == "note"


@pytest.mark.promise("T-19", "T-60")
def test_a_destructive_tool_without_approval_is_found() -> None:
    """Seed, checklist: requiresApproval is set on everything destructive."""
    (found,) = of_rule("destructive-without-approval", destructive(requiresApproval=False))
    assert (found.level, found.at) == ("warning", "/requiresApproval")
    assert "requiresApproval" in found.message
    assert places("destructive-without-approval", destructive()) == []
    # A value that is neither is an error of its own; two findings would be one too many.
    assert rules([tool(), destructive(requiresApproval="true")]) == ["wrong-type"]


@pytest.mark.promise("T-19")
@pytest.mark.parametrize(
    ("document", "found"),
    [
        (post("send_message"), True),
        (post("pay_invoice"), True),
        (post("create_payment"), True),
        (post("deploy_site", category="action"), True),
        (post("charge", endpoint={"method": "POST", "path": "/charges"}), True),
        (post("order_more", "Buys more seats. Not for trials."), True),
        (post("send_message", requiresApproval=True), False),
        (post("save_draft", "Saves a draft of a message. Nothing is sent."), False),
        (post("rename_scene", "Renames a scene. Not for others."), False),
        (tool(name="get_payment"), False),
        (destructive(name="send_and_delete"), False),
    ],
)
def test_what_spends_or_sends_without_approval_is_found(
    document: dict[str, Any], found: bool
) -> None:
    """Seed: what spends the user's money, and what a user would be startled to discover."""
    assert ("effect-without-approval" in rules(document)) is found


def test_a_destructive_tool_without_confirm_is_noted() -> None:
    """Its card can show bare arguments only."""
    assert rules(destructive(confirm=ABSENT)) == ["destructive-without-confirm"]
    assert rules([tool(), destructive()]) == []


def test_a_confirm_without_preview_is_noted() -> None:
    """It can show only what the model wrote."""
    assert places("confirm-without-preview", destructive(confirm={"title": "Delete"})) == [
        "/confirm"
    ]


@pytest.mark.parametrize(
    ("endpoint", "required", "found"),
    [
        ({"method": "DELETE", "path": "/scenes"}, (), True),
        (
            {"method": "DELETE", "path": "/scenes", "queryParams": {"id": "{{args.sceneId}}"}},
            (),
            True,
        ),
        (
            {"method": "DELETE", "path": "/scenes", "queryParams": {"t": "{{args.tenant}}"}},
            (),
            True,
        ),
        (
            {"method": "DELETE", "path": "/scenes", "queryParams": {"id": "{{args.sceneId}}"}},
            ("sceneId",),
            False,
        ),
        ({"method": "DELETE", "path": "/scenes/{{args.sceneId}}"}, (), False),
        ({"method": "POST", "path": "/scenes"}, (), False),
    ],
)
def test_a_delete_that_needs_no_argument_is_found(
    endpoint: dict[str, Any], required: tuple[str, ...], found: bool
) -> None:
    """What is left out of a query makes `DELETE /scenes?id=…` a `DELETE /scenes`."""
    document = destructive(endpoint=endpoint, parameters=closed({"sceneId": text()}, *required))
    assert ("delete-everything" in rules(document)) is found


def test_a_target_that_leaves_its_scales_out_is_noted() -> None:
    """Contract section 2: `lint` notes it."""
    (found,) = of_rule("scales-left-out", target(category=ABSENT, dangerLevel=ABSENT))
    assert found.level == "note"
    assert "read/safe" in found.message
    assert "category" not in of_rule("scales-left-out", target(dangerLevel=ABSENT))[0].message
    assert places("scales-left-out", target()) == []
