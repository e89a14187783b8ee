"""The lock file: what it holds, and the words for what a change would let an agent do."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import InvalidDefinition
from remit.statement.lock import check, lock
from remit.statement.remit import build
from tests.statement import apps
from tests.statement.apps import Document, loaded


def test_the_lock_holds_what_an_approval_fixes_in_a_stable_order() -> None:
    """Contract section 17: digest, origins, env uses, ceiling, tools."""
    definition = loaded(apps.payments())
    found = lock(definition)

    assert list(found) == [
        *("version", "app", "name", "digest", "texts", "credential", "origins", "env", "ceiling"),
        "tools",
    ]
    assert found["version"] == 1
    assert found["digest"] == build(definition).digest
    assert found["origins"] == [
        {"origin": "https://api.paylane.example", "use": "app"},
        {"origin": "https://books.ledger.example", "use": "outside"},
        {"origin": "https://risk.paylane.example", "use": "component", "component": "risk"},
    ]
    assert found["env"] == [
        {
            "name": "LEDGER_KEY",
            "collection": "main",
            "environment": "production",
            "origin": "https://books.ledger.example",
        },
        {
            "name": "MODEL",
            "collection": "risk",
            "environment": "production",
            "origin": "https://risk.paylane.example",
        },
    ]
    assert found["ceiling"] == {"category": "action", "dangerLevel": "destructive"}
    tools = found["tools"]
    assert isinstance(tools, list)
    assert [tool["name"] for tool in tools if isinstance(tool, dict)] == sorted(
        record["name"] for record in apps.payments()["tools"]
    )
    assert isinstance(tools[4], dict)
    assert len(str(tools[4].pop("texts"))) == 32
    assert tools[4] == {
        "name": "refund_charge",
        "category": "action",
        "dangerLevel": "destructive",
        "requiresApproval": False,
        "method": "POST",
        "target": {"type": "endpoint", "origin": "https://api.paylane.example"},
    }


@pytest.mark.parametrize("name", apps.ALL)
def test_a_definition_agrees_with_its_own_lock(name: str) -> None:
    """Nothing changed, nothing said; also after the file was written and read."""
    definition = loaded(apps.ALL[name]())

    assert not check(json.loads(json.dumps(lock(definition))), definition)


def test_tools_in_another_order_are_the_same_lock() -> None:
    """The lock is made to be kept in a repository: no change without a cause."""
    document = apps.payments()
    document["tools"].reverse()
    one, other = lock(loaded(apps.payments())), lock(loaded(document))

    one.pop("digest"), other.pop("digest")
    assert json.dumps(one) == json.dumps(other)


def delete_asks_nobody(document: Document) -> None:
    """Danger and approval dropped together."""
    document["tools"][2] |= {"dangerLevel": "moderate", "requiresApproval": False}


def delete_asks_by_default(document: Document) -> None:
    """Approval dropped; destructive still asks."""
    document["tools"][2] |= {"requiresApproval": False}


def one_more(document: Document) -> None:
    """A new tool."""
    document["tools"].append(apps.tool("overwrite", "PUT", category="write", title="Overwrite"))


def moved(document: Document) -> None:
    """Another host."""
    document["baseUrl"] = "https://api.evil.example/v1"


def over_the_ceiling(document: Document) -> None:
    """A new tool that no agent gets."""
    document["tools"].append(apps.tool("act", "POST", category="action"))


def raised(document: Document) -> None:
    """A higher ceiling."""
    document["ceiling"]["category"] = "action"


def by_delete(document: Document) -> None:
    """Another method."""
    document["tools"][0]["endpoint"]["method"] = "DELETE"


def served(document: Document) -> None:
    """A list of tools that the app's server may change."""
    document["toolsUrl"] = "https://api.acme.example/tools"


MORE: list[tuple[Callable[[Document], None], str]] = [
    (delete_asks_nobody, "An agent could now run “Delete a note” (delete_note) without asking."),
    (
        delete_asks_by_default,
        "An agent could run “Delete a note” (delete_note) without asking where a policy allows.",
    ),
    (
        one_more,
        "An agent could now use “Overwrite” (overwrite): safe, write, PUT to "
        "https://api.acme.example, asks nobody.",
    ),
    (moved, "The app's own address is now on https://api.evil.example"),
    (raised, "The ceiling rises from write to action"),
    (by_delete, "An agent could now use “List notes” (list_notes) otherwise."),
    (served, "The app's own server may now add tools without a review, up to the ceiling: tools"),
]


@pytest.mark.parametrize(("change", "words"), MORE)
def test_check_says_what_a_change_would_let_an_agent_do(
    change: Callable[[Document], None], words: str
) -> None:
    """Contract section 17: in words, so that a reviewer of a commit understands it."""
    document = apps.small()
    locked = lock(loaded(document))

    change(document)
    found = check(locked, loaded(document))

    assert words in found.more[0]


