"""Where an app's words and the facts of its requests disagree, and which call is the worst."""

from __future__ import annotations

import pytest

from remit.statement.judgement import is_doubtful, remark_on, worst_of
from remit.statement.subject import Subject
from tests.statement import apps
from tests.statement.apps import Document, loaded


def subject_of(*records: Document) -> Subject:
    """An app of these tools, under the highest ceiling."""
    ceiling = {"category": "action", "dangerLevel": "destructive"}
    return Subject.of(loaded(apps.small() | {"tools": [*records], "ceiling": ceiling}))


WRITES: Document = {"category": "write", "dangerLevel": "moderate"}
REMARKS = [
    pytest.param(apps.tool("a", "DELETE"), "says it is safe, but it uses DELETE", id="delete safe"),
    pytest.param(
        apps.tool("a", "DELETE", dangerLevel="moderate"),
        "says it only reads, but it uses DELETE",
        id="delete read",
    ),
    pytest.param(apps.tool("a", "PUT"), "but it uses PUT, which overwrites", id="put read"),
    pytest.param(
        apps.tool("delete_all", "POST", category="write"), "its own name says delete", id="name"
    ),
    pytest.param(
        apps.tool("a", "POST", category="action", title="Send it"), "name says send", id="title"
    ),
    pytest.param(apps.tool("bulkDelete", "POST", category="write"), "says delete", id="camel case"),
    pytest.param(apps.tool("a", "DELETE", **WRITES), None, id="a moderate delete is fine"),
    pytest.param(apps.tool("a", "POST"), None, id="a search by POST is only doubtful"),
    pytest.param(apps.tool("list_deleted"), None, id="reads what was deleted"),
    pytest.param(apps.tool("list_to_delete"), None, id="reads what may be deleted"),
    pytest.param(apps.tool("get_send_log"), None, id="reads what was sent"),
    pytest.param(apps.tool("payments"), None, id="a noun"),
    pytest.param(
        apps.tool("get_charge", title="Look up a charge"), None, id="what is read, in the title"
    ),
    pytest.param(apps.tool("delete_all", "POST", **WRITES), None, id="not called safe"),
]


@pytest.mark.promise("T-14")
@pytest.mark.parametrize(("record", "remark"), REMARKS)
def test_a_fact_is_said_beside_the_word_it_contradicts(
    record: Document, remark: str | None
) -> None:
    """Promise T-14: a reviewer sees understated danger without knowing HTTP."""
    found = remark_on(subject_of(record).tools[0])

    assert (found is None) if remark is None else (found is not None and remark in found)


def test_only_a_read_by_post_is_doubtful() -> None:
    """A search by POST is not accused, only pointed out."""
    subject = subject_of(apps.tool("a", "POST"), apps.tool("b"), apps.tool("c", "POST", **WRITES))

    assert [is_doubtful(tool) for tool in subject.tools] == [True, False, False]


# Each is worse than the one before it.
ORDER = [
    apps.tool("read"),
    apps.tool("post", "POST", category="write"),
    apps.tool("act", "POST", category="action"),
    apps.tool("asked", "POST", **WRITES, requiresApproval=True),
    apps.tool("write", "POST", **WRITES),
    apps.tool("put", "PUT", **WRITES),
    apps.tool("drop", "DELETE", **WRITES),
    apps.tool("ring", "POST", category="action", dangerLevel="moderate"),
    apps.tool("destroy", "POST", category="write", dangerLevel="destructive"),
    apps.tool("wreck", "POST", category="action", dangerLevel="destructive"),
    # Called safe, and so it asks nobody: worse than any that says what it is.
    apps.tool("tidy", "DELETE"),
]


def test_the_worst_is_found_by_danger_stop_category_and_method() -> None:
    """Contract section 17: danger first; of two as dangerous, the one that asks nobody."""
    for count in range(1, len(ORDER) + 1):
        subject = subject_of(*ORDER[:count])

        assert [t.name for t in worst_of(subject, subject.tools)] == [ORDER[count - 1]["name"]]


def test_equally_bad_tools_are_all_named() -> None:
    """Two destructive tools are two worst calls, not whichever comes first."""
    subject = subject_of(apps.tool("a", "POST", **WRITES), apps.tool("b", "POST", **WRITES))

    assert [tool.name for tool in worst_of(subject, subject.tools)] == ["a", "b"]
    assert worst_of(subject, ()) == ()
