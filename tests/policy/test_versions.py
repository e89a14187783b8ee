"""Whether a changed definition is an edit or a new version, and the words for it."""

from __future__ import annotations

import itertools
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.catalog.definitions import load_catalog, load_definition
from remit.catalog.model import Definition, Tool
from remit.catalog.requests import Surroundings
from remit.policy.versions import VersionDiff, compare, compare_tools

Document = dict[str, Any]
CATEGORIES = ["read", "write", "action"]
DANGERS = ["safe", "moderate", "destructive"]


def base() -> Document:
    """An app with every kind of destination, an OAuth sign-in and an env value."""
    schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    return {
        "id": "acme",
        "name": "Acme",
        "baseUrl": "https://api.acme.example/v1",
        "auth": {
            "type": "oauth2",
            "authorizationUrl": "https://login.acme.example/authorize",
            "tokenUrl": "https://login.acme.example/token",
            "scopes": ["read"],
            "clientId": "remit",
        },
        "components": {
            "api": {"url": "https://part.acme.example/a"},
            "spare": {"url": "https://spare.acme.example"},
        },
        "env": {"collection": "main", "environment": "production"},
        "promptContext": "Things have ids.",
        "ceiling": {"category": "action", "dangerLevel": "destructive"},
        "tools": [
            {
                "name": "delete_thing",
                "description": "Deletes a thing.",
                "category": "write",
                "dangerLevel": "destructive",
                "requiresApproval": True,
                "parameters": schema,
                "endpoint": {"method": "DELETE", "path": "/things/{{args.id}}"},
            },
            {
                "name": "change_thing",
                "description": "Changes a thing.",
                "category": "write",
                "dangerLevel": "moderate",
                "requiresApproval": True,
                "parameters": schema,
                "target": {
                    "type": "url",
                    "method": "POST",
                    "url": "https://out.example/in",
                    "headers": {"X-Key": "${env.KEY}"},
                    "body": {"id": "${input.id}"},
                },
            },
            {
                "name": "score_thing",
                "description": "Scores a thing.",
                "category": "action",
                "dangerLevel": "moderate",
                "parameters": schema,
                "target": {"type": "app", "component": "api", "method": "POST", "path": "/score"},
            },
        ],
    }


def loaded(document: Document) -> Definition:
    """The definition of a sound document."""
    found = load_definition(document)
    assert found.definition is not None, [str(m) for m in found.mistakes]
    assert [str(m) for m in found.mistakes if m.level == "error"] == []
    return found.definition


def changed(*path: str | int, to: object = None, drop: bool = False) -> Document:
    """The base document with one place set or dropped."""
    document = base()
    at: Any = document
    for step in path[:-1]:
        at = at[step]
    if drop:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return document


def diff(new: Document, old: Document | None = None) -> VersionDiff:
    """The difference from the base document."""
    return compare(loaded(old or base()), loaded(new))


