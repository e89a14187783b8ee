"""The effective catalog: a refresh may tighten and never widens (contract section 7)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.catalog.definitions import load_catalog, load_definition, surroundings_of
from remit.catalog.model import Definition, UrlTarget
from remit.policy.catalogs import CatalogMode, EffectiveCatalog, effective_catalog
from tests.catalog.documents import (
    Json,
    definition,
    endpoint_tool,
    load,
    parameters,
    posting,
    target_tool,
    url_target,
)

WRITE_MODERATE = {"category": "write", "dangerLevel": "moderate"}


def effective(found: Definition, fetched: object) -> EffectiveCatalog:
    """The effective catalog of a definition and a fetched document."""
    around = surroundings_of(found, brand="Remit")
    tools = load_catalog(fetched, around)  # type: ignore[arg-type]
    assert tools is not None
    return effective_catalog(found, tools)


def names(catalog: EffectiveCatalog) -> list[str]:
    """The names of the tools."""
    return [tool.name for tool in catalog.tools]


def with_ceiling(*tools: Json, **changes: object) -> Definition:
    """A definition with the ceiling write/moderate."""
    return load(*tools, **{"ceiling": WRITE_MODERATE, **changes})


@pytest.mark.promise("T-43", "T-46", "T-49", "T-50", "T-53")
@pytest.mark.parametrize(
    ("ceiling", "tool", "kept"),
    [
        (("read", "safe"), ("read", "safe"), True),
        (("read", "safe"), ("write", "safe"), False),
        (("read", "safe"), ("read", "moderate"), False),
        (("write", "moderate"), ("read", "safe"), True),
        (("write", "moderate"), ("write", "moderate"), True),
        (("write", "moderate"), ("action", "safe"), False),
        (("action", "safe"), ("action", "moderate"), False),
        (("action", "safe"), ("read", "destructive"), False),
        (("read", "destructive"), ("read", "destructive"), True),
        (("read", "destructive"), ("write", "safe"), False),
        (("action", "destructive"), ("action", "destructive"), True),
    ],
)
def test_tool_above_either_scale_is_dropped(
    ceiling: tuple[str, str], tool: tuple[str, str], kept: bool
) -> None:
    """Both axes on their own: neither makes up for the other; the reason is said (7)."""
    record = endpoint_tool("t", category=tool[0], dangerLevel=tool[1])
    found = load(ceiling={"category": ceiling[0], "dangerLevel": ceiling[1]})
    catalog = effective(found, [record, endpoint_tool("calm")])

    assert ("t" in names(catalog)) == kept
    assert "calm" in names(catalog)
    assert (catalog.dropped == ()) == kept
    assert kept or catalog.dropped[0].over_ceiling
    assert kept or str(catalog.reason("t")).startswith("over the ceiling: its ")


@pytest.mark.parametrize(
    "changes",
    [
        {"category": "READ"},
        {"category": " read"},
        {"category": ""},
        {"category": "read,action"},
        {"category": None},
        {"dangerLevel": -1},
        {"dangerLevel": "safe\n"},
        {"requiresApproval": "true"},
        {"requiresApproval": "yes"},
        {"requiresApproval": 1},
        {"requiresApproval": None},
        {"Category": "action"},
        {"RequiresApproval": True},
        {"name": "a b\n"},
        {"name": "computer"},
        {"endpoint": {"method": "GET", "path": "//evil.example"}},
        {"parameters": {"type": "object", "properties": {"a": {"pattern": "(?=x)"}}}},
    ],
)
def test_what_is_unknown_drops_the_tool_and_never_reads_as_mild(changes: Json) -> None:
    """An unknown value drops that one tool, never the whole catalog (sections 2 and 7)."""
    catalog = effective(with_ceiling(), [{**endpoint_tool("t"), **changes}, endpoint_tool("b")])

    assert names(catalog) == ["b"]
    assert len(catalog.dropped) == 1
    assert catalog.dropped[0].reason.startswith("invalid: ")
    assert catalog.dropped[0].name.isprintable()


def test_fetched_tools_of_one_name_are_both_dropped() -> None:
    """Of two with one name, both; a reviewed one of that name stays (sections 2 and 7)."""
    found = with_ceiling(endpoint_tool("a"))
    catalog = effective(
        found, [endpoint_tool("x"), endpoint_tool("a"), endpoint_tool("x"), endpoint_tool("a")]
    )

    assert names(catalog) == ["a"]
    assert [dropped.name for dropped in catalog.dropped] == ["x", "a", "x", "a"]
    assert "the tool as reviewed stays" in catalog.dropped[1].reason
    assert "stays" not in catalog.dropped[0].reason


REVIEWED = {**posting({}, {}), "name": "t", "dangerLevel": "moderate", "requiresApproval": True}


@pytest.mark.promise("T-12")
@pytest.mark.parametrize(
    ("changes", "judged"),
    [
        ({}, ("write", "moderate", True)),
        ({"dangerLevel": "safe"}, ("write", "moderate", True)),
        ({"requiresApproval": False}, ("write", "moderate", True)),
        ({"category": "read"}, ("write", "moderate", True)),
        ({"description": "new"}, ("write", "moderate", True)),
    ],
)
def test_refresh_never_relabels_a_known_tool_as_milder(
    changes: Json, judged: tuple[str, str, bool]
) -> None:
    """The stricter category, danger level and approval flag of the two hold (section 7)."""
    catalog = effective(with_ceiling(REVIEWED), [{**REVIEWED, **changes}])

    tool = catalog.tool("t")
    assert tool is not None
    assert (tool.category.value, tool.danger_level.value, tool.requires_approval) == judged
    assert tool.description == changes.get("description", REVIEWED["description"])


def test_refresh_may_tighten() -> None:
    """A fetched tool may tighten a reviewed one of its name (contract section 7)."""
    calm = {**REVIEWED, "requiresApproval": False, "dangerLevel": "safe"}
    catalog = effective(with_ceiling(calm), [REVIEWED])

    tool = catalog.tool("t")
    assert tool is not None
    assert tool.requires_approval
    assert tool.danger_level.value == "moderate"


@pytest.mark.parametrize("changes", [{"dangerLevel": "destructive"}, {"category": "action"}])
def test_known_tool_that_rises_over_the_ceiling_is_gone(changes: Json) -> None:
    """The stricter judgement holds, and what is over the ceiling is dropped (section 7)."""
    catalog = effective(with_ceiling(REVIEWED), [{**REVIEWED, **changes}])

    assert names(catalog) == []
    assert catalog.dropped[0].over_ceiling


@pytest.mark.promise("T-51")
@pytest.mark.parametrize(
    ("fetched", "named"),
    [
        ({"endpoint": {"method": "DELETE", "path": "/things"}}, "uses DELETE"),
        ({"endpoint": None, "target": url_target("https://p.example/x")}, "another destination"),
        ({"endpoint": None, "target": {"type": "client", "name": "x"}}, "another destination"),
        ({"endpoint": None, "target": {"type": "app", "component": "api", "path": "/x",
                                       "method": "POST"}}, "another destination"),
    ],
)  # fmt: skip
def test_known_tool_keeps_method_and_destination(fetched: Json, named: str) -> None:
    """One that changes them is dropped, and the tool as reviewed stays (contract section 7)."""
    found = with_ceiling(
        REVIEWED,
        {**target_tool(url_target("https://p.example/a")), **WRITE_MODERATE},
        components={"api": {"url": "https://kit.example"}},
    )
    record = {k: v for k, v in {**REVIEWED, **fetched}.items() if v is not None}
    catalog = effective(found, [record])

    tool = catalog.tool("t")
    assert tool is not None
    assert tool.record == REVIEWED
    reason = catalog.reason("t")
    assert reason is not None
    assert named in reason
    assert reason.endswith("; the tool as reviewed stays")


def test_path_query_and_body_may_be_edited() -> None:
    """What a review does not fix may change: path, query, body (contract section 7)."""
    endpoint = {"method": "POST", "path": "/v2/{{args.a}}", "bodyTemplate": [1]}
    edited = {**REVIEWED, "endpoint": endpoint, "parameters": parameters(a="string")}
    catalog = effective(with_ceiling(REVIEWED), [edited])

    assert catalog.dropped == ()
    assert catalog.tools[0].record == edited


def partner(url: str, name: str, **headers: str) -> Json:
    """A tool that writes to a partner."""
    return {**target_tool(url_target(url, headers=headers), name=name), **WRITE_MODERATE}


@pytest.mark.parametrize(
    ("record", "named"),
    [
        (partner("https://new.example/x", "n"), "https://new.example, which was not reviewed"),
        (partner("https://a.example:8443/x", "n"), "was not reviewed"),
        (partner("http://a.example/x", "n"), "was not reviewed"),
        (partner("https://a.example/x", "n", **{"X-K": "${env.NEW}"}), "NEW"),
        (partner("https://b.example/x", "n", **{"X-K": "${env.A_KEY}"}), "A_KEY"),
        (
            {**target_tool({"type": "app", "component": "api", "path": "/x", "method": "POST",
                            "body": "${env.A_KEY}"}, name="n"), **WRITE_MODERATE},
            "A_KEY",
        ),
        (
            {**target_tool({"type": "app", "component": "new", "path": "/x", "method": "POST"},
                           name="n"), **WRITE_MODERATE},
            'no component "new"',
        ),
    ],
)  # fmt: skip
def test_new_tool_reaches_nowhere_new(record: Json, named: str) -> None:
    """No new origin, and no env value to where no review saw it go (section 7; T-51)."""
    found = with_ceiling(
        partner("https://a.example/x", "a", **{"X-K": "${env.A_KEY}"}),
        partner("https://b.example/x", "b"),
        components={"api": {"url": "https://kit.example"}},
    )
    catalog = effective(found, [record])

    assert names(catalog) == ["a", "b"]
    reason = catalog.reason("n")
    assert reason is not None
    assert named in reason


def test_new_tool_within_the_remit_is_taken() -> None:
    """A new tool needs no change of the definition (contract section 7)."""
    found = with_ceiling(partner("https://a.example/x", "a", **{"X-K": "${env.A_KEY}"}))
    record = partner("https://A.example:443/y", "n", Authorization="Bearer ${env.A_KEY}")
    catalog = effective(found, [record, endpoint_tool("o")])

    assert names(catalog) == ["a", "n", "o"]
    assert catalog.dropped == ()


def test_preview_that_would_write_is_dropped_with_its_tool() -> None:
    """A preview runs before anybody is asked: it reads, whatever a refresh says (5, 7)."""
    deleting = endpoint_tool("d", category="write", confirm={"preview": {"tool": "p"}})
    found = with_ceiling(deleting, endpoint_tool("p"))
    catalog = effective(found, [endpoint_tool("p", category="write")])

    assert names(catalog) == ["p"]
    assert "not read and safe" in str(catalog.reason("d"))


def test_static_tools_over_the_ceiling_are_dropped_too() -> None:
    """A static tool over the ceiling: `catalog` drops it (contract section 7)."""
    found = with_ceiling(endpoint_tool("a", dangerLevel="destructive"), endpoint_tool("b"))
    catalog = effective_catalog(found, None)

    assert names(catalog) == ["b"]
    assert catalog.dropped[0].over_ceiling
    assert catalog.tool("a") is None


def test_static_tools_come_first_in_their_order() -> None:
    """The same input gives the same catalog: static order, then fetched order."""
    found = with_ceiling(endpoint_tool("b"), endpoint_tool("a"))

    assert names(
        effective(found, [endpoint_tool("z"), endpoint_tool("a"), endpoint_tool("c")])
    ) == [
        "b",
        "a",
        "z",
        "c",
    ]


SCALAR = st.sampled_from(
    [None, True, False, 0, 1, "", "read", "write", "action", "READ", "safe", "moderate"]
) | st.sampled_from(["destructive", "true", "GET", "POST", "DELETE", "/x", "a", "b", "p"])
FIELDS = st.sampled_from(
    [
        "name",
        "category",
        "dangerLevel",
        "requiresApproval",
        "endpoint",
        "target",
        "confirm",
        "title",
    ]
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["method", "path", "type", "url", "name", "preview", "tool"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=5,
)
RECORD = st.builds(
    lambda base, changes: {**base, **changes},
    st.sampled_from(
        [
            endpoint_tool("a"),
            endpoint_tool("b", category="write", dangerLevel="destructive"),
            partner("https://a.example/x", "p"),
            partner("https://evil.example/x", "q"),
            target_tool({"type": "client", "name": "open_url"}, name="c"),
        ]
    ),
    st.dictionaries(FIELDS, VALUE, max_size=3),
)
BASE = load_definition(
    definition(
        endpoint_tool("a", requiresApproval=True),
        partner("https://a.example/x", "p"),
        ceiling=WRITE_MODERATE,
    )
).definition


@given(fetched=st.lists(RECORD | VALUE, max_size=5))
def test_no_fetched_catalog_passes_the_ceiling_or_the_review(fetched: list[Any]) -> None:
    """Whatever is fetched: nothing over the ceiling, nowhere new, nothing loosened (7)."""
    assert BASE is not None
    catalog = effective(BASE, fetched)

    for tool in catalog.tools:
        assert BASE.ceiling.admits(tool.category, tool.danger_level)
        if isinstance(tool.destination, UrlTarget):
            assert str(tool.destination.origin) == "https://a.example"
        if tool.name == "a":
            assert tool.requires_approval
    assert len({tool.name for tool in catalog.tools}) == len(catalog.tools)
    for dropped in catalog.dropped:
        assert dropped.reason


def moded(
    mode: CatalogMode, fetched: object, accepted: object = None, *static: Json
) -> EffectiveCatalog:
    """The effective catalog of a workspace with that ``catalog`` setting."""
    found = with_ceiling(*(static or (endpoint_tool("static"),)))
    around = surroundings_of(found, brand="Remit")
    tools = load_catalog(fetched, around)  # type: ignore[arg-type]
    let_in = None if accepted is None else load_catalog(accepted, around)  # type: ignore[arg-type]
    return effective_catalog(found, tools, mode=mode, accepted=let_in)


A, B, C = (endpoint_tool(name) for name in ("a", "b", "c"))


@pytest.mark.parametrize(
    ("mode", "fetched", "accepted", "offered"),
    [
        ("live", [A, B], [C], ["static", "a", "b"]),
        ("review", [A, B], None, ["static"]),
        ("review", [A, B], [A], ["static", "a"]),
        ("review", [B], [A], ["static"]),
        ("review", [], [A], ["static"]),
        ("review", [{**A, "category": "READ"}], [A], ["static", "a"]),
        ("frozen", [A, B], None, ["static"]),
        ("frozen", [B], [A], ["static", "a"]),
    ],
)
def test_new_tools_wait_for_a_review_and_frozen_ones_never_come(
    mode: CatalogMode, fetched: object, accepted: object, offered: list[str]
) -> None:
    """`catalog: live | review | frozen` (contract sections 7 and 18)."""
    assert names(moded(mode, fetched, accepted)) == offered


def test_tool_that_was_let_in_is_held_like_a_reviewed_one() -> None:
    """A refresh may tighten it, never loosen it, and never move it (contract section 7)."""
    strict = endpoint_tool("a", dangerLevel="moderate", requiresApproval=True)
    loose = endpoint_tool("a", description="Newer.")
    moved = endpoint_tool("a", endpoint={"method": "DELETE", "path": "/things"})

    loosened = moded("review", [loose], [strict]).tool("a")
    stayed = moded("review", [moved], [strict])
    assert loosened is not None
    assert (loosened.description, loosened.requires_approval) == ("Newer.", True)
    assert loosened.danger_level.value == "moderate"
    assert stayed.tool("a") is not None
    assert "stays" in (stayed.reason("a") or "")


def test_letting_in_lifts_no_ceiling() -> None:
    """What was let in is filtered like all that is fetched."""
    over = endpoint_tool("over", category="action")
    outside = target_tool(url_target("https://elsewhere.example/x"), name="outside")

    for mode in ("review", "frozen"):
        assert names(moded(mode, [over, outside], [over, outside])) == ["static"]  # type: ignore[arg-type]


def test_catalog_knows_what_any_of_its_tools_calls_a_secret() -> None:
    """A pin is the secret of one tool in the calls of every other (contract section 2)."""
    hidden = {"type": "string", "format": "password"}
    login = {"type": "object", "properties": {"pw": hidden}}
    found = effective(
        load(posting({}, {"key": hidden}), endpoint_tool("b", parameters=parameters(key="string"))),
        [endpoint_tool("c", parameters=parameters(login=login))],
    )
    pins: Any = {"key": "k", "scene": "s", "login": {"pw": "p"}, "pw": "q", "other": {"x": "y"}}

    assert found.secret_names(pins) == {"key", "login", "pw"}
    assert effective(load(endpoint_tool("b")), []).secret_names(pins) == set()