def test_a_tool_loosened_twice_is_introduced_once() -> None:
    """Two changes of one tool read as one story, and each is said once."""
    document = apps.small()
    locked = lock(loaded(document))
    delete_asks_nobody(document)

    found = check(locked, loaded(document))

    assert found.more == (
        "An agent could now run “Delete a note” (delete_note) without asking. "
        "delete_note now counts as moderate, no longer as destructive.",
    )
    assert found.same_or_less == ()


def test_check_says_when_an_agent_can_do_less() -> None:
    """A tool that is gone is a change of the lock, and no danger."""
    document = apps.small()
    locked = lock(loaded(document))
    del document["tools"][2]

    found = check(locked, loaded(document))

    assert (found.more, found.same_or_less) == ((), ("delete_note is removed.",))


@pytest.mark.parametrize(
    ("before", "change", "words"),
    [
        (None, over_the_ceiling, "It is over the ceiling (write/destructive), so no agent gets it"),
        (served, lambda document: document.pop("toolsUrl"), "server can no longer add tools."),
        (
            served,
            lambda document: document.update(toolsUrl="https://api.acme.example/t2"),
            "is fetched from https://api.acme.example/t2, no longer from",
        ),
        (
            None,
            lambda document: document["tools"][0].update(requiresApproval=True),
            "list_notes now asks a person first.",
        ),
    ],
)
def test_a_change_that_lets_an_agent_do_no_more_is_told_apart(
    before: Callable[[Document], None] | None, change: Callable[[Document], None], words: str
) -> None:
    """`--check` fails where an agent could do more, and there alone."""
    document = apps.small()
    if before is not None:
        before(document)
    locked = lock(loaded(document))

    change(document)
    found = check(locked, loaded(document))

    assert found.more == ()
    assert words in found.same_or_less[0]


def test_check_says_when_only_texts_changed() -> None:
    """The digest changed, so the review is of another text; what an agent can do did not."""
    document = apps.small()
    locked = lock(loaded(document))
    document["tools"][0]["description"] = "Lists them."
    document["promptContext"] = "Be brief."

    found = check(locked, loaded(document))

    assert found.more == ()
    assert found.same_or_less == (
        "The texts or arguments of list_notes changed.",
        "The app's own texts changed: its description, its briefing or its skills.",
    )


def test_another_path_needs_no_new_lock() -> None:
    """Contract section 7: path, query and body may be edited."""
    document = apps.small()
    locked = lock(loaded(document))
    document["tools"][0]["endpoint"]["path"] = "/v2/notes"

    assert not check(locked, loaded(document))


BROKEN = [
    pytest.param(lambda found: [], "an object is expected, and it is a list", id="list"),
    pytest.param(lambda found: None, "an object is expected, and it is null", id="null"),
    pytest.param(lambda found: {}, "at /version 1 is expected", id="empty"),
    pytest.param(lambda found: found | {"version": 2}, "and it is 2", id="a later version"),
    pytest.param(lambda found: found | {"app": "other"}, "is of the app “other”", id="other app"),
    pytest.param(lambda found: found | {"tools": {}}, "at /tools a list", id="tools"),
    pytest.param(lambda found: found | {"tools": [1]}, "at /tools/0 an object", id="tool"),
    pytest.param(lambda found: found | {"origins": [{"use": "x"}]}, "/origins/0/use", id="use"),
    pytest.param(
        lambda found: found | {"ceiling": {"category": "READ", "dangerLevel": "safe"}},
        "'READ'",
        id="case",
    ),
    pytest.param(
        lambda found: found | {"tools": [found["tools"][0] | {"requiresApproval": "no"}]},
        "at /tools/0/requiresApproval true or false is expected, and it is text",
        id="flag",
    ),
]


@pytest.mark.parametrize(("spoil", "words"), BROKEN)
def test_a_broken_or_foreign_lock_is_one_clear_error(
    spoil: Callable[[Document], object], words: str
) -> None:
    """Contract, bad input: the error names the place and the mend; no traceback, no guess."""
    definition = loaded(apps.small())

    with pytest.raises(InvalidDefinition, match="lock") as raised_error:
        check(spoil(lock(definition)), definition)  # type: ignore[arg-type]

    assert words in raised_error.value.message


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["version", "app", "name", "tools", "origins", "ceiling"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    ),
    st.sampled_from([*lock(loaded(apps.small()))]),
)
def test_no_lock_however_odd_raises_anything_else(value: object, key: str) -> None:
    """A file that somebody edited by hand never ends in a traceback."""
    definition = loaded(apps.small())
    for document in (value, lock(definition) | {key: value}):
        with contextlib.suppress(InvalidDefinition):
            found = check(document, definition)  # type: ignore[arg-type]
            assert all(s.endswith(".") for s in (*found.more, *found.same_or_less))