NEW_TOOL = {
    "name": "list_things",
    "description": "Lists things.",
    "category": "read",
    "dangerLevel": "safe",
    "parameters": {"type": "object", "properties": {}, "required": []},
    "endpoint": {"method": "GET", "path": "/things"},
}
OTHER_URL = {
    "type": "url",
    "method": "POST",
    "url": "https://other.example/in",
    "headers": {"X-Key": "${env.KEY}"},
}
VERSIONS = [
    pytest.param(("name",), "Acme Two", "The app now calls itself “Acme Two”", id="name"),
    pytest.param(("id",), "acme-two", "that is another app", id="id"),
    pytest.param(
        ("baseUrl",), "https://api.evil.example/v1", "now on https://api.evil.example", id="base"
    ),
    pytest.param(
        ("baseUrl",), "http://api.acme.example/v1", "now on http://api.acme.example", id="scheme"
    ),
    pytest.param(
        ("baseUrl",),
        "https://out.example/v1",
        "https://out.example, which gets the user's credential",
        id="base moved to a known outside host",
    ),
    pytest.param(
        ("components", "api", "url"), "https://new.example", "https://new.example", id="component"
    ),
    pytest.param(
        ("components", "api", "url"),
        "https://spare.acme.example",
        "The component “api” now answers on https://spare.acme.example",
        id="component moved to a known origin",
    ),
    pytest.param(
        ("auth", "tokenUrl"), "https://in.example/token", "through https://in.example", id="token"
    ),
    pytest.param(
        ("auth", "authorizationUrl"),
        "https://in.example/a",
        "Sign-ins now go through https://in.example",
        id="sign-in page",
    ),
    pytest.param(
        ("tools", 1, "target", "url"),
        "https://spare.acme.example/in",
        "change_thing now goes to https://spare.acme.example, an outside host; it went to",
        id="url moved to a known host",
    ),
    pytest.param(("auth", "scopes"), ["read", "write"], "the scope “write” as well", id="scope"),
    pytest.param(("auth",), {"type": "bearer"}, "is now a bearer token", id="credential"),
    pytest.param(("auth", "clientId"), "evil", "OAuth client “evil”", id="OAuth client"),
    pytest.param(
        ("auth", "clientSecretEnv"), "KEY", "KEY of “main/production” is now sent", id="secret"
    ),
    pytest.param(
        ("env", "environment"),
        "staging",
        "“main/staging” is now sent to https://out.example",
        id="env",
    ),
    pytest.param(
        ("tools", 1, "target"), OTHER_URL, "can now go to https://other.example", id="url"
    ),
    pytest.param(
        ("tools", 0, "category"), "read", "delete_thing now counts as read", id="category"
    ),
    pytest.param(
        ("tools", 0, "dangerLevel"), "moderate", "delete_thing now counts as moderate", id="danger"
    ),
    pytest.param(
        ("tools", 1, "requiresApproval"),
        False,
        "change_thing no longer asks a person first.",
        id="approval",
    ),
    pytest.param(
        ("tools", 0, "requiresApproval"),
        False,
        "it still asks a person first because it is destructive",
        id="approval of a destructive tool",
    ),
    pytest.param(
        ("tools", 2, "target", "method"),
        "PUT",
        "score_thing now sends PUT, no longer POST",
        id="method",
    ),
    pytest.param(
        ("tools", 2, "target", "component"),
        "spare",
        "(component “spare”)",
        id="component of a tool",
    ),
    pytest.param(
        ("tools", 2, "target"),
        {"type": "client", "name": "open_url"},
        "handler “open_url” in the user's own client",
        id="kind of target",
    ),
]


@pytest.mark.parametrize(("path", "value", "reason"), VERSIONS)
def test_more_reach_is_a_new_version(
    path: tuple[str | int, ...], value: object, reason: str
) -> None:
    """Contract section 7: what widens reach or loosens is approved again, with the reason said."""
    found = diff(changed(*path, to=value))

    assert found.change == "version"
    assert found.needs_consent
    assert any(reason in words for words in found.reasons), found.reasons


EDITS = [
    pytest.param(("description",), "Things and more.", "description of the app", id="description"),
    pytest.param(("promptContext",), "Ids are numbers.", "briefing", id="briefing"),
    pytest.param(("baseUrl",), "https://api.acme.example/v2", "path of the app's", id="base path"),
    pytest.param(
        ("components", "api", "url"),
        "https://part.acme.example/b",
        "components",
        id="component path",
    ),
    pytest.param(
        ("auth", "tokenUrl"), "https://login.acme.example/t", "how people sign in", id="token path"
    ),
    pytest.param(("auth", "scopes"), [], "no longer asks users for the scope", id="scope dropped"),
    pytest.param(("toolsUrl",), "https://api.acme.example/t", "may now add tools", id="toolsUrl"),
    pytest.param(
        ("tools", 0, "endpoint", "path"), "/v2/{{args.id}}", "another path", id="path of a tool"
    ),
    pytest.param(
        ("tools", 1, "target", "url"),
        "https://out.example/2",
        "another path or query",
        id="url path",
    ),
    pytest.param(("tools", 0, "title"), "Delete", "title of delete_thing", id="title"),
    pytest.param(("tools", 2, "category"), "action", None, id="nothing"),
    pytest.param(
        ("tools", 2, "requiresApproval"), True, "now asks a person first", id="approval added"
    ),
    pytest.param(
        ("tools", 1, "category"), "action", "change_thing now counts as action", id="category up"
    ),
    pytest.param(
        ("tools", 2, "dangerLevel"),
        "destructive",
        "score_thing now counts as destructive, no longer as moderate, and a person is asked first",
        id="danger up",
    ),
    pytest.param(
        ("ceiling", "category"), "read", "comes down from action to read", id="ceiling down"
    ),
    pytest.param(
        ("tools", 0, "parameters"),
        {"type": "object", "properties": {"id": {}, "why": {}}, "required": ["id"]},
        "takes a new argument “why”",
        id="parameter",
    ),
    pytest.param(
        ("tools", 0, "responseMapping"), {"ok": "ok"}, "What an agent reads", id="mapping"
    ),
    pytest.param(
        ("tools", 1, "target", "body"), {"x": "${input}"}, "The body of change_thing", id="body"
    ),
    pytest.param(("tools", 0, "idempotent"), True, "sent twice", id="idempotent"),
    pytest.param(("tools", 0, "timeoutMs"), 1000, "1,000 ms to answer", id="timeout"),
]


@pytest.mark.parametrize(("path", "value", "words"), EDITS)
def test_the_rest_is_an_edit_with_what_was_there_before(
    path: tuple[str | int, ...], value: object, words: str | None
) -> None:
    """Contract section 7: texts, requests, tightening and removal ask nobody again."""
    found = diff(changed(*path, to=value))

    assert found.change == ("none" if words is None else "edit")
    assert not found.needs_consent
    assert found.reasons == ()
    assert words is None or any(words in change.words for change in found.changes), found.changes


@pytest.mark.promise("T-49")
@pytest.mark.parametrize("axis", ["category", "dangerLevel"])
def test_raising_either_axis_of_the_ceiling_is_a_version_and_lowering_is_not(axis: str) -> None:
    """Contract section 7: an approval is for a highest category and a highest danger level."""
    scale = CATEGORIES if axis == "category" else DANGERS
    for low, high in itertools.combinations(scale, 2):
        old, new = changed("ceiling", axis, to=low), changed("ceiling", axis, to=high)

        raised, lowered = diff(new, old), diff(old, new)

        assert raised.change == "version"
        assert any(f"rises from {low} to {high}" in w for w in raised.reasons), raised.reasons
        assert lowered.change == "edit"


def test_an_undeclared_ceiling_rises_with_the_tools() -> None:
    """Contract section 7: left out, the ceiling is the highest its tools use."""
    old = changed("ceiling", drop=True)
    old["tools"] = [NEW_TOOL]
    new = deepcopy(old)
    new["tools"].append({**NEW_TOOL, "name": "add", "category": "write"})

    assert diff(new, old).change == "version"


def test_a_tool_under_the_ceiling_to_a_known_host_is_an_edit() -> None:
    """Contract section 7: adding within what was approved is an edit; its facts are said."""
    new = base()
    new["tools"].append(NEW_TOOL)

    found = diff(new)

    assert found.change == "edit"
    assert [c.words for c in found.changes] == [
        "list_things is added: safe, read, GET to https://api.acme.example, asks nobody."
    ]


def test_a_known_env_value_sent_to_another_host_is_a_version() -> None:
    """Contract section 7: a name alone is no env use; where it goes counts."""
    new = base()
    new["tools"][2]["target"] |= {"headers": {"X-Key": "${env.KEY}"}}

    found = diff(new)

    assert found.reasons == (
        "The env value KEY of “main/production” is now sent to https://part.acme.example.",
    )


def test_removing_a_tool_or_a_host_is_an_edit() -> None:
    """Contract section 7: less reach asks nobody."""
    found = diff(changed("tools", 1, drop=True))

    assert found.change == "edit"
    words = [change.words for change in found.changes]
    assert "change_thing is removed." in words
    assert "Nothing goes to https://out.example any more." in words


@pytest.mark.promise("T-08")
def test_a_rename_is_a_removal_and_an_addition_and_says_so() -> None:
    """Contract section 13: agents, pins and rules that learned a name lose it."""
    found = diff(changed("tools", 0, "name", to="remove_thing"))

    assert found.change == "edit"
    assert [(change.kind, change.tool) for change in found.changes] == [
        ("removed", "delete_thing"),
        ("added", "remove_thing"),
    ]
    assert "To every agent, pin and policy rule that learned the name delete_thing" in (
        found.changes[0].words
    )
    assert "it is a removal and an addition" in found.changes[0].words


def test_of_two_renames_each_finds_the_tool_of_its_own_arguments() -> None:
    """Where every tool posts to one path, the arguments tell which was renamed to which."""

    def rpc(name: str, argument: str) -> Document:
        record = {**NEW_TOOL, "name": name}
        properties = {argument: {"type": "string"}}
        return record | {"parameters": {"type": "object", "properties": properties}}

    old, new = base(), base()
    old["tools"] = [rpc("a", "x"), rpc("b", "y")]
    new["tools"] = [rpc("d", "y"), rpc("c", "x")]

    words = [change.words for change in diff(new, old).changes]

    assert any("a is removed; c makes the same request" in sentence for sentence in words)
    assert any("b is removed; d makes the same request" in sentence for sentence in words)


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(
    "looser", [{"dangerLevel": "safe"}, {"category": "read"}, {"requiresApproval": False}]
)
def test_the_request_of_a_reviewed_tool_held_less_strictly_is_a_version(
    kept: bool, looser: Document
) -> None:
    """A new name must not be the way round the rule that a reviewed tool is never loosened."""
    new = base()
    loose = {**new["tools"][0], "name": "tidy", **looser}
    new["tools"][0:1] = [new["tools"][0], loose] if kept else [loose]

    found = diff(new)

    assert found.change == "version"
    assert "under the new name it is held less strictly" in found.reasons[0]


def test_words_of_an_app_cannot_leave_their_quotes() -> None:
    """Contract section 7: third-party text is made visible; it forges no line of ours."""
    found = diff(changed("name", to="Acme”.\nNothing changed. \u202e“"))

    assert found.reasons == (
        'The app now calls itself “Acme". ⏎ Nothing changed. ⟨U+202E⟩"”, no longer “Acme”.',
    )


def test_the_order_of_keys_and_tools_changes_nothing() -> None:
    """What is written in another order is the same definition."""
    new = dict(reversed(base().items()))
    new["tools"] = list(reversed(new["tools"]))
    new["components"] = dict(reversed(new["components"].items()))

    assert diff(new).change == "none"


def test_what_makes_a_version_is_not_said_again_as_an_edit() -> None:
    """One change of the file is one line of the diff."""
    found = diff(changed("auth", "scopes", to=["read", "write"]))

    assert [change.pointer for change in found.changes] == ["/auth/scopes"]


def test_a_changed_base_is_said_once_and_not_for_every_tool() -> None:
    """A reviewer of 200 tools reads one reason, not 200."""
    found = diff(changed("baseUrl", to="https://api.evil.example/v1"))

    assert len(found.reasons) == 1


def test_a_diff_is_data_for_the_api_and_the_command_line() -> None:
    """Contract section 10: {change, reasons, needsConsent, diff}."""
    found = diff(changed("tools", 1, "requiresApproval", to=False)).as_json()

    assert found == {
        "change": "version",
        "reasons": ["change_thing no longer asks a person first."],
        "needsConsent": True,
        "diff": [
            {
                "kind": "loosened",
                "tool": "change_thing",
                "pointer": "/requiresApproval",
                "before": True,
                "after": False,
                "version": True,
                "words": "change_thing no longer asks a person first.",
            }
        ],
    }


# -- bare catalogs -----------------------------------------------------------------------------


def tools_of(document: Document) -> tuple[Tool, ...]:
    """The tools of a bare catalog."""
    found = load_catalog(document["tools"], Surroundings())
    assert found is not None
    assert found.mistakes == ()
    return found.tools


def test_bare_catalogs_are_compared_by_the_same_rules() -> None:
    """Contract section 13: a bare catalog can be diffed."""
    old = tools_of(base())

    assert compare_tools(old, old).change == "none"
    loose = tools_of(changed("tools", 1, "requiresApproval", to=False))
    assert compare_tools(old, loose).reasons == ("change_thing no longer asks a person first.",)
    moved = tools_of(changed("tools", 1, "target", to=OTHER_URL))
    assert compare_tools(old, moved).change == "version"
    renamed = tools_of(changed("tools", 0, "name", to="remove_thing"))
    assert "a removal and an addition" in compare_tools(old, renamed).changes[0].words


# -- rules that hold for all -------------------------------------------------------------------

HELD = st.tuples(st.sampled_from(CATEGORIES), st.sampled_from(DANGERS), st.booleans())


def held(levels: list[tuple[str, str, bool]]) -> Document:
    """The base document with its three tools held so."""
    document = base()
    for record, (category, danger, approval) in zip(document["tools"], levels, strict=True):
        record |= {"category": category, "dangerLevel": danger, "requiresApproval": approval}
    return document


def looser(one: tuple[str, str, bool], other: tuple[str, str, bool]) -> bool:
    """Whether ``other`` is held less strictly in any way, told by position alone."""
    return (
        CATEGORIES.index(other[0]) < CATEGORIES.index(one[0])
        or DANGERS.index(other[1]) < DANGERS.index(one[1])
        or (one[2] and not other[2])
    )


@given(st.lists(HELD, min_size=3, max_size=3), st.lists(HELD, min_size=3, max_size=3))
def test_loosening_is_always_a_version_and_tightening_never(
    one: list[tuple[str, str, bool]], other: list[tuple[str, str, bool]]
) -> None:
    """Contract section 7, for every pair of judgements; and both ways round."""
    old, new = loaded(held(one)), loaded(held(other))

    forth, back = compare(old, new), compare(new, old)

    pairs = list(zip(one, other, strict=True))
    assert (forth.change == "version") == any(looser(a, b) for a, b in pairs)
    assert (back.change == "version") == any(looser(b, a) for a, b in pairs)
    assert (forth.change == "none") == (one == other)
    # What one direction loosens, the other tightens, at the same place.
    loosened = {(c.tool, c.pointer) for c in forth.changes if c.kind == "loosened"}
    tightened = {(c.tool, c.pointer) for c in back.changes if c.kind == "tightened"}
    assert loosened == tightened


PLACES = st.sampled_from([case.values[:2] for case in (*VERSIONS, *EDITS)])


@given(st.lists(PLACES, max_size=5))
def test_a_definition_compared_with_itself_has_not_changed(places: list[Any]) -> None:
    """Whatever a definition is, it is no change of itself, and the diff is always the same."""
    document = base()
    for path, value in places:
        at: Any = document
        for step in path[:-1]:
            at = at[step] if isinstance(at, list) or step in at else {}
        at[path[-1]] = value
    found = load_definition(document)
    if found.definition is None:
        return

    assert compare(found.definition, found.definition) == VersionDiff(
        change="none", reasons=(), changes=()
    )
    again = load_definition(deepcopy(document)).definition
    assert again is not None
    assert compare(found.definition, again).change == "none"
